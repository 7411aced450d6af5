//! Tests accesses that the macros cannot see in the source. The simulator finds them by guarding the pages of the
//! memory.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::hint::black_box;
use std::ops::Deref;

use crate::common::{Device, download, view, view_mut};
use cuda_std::{Global, GlobalMut, device, kernel, shared_array, thread};
use simt::{Checks, FaultKind, Note, NoteKind, Notes, Simulator};

/// Reads an element at an address that the macros cannot recognise as a pointer.
fn hidden_read(address: usize, index: usize) -> u32 {
    // SAFETY: the tests pass the address of a buffer with enough elements.
    unsafe { *black_box(address as *const u32).add(index) }
}

fn hidden_write(address: usize, index: usize, value: u32) {
    // SAFETY: the tests pass the address of a buffer with enough elements.
    unsafe { *black_box(address as *mut u32).add(index) = value }
}

#[device]
fn seen_write(y: *mut u32, index: usize, value: u32) {
    // SAFETY: the tests pass the address of a buffer with enough elements.
    unsafe { *y.add(index) = value };
}

#[kernel]
fn reads_hidden(x: &[u32], y: *mut u32) {
    let i = thread::index_1d() as usize;
    seen_write(y, i, x[i]);
    let address = x.as_ptr() as usize;
    seen_write(y, i, hidden_read(address, (i + 1) % 64)); // read
}

#[kernel]
fn writes_hidden(x: &[u32], y: *mut u32) {
    let i = thread::index_1d() as usize;
    hidden_write(y as usize, i, x[i]);
    // Memory counts as written if a function that is not checked may have written it. SAFETY: the tests pass the
    // address of a buffer with enough elements.
    let value = unsafe { *y.add(i) };
    seen_write(y, i, value + 1);
}

struct Held(usize);

struct Pair {
    first: u32,
    second: u32,
}

impl Deref for Held {
    type Target = Pair;

    fn deref(&self) -> &Pair {
        // SAFETY: the tests pass the address of a buffer with enough elements.
        unsafe { &*black_box(self.0 as *const Pair) }
    }
}

/// Lets only the last thread make an access that the macros cannot see, after many accesses that they see.
#[kernel]
fn one_thread_dereferences(x: &[u32], y: GlobalMut<u32>) {
    let held = Held(x.as_ptr() as usize);
    let i = thread::index_1d() as usize;
    for _ in 0..10 {
        y.store(i, x[i]);
    }
    if i == 63 {
        y.store(i, x[0]); // last
        y.store(i, held.second + held.first);
    }
}

/// Keeps references to elements whose accesses were reported, and uses them later.
#[kernel]
fn all_seen(x: &[u32], y: *mut u32) {
    let i = thread::index_1d() as usize;
    let first = &x[i];
    seen_write(y, i, 0);
    for other in x {
        // SAFETY: the tests pass the address of a buffer with enough elements.
        unsafe { *y.add(i) += *other * *first };
    }
    // SAFETY: the tests pass the address of a buffer with enough elements.
    let own = unsafe { &mut *y.add(i) };
    *own += black_box(*first);
    let (mut copy, len) = ([0; 64], x.len().min(64));
    // SAFETY: both arrays have `len` elements.
    unsafe { std::ptr::copy_nonoverlapping(x.as_ptr(), copy.as_mut_ptr(), len) };
    *own += copy[i % 64];
}

/// Reads through a reference parameter, whose elements must be initialised when the kernel begins.
#[kernel]
fn sums_referred(
    weights: &[u32; 4], // referred
    y: *mut u32,
) {
    let sum = weights.iter().sum();
    seen_write(y, thread::index_1d() as usize, sum);
}

/// Reads a shared array by an access that the macros cannot see, and another array by a visible access.
#[kernel]
fn reads_hidden_of_shared(x: &[u32], y: *mut u32) {
    let tile = shared_array![u32; 64];
    let i = thread::index_in_block() as usize;
    tile.store(i, x[i]);
    thread::sync_threads();
    let more = shared_array![u32; 4];
    if i < 4 {
        more.store(i, tile.load(i) + 1);
    }
    thread::sync_threads();
    let base = tile.as_mut_ptr() as usize;
    seen_write(y, i, more.load(0)); // before
    seen_write(y, i, hidden_read(base, (i + 1) % 64)); // shared
}

#[kernel]
fn views_alone(x: Global<u32>, y: GlobalMut<u32>) {
    let i = thread::index_1d() as usize;
    let own = black_box(7);
    y.store(i, x.load(i) + hidden_read((&raw const own).addr(), 0));
}

