//! Constant memory, and statics in global memory.

use cuda_std::{DeviceCopy, GlobalMut, address_space, kernel, thread};
use launch::{Device, DeviceChoice, Error, FaultKind, LaunchConfig, checked_devices};

/// A binomial.
#[address_space(constant)]
pub static WEIGHTS: [f32; 3] = [0.25, 0.5, 0.25];

#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct Shape {
    is_round: bool,
    radius: f64,
}

#[address_space(constant)]
static SHAPE: Shape = Shape { is_round: true, radius: 2.0 };

#[address_space(global)]
static mut COUNTS: [u32; 2] = [5, 0];

#[kernel]
fn weigh(y: GlobalMut<f64>) {
    let i = thread::index_1d();
    let Shape { is_round, radius } = SHAPE.load(0);
    y.store(i, f64::from(WEIGHTS.load(i)) + if is_round { radius } else { 0.0 });
    COUNTS.view().atomic_add(0, 1);
}

#[test]
fn each_device_has_its_own_statics() {
    let devices: Vec<_> = checked_devices().collect();
    for device in &devices {
        assert_eq!(device.read_static(&COUNTS).unwrap(), [5, 0]);
        let mut y = device.alloc(3).unwrap();
        device.launch(LaunchConfig::new(1, 3), weigh(y.view_mut())).unwrap();
        assert_eq!(y.download().unwrap(), [2.25, 2.5, 2.25]);
        device.set_static(&WEIGHTS, &[1.0, 2.0, 3.0]).unwrap();
        device.launch(LaunchConfig::new(1, 3), weigh(y.view_mut())).unwrap();
        assert_eq!(y.download().unwrap(), [3.0, 4.0, 5.0]);
        assert_eq!(device.read_static(&WEIGHTS).unwrap(), [1.0, 2.0, 3.0]);
        assert_eq!(device.read_static(&COUNTS).unwrap(), [11, 0]);
        device.set_static(&COUNTS, &[0, 1]).unwrap();
        assert_eq!(device.read_static(&COUNTS).unwrap(), [0, 1]);
    }
    let error = devices[0].set_static(&WEIGHTS, &[1.0]).unwrap_err();
    assert!(matches!(error, Error::LengthMismatch { buffer: 3, other: 1, .. }), "{error}");
    assert!(std::panic::catch_unwind(|| WEIGHTS.load(0)).is_err(), "on the host there is none");
}

#[kernel]
fn race() {
    COUNTS.view().store(1, thread::thread_idx_x());
}

#[kernel]
fn too_far(y: GlobalMut<f64>) {
    y.store(0, f64::from(WEIGHTS.load(3)));
}

#[test]
fn accesses_of_statics_are_checked() {
    for device in checked_devices() {
        let error = device.launch(LaunchConfig::new(1, 2), race()).unwrap_err();
        assert!(matches!(&error, Error::Fault(fault) if matches!(fault.kind, FaultKind::Race(_))), "{error}");
        let mut y = device.alloc(1).unwrap();
        device.read_static(&WEIGHTS).unwrap();
        let error = device.launch(LaunchConfig::new(1, 1), too_far(y.view_mut())).unwrap_err();
        assert!(error.to_string().contains("`WEIGHTS`"), "{error}");
    }
}

#[test]
fn a_simulator_without_checks_has_statics_too() {
    let device = Device::open(DeviceChoice::Sim, &[]).unwrap();
    let mut y = device.alloc(3).unwrap();
    device.launch(LaunchConfig::new(4, 3), weigh(y.view_mut().part(0, 3))).unwrap_err();
    device.launch(LaunchConfig::new(1, 3), weigh(y.view_mut())).unwrap();
    assert_eq!(y.download().unwrap(), [2.25, 2.5, 2.25]);
}
