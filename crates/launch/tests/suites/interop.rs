//! Tests memory, contexts, streams and events that are shared with other libraries: with the driver's own functions, on
//! the stand-in driver and on all GPUs of the machine, and what the simulator refuses.

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use launch::{Buffer, Device, DeviceChoice, Error, Event, checked_devices};

/// Returns the driver's function `name`, of the type `F`.
fn function<F: Copy>(name: &str) -> F {
    let driver = cuda_driver::load().expect("a driver");
    let function = driver.function(name).expect("the driver has it");
    assert_eq!(size_of::<F>(), size_of_val(&function));
    // SAFETY: the callers name the type of the driver's function, which has the size of a pointer.
    unsafe { std::mem::transmute_copy(&function) }
}

/// An owner that records that it was dropped, after it has called the driver's function `free`, if any.
struct Owner {
    is_dropped: Arc<AtomicBool>,
    memory: Option<u64>,
}

impl Drop for Owner {
    fn drop(&mut self) {
        if let Some(address) = self.memory {
            let free = function::<unsafe extern "system" fn(u64) -> i32>("cuMemFree_v2");
            // SAFETY: the owner has this memory, which is not used any more.
            assert_eq!(unsafe { free(address) }, 0);
        }
        self.is_dropped.store(true, Ordering::SeqCst);
    }
}

fn owner(memory: Option<u64>) -> (Owner, Arc<AtomicBool>) {
    let is_dropped = Arc::<AtomicBool>::default();
    (Owner { is_dropped: is_dropped.clone(), memory }, is_dropped)
}

/// Checks memory that a device gives away and takes back.
fn check_own_memory(device: &Device) -> Result<(), Error> {
    let (pointer, len) = device.upload(&[1_u32, 2, 3])?.into_raw();
    // SAFETY: an address that is not aligned is refused and not used.
    let error = unsafe { Buffer::from_raw(device, pointer.wrapping_add(1), 2) }.expect_err("not aligned");
    assert!(matches!(error, Error::Misaligned { alignment: 256, .. }), "{error:?}");
    assert!(error.to_string().contains("its address must be a multiple of 256; pass the start"), "{error}");
    let mut into = [0; 2];
    // SAFETY: the memory has these elements and lives until it is freed below.
    let views = unsafe { (device.view_from_raw(pointer.wrapping_add(1), 2)?, device.view_mut_from_raw(pointer, 1)?) };
    device.streams(1, |streams| {
        streams[0].upload(views.1, &[7])?;
        streams[0].download(views.0, &mut into)
    })?;
    assert_eq!(into, [2, 3]);
    // SAFETY: an address that is not aligned is refused and not used.
    let error = unsafe { device.view_from_raw(pointer.cast::<u8>().wrapping_add(1).cast::<u32>(), 1) };
    assert!(matches!(error, Err(Error::Misaligned { alignment: 4, .. })));
    // SAFETY: the memory is that of `into_raw`, and the views are not used any more.
    let buffer = unsafe { Buffer::from_raw(device, pointer, len) }?;
    assert_eq!(buffer.download()?, [7, 2, 3]);
    let (pointer, len) = device.alloc::<u64>(0)?.into_raw();
    // SAFETY: the buffer has no memory.
    assert!(unsafe { Buffer::from_raw(device, pointer, len) }?.is_empty());
    Ok(())
}

