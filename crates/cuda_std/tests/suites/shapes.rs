//! Tests operators on the results of calls, comparisons and patterns in all forms. Code under `#[device]` must compile
//! like plain code, with the same borrows and inferred types, and must compute the same.

#![allow(clippy::all, irrefutable_let_patterns, reason = "each form is tested")]

use std::ops::{Deref, DerefMut, Index, IndexMut};

use crate::common::{Device, download, view, view_mut};
use cuda_std::{device, kernel, thread};

/// A list of names, whose operators return references to them.
#[derive(Clone, Debug, Default, PartialEq)]
struct Names(Vec<String>);

impl Index<usize> for Names {
    type Output = String;

    fn index(&self, i: usize) -> &String {
        &self.0[i]
    }
}

impl IndexMut<usize> for Names {
    fn index_mut(&mut self, i: usize) -> &mut String {
        &mut self.0[i]
    }
}

impl Deref for Names {
    type Target = [String];

    fn deref(&self) -> &[String] {
        &self.0
    }
}

impl DerefMut for Names {
    fn deref_mut(&mut self) -> &mut [String] {
        &mut self.0
    }
}

fn names() -> Names {
    Names(vec!["one".to_owned(), "two".to_owned()])
}

fn some(names: &mut Names) -> &mut Names {
    names
}

fn length(name: &str) -> usize {
    name.len()
}

/// Declares the same items twice: in a plain module and in one under `#[device]`.
macro_rules! twice {
    ($($items:tt)*) => {
        mod plain {
            use super::*;
            $($items)*
        }

        #[device]
        mod marked {
            use super::*;
            $($items)*
        }
    };
}

