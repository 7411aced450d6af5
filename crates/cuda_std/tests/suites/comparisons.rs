//! Tests comparisons of slices and of values that contain slices. The simulator checks them or reports them as not
//! checked.

#![allow(
    clippy::eq_op,
    clippy::op_ref,
    clippy::redundant_slicing,
    clippy::partialeq_to_none,
    reason = "each form is tested"
)]

use std::cmp::Ordering;

use crate::common::{Device, download, line, view, view_mut};
use cuda_std::{GlobalMut, device, kernel};
use simt::{Checks, FaultKind, NoteKind, Notes, Simulator};

#[device]
mod own {
    /// A slice in a structure, with methods that return the slice.
    #[derive(Clone, Copy)]
    pub struct Named<'a> {
        pub x: &'a [u32],
    }

    impl<'a> Named<'a> {
        pub fn tail(&self) -> &'a [u32] {
            &self.x[1..]
        }

        pub fn both(&self) -> Option<&'a [u32]> {
            assert_eq!(self.x.len(), self.x[..].len(), "the length of the whole range");
            assert_eq!(self.x, self.x);
            Some(self.x)
        }
    }

    impl PartialEq for Named<'_> {
        fn eq(&self, other: &Self) -> bool {
            self.x[0] == other.x[0]
        }
    }

    pub fn same(x: &[u32]) -> &[u32] {
        x
    }

    pub fn rows(x: &[[u32; 2]]) -> &[[u32; 2]] {
        x
    }
}

/// A structure like [`own::Named`], whose comparison operator is not under `#[device]`.
#[derive(Clone, Copy, PartialEq)]
struct Plain<'a> {
    x: &'a [u32],
}

/// Compares slices in several ways. The checker sees every access of these expressions.
#[kernel]
fn compare(x: &[u32], y: GlobalMut<u32>, which: u32) {
    let named = own::Named { x };
    let equal = |a, b| a == b; // untyped
    let less = |a, b| (a, 1) < (b, 1); // untyped parts
    let value = match which {
        0 => (x, 1) == (x, 1),                  // tuple
        1 => [x, x] == [x, x],                  // array
        2 => Some(x) == Some(x),                // option
        3 => (1, Some(&x[1..])) < (1, Some(x)), // part
        4 => named.tail() == x,                 // method
        5 => x[1..] == *named.tail(),           // place
        6 => (own::same(x), 1) > (x, 0),        // call
        7 => equal(x, x),
        8 => less(x, x),
        9 => &(x, x) == &(x, x), // reference
        10 => {
            assert_eq!(x, x); // assertion
            true
        }
        11 => {
            assert_ne!(named.tail(), x); // assertion of a method
            true
        }
        _ => (x, 1) == (x, 1) && equal(named.tail(), x),
    };
    y.store(0, value as u32);
}

fn line_of(comment: &str) -> u32 {
    let text = format!("// {comment}");
    include_str!("comparisons.rs").lines().zip(1..).find(|(line, _)| line.ends_with(&text)).unwrap().1
}

#[test]
fn slices_are_read_wherever_they_are_compared() {
    let notes = Notes::new();
    let device = Device(Simulator::new().with_checks(Checks::default()).with_notes(notes.clone()));
    let y = device.room::<u32>(1);
    let comments = [
        "tuple",
        "array",
        "option",
        "part",
        "method",
        "place",
        "call",
        "untyped",
        "untyped parts",
        "reference",
        "assertion",
        "assertion of a method",
    ];
    for (which, comment) in (0..).zip(comments) {
        let x = device.room::<u32>(3);
        // SAFETY: the memory has three elements, and no kernel runs.
        unsafe { x.as_ptr().cast::<[u32; 3]>().write([1; 3]) };
        x.note_written(0, 8);
        let call = compare(view(&x), view_mut(&y), which);
        let fault = device.run(1, 1, &call).expect_err(comment);
        assert!(matches!(fault.kind, FaultKind::Uninitialised { index: 2, .. }), "{comment}: {fault}");
        assert_eq!(line(&fault), line_of(comment), "{fault}");
        x.note_written(8, 4);
        device.run(1, 1, &call).unwrap();
    }
    assert_eq!(notes.take(), []);
}

