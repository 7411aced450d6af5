//! Tests place expressions that a macro rewrites, and atomic types made from pointers. The simulator checks each access
//! and reports it at its own line.

use std::cell::RefCell;
use std::mem::MaybeUninit;

use crate::common::{Device, bounds, download, line, view, view_mut};
use cuda_std::atomic::{AtomicU32, BlockAtomicU32, Ordering};
use cuda_std::{GlobalMut, device, kernel, thread};
use simt::{Checks, Fault, FaultKind, Note, Notes, PointerProblem, Simulator, Space};

/// Returns the line of this file that ends with `comment`.
fn line_of(comment: &str) -> u32 {
    let text = format!("// {comment}");
    include_str!("places.rs").lines().zip(1..).find(|(line, _)| line.ends_with(&text)).unwrap().1
}

/// Reverses 32 numbers, in shared memory as Rust-CUDA declares it.
#[kernel]
#[allow(static_mut_refs, reason = "as Rust-CUDA's examples have it")]
fn turn(y: GlobalMut<u32>, has_barrier: bool, too_far: usize, unwritten: bool) {
    #[address_space(shared)]
    static mut TILE: [u32; 64] = [0; 64];
    #[address_space(shared)]
    static mut ROWS: [[u32; 2]; 32] = [[0; 2]; 32];
    let i = thread::thread_idx_x() as usize;
    // SAFETY: the launch has 64 threads. The test checks the barrier.
    unsafe {
        TILE[i] = i as u32; // tile
        if has_barrier {
            thread::sync_threads();
        }
        let other = TILE[63 - i + too_far]; // other
        if !unwritten {
            ROWS[i / 2][i % 2] = other;
        }
        let row = ROWS[i / 2][i % 2]; // row
        y.store(i, row);
    }
}

#[test]
fn shared_statics_are_reported_at_the_lines_that_access_them() {
    let device = Device::new();
    let y = device.room::<u32>(64);
    let fault =
        |has_barrier, too_far, unwritten| device.fault(1, 64, &turn(view_mut(&y), has_barrier, too_far, unwritten));
    device.run(1, 64, &turn(view_mut(&y), true, 0, false)).unwrap();
    let text = fault(false, 0, false).to_string();
    for comment in ["tile", "other"] {
        assert!(text.contains(&format!("places.rs:{}:", line_of(comment))), "{comment}: {text}");
    }
    assert_eq!(line(&fault(true, 64, false)), line_of("other"));
    assert_eq!(line(&fault(true, 0, true)), line_of("row"));
}

/// Assigns to places within computed values.
#[kernel]
fn computed(y: GlobalMut<u32>) {
    fn make() -> [u32; 2] {
        [0; 2]
    }
    fn list() -> [Box<u32>; 1] {
        [Box::new(5)]
    }
    let cell = RefCell::new(1_u32);
    *cell.borrow_mut() = 7;
    *cell.borrow_mut() += 1;
    *RefCell::new(1_u32).borrow_mut() = 7;
    make()[0] = 3;
    make()[y.len()] += 3;
    *list()[0] = 4;
    *list()[0] += 4;
    MaybeUninit::<u32>::uninit().write(3);
    core::sync::atomic::compiler_fence(Ordering::SeqCst);
    y.store(0, *cell.borrow());
}

#[test]
fn computed_values_may_be_assigned_to() {
    let device = Device::new();
    let y = device.room::<u32>(1);
    device.run(1, 1, &computed(view_mut(&y))).unwrap();
    assert_eq!(download::<u32>(&y), [8]);
}

/// Makes an atomic from a mutable borrow. The borrow counts as a store.
#[kernel]
fn borrowed(y: GlobalMut<u32>) {
    // SAFETY: none: that is what is tested.
    let elements = unsafe { y.as_mut_slice() };
    let element = &mut elements[0];
    // SAFETY: the element is aligned.
    unsafe { AtomicU32::from_ptr(element) }.fetch_add(1, Ordering::Relaxed);
}

#[test]
fn a_mutable_borrow_is_reported_as_one() {
    let device = Device::new();
    let fault = device.fault(1, 2, &borrowed(view_mut(&device.upload(&[0_u32])))).to_string();
    for expected in ["mutable borrow", "&raw mut x[0]"] {
        assert!(fault.contains(expected), "{fault}");
    }
}

/// Accesses a slice that a function returned.
#[kernel]
fn given(x: &[u32], y: GlobalMut<u32>, by: usize, which: u32) {
    let pair = || (x, [x, x]);
    let i = thread::index_1d();
    y.store(
        i,
        match which {
            0 => pair().0[i + by],                // field
            1 => pair().1[1][i + by],             // array
            _ => std::hint::black_box(x)[i + by], // call
        },
    );
}

