//! Shared memory in the forms of Rust-CUDA, and arrays of generic helpers. `cuda_builder` compiles the same kernels to
//! PTX.

#[path = "../../../launch/tests/fixtures/memory-kernels/src/tiles.rs"]
mod kernels;

use crate::common::{Device, download, view, view_mut};
use kernels::*;

/// Runs a kernel with one block of 32 threads on a checked simulator, and returns its output.
macro_rules! run {
    ($kernel:expr) => {{
        let device = Device::new();
        let y = device.room::<u32>(32);
        device.run(1, 32, &$kernel(view_mut(&y))).map(|()| download::<u32>(&y)).map_err(|fault| fault.to_string())
    }};
}

#[test]
fn statics_may_be_uninitialised() {
    // SAFETY: `y` has an element for each thread.
    assert_eq!(run!(|y| unsafe { uninitialised(y) }), Ok((0..32).map(|t| 3 * (t ^ 1)).collect()));
    // SAFETY: `y` has an element for each thread.
    assert_eq!(run!(|y| unsafe { nested(y) }), Ok((0..32).map(|t| 1 + 2 * (t ^ 1)).collect()));
}

#[test]
fn faults_of_uninitialised_statics_are_found() {
    // SAFETY: the fault is reported before the access.
    let fault = run!(|y| unsafe { half_written(y) }).unwrap_err();
    assert!(fault.contains("a read of `HALF[16]`"), "{fault}");
    let fault = Device::new().fault(1, 32, &written_twice()).to_string();
    assert!(fault.contains("data race on `TWICE[0]`"), "{fault}");
}

#[test]
fn each_instance_of_a_helper_has_its_own_arrays() {
    assert_eq!(run!(sums), Ok(vec![31 * 16 + 32 + 32 + 32; 32]));
}

#[test]
fn elements_of_rows_are_accessed_by_two_indices() {
    let device = Device::new();
    let x = device.upload(&(0..256).map(|i| i as f32).collect::<Vec<_>>());
    let y = device.room::<f32>(256);
    device.run(1, 256, &transpose_tile(view(&x), view_mut(&y))).unwrap();
    assert_eq!(download::<f32>(&y), (0..256).map(|i| (i % 16 * 16 + i / 16 + 1) as f32).collect::<Vec<_>>());
    device.run(1, 1, &beyond_row(15, view_mut(&y))).unwrap();
    assert_eq!(download::<f32>(&y)[0], 15_f32.sqrt() + 0.5 + 2.0);
    let fault = device.fault(1, 1, &beyond_row(16, view_mut(&y))).to_string();
    assert!(fault.contains("index 16 is out of bounds of `rows`"), "{fault}");
    let source = include_str!("../../../launch/tests/fixtures/memory-kernels/src/tiles.rs");
    let (line, _) = (1..).zip(source.lines()).find(|(_, line)| line.contains("rows[0][column]")).unwrap();
    assert!(fault.contains(&format!("tiles.rs:{line}:")), "{fault}");
}
