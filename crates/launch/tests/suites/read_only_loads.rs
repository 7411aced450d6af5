//! Tests that read-only loads of memory that the launch writes are reported.

use cuda_std::{Global, GlobalMut, kernel, thread};
use launch::{Device, Error, FaultKind, LaunchConfig, Remedy};

use crate::cured::{assert_cured, assert_sound};

/// Stores to each element and loads it in the neighbouring thread after a barrier, by a read-only load if `is_faulty`
/// is true.
#[kernel]
fn written_then_read(y: GlobalMut<u32>, is_faulty: bool) {
    let i = thread::thread_idx_x() as usize;
    y.store(i, 5 + i as u32);
    thread::sync_threads();
    // SAFETY: the pointer and the length are those of `y`.
    let view = unsafe { Global::from_raw_parts(y.as_ptr(), y.len(), y.device()) };
    let found = if is_faulty { view.load_readonly(i ^ 1) } else { view.load(i ^ 1) };
    thread::sync_threads();
    y.store(i, found);
}

/// Loads each element and stores to it in the neighbouring thread after a barrier.
#[kernel]
fn read_then_written(y: GlobalMut<u32>, is_faulty: bool) {
    let i = thread::thread_idx_x() as usize;
    // SAFETY: the pointer and the length are those of `y`.
    let view = unsafe { Global::from_raw_parts(y.as_ptr(), y.len(), y.device()) };
    let found = if is_faulty { view.load_readonly(i) } else { view.load(i) };
    thread::sync_threads();
    y.store(i ^ 1, found + 1);
}

/// Adds to a counter atomically and loads it in the same thread.
#[kernel]
fn updated_then_read(y: GlobalMut<u32>, is_faulty: bool) {
    // SAFETY: the pointer and the length are those of `y`.
    let view = unsafe { Global::from_raw_parts(y.as_ptr(), y.len(), y.device()) };
    if thread::thread_idx_x() == 0 {
        y.atomic_add(0, 3);
        let found = if is_faulty { view.load_readonly(0) } else { view.load(0) };
        y.store(1, found);
    }
}

fn launch(device: &Device, kernel: for<'a> fn(GlobalMut<'a, u32>) -> launch::Call<'a>) -> Result<Vec<u32>, Error> {
    let mut y = device.zeroed(4)?;
    device.launch(LaunchConfig::new(1, 4), kernel(y.view_mut()))?;
    y.download()
}

#[test]
fn a_read_only_load_of_what_the_launch_writes() {
    let words = "`y[1]` in global memory, which the launch writes";
    let pick = |device: &Device, is_faulty| {
        if is_faulty {
            launch(device, |y| written_then_read(y, true))
        } else {
            launch(device, |y| written_then_read(y, false))
        }
    };
    let fault = assert_cured("in global memory, which the launch writes", &[6, 5, 8, 7], pick);
    assert!(fault.to_string().contains(words) && fault.to_string().contains("load the element by `load`"), "{fault}");
    assert!(matches!(fault.kind, FaultKind::WrittenReadOnly(_)));
    assert_eq!(fault.remedy(), Some(Remedy::OrdinaryLoad));
}

#[test]
fn a_store_to_what_a_read_only_load_has_read() {
    assert_cured("load the element by `load`", &[1; 4], |device, is_faulty| {
        if is_faulty {
            launch(device, |y| read_then_written(y, true))
        } else {
            launch(device, |y| read_then_written(y, false))
        }
    });
    assert_cured("load the element by `load`", &[3, 3, 0, 0], |device, is_faulty| {
        if is_faulty {
            launch(device, |y| updated_then_read(y, true))
        } else {
            launch(device, |y| updated_then_read(y, false))
        }
    });
}

/// Copies by read-only loads.
#[kernel]
fn copied(x: Global<u32>, y: GlobalMut<u32>) {
    let i = thread::index_1d();
    y.store(i, x.load_readonly(i));
}

#[test]
fn read_only_loads_of_what_no_thread_writes() {
    assert_sound(&[7, 8, 9, 10], |device| {
        let (x, mut y) = (device.upload(&[7, 8, 9, 10])?, device.zeroed(4)?);
        for _ in 0..2 {
            device.launch(LaunchConfig::new(1, 4), copied(x.view(), y.view_mut()))?;
        }
        y.download()
    });
}
