//! Tests operators of user-defined types that contain pointers. The simulator checks the accesses of operators under
//! `#[device]`, and reports other operators as not checked.

use crate::common::{Device, download, view_mut};
use cuda_std::{Call, GlobalMut, device, kernel};
use simt::memory::Allocation;
use simt::{Checks, Note, NoteKind, Notes, Simulator};

/// Declares a type with operators in a module, with or without `#[device]`.
macro_rules! elements {
    ($(#[$mark:meta])? $module:ident) => {
        $(#[$mark])?
        mod $module {
            use std::cmp::Ordering;
            use std::ops::{Add, AddAssign, Deref, DerefMut, Index, IndexMut, Mul, Neg};

            /// A pointer to elements of a buffer, and the number of elements.
            #[derive(Clone, Copy)]
            pub struct Elements {
                pub start: *mut u32,
                pub len: usize,
            }

            impl Index<usize> for Elements {
                type Output = u32;

                fn index(&self, i: usize) -> &u32 {
                    // SAFETY: the tests pass a pointer to enough elements.
                    unsafe { &*self.start.add(i) }
                }
            }

            impl IndexMut<usize> for Elements {
                fn index_mut(&mut self, i: usize) -> &mut u32 {
                    // SAFETY: the tests pass a pointer to enough elements.
                    unsafe { &mut *self.start.add(i) }
                }
            }

            impl Deref for Elements {
                type Target = u32;

                fn deref(&self) -> &u32 {
                    // SAFETY: the tests pass a pointer to enough elements.
                    unsafe { &*self.start }
                }
            }

            impl DerefMut for Elements {
                fn deref_mut(&mut self) -> &mut u32 {
                    // SAFETY: the tests pass a pointer to enough elements.
                    unsafe { &mut *self.start }
                }
            }

            impl PartialEq for Elements {
                fn eq(&self, other: &Self) -> bool {
                    // SAFETY: the tests pass a pointer to enough elements.
                    unsafe { *self.start == *other.start }
                }
            }

            impl PartialOrd for Elements {
                fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                    // SAFETY: the tests pass a pointer to enough elements.
                    unsafe { (*self.start).partial_cmp(&*other.start) }
                }
            }

            impl Add for Elements {
                type Output = u32;

                fn add(self, other: Self) -> u32 {
                    // SAFETY: the tests pass a pointer to enough elements.
                    unsafe { *self.start + *other.start }
                }
            }

            impl Mul<Elements> for u32 {
                type Output = u32;

                fn mul(self, other: Elements) -> u32 {
                    // SAFETY: the tests pass a pointer to enough elements.
                    self * unsafe { *other.start }
                }
            }

            impl AddAssign<u32> for Elements {
                fn add_assign(&mut self, by: u32) {
                    // SAFETY: the tests pass a pointer to enough elements.
                    unsafe { *self.start += by };
                }
            }

            impl Neg for Elements {
                type Output = u32;

                fn neg(self) -> u32 {
                    // SAFETY: the tests pass a pointer to enough elements.
                    unsafe { !*self.start }
                }
            }

            impl Iterator for Elements {
                type Item = u32;

                fn next(&mut self) -> Option<u32> {
                    if self.len == 0 {
                        return None;
                    }
                    self.len -= 1;
                    // SAFETY: the tests pass a pointer to enough elements.
                    Some(unsafe { *self.start.add(self.len) })
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

/// Declares a kernel that applies each operator to a value of type `Elements`.
macro_rules! operating {
    ($name:ident $module:ident) => {
        #[kernel]
        fn $name(x: *mut u32, y: GlobalMut<u32>, which: u32) {
            let mut all = $module::Elements { start: x, len: 2 };
            // SAFETY: the tests pass two elements.
            let rest = $module::Elements { start: unsafe { x.add(1) }, len: 1 };
            let pair = [all, rest];
            let value = match which {
                0 => all[1],
                1 => *all,
                2 => (all == rest) as u32,
                3 => (all < rest) as u32,
                4 => all + rest,
                5 => 2 * all,
                6 => {
                    all += 1;
                    7
                }
                7 => -all,
                8 => {
                    let mut sum = 0;
                    for value in all {
                        sum += value;
                    }
                    sum
                }
                9 => {
                    all[1] = 8;
                    8
                }
                10 => {
                    *all = 9;
                    9
                }
                11 => {
                    all[0] += 1;
                    10
                }
                12 => pair[1][0],
                13 => *pair[0],
                14 => pair[0] + pair[1],
                15 => *&all[0],
                16 => match all[0] {
                    1 => 1,
                    _ => 0,
                },
                17 => all[0].count_ones(),
                18 => {
                    assert_eq!(all[0], 1);
                    1
                }
                19 => std::convert::identity(all) + rest,
                20 => 1 + *all,
                _ => {
                    if let 1 = all[0] {
                        1
                    } else {
                        0
                    }
                }
            };
            y.store(0, value);
        }
    };
}

operating!(operate_plainly plain);
operating!(operate marked);

const OPERATORS: [&str; 22] = [
    "Index",
    "Deref",
    "PartialEq",
    "PartialOrd",
    "Add",
    "Mul",
    "AddAssign",
    "Neg",
    "Iterator",
    "Index",
    "Deref",
    "Index",
    "Index",
    "Deref",
    "Add",
    "Index",
    "Index",
    "Index",
    "Index",
    "Add",
    "Deref",
    "Index",
];

fn checking() -> (Device, Notes) {
    let notes = Notes::new();
    (Device(Simulator::new().with_checks(Checks::default()).with_notes(notes.clone())), notes)
}

/// An operator's trait and the array in a note.
type Told = (&'static str, Option<&'static str>);

fn told(note: Note) -> Told {
    let lines = include_str!("operators.rs").lines().zip(1..);
    let (_, start) = lines.clone().find(|(text, _)| text.contains("let value = match which {")).unwrap();
    assert!((start..start + 70).contains(&note.location.line), "not at the operator's line: {note}");
    assert!(note.to_string().ends_with("mark its `impl` with `#[cuda_std::device]`"), "{note}");
    match note.kind {
        NoteKind::NotChecked { function, array } => (function, array),
        _ => panic!("{note}"),
    }
}

/// Runs a kernel, and returns its notes and the contents of `x` and `y` afterwards.
fn run<'a>(
    (device, notes): &(Device, Notes),
    (x, y): (&'a Allocation, &'a Allocation),
    call: impl FnOnce(GlobalMut<'a, u32>, GlobalMut<'a, u32>) -> Call<'a>,
) -> (Vec<Told>, [Vec<u32>; 2]) {
    device.run(1, 1, &call(view_mut(x), view_mut(y))).unwrap();
    (notes.take().into_iter().map(told).collect(), [x, y].map(download))
}

#[test]
fn operators_that_are_not_marked_are_announced_and_others_are_not() {
    let checking = checking();
    let device = &checking.0;
    for (which, operator) in (0..).zip(OPERATORS) {
        let memory = || (device.upload(&[1_u32, 2]), device.room::<u32>(1));
        let (x, y) = memory();
        let (found, left) = run(&checking, (&x, &y), |x, y| operate_plainly(x, y, which));
        assert!(!found.is_empty() && found.iter().all(|note| *note == (operator, Some("x"))), "{which}: {found:?}");
        let (x, y) = memory();
        let (found, same) = run(&checking, (&x, &y), |x, y| operate(x, y, which));
        assert_eq!(found, [], "{which}");
        assert_eq!(left, same, "{which}");
    }
}

/// A user-defined number that consists of two numbers and contains no pointers.
#[derive(Clone, Copy, PartialEq, PartialOrd, cuda_std::DeviceCopy)]
#[repr(C)]
struct Complex {
    re: f64,
    im: f64,
}

impl std::ops::Add for Complex {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { re: self.re + other.re, im: self.im + other.im }
    }
}

impl std::ops::Index<usize> for Complex {
    type Output = f64;

    fn index(&self, i: usize) -> &f64 {
        if i == 0 { &self.re } else { &self.im }
    }
}

/// Applies operators to numbers in a kernel that also has a value with pointers.
#[kernel]
fn add_numbers(x: *const Complex, y: *mut Complex, z: *mut u32) {
    let kept = marked::Elements { start: z, len: 1 };
    // SAFETY: each pointer that the tests pass points to one element.
    let (a, b) = unsafe { (*x, *y) };
    let sum = a + b;
    let pair = [sum, a];
    // SAFETY: each pointer that the tests pass points to one element.
    unsafe {
        *y = pair[0] + pair[1] + *x;
        if sum > a && sum[0] == pair[1][1] && a == pair[1] {
            *z = *kept + 1;
        }
    }
}

#[test]
fn operators_of_numbers_are_not_announced() {
    let (device, notes) = checking();
    let number = [Complex { re: 1.0, im: 2.0 }];
    let (x, y, z) = (device.upload(&number), device.upload(&number), device.upload(&[1_u32]));
    device.run(1, 1, &add_numbers(crate::common::view(&x), view_mut(&y), view_mut(&z))).unwrap();
    assert_eq!(notes.take(), []);
    assert!(download::<Complex>(&y) == [Complex { re: 4.0, im: 8.0 }]);
    assert_eq!(download::<u32>(&z), [2]);
}
