//! Tests that the simulator checks the accesses of `norm` and `rnorm` in a kernel.

use crate::common::{Device, download, line, view, view_mut};
use cuda_std::{GlobalMut, kernel, norm};
use simt::{Checks, FaultKind, Note, Notes, Simulator};

#[kernel]
fn lengths(x: &[f32], y: GlobalMut<f32>) {
    y.store(0, norm(x)); // read
    y.store(1, cuda_std::rnorm(&x[..2]));
    y.store(2, x[0].lrint() as f32);
}

#[test]
fn a_kernel_s_lengths_are_checked() {
    let notes = Notes::new();
    let device = Device(Simulator::new().with_checks(Checks::default()).with_notes(notes.clone()));
    let y = device.room::<f32>(3);
    let x = device.upload(&[3.0_f32, 4.0]);
    device.run(1, 1, &lengths(view(&x), view_mut(&y))).unwrap();
    assert_eq!(download::<f32>(&y), [5.0, 0.2, 3.0]);
    let unwritten = device.room::<f32>(2);
    let fault = device.fault(1, 1, &lengths(view(&unwritten), view_mut(&y)));
    assert!(matches!(fault.kind, FaultKind::Uninitialised { .. }), "{fault}");
    let text = include_str!("norm.rs").lines().nth(line(&fault) as usize - 1).unwrap();
    assert!(text.ends_with("// read"), "{fault}");
    assert_eq!(notes.take(), [] as [Note; 0]);
}
