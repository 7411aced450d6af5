//! Tests shared memory: arrays whose lengths are parameters of a function, statics, pointers, and parts of dynamic
//! memory.

#[path = "../fixtures/memory-kernels/src/shared.rs"]
mod kernels;

use cuda_std::SharedStatic;
use kernels::*;
use launch::{Device, DeviceChoice, Error, FaultKind, LaunchConfig, checked_devices};

#[test]
fn lengths_may_be_those_of_the_function() {
    for device in checked_devices() {
        let mut y = device.alloc(32).unwrap();
        device.launch(LaunchConfig::new(1, 32), lengths::<32>(y.view_mut())).unwrap();
        assert_eq!(y.download().unwrap(), (0..32).map(|i| 32 - i).collect::<Vec<u32>>());
        let mut y = device.alloc(64).unwrap();
        device.launch(LaunchConfig::new(1, 64), lengths::<64>(y.view_mut())).unwrap();
        assert_eq!(y.download().unwrap(), (0..64).map(|i| 64 - i).collect::<Vec<u32>>());
    }
}

#[test]
fn a_kernels_statics_are_in_shared_memory() {
    let device = Device::open(DeviceChoice::Sim, &[]).unwrap();
    let mut y = device.zeroed(4).unwrap();
    // SAFETY: the buffer has an element for each thread.
    let call = unsafe { statics_of_a_kernel(y.view_mut()) };
    device.launch(LaunchConfig::new(3, 4), call).unwrap();
    let expected: Vec<f32> = (0..4).map(|x| (4 * x + 3) as f32 + 7.0 + (3 - x) as f32).collect();
    assert_eq!(y.download().unwrap(), expected);
}

#[test]
fn an_array_may_be_declared_outside_of_a_kernel() {
    let _: SharedStatic<u32> = TILE;
    for device in checked_devices() {
        let mut y = device.upload(&(0..32).collect::<Vec<u32>>()).unwrap();
        device.launch(LaunchConfig::new(1, 32), rotate_tile(y.view_mut())).unwrap();
        assert_eq!(y.download().unwrap(), (1..33).map(|i| i % 32).collect::<Vec<u32>>());
        let error = device.launch(LaunchConfig::new(1, 1), too_far(y.view_mut())).unwrap_err();
        assert!(error.to_string().contains("`TILE`"), "{error}");
    }
}

#[test]
fn parts_of_dynamic_memory_keep_their_names() {
    for device in checked_devices() {
        let mut y = device.zeroed(1).unwrap();
        let config = LaunchConfig::new(1, 1).shared_bytes(64);
        let error = device.launch(config, parts(8, y.view_mut())).unwrap_err();
        assert!(error.to_string().contains("`flags[5]`"), "{error}");
        let error = device.launch(config, parts(2, y.view_mut())).unwrap_err();
        assert!(error.to_string().contains("`keys`"), "{error}");
    }
}

#[test]
fn an_asynchronous_copy_may_read_written_memory() {
    for device in checked_devices() {
        let mut y = device.alloc(128).unwrap();
        device.launch(LaunchConfig::new(1, 32), copy_written(true, y.view_mut())).unwrap();
        assert_eq!(y.download().unwrap(), (0..128).map(|i| (i / 4 + 1) % 32).collect::<Vec<u32>>());
        let error = device.launch(LaunchConfig::new(1, 32), copy_written(false, y.view_mut())).unwrap_err();
        assert!(matches!(&error, Error::Fault(fault) if matches!(fault.kind, FaultKind::Race(_))), "{error}");
    }
}
