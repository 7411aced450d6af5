//! Tests statics in constant memory and in global memory.

#[path = "../fixtures/memory-kernels/src/statics.rs"]
mod kernels;

use kernels::*;
use launch::{Device, DeviceChoice, Error, FaultKind, LaunchConfig, checked_devices};

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
    assert!(std::panic::catch_unwind(|| WEIGHTS.load(0)).is_err(), "the host can read a device's static");
}

#[test]
fn accesses_of_statics_are_checked() {
    for device in checked_devices() {
        let error = device.launch(LaunchConfig::new(1, 2), race()).unwrap_err();
        assert!(matches!(&error, Error::Fault(fault) if matches!(fault.kind, FaultKind::Race(_))), "{error}");
        let mut y = device.alloc(1).unwrap();
        device.read_static(&WEIGHTS).unwrap();
        let error = device.launch(LaunchConfig::new(1, 1), weight_too_far(y.view_mut())).unwrap_err();
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