fn notes(run: impl Fn(&Device)) -> Vec<Note> {
    let notes = Notes::new();
    run(&Device(Simulator::new().with_checks(Checks::default()).with_notes(notes.clone())));
    notes.take()
}

/// Returns the array of a note, `true` if the array was written, and the nearest known line.
fn told(note: &Note) -> (Option<&'static str>, bool, u32) {
    match note.kind {
        NoteKind::Unseen { array, is_written, .. } => (array.map(|(name, _)| name), is_written, note.location.line),
        _ => panic!("{note}"),
    }
}

fn line_of(comment: &str) -> u32 {
    let text = format!("// {comment}");
    include_str!("unseen.rs").lines().zip(1..).find(|(line, _)| line.ends_with(&text)).unwrap().1
}

fn numbers() -> Vec<u32> {
    (0..64).collect()
}

#[test]
fn a_hidden_read_is_announced_once() {
    let found = notes(|device| {
        let (x, y) = (device.upload(&numbers()), device.room::<u32>(64));
        for _ in 0..2 {
            device.run(2, 32, &reads_hidden(view(&x), view_mut(&y))).unwrap();
        }
        assert_eq!(download::<u32>(&y)[..3], [1, 2, 3]);
    });
    let found: Vec<_> = found.iter().map(told).collect();
    assert_eq!(found, [(Some("x"), false, line_of("read")); 2]);
}

#[test]
fn a_hidden_write_is_announced_and_counts() {
    let found = notes(|device| {
        let (x, y) = (device.upload(&numbers()), device.room::<u32>(64));
        device.run(1, 64, &writes_hidden(view(&x), view_mut(&y))).unwrap();
        assert_eq!(download::<u32>(&y)[..3], [1, 2, 3]);
    });
    assert_eq!(found.iter().map(|note| told(note).0).collect::<Vec<_>>(), [Some("y")]);
    assert!(told(&found[0]).1, "{}", found[0]);
}

#[test]
fn what_one_thread_alone_does_is_announced() {
    let found = notes(|device| {
        let (x, y) = (device.upload(&numbers()), device.room::<u32>(64));
        device.run(2, 32, &one_thread_dereferences(view(&x), view_mut(&y))).unwrap();
        assert_eq!(download::<u32>(&y)[63], 1);
    });
    assert_eq!(found.iter().map(told).collect::<Vec<_>>(), [(Some("x"), false, line_of("last"))]);
}

#[test]
fn what_is_told_of_is_not_announced() {
    let found = notes(|device| {
        let (x, y) = (device.upload(&numbers()), device.room::<u32>(64));
        device.run(2, 32, &all_seen(view(&x), view_mut(&y))).unwrap();
        device.run(2, 32, &views_alone(view(&x), view_mut(&y))).unwrap();
        assert_eq!(download::<u32>(&y)[1], 8);
    });
    assert_eq!(found, []);
}

#[test]
fn a_hidden_read_of_shared_memory_is_announced() {
    let found = notes(|device| {
        let (x, y) = (device.upload(&numbers()), device.room::<u32>(64));
        device.run(1, 64, &reads_hidden_of_shared(view(&x), view_mut(&y))).unwrap();
        assert_eq!(download::<u32>(&y)[..3], [1, 2, 3]);
    });
    assert_eq!(found.iter().map(told).collect::<Vec<_>>(), [(Some("tile"), false, line_of("shared"))]);
}

#[test]
fn what_a_reference_shows_is_read() {
    let found = notes(|device| {
        let y = device.room::<u32>(64);
        device.run(2, 32, &sums_referred(view(&device.upload(&[1_u32, 2, 3, 4])), view_mut(&y))).unwrap();
        assert_eq!(download::<u32>(&y)[63], 10);
        let fault = device.fault(2, 32, &sums_referred(view(&device.room::<u32>(4)), view_mut(&y)));
        assert!(matches!(fault.kind, FaultKind::Uninitialised { .. }), "{fault}");
        assert_eq!(fault.location.unwrap().line, line_of("referred"));
    });
    assert_eq!(found, []);
}

#[test]
fn all_hostile_orders_find_it() {
    for schedule in simt::Schedule::HOSTILE {
        let notes = Notes::new();
        let device =
            Device(Simulator::new().with_checks(Checks::default()).with_schedule(schedule).with_notes(notes.clone()));
        let (x, y) = (device.upload(&numbers()), device.room::<u32>(64));
        device.run(2, 32, &reads_hidden(view(&x), view_mut(&y))).unwrap();
        device.run(2, 32, &all_seen(view(&x), view_mut(&y))).unwrap();
        assert_eq!(notes.take().iter().map(|note| told(note).0).collect::<Vec<_>>(), [Some("x")], "{schedule}");
    }
}
