//! Tests pointers and slices that a kernel passes to a function without `#[device]`. The simulator notes that it does
//! not check the function's accesses.

use crate::common::{Device, download, line, view, view_mut};
use cuda_std::{GlobalMut, device, kernel, thread};
use simt::{Checks, FaultKind, Note, NoteKind, Notes, Simulator};

fn plain_sum(x: &[u32]) -> u32 {
    x.iter().sum()
}

/// # Safety
/// `y` must be valid for a write.
unsafe fn plain_set(y: *mut u32, value: u32) {
    // SAFETY: the caller guarantees a valid pointer.
    unsafe { *y = value };
}

#[device]
fn marked_sum(x: &[u32], start: u32) -> u32 {
    let mut sum = start;
    for i in 0..x.len() {
        sum += x[i];
    }
    sum
}

#[device]
mod marked {
    pub struct Pair {
        pub y: *mut u32,
    }

    impl Pair {
        pub fn set(&self, value: u32) {
            // SAFETY: the tests pass a pointer to an element.
            unsafe { *self.y = value };
        }

        pub fn set_at(&self, y: *mut u32, value: u32) {
            // SAFETY: the tests pass a pointer to an element.
            unsafe { y.write(value) };
        }
    }

    pub trait Doubled {
        fn doubled(&self) -> u32;
    }

    impl Doubled for [u32] {
        fn doubled(&self) -> u32 {
            2 * self[0]
        }
    }

    pub fn nested(x: &[u32], y: *mut u32) {
        fn inner(y: *mut u32, value: u32) {
            // SAFETY: the tests pass a pointer to an element.
            unsafe { *y = value };
        }
        inner(y, super::marked_sum(x, x[0]));
    }
}

trait Tripled {
    fn tripled(&self) -> u32;
}

impl Tripled for [u32] {
    fn tripled(&self) -> u32 {
        3 * self[0]
    }
}

/// Passes its parameters only to functions under `#[device]` and to functions that access nothing.
#[kernel]
fn all_marked(x: &[u32], y: *mut u32) {
    use marked::Doubled as _;
    let i = thread::index_1d();
    if i == 0 {
        let own = |x: &[u32]| x[1];
        let pair = marked::Pair { y };
        let value = marked_sum(x, marked_sum(&x[1..], 0)) + x.doubled() + own(x);
        pair.set(value);
        let first = x.len() as u32 + u32::from(x.is_empty()) + x.iter().copied().max().unwrap_or(0);
        // SAFETY: the buffer has two elements.
        pair.set_at(unsafe { y.add(1) }, first);
        marked::nested(x, y);
        let _address = x.as_ptr();
        assert!(!y.is_null());
    }
}

/// Passes its parameters also to functions without `#[device]`.
#[kernel]
fn some_unmarked(x: &[u32], y: *mut u32) {
    let value = marked_sum(x, plain_sum(x)); // sum
    let more = plain_sum(&x[1..]) + x.tripled(); // more
    // SAFETY: the tests pass two elements.
    unsafe { plain_set(y.add(1), value + more) }; // set
    // SAFETY: the tests pass two elements.
    unsafe { *y = *y.add(1) };
}

/// Returns the function, the array and the source line of a note.
fn told(note: Note) -> (&'static str, Option<&'static str>, u32) {
    match note.kind {
        NoteKind::NotChecked { function, array } => (function, array, note.location.line),
        _ => panic!("{note}"),
    }
}

fn checking() -> (Device, Notes) {
    let notes = Notes::new();
    (Device(Simulator::new().with_checks(Checks::default()).with_notes(notes.clone())), notes)
}

fn line_of(comment: &str) -> u32 {
    let text = format!("// {comment}");
    include_str!("handed_over.rs").lines().zip(1..).find(|(line, _)| line.ends_with(&text)).unwrap().1
}

#[test]
fn marked_functions_are_not_announced() {
    let (device, notes) = checking();
    let (x, y) = (device.upload(&[1_u32, 2]), device.room::<u32>(2));
    device.run(1, 32, &all_marked(view(&x), view_mut(&y))).unwrap();
    assert_eq!(notes.take(), []);
    assert_eq!(download::<u32>(&y), [4, 4]);
}

#[test]
fn functions_that_are_not_marked_are_announced_once_per_launch() {
    let (device, notes) = checking();
    let (x, y) = (device.upload(&[1_u32, 2]), device.room::<u32>(2));
    for _ in 0..2 {
        device.run(1, 1, &some_unmarked(view(&x), view_mut(&y))).unwrap();
        let found: Vec<_> = notes.take().into_iter().map(told).collect();
        let expected = [
            ("plain_sum", Some("x"), line_of("sum")),
            ("plain_sum", Some("x"), line_of("more")),
            ("tripled", Some("x"), line_of("more")),
            ("plain_set", Some("y"), line_of("set")),
        ];
        assert_eq!(found, expected);
    }
    assert_eq!(download::<u32>(&y), [3 + 3 + 2 + 3; 2]);
    // A device without checks prints no notes.
    let device = Device(Simulator::new().with_notes(notes.clone()));
    device.run(1, 1, &some_unmarked(view(&x), view_mut(&y))).unwrap();
    assert_eq!(notes.take(), []);
}

#[test]
fn a_note_says_what_to_do() {
    let (device, notes) = checking();
    let (x, y) = (device.upload(&[1_u32, 2]), device.room::<u32>(2));
    device.run(1, 1, &some_unmarked(view(&x), view_mut(&y))).unwrap();
    let text = notes.take()[0].to_string();
    for part in ["kernel `some_unmarked`", "handed_over.rs:", "`plain_sum`", "to `x`", "#[cuda_std::device]"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// Dereferences a wild pointer in a function without `#[device]`.
#[kernel]
fn wild(address: usize, y: GlobalMut<u32>) {
    let pointer = address as *mut u32;
    y.store(0, 1);
    // SAFETY: none. The test checks that the simulator reports the invalid access.
    unsafe { plain_set(pointer, 1) }; // wild
}

#[test]
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
fn a_wild_pointer_in_an_unmarked_function_is_a_fault_at_its_call() {
    let (device, notes) = checking();
    let y = device.room::<u32>(1);
    let address = 0x5000_0000_0000;
    let fault = device.fault(1, 1, &wild(address, view_mut(&y)));
    assert_eq!(fault.kind, FaultKind::Unseen { address });
    assert_eq!(line(&fault), line_of("wild"), "{fault}");
    assert_eq!(told(notes.take().remove(0)).0, "plain_set");
}