#[test]
fn what_a_function_has_given_is_reported_where_it_is_accessed() {
    let device = Device::new();
    let (x, y) = (device.upload(&[1_u32; 8]), device.room::<u32>(8));
    for (which, comment) in (0..).zip(["field", "array", "call"]) {
        device.run(1, 8, &given(view(&x), view_mut(&y), 0, which)).unwrap();
        let fault = device.fault(1, 8, &given(view(&x), view_mut(&y), 1, which));
        assert_eq!((line(&fault), bounds(&fault)), (line_of(comment), (Some("x"), 8, 8)), "{fault}");
    }
}

/// Operates atomically on the number that is `by` elements after the pointer.
#[kernel]
fn count(x: *const u32, y: *mut u32, by: usize, which: u32) {
    // SAFETY: none. The test checks that the simulator reports the invalid access.
    unsafe {
        let (x, y) = (x.add(by).cast_mut(), y.add(by));
        match which {
            0 => _ = AtomicU32::from_ptr(y).fetch_add(1, Ordering::Relaxed), // fetch_add
            1 => _ = BlockAtomicU32::from_ptr(y).compare_exchange(0, 1, Ordering::Relaxed, Ordering::Relaxed), // exchange
            2 => AtomicU32::from_ptr(y).store(1, Ordering::Relaxed),                                           // store
            3 => _ = AtomicU32::from_ptr(x).load(Ordering::Relaxed),                                           // load
            _ => _ = AtomicU32::from_ptr(x).fetch_max(1, Ordering::Relaxed), // read-only
        }
    }
}

#[test]
fn atomic_types_by_pointers_are_checked_and_not_announced() {
    let notes = Notes::new();
    for simulator in [Simulator::new().with_checks(Checks::default()).with_notes(notes.clone()), Simulator::new()] {
        let device = Device(simulator);
        let (x, y) = (device.upload(&[1_u32]), device.upload(&[0_u32]));
        let run = |by, which| device.run(1, 1, &count(view(&x), view_mut(&y), by, which));
        for (which, (comment, array)) in
            (0..).zip([("fetch_add", "y"), ("exchange", "y"), ("store", "y"), ("load", "x")])
        {
            run(0, which).unwrap();
            for by in [1, 4, 100] {
                let fault = run(by, which).unwrap_err();
                assert_eq!((line(&fault), bounds(&fault)), (line_of(comment), (Some(array), by, 1)), "{fault}");
            }
        }
        let fault: Fault = run(0, 4).unwrap_err();
        let FaultKind::Pointer(kind) = &fault.kind else { panic!("{fault}") };
        assert_eq!(kind.problem, PointerProblem::ReadOnly { array: "x", index: 0 });
        assert_eq!(line(&fault), line_of("read-only"));
        assert_eq!(download::<u32>(&x), [1]);
    }
    assert_eq!(notes.take(), [] as [Note; 0]);
}

/// Operates atomically on a number in shared memory, `by` elements after the array's start.
#[kernel]
fn count_shared(y: GlobalMut<u32>, by: usize) {
    let counts = cuda_std::shared_array![u32; 2];
    let _next = cuda_std::shared_array![u32; 2];
    counts.store(thread::thread_idx_x() as usize, 0);
    thread::sync_threads();
    // SAFETY: none. The test checks that the simulator reports the invalid access.
    let old = unsafe { AtomicU32::from_ptr(counts.as_mut_ptr().add(by)).fetch_add(1, Ordering::Relaxed) };
    y.store(thread::index_1d(), old);
}

#[test]
fn atomic_types_by_pointers_are_checked_in_shared_memory() {
    let device = Device::new();
    let y = device.room::<u32>(2);
    device.run(1, 2, &count_shared(view_mut(&y), 1)).unwrap();
    let fault = device.fault(1, 2, &count_shared(view_mut(&y), 2));
    assert!(matches!(fault.kind, FaultKind::OutOfBounds { space: Space::Shared, index: 2, len: 2, .. }), "{fault}");
}

/// Reads elements of `x` by patterns and comparisons.
#[kernel]
fn take_apart(x: &[u32], y: GlobalMut<u32>, which: u32) {
    let mut value = 0;
    if which == 0 {
        let [first, ..] = x else { return }; // first
        value = *first;
    } else if which == 1 {
        let elements = x;
        #[rustfmt::skip]
        let last = match elements { [.., last] => *last, [] => 0 }; // last
        value = last;
    } else if which == 3 {
        value = u32::from(x == [1, 2, 3, 4]); // equal
    } else if which == 4 {
        value = u32::from(matches!(&x[1..], [2, _, 4])); // matches
    } else if which == 5 {
        value = u32::from(x[2..] != x[..2]); // parts
    } else if which == 2 {
        #[rustfmt::skip]
        let second = if x.len() > 1 && let &[_, second, ..] = x && let [.., _] = x { second } else { 0 }; // second
        value = second;
    } else if which == 6 {
        value = if let [_, _, _] = x { 7 } else { 8 };
    } else if let [_, rest @ ..] = x {
        value = rest.len() as u32;
    }
    y.store(0, value);
}

