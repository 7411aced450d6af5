//! Tests that a simulator with checks records which elements the host has written.

use cuda_std::{Global, kernel, thread};
use launch::{Checks, Device, Element, Error, LaunchConfig, Simulator};

/// Returns a device, and the simulator on which it runs.
fn checked() -> (Device, Simulator) {
    let simulator = Simulator::new().with_checks(Checks::default());
    (Device::simulated(simulator.clone()), simulator)
}

/// Returns, for each element of `view`, true if the simulator counts it as written.
fn written<T: Element>(simulator: &Simulator, view: Global<'_, T>) -> Vec<bool> {
    let start = view.as_ptr().addr();
    (0..view.len()).map(|i| simulator.is_written(start + i * size_of::<T>(), size_of::<T>())).collect()
}

#[test]
fn new_memory_is_not_written_until_something_is() -> Result<(), Error> {
    let (device, simulator) = checked();
    let mut buffer = device.alloc::<u16>(100)?;
    assert_eq!(written(&simulator, buffer.view()), [false; 100]);
    // A download of unwritten memory is no fault.
    assert_eq!(buffer.download()?.len(), 100);
    assert_eq!(written(&simulator, buffer.view()), [false; 100]);
    buffer.upload(&[1; 100])?;
    assert_eq!(written(&simulator, buffer.view()), [true; 100]);
    assert_eq!(written(&simulator, device.zeroed::<u8>(3)?.view()), [true; 3]);
    assert_eq!(written(&simulator, device.upload(&[1.0_f64, 2.0])?.view()), [true; 2]);
    assert!(written(&simulator, device.alloc::<f64>(0)?.view()).is_empty());
    // Host memory that a kernel can access starts as zeros, which count as written.
    assert_eq!(written(&simulator, device.mapped::<u32>(5)?.view()), [true; 5]);
    Ok(())
}

#[test]
fn a_copy_of_uninitialised_memory_is_uninitialised() -> Result<(), Error> {
    let (device, simulator) = checked();
    let (mut half, mut copy) = (device.alloc::<u32>(40)?, device.zeroed::<u32>(40)?);
    let (low, _) = half.as_part_mut().split_at(20);
    device.streams(1, |streams| streams[0].upload_part(low, &[7; 20]).map(|_| ()))?;
    let expected: Vec<bool> = (0..40).map(|i| i < 20).collect();
    assert_eq!(written(&simulator, half.view()), expected);
    copy.copy_from(&half)?;
    assert_eq!(written(&simulator, copy.view()), expected);
    copy.upload(&[1; 40])?;
    half.copy_from(&copy)?;
    assert_eq!(written(&simulator, half.view()), [true; 40]);
    Ok(())
}

#[test]
fn uploads_of_streams_initialise() -> Result<(), Error> {
    let (device, simulator) = checked();
    let (data, mut into) = ([1_u8, 2, 3], [0_u8; 4]);
    let mut buffer = device.alloc::<u8>(9)?;
    let view = buffer.view_mut();
    device.streams(2, |streams| {
        streams[0].upload(view.part(4, 3), &data)?;
        streams[1].wait(&streams[0].record()?)?;
        streams[1].download(view.part(3, 4), &mut into)
    })?;
    assert_eq!(into[1..], data);
    assert_eq!(written(&simulator, buffer.view()), [false, false, false, false, true, true, true, false, false]);
    Ok(())
}

/// Copies `n` elements from `x` to `y`.
#[kernel]
pub fn set_by_pointer(y: *mut u32, n: u32, x: *const u32) {
    for i in thread::grid_stride(n as usize) {
        // SAFETY: the test passes an `n` that is at most the length of both buffers.
        unsafe { *y.add(i) = *x.add(i) };
    }
}

#[test]
fn writes_through_raw_pointers_initialise() -> Result<(), Error> {
    let (device, simulator) = checked();
    let (mut y, mut x) = (device.alloc::<u32>(10)?, device.alloc::<u32>(10)?);
    // A read of unwritten memory through a pointer is a fault too.
    let error = device.launch(LaunchConfig::new(1, 4), set_by_pointer(y.view_mut(), 7, x.view())).unwrap_err();
    assert!(error.to_string().contains("`x[0]`"), "{error}");
    assert_eq!(written(&simulator, x.view()), [false; 10]);
    x.upload(&[3; 10])?;
    device.launch(LaunchConfig::new(1, 4), set_by_pointer(y.view_mut(), 7, x.view()))?;
    let expected: Vec<bool> = (0..10).map(|i| i < 7).collect();
    assert_eq!(written(&simulator, y.view()), expected);
    Ok(())
}

/// Sets every element of `y` by accesses that the simulator does not see.
///
/// # Safety
/// `y` must have `n` elements.
unsafe fn fill(y: *mut u32, n: usize) {
    for i in 0..n {
        // SAFETY: the caller guarantees `n` elements.
        unsafe { *y.add(i) = 1 };
    }
}

/// Calls a function that sets every element of `y` without the simulator's knowledge.
#[kernel]
pub fn set_by_function(y: *mut u32, n: u32, z: *mut u32) {
    // SAFETY: the test passes the length of `y` as `n`.
    unsafe { fill(y, n as usize) };
    // SAFETY: the test passes `y` with `n` elements, and `z` with one.
    unsafe { *z = *y.add(n as usize - 1) };
}

#[test]
fn memory_that_a_function_may_write_counts_as_initialised() -> Result<(), Error> {
    let (device, simulator) = checked();
    let (mut y, mut z) = (device.alloc::<u32>(10)?, device.alloc::<u32>(2)?);
    device.launch(LaunchConfig::new(1, 1), set_by_function(y.view_mut(), 10, z.view_mut()))?;
    assert_eq!(written(&simulator, y.view()), [true; 10]);
    assert_eq!(written(&simulator, z.view()), [true, false]);
    Ok(())
}

#[test]
fn a_device_without_checks_tracks_nothing() -> Result<(), Error> {
    let simulator = Simulator::new();
    let device = Device::simulated(simulator.clone());
    assert_eq!(written(&simulator, device.alloc::<u32>(4)?.view()), [true; 4]);
    Ok(())
}
