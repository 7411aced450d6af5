//! Tests operators that are applied to the result of a call, through references, or in a function that destructures its
//! parameters.

#![allow(
    clippy::explicit_auto_deref,
    clippy::redundant_slicing,
    clippy::needless_borrow,
    reason = "each form is tested"
)]

use std::ops::{Deref, IndexMut};

use crate::common::{Device, download, view, view_mut};
use cuda_std::{GlobalMut, device, kernel};
use simt::{Checks, Note, NoteKind, Notes, Simulator};

/// Declares a type with operators in a module, with or without `#[device]`.
macro_rules! elements {
    ($(#[$mark:meta])? $module:ident) => {
        $(#[$mark])?
        mod $module {
            use std::ops::{Deref, Index, IndexMut};

            /// A pointer to pairs in a buffer, and the number of pairs.
            #[derive(Clone, Copy)]
            pub struct Pairs {
                pub start: *mut (u32, u32),
                pub len: u64,
            }

            impl Index<usize> for Pairs {
                type Output = (u32, u32);

                fn index(&self, i: usize) -> &(u32, u32) {
                    assert!((i as u64) < self.len);
                    // SAFETY: the tests pass at least `len` elements at `start`.
                    unsafe { &*self.start.add(i) }
                }
            }

            impl PartialEq for Pairs {
                fn eq(&self, other: &Self) -> bool {
                    self[0] == other[0]
                }
            }

            impl IndexMut<usize> for Pairs {
                fn index_mut(&mut self, i: usize) -> &mut (u32, u32) {
                    // SAFETY: the tests pass at least `len` elements at `start`.
                    unsafe { &mut *self.start.add(i) }
                }
            }

            impl Deref for Pairs {
                type Target = (u32, u32);

                fn deref(&self) -> &(u32, u32) {
                    // SAFETY: the tests pass at least `len` elements at `start`.
                    unsafe { &*self.start }
                }
            }
        }
    };
}

elements!(plain);
elements!(
    #[device]
    marked
);

#[device]
fn same<T>(value: T) -> T {
    value
}

#[device]
fn first(pair: &(u32, u32)) -> u32 {
    pair.0
}

/// Applies an operator in one of 18 forms. This is not a macro, so that each form has its own line.
#[device]
fn operate<P>(mut all: P, which: u32) -> u32
where
    P: Copy + PartialEq + IndexMut<usize, Output = (u32, u32)> + Deref<Target = (u32, u32)>,
{
    let behind = |own: &P| own[1].0;
    let equal = |own: &P, other: &P| own == other;
    let further = |own: &&P| own[1].1 + (**own).0;
    match which {
        0 => behind(&all),
        1 => further(&&all),
        2 => same(all)[1].0,
        3 => same(&all)[1].1,
        4 => same(*same(all)).1,
        5 => {
            same(&mut all)[1] = (7, 8);
            7
        }
        6 => {
            let (a, b) = all[1];
            a + b
        }
        7 => {
            let (a, ref b) = same(all)[1];
            a + b
        }
        8 => {
            let (a, 4) = *same(all) else { return 0 };
            a
        }
        9 => {
            let mut sum = 0;
            while let (_, 1..) = all[sum] {
                sum += 1;
                if sum < 2 {
                    continue;
                }
                break;
            }
            sum as u32
        }
        10 => {
            same(&mut all)[0].1 += 1;
            1
        }
        11 => same(all)[1].0.count_ones(),
        12 => match same(all)[1] {
            (a, _) if a > 1 => a,
            _ => 0,
        },
        13 => (same(all)[1] == same(all)[0]) as u32,
        14 => first(&same(all)[1]),
        15 => *Some(&same(&all)[1].0).unwrap(),
        16 => equal(&all, &all) as u32,
        _ => {
            let kept = &same(all)[1];
            behind(&same(all)) + kept.0
        }
    }
}

#[kernel]
fn operate_plainly(x: *mut (u32, u32), y: GlobalMut<u32>, which: u32) {
    y.store(0, operate(plain::Pairs { start: x, len: 2 }, which));
}

#[kernel]
fn operate_marked(x: *mut (u32, u32), y: GlobalMut<u32>, which: u32) {
    y.store(0, operate(marked::Pairs { start: x, len: 2 }, which));
}

/// The forms in which [`operate`] applies an operator other than `Index`, with the operator's trait.
const OTHERS: [(u32, &str); 3] = [(4, "Deref"), (8, "Deref"), (16, "PartialEq")];

fn checking() -> (Device, Notes) {
    let notes = Notes::new();
    (Device(Simulator::new().with_checks(Checks::default()).with_notes(notes.clone())), notes)
}

/// Returns the function and the array of a note.
fn told(note: &Note) -> (&'static str, Option<&'static str>) {
    match note.kind {
        NoteKind::NotChecked { function, array } => (function, array),
        _ => panic!("{note}"),
    }
}

#[test]
fn operators_are_announced_wherever_they_are_applied() {
    let (device, notes) = checking();
    for which in 0..18 {
        let operator = OTHERS.iter().find(|(other, _)| *other == which).map_or("Index", |(_, operator)| operator);
        let memory = || (device.upload(&[1_u32, 2, 3, 4]), device.room::<u32>(1));
        let (x, y) = memory();
        device.run(1, 1, &operate_plainly(view_mut(&x), view_mut(&y), which)).unwrap();
        let found = notes.take();
        assert!(!found.is_empty(), "{which}");
        assert!(found.iter().all(|note| told(note) == (operator, Some("x"))), "{which}: {found:?}");
        let (same_x, same_y) = memory();
        device.run(1, 1, &operate_marked(view_mut(&same_x), view_mut(&same_y), which)).unwrap();
        assert_eq!(notes.take(), [], "{which}");
        assert_eq!([&x, &y].map(download::<u32>), [&same_x, &same_y].map(download::<u32>), "{which}");
    }
}

fn plain_sum(x: &&[u32]) -> u32 {
    x[0]
}

fn plain_pair((x, by): &(&&[u32], u32)) -> u32 {
    x[0] + by
}

fn plain_rows(x: &[&&[u32]; 2]) -> u32 {
    x[0][0] + x[1][0]
}

fn plain_tuple((x, by): &(&[u32], u32)) -> u32 {
    x[0] + by
}

fn plain_numbers((x, _): &(&[u32; 2], u64), more: &&(u64, [u64; 2])) -> u32 {
    x[0] + more.0 as u32
}

#[device]
fn marked_sum(x: &&[u32]) -> u32 {
    x[0]
}

/// Passes references to slices to other functions.
#[kernel]
fn hand_on(x: &[u32], y: GlobalMut<u32>, which: u32) {
    let own = [1_u32, 2];
    let numbers = (1, [2, x.as_ptr().addr() as u64]);
    let behind = |x: &&[u32]| plain_sum(x);
    let further = |x: &(&[u32], u32)| plain_tuple(x);
    let pair = (&x, 1);
    let value = match which {
        0 => plain_sum(&x),
        1 => plain_sum(&&x[..]),
        2 => plain_pair(&(&x, 1)),
        3 => plain_rows(&[&x, &x]),
        4 => plain_rows(&[same(&x), same(&x)]),
        5 => behind(&x),
        6 => further(&(x, 1)),
        7 => plain_sum(same(&&x)),
        8 => plain_tuple(same(&(x, 1))),
        9 => plain_numbers(&(&own, 1), &&numbers),
        10 => marked_sum(&x) + marked_sum(same(&x)) + behind_marked(&&x),
        _ => pair.1,
    };
    y.store(0, value);
}

#[device]
fn behind_marked(x: &&&[u32]) -> u32 {
    marked_sum(*x)
}

#[test]
fn slices_behind_references_are_announced() {
    let (device, notes) = checking();
    let (x, y) = (device.upload(&[1_u32, 2]), device.room::<u32>(1));
    for which in 0..12 {
        device.run(1, 1, &hand_on(view(&x), view_mut(&y), which)).unwrap();
        let found = notes.take();
        if which > 8 {
            assert_eq!(found, [], "{which}");
        } else {
            assert_eq!(found.len(), 1, "{which}: {found:?}");
            assert_eq!(told(&found[0]).1, Some("x"), "{which}");
        }
    }
}
