//! Tests kernels that are launched in the simulator.

use std::time::Duration;

use cuda_std::{Global, GlobalMut, kernel, thread};
use launch::{Device, DeviceChoice, Error, Kernel, LaunchConfig, PtxImage, PtxModule};

/// `y[i] = a·x[i] + y[i]` for every `i`; any grid.
#[kernel]
pub fn saxpy(a: f32, x: Global<f32>, y: GlobalMut<f32>) {
    for i in thread::grid_stride(y.len()) {
        y.store(i, a.mul_add(x.load(i), y.load(i)));
    }
}

/// Writes element `i` in thread `i`, even if `y` has no such element.
#[kernel(max_threads = 64)]
pub fn write_own(y: GlobalMut<u32>) {
    let i = thread::index_1d() as usize;
    y.store(i, i as u32);
}

fn device() -> Device {
    Device::open(DeviceChoice::Sim, &[]).expect("the simulator can be opened")
}

#[test]
fn a_launch_computes() -> Result<(), Error> {
    let device = device();
    for len in [0_u16, 1, 31, 32, 33, 1000] {
        let x: Vec<f32> = (0..len).map(f32::from).collect();
        let y: Vec<f32> = x.iter().map(|x| 100.0 - x).collect();
        let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| 2.0 * x + y).collect();
        let x = device.upload(&x)?;
        let mut y = device.upload(&y)?;
        device.launch(LaunchConfig::new(3, 64), saxpy(2.0, x.view(), y.view_mut()))?;
        device.synchronize()?;
        assert_eq!(y.download()?, expected, "length {len}");
    }
    Ok(())
}

#[test]
fn the_simulator_needs_no_ptx() -> Result<(), Error> {
    const MODULES: &[PtxModule] = &[PtxModule { path: "elsewhere", images: &[PtxImage::new(70, ".version 7.0")] }];
    let device = Device::open(DeviceChoice::Sim, MODULES)?;
    let mut y = device.zeroed(64)?;
    device.launch(LaunchConfig::new(1, 64), write_own(y.view_mut()))?;
    assert_eq!(y.download()?, (0..64).collect::<Vec<u32>>());
    Ok(())
}

#[test]
fn a_fault_is_an_error_with_the_line_and_the_device_goes_on() -> Result<(), Error> {
    let device = device();
    let mut y = device.zeroed(40)?;
    let error = device.launch(LaunchConfig::new(1, 64), write_own(y.view_mut())).expect_err("out of bounds");
    let Error::Fault(fault) = &error else { panic!("{error:?}") };
    assert_eq!(fault.kernel, write_own::INFO.name);
    let location = fault.location.as_ref().expect("a line");
    assert!(location.file.ends_with("launches.rs"), "{location:?}");
    assert!(error.to_string().contains("write_own"), "{error}");

    let mut y = device.zeroed(64)?;
    device.launch(LaunchConfig::new(1, 64), write_own(y.view_mut()))?;
    assert_eq!(y.download()?[63], 63);
    Ok(())
}

#[test]
fn the_error_of_an_invalid_launch_names_the_launch() -> Result<(), Error> {
    let device = device();
    let mut y = device.zeroed(64)?;
    for (config, part) in [
        (LaunchConfig::new(0, 32), "no block"),
        (LaunchConfig::new(1, 0), "no thread"),
        (LaunchConfig::new(1, 65), "launch bound is 64"),
        (LaunchConfig::new(1, 2048), "allows 1024"),
        (LaunchConfig::new((1, 70_000), 32), "grid's y is 70000"),
        (LaunchConfig::new(1, 32).shared_bytes(device.max_dynamic_shared() + 1), "bytes of shared memory"),
    ] {
        let error = device.launch(config, write_own(y.view_mut())).expect_err("invalid");
        assert!(matches!(error, Error::InvalidLaunch { .. }), "{error:?}");
        let message = error.to_string();
        assert!(message.contains(part) && message.contains("`write_own`"), "{message}");
    }
    assert_eq!(y.download()?, [0; 64], "the kernel ran");
    Ok(())
}

#[test]
fn memory_of_another_device_is_refused() -> Result<(), Error> {
    let (here, there) = (device(), device());
    let x = there.upload(&[1.0])?;
    let mut y = here.upload(&[1.0])?;
    let error = here.launch(LaunchConfig::new(1, 32), saxpy(2.0, x.view(), y.view_mut())).expect_err("another device");
    assert!(matches!(&error, Error::WrongDevice { what, .. } if what.contains("`saxpy`")), "{error:?}");
    assert_eq!(y.download()?, [1.0], "the kernel ran");
    // A clone refers to the same device.
    let x = here.clone().upload(&[1.0])?;
    here.launch(LaunchConfig::new(1, 32), saxpy(2.0, x.view(), y.view_mut()))?;
    assert_eq!(y.download()?, [3.0]);
    Ok(())
}

#[test]
fn time_is_that_of_the_work() -> Result<(), Error> {
    let device = device();
    let (answer, time) = device.time(|| {
        std::thread::sleep(Duration::from_millis(20));
        Ok(42)
    })?;
    assert_eq!(answer, 42);
    assert!((Duration::from_millis(20)..Duration::from_secs(10)).contains(&time), "{time:?}");
    let error = device.time(|| device.alloc::<u64>(usize::MAX)).expect_err("too large");
    assert!(matches!(error, Error::TooLarge { .. }), "{error:?}");
    Ok(())
}

#[test]
fn the_simulator_has_no_registers() {
    let device = device();
    for error in
        [device.resources(saxpy::INFO).expect_err("no GPU"), device.occupancy(saxpy::INFO, 32, 0).expect_err("no GPU")]
    {
        assert!(matches!(error, Error::NotSupported { .. }), "{error:?}");
    }
}