#[test]
fn patterns_and_comparisons_of_slices_are_observed() {
    let device = Device::new();
    let (written, y) = (device.upload(&[1_u32, 2, 3, 4]), device.room::<u32>(1));
    for (which, value) in (0..).zip([1, 4, 2, 1, 1, 1, 8, 3]) {
        device.run(1, 1, &take_apart(view(&written), view_mut(&y), which)).unwrap();
        assert_eq!(download::<u32>(&y), [value], "{which}");
    }
    let room = device.room::<u32>(4);
    for (which, comment) in (0..).zip(["first", "last", "second", "equal", "matches", "parts"]) {
        let fault = device.fault(1, 1, &take_apart(view(&room), view_mut(&y), which));
        assert!(matches!(fault.kind, FaultKind::Uninitialised { .. }), "{fault}");
        assert_eq!(line(&fault), line_of(comment), "{fault}");
    }
    for which in 6..8 {
        device.run(1, 1, &take_apart(view(&room), view_mut(&y), which)).unwrap();
    }
}

#[derive(Clone, Copy)]
struct Own<'a> {
    x: &'a [u32],
}

impl Own<'_> {
    fn get(self, i: usize) -> u32 {
        self.x[i]
    }

    fn contains(&self, value: &u32) -> bool {
        self.x[0] == *value
    }
}

#[cuda_std::device]
mod marked {
    impl super::Own<'_> {
        pub(super) fn fill(&self, value: u32) -> u32 {
            self.x[0] + value
        }
    }

    pub fn whole(x: &[u32]) -> &[u32] {
        x
    }
}

/// Calls methods of a user-defined type that have the names of a slice's methods, and std's methods that are not
/// checked.
#[kernel]
fn names_of_slices(x: &[u32], y: GlobalMut<u32>) {
    let own = Own { x };
    let mut sum = own.get(0); // variable
    sum += Own { x }.get(1); // value
    sum += u32::from(own.contains(&1)); // reference
    sum += own.fill(1) + Own { x }.fill(2) + x.get(1).map_or(0, |&x| x) + u32::from((0..4).contains(&sum));
    sum += marked::whole(x).get(1).map_or(0, |&x| x); // result
    sum += x.first().map_or(0, |&x| x); // core
    y.store(0, sum);
}

#[test]
fn methods_of_ones_own_with_names_of_slices_are_announced() {
    let notes = Notes::new();
    let device = Device(Simulator::new().with_checks(Checks::default()).with_notes(notes.clone()));
    let (x, y) = (device.upload(&[1_u32, 2]), device.room::<u32>(1));
    device.run(1, 1, &names_of_slices(view(&x), view_mut(&y))).unwrap();
    let notes = notes.take();
    let found: Vec<_> = notes.iter().map(|note| (note.location.line, note.to_string())).collect();
    let expected =
        [("variable", "get"), ("value", "get"), ("reference", "contains"), ("result", "get"), ("core", "first")];
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for ((line, text), (comment, function)) in found.iter().zip(expected) {
        assert_eq!(*line, line_of(comment), "{text}");
        assert!(text.contains(&format!("the accesses of `{function}` to `x`")) && text.contains("by index"), "{text}");
    }
}

#[device]
fn three() -> u32 {
    3
}

/// Subtracts numbers that are computed or read, with an overflow.
#[kernel]
fn overflow(x: &[u32], y: GlobalMut<u32>, which: u32) {
    let one = x[0];
    let value = match which {
        0 => one - three(),            // computed
        1 => one - x[1],               // read
        2 => x.len() as u32 - three(), // length
        3 => x[0] - x[1],              // both
        _ => x[0] - one,
    };
    y.store(0, value);
}

#[test]
fn overflows_are_reported_at_their_lines() {
    let device = Device::new();
    let (x, y) = (device.upload(&[1_u32, 2]), device.room::<u32>(1));
    for (which, comment) in (0..).zip(["computed", "read", "length", "both"]) {
        let fault = device.fault(1, 1, &overflow(view(&x), view_mut(&y), which));
        assert!(matches!(fault.kind, FaultKind::Panic { .. }), "{fault}");
        assert_eq!(line(&fault), line_of(comment), "{fault}");
    }
    device.run(1, 1, &overflow(view(&x), view_mut(&y), 4)).unwrap();
}