/// Checks memory, a stream, events and a context that the driver's functions have made.
fn check_foreign(device: &Device) -> Result<(), Error> {
    check_own_memory(device)?;
    let (mut address, mut stream, mut event, mut context) = (0_u64, ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    type Make = unsafe extern "system" fn(*mut *mut c_void, u32) -> i32;
    type Destroy = unsafe extern "system" fn(*mut c_void) -> i32;
    device.synchronize()?;
    // SAFETY: the functions have these types. The device's context is current, and the results are passed on.
    unsafe {
        assert_eq!(
            function::<unsafe extern "system" fn(*mut u64, usize) -> i32>("cuMemAlloc_v2")(&mut address, 4096),
            0
        );
        assert_eq!(function::<Make>("cuStreamCreate")(&mut stream, 1), 0);
        assert_eq!(function::<Make>("cuEventCreate")(&mut event, 2), 0);
    }
    let (memory, is_freed) = owner(Some(address));
    // SAFETY: the memory has 4096 bytes and lives as long as its owner.
    let mut foreign = unsafe { Buffer::<u32>::from_foreign(device, address as *mut u32, 1024, memory) }?;
    foreign.upload(&[9; 1024])?;
    let mut copy = device.zeroed::<u32>(1024)?;

    let (of_stream, is_stream_dropped) = owner(None);
    // SAFETY: the stream is of the device's context and exists until it is destroyed below.
    let shared = unsafe { device.stream_from_raw(stream, of_stream) }?;
    assert_eq!(shared.queue().raw_stream()?, stream);
    assert!(!device.queue().raw_stream()?.is_null());
    shared.queue().copy(&foreign, &mut copy)?;
    // The other library records its event, for which the device waits.
    // SAFETY: the event and the stream exist in the current context.
    let record = |event, stream| unsafe {
        function::<unsafe extern "system" fn(*mut c_void, *mut c_void) -> i32>("cuEventRecord")(event, stream)
    };
    assert_eq!(record(event, stream), 0);
    let (of_event, is_event_dropped) = owner(None);
    // SAFETY: the event is of the device's context and exists until it is destroyed below.
    let theirs = unsafe { Event::from_raw(device, event, of_event) }?;
    assert_eq!(theirs.raw()?, event);
    device.queue().wait(&theirs)?;
    assert_eq!(device.queue().download(&copy)?, [9; 1024]);
    drop(theirs);
    // The other library's stream waits for an event of the device.
    copy.fill_zero()?;
    let ours = device.queue().record()?;
    let wait = function::<unsafe extern "system" fn(*mut c_void, *mut c_void, u32) -> i32>("cuStreamWaitEvent");
    // SAFETY: the stream and the event exist.
    assert_eq!(unsafe { wait(stream, ours.raw()?, 0) }, 0);
    shared.queue().copy(&copy, &mut foreign)?;
    assert!(!is_freed.load(Ordering::SeqCst) && !is_stream_dropped.load(Ordering::SeqCst));
    drop(shared);
    assert_eq!(foreign.download()?, [0; 1024]);
    drop(foreign);
    assert!([&is_freed, &is_stream_dropped, &is_event_dropped].iter().all(|flag| flag.load(Ordering::SeqCst)));
    // The stream and the event still exist.
    // SAFETY: nothing uses the two any more.
    unsafe {
        assert_eq!(function::<Destroy>("cuStreamDestroy_v2")(stream), 0);
        assert_eq!(function::<Destroy>("cuEventDestroy_v2")(event), 0);
    }

    // SAFETY: the function has this type.
    let retained = unsafe { function::<Make>("cuDevicePrimaryCtxRetain")(&mut context, 0) };
    assert_eq!((retained, context), (0, device.raw_context()?));
    let (of_context, is_context_dropped) = owner(None);
    // SAFETY: the context exists until it is released below.
    let other = unsafe { Device::from_raw_context(context, of_context, &[]) }?;
    assert_eq!((other.name(), other.raw_context()?), (device.name(), context));
    let mut there = other.upload(&[1_u32; 1024])?;
    there.copy_range_from(0, &copy, 0..1000)?;
    assert_eq!(there.download()?[998..1002], [0, 0, 1, 1]);
    drop(other);
    assert!(!is_context_dropped.load(Ordering::SeqCst), "a buffer still uses the context");
    drop(there);
    assert!(is_context_dropped.load(Ordering::SeqCst));
    // SAFETY: this releases the reference from above.
    assert_eq!(unsafe { function::<unsafe extern "system" fn(i32) -> i32>("cuDevicePrimaryCtxRelease_v2")(0) }, 0);
    Ok(())
}

#[test]
fn all_gpus() -> Result<(), Error> {
    super::gpus::gpus().into_iter().flatten().take(1).try_for_each(|device| check_foreign(&device))
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
#[test]
fn objects_of_the_driver() {
    use super::stand_in::kernels::{LOG, open};
    let log = super::stand_in::with_driver("interop::objects_of_the_driver", LOG, || check_foreign(&open()?));
    let left = "left: memory 0, page-locked 0, streams 0, events 0";
    assert!(log.is_none_or(|log| log.last().is_some_and(|line| line == left)));
}

#[test]
fn the_simulator_takes_back_its_own_memory() -> Result<(), Error> {
    for device in checked_devices() {
        check_own_memory(&device)?;
    }
    Ok(())
}

#[test]
fn the_simulator_refuses_objects_of_other_libraries() -> Result<(), Error> {
    let (device, other) = (Device::open(DeviceChoice::Sim, &[])?, Device::open(DeviceChoice::Sim, &[])?);
    let (pointer, len) = device.upload(&[1_u32, 2, 3])?.into_raw();
    // SAFETY: what is refused is not used.
    unsafe {
        for buffer in [
            Buffer::from_raw(&other, pointer, len),
            Buffer::from_raw(&device, pointer, len - 1),
            Buffer::from_raw(&device, ptr::without_provenance_mut(4096), 1),
        ] {
            let error = buffer.expect_err("not its memory");
            assert!(error.to_string().starts_with("the simulator has no memory but that which"), "{error}");
        }
        let (owner, is_dropped) = owner(None);
        for error in [
            Buffer::<u32>::from_foreign(&device, ptr::without_provenance_mut(4096), 1, owner).expect_err("refused"),
            device.stream_from_raw(ptr::null_mut(), ()).expect_err("refused"),
            Event::from_raw(&device, ptr::null_mut(), ()).expect_err("refused"),
            device.queue().record()?.raw().expect_err("refused"),
            device.queue().raw_stream().expect_err("refused"),
            device.raw_context().expect_err("refused"),
        ] {
            let message = error.to_string();
            let expected = "the simulator has no memory, contexts, streams or events of other libraries; use a GPU";
            assert_eq!(message, expected);
        }
        assert!(is_dropped.load(Ordering::SeqCst));
        // After all errors the memory can still be taken back.
        assert_eq!(Buffer::from_raw(&device, pointer, len)?.download()?, [1, 2, 3]);
    }
    Ok(())
}