twice! {
    pub fn given(which: usize) -> usize {
        let mut own = names();
        // A reference into the result of a call lives to the end of the statement, or of the block.
        let mut sum = length(names()[0].as_str()) + length(&names()[1]) + length(Some(&names()[0]).map_or("", |name| name));
        let kept = &names()[1];
        let (also, more) = (&(*names())[0], &names()[0]);
        sum += length(kept) + length(also) + length(more);
        sum += length(match names()[which] {
            ref name if name.len() > 3 => name.as_str(),
            ref name => &name[1..],
        });
        match names()[0] {
            ref name => sum += name.len(),
        }
        if let "one" = &names()[0][..] {
            sum += 1;
        } else if let [ref first, ..] = *names() {
            sum += first.len();
        } else {
            sum += 2;
        }
        if sum == 0 {
            sum += 1;
        } else if let ref name = names()[which] {
            sum += name.len();
        }
        let ref name = names()[1];
        sum += name.len();
        let [ref first, ref second] = *own else { return 1 };
        sum += first.len() + second.len();
        some(&mut own)[1].push('!');
        *some(&mut own) = some(&mut names()).clone();
        some(&mut own)[0] += "?";
        some(&mut own).0[0] += "?";
        let moved = *Box::new(names()[0].clone());
        let closure = || names()[1].len();
        let lent = |all: &Names| all[0].len();
        let returned: Box<dyn Fn(usize) -> usize> = Box::new(|i| names()[i].len() + moved.len());
        sum += closure() + lent(&own) + returned(0);
        'outer: while let [ref first, ..] = **some(&mut own) {
            if first.len() > 8 {
                break 'outer;
            }
            some(&mut own)[0].push('.');
            if own[0].len() < 8 {
                continue 'outer;
            }
        }
        let iterated: Vec<usize> = names().iter().map(|name| *Some(name.len()).as_ref().unwrap()).collect();
        for i in 0..iterated.len() {
            sum += *iterated.iter().nth(i).unwrap();
        }
        sum + own[0].len()
    }

    pub fn compared(x: &[u32], own: &Names) -> u32 {
        let mut sum = 0;
        let least = Default::default();
        let mut best = None;
        let equals_least = least == 3_u8 || least < 3;
        let _: u8 = least;
        sum += u32::from(equals_least);
        let mut all = Vec::new();
        let equal = |a, b| a == b;
        let pair = |a, b| (a, 1) < (b, 2) && [a, a] <= [b, b];
        let ordered = |a: &u32, b: &u32| *a < *b;
        sum += u32::from(equal(x.len(), 3)) + u32::from(pair(2_i8, 3)) + u32::from(ordered(&1, &2));
        sum += u32::from(best == all.pop());
        all.push((x[0], "text"));
        best = best.or(all.pop());
        sum += u32::from(best == Some((x[0], "text"))) + u32::from((names(), 1) == (own.clone(), 1));
        sum += u32::from(&names() == own) + u32::from(names() != Names::default()) + u32::from(*own == names());
        sum += u32::from([&names()] == [own]) + u32::from(Ok::<_, ()>(names()) == Ok(own.clone()));
        sum += u32::from((own[0].as_str(), 'a') == ("one", 'a')) + u32::from(x.iter().max() > x.first());
        sum += u32::from(x.get(..2) == Some(&x[..2])) + u32::from(names().0.pop().as_deref() == Some("two"));
        sum += x.iter().filter(|&&v| (v, 0) > (1, 5)).count() as u32;
        assert_eq!(own[0], "one", "{}", own[1]);
        assert_eq!((own, x.len()), (&names(), 3));
        assert_ne!(names()[0], *names()[1]);
        debug_assert_eq!(x[..2], [1, 2]);
        let checked = |v| assert_eq!(v, 3);
        checked(3);
        match sum {
            0 => assert_eq!(x, [0; 0]),
            _ => assert_ne!(names().len(), x.len()),
        }
        sum
    }

    pub fn handed(own: &Names, x: &[u32]) -> usize {
        fn count(all: &(&&[u32], usize)) -> usize {
            all.0.len() + all.1
        }
        fn counts(all: &[&&[u32]]) -> usize {
            all.len()
        }
        fn inferred<T: Default + PartialEq>(all: &&T) -> bool {
            **all == T::default()
        }
        let unknown = Default::default();
        let sum = count(&(&x, 1)) + counts(&[&x, &&x[1..]]) + usize::from(inferred::<u64>(&&unknown));
        sum + length(&&own[0]) + usize::from(inferred(&&Some(&x[..]))) + Some(&&own[1]).map_or(0, |name| name.len())
    }
}

#[test]
fn marked_code_computes_the_same() {
    let x = [1, 2, 3];
    assert_eq!(marked::given(0), plain::given(0));
    assert_eq!(marked::given(1), plain::given(1));
    assert_eq!(marked::compared(&x, &names()), plain::compared(&x, &names()));
    assert_eq!(marked::handed(&names(), &x), plain::handed(&names(), &x));
}

#[derive(Clone, Copy, cuda_std::DeviceCopy)]
struct Wrapped {
    n: u32,
}

/// Stores structure literals directly in a buffer, in a function with a named lifetime.
#[kernel]
fn stores_structures<'a>(x: &'a [u32], y: *mut Wrapped) {
    let i = thread::index_1d() as usize;
    let first: &'a u32 = &x[i];
    // SAFETY: the tests pass as many elements as threads.
    unsafe {
        *y.add(i) = Wrapped { n: *first };
        y.add(i).write(Wrapped { n: (*y.add(i)).n + 1 });
        let all = core::slice::from_raw_parts_mut(y.add(i), 1);
        all[0] = Wrapped { n: all[0].n * 2 };
    }
}

#[test]
fn structures_are_stored_as_they_are_written() {
    let device = Device::new();
    let (x, y) = (device.upload(&[3_u32, 4]), device.room::<u32>(2));
    device.run(1, 2, &stores_structures(view(&x), view_mut(&y))).unwrap();
    assert_eq!(download::<u32>(&y), [8, 10]);
}
