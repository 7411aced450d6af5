//! Tests slices that functions under `#[device]` return.

use crate::common::{Device, download, view, view_mut};
use cuda_std::{device, kernel, thread};
use simt::{Checks, Notes, Simulator};

#[device]
fn row(x: &[u32], r: usize) -> &[u32] {
    &x[4 * r..4 * r + 4]
}

#[device]
fn row_mut(y: &mut [u32], r: usize) -> &mut [u32] {
    &mut y[4 * r..4 * r + 4]
}

/// # Safety
/// `y` must be as long as `x`, with four elements per thread.
#[kernel]
unsafe fn by_rows(x: &[u32], y: &mut [u32], which: u32) {
    let r = thread::index_1d() as usize;
    let mut sum = 0;
    match which {
        0 => {
            for v in row(x, r) {
                sum += v;
            }
        }
        1 => sum = row(x, r).iter().sum(),
        2 => row_mut(y, r).fill(7),
        3 => row_mut(y, r).swap(0, 1),
        4 => sum = row(x, r)[1],
        5 => row_mut(y, r)[2] = 5,
        6 => {
            for v in row_mut(y, r).iter_mut() {
                *v += 1;
            }
        }
        7 => row_mut(y, r).copy_from_slice(row(x, r)),
        _ => sum = row(x, r).len() as u32,
    }
    if sum > 0 {
        row_mut(y, r)[0] = sum;
    }
}

/// The expected elements of `y` after the kernel, for each value of `which`.
const EXPECTED: [[u32; 8]; 9] = [
    [10, 0, 0, 0, 26, 0, 0, 0],
    [10, 0, 0, 0, 26, 0, 0, 0],
    [7; 8],
    [0; 8],
    [2, 0, 0, 0, 6, 0, 0, 0],
    [0, 0, 5, 0, 0, 0, 5, 0],
    [1; 8],
    [1, 2, 3, 4, 5, 6, 7, 8],
    [4, 0, 0, 0, 4, 0, 0, 0],
];

#[test]
fn what_a_marked_call_gives_is_observed_or_announced() {
    let notes = Notes::new();
    let device = Device(Simulator::new().with_checks(Checks::default()).with_notes(notes.clone()));
    for which in 0..9 {
        let (x, y) = (device.upload(&[1_u32, 2, 3, 4, 5, 6, 7, 8]), device.upload(&[0_u32; 8]));
        // SAFETY: `y` is as long as `x`, with four elements per thread.
        device.run(1, 2, &unsafe { by_rows(view(&x), view_mut(&y), which) }).unwrap();
        assert_eq!(download::<u32>(&y), EXPECTED[which as usize], "{which}");
        // Methods of slices may borrow from the slice on which they are called, so the simulator notes them.
        assert_eq!(notes.take().is_empty(), !matches!(which, 1..=3 | 6 | 7), "{which}");
    }
}