/// Compares values that contain slices, by expressions whose accesses are not checked.
#[kernel]
fn compare_unseen(x: &[u32], rows: &[[u32; 2]], y: GlobalMut<u32>) {
    let (pair, option, both, result) = ((x, 1), Some(x), [x, x], Ok::<_, u32>(x));
    let mut equal = 0;
    equal += u32::from(pair == (x, 1)); // tuple variable
    equal += u32::from(option == Some(x)); // option variable
    equal += u32::from(Some(&x[..]) == x.get(..)); // get
    equal += u32::from(both == [x, x]); // array variable
    equal += u32::from(result <= Ok(x)); // result
    equal += u32::from(own::Named { x }.both() == option); // option of a method
    equal += u32::from(own::rows(rows) == rows); // rows
    equal += u32::from(Some(Plain { x }) == Some(Plain { x })); // own
    equal += u32::from((Plain { x }, 1) == (Plain { x }, 1)); // own in a tuple
    let own = (Plain { x }, 1);
    equal += u32::from(own == own); // own in a variable
    y.store(0, equal);
}

#[test]
fn what_is_not_seen_of_comparisons_is_announced() {
    let notes = Notes::new();
    let device = Device(Simulator::new().with_checks(Checks::default()).with_notes(notes.clone()));
    let (x, rows, y) = (device.upload(&[1_u32, 2]), device.upload(&[[1_u32, 2]]), device.room::<u32>(1));
    device.run(1, 1, &compare_unseen(view(&x), view(&rows), view_mut(&y))).unwrap();
    let found = notes.take();
    let comments = [
        ("tuple variable", "x"),
        ("option variable", "x"),
        ("get", "x"),
        ("array variable", "x"),
        ("result", "x"),
        ("option of a method", "x"),
        ("rows", "rows"),
        ("own", "x"),
        ("own in a tuple", "x"),
        ("own in a variable", "x"),
    ];
    let lines: Vec<_> = found.iter().map(|note| note.location.line).collect();
    assert_eq!(lines, comments.map(|(comment, _)| line_of(comment)));
    for (note, (comment, name)) in found.iter().zip(comments) {
        let operator = if comment == "result" { "PartialOrd" } else { "PartialEq" };
        let NoteKind::NotChecked { function, array } = note.kind else { panic!("{note}") };
        assert_eq!((function, array), (operator, Some(name)), "{note}");
    }
    assert_eq!(download::<u32>(&y), [10]);
}

/// Compares numbers, addresses, values of types under `#[device]`, and values of inferred types.
#[kernel]
fn compare_seen(x: &[u32], p: *const u32, y: GlobalMut<u32>) {
    let numbers = (1_u64, [2_u64, 3], Some(4_u64));
    let named = own::Named { x };
    let (some, made) = (Some(named), (named, 1));
    let mut equal = 0;
    equal += u32::from(numbers == (1, [2, 3], Some(4)));
    equal += u32::from(numbers.1 == [2, 3] && numbers.2 == Some(4) && Some(5_u32) > None);
    equal += u32::from((p, x.as_ptr()) == (x.as_ptr(), p) && Some(p) == Some(x.as_ptr()));
    equal += u32::from(1.cmp(&2) == Ordering::Less && x.len().checked_sub(1) == Some(x.len() - 1));
    equal += u32::from(some == Some(named) && made == (named, 1) && (named, 2) != made);
    equal += u32::from(x.get(..) != None && named.both() != None);
    let mut best = None;
    let mut all = Vec::new();
    equal += u32::from(best == all.pop());
    all.push(3_u8);
    best = best.or(all.pop());
    let least = Default::default();
    equal += u32::from(best > Some(least) && least == 0_u8 && x.iter().copied().max() == Some(2));
    equal += u32::from(y.len() == "1".parse::<usize>().unwrap() && x[0] == x.iter().take(1).sum::<u32>());
    let into = |a, b: u64| a == b;
    y.store(0, equal + u32::from(into(1, 1)));
}

#[test]
fn other_comparisons_are_not_announced() {
    let notes = Notes::new();
    let device = Device(Simulator::new().with_checks(Checks::default()).with_notes(notes.clone()));
    let (x, y) = (device.upload(&[1_u32, 2]), device.room::<u32>(1));
    device.run(1, 1, &compare_seen(view(&x), view(&x), view_mut(&y))).unwrap();
    assert_eq!(notes.take(), []);
    assert_eq!(download::<u32>(&y), [10]);
}
