//! Tests kernels that allocate. The tests of `cuda_builder` write the PTX of the same kernels, and the machine code if
//! there is an assembler, to the file that `GRIDSTRIDE_HEAP_PTX` names. If the variable is set, a test here runs them
//! on a GPU. That test loses the GPU's context at its end, so that it must run alone:
//!
//! ```text
//! GRIDSTRIDE_HEAP_PTX=/tmp/heap.ptx cargo test -p launch --test suites heap -- --nocapture
//! ```

#[path = "../fixtures/heap-kernels/src/heap.rs"]
mod kernels;

use kernels::{aligned_boxes, last_digits, leak, pass_between_threads};
use launch::{Device, DeviceChoice, Error, LaunchConfig, PtxImage, PtxModule, checked_devices, checked_devices_strict};

/// Returns 0 to 39, and the number of last digits of the primes below each of them.
fn bounds_and_digits() -> (Vec<u32>, Vec<u32>) {
    // The first primes with another last digit than all smaller ones are 2, 3, 5, 7, 11 and 19.
    let digits = |bound: u32| [3, 4, 6, 8, 12, 20].iter().filter(|&&at| bound >= at).count() as u32;
    ((0..40).collect(), (0..40).map(digits).collect())
}

/// Checks the results of the kernels that allocate.
fn allocate(device: &Device) -> Result<(), Error> {
    let (bounds, expected) = bounds_and_digits();
    let x = device.upload(&bounds)?;
    let mut y = device.zeroed::<u32>(bounds.len())?;
    device.launch(LaunchConfig::new(2, 32), last_digits(x.view(), y.view_mut()))?;
    assert_eq!(y.download()?, expected, "{}", device.summary());
    device.launch(LaunchConfig::new(2, 32), aligned_boxes(y.view_mut()))?;
    assert_eq!(y.download()?, [1; 40], "{}", device.summary());
    Ok(())
}

/// Checks the results of the kernels that share and leak memory.
fn share_and_leak(device: &Device) -> Result<(), Error> {
    let mut y = device.zeroed::<u32>(64)?;
    device.launch(LaunchConfig::new(2, 32), pass_between_threads(y.view_mut()))?;
    let expected: Vec<u32> = (0..64).map(|i| i / 32 * 32 + 1).collect();
    assert_eq!(y.download()?, expected, "{}", device.summary());
    device.launch(LaunchConfig::new(2, 32), leak(100, y.view_mut()))?;
    assert_eq!(y.download()?, [7; 64], "{}", device.summary());
    Ok(())
}

#[test]
fn kernels_allocate() {
    for device in checked_devices() {
        device.set_heap_bytes(1 << 20).unwrap();
        allocate(&device).unwrap();
    }
}

#[test]
fn memory_that_threads_leak_or_share_is_no_fault() {
    for device in checked_devices_strict() {
        share_and_leak(&device).unwrap();
    }
}

#[test]
fn kernels_allocate_on_a_gpu() -> Result<(), Error> {
    let Some(path) = std::env::var_os("GRIDSTRIDE_HEAP_PTX").map(std::path::PathBuf::from) else { return Ok(()) };
    let ptx = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let image = PtxImage::new(90, ptx.leak());
    let code = std::fs::read(path.with_extension("cubin")).ok().map(|code| image.with_machine_code(code.leak()));
    println!("{} machine code", if code.is_some() { "with" } else { "without" });
    for image in [code, Some(image)].into_iter().flatten() {
        let modules = vec![PtxModule { path: "suites::heap", images: vec![image].leak() }].leak();
        let start = std::time::Instant::now();
        let device = Device::open(DeviceChoice::Gpu(None), modules)?;
        device.set_heap_bytes(64 << 20)?;
        allocate(&device)?;
        println!("{}: opened and launched in {:?}", device.summary(), start.elapsed());
        share_and_leak(&device)?;
    }
    // 64 threads of 1 MiB do not fit in a heap of 8 MiB.
    let modules = vec![PtxModule { path: "suites::heap", images: vec![image].leak() }].leak();
    let device = Device::open(DeviceChoice::Gpu(None), modules)?;
    let mut y = device.zeroed::<u32>(64)?;
    let full = device.launch(LaunchConfig::new(2, 32), leak(1 << 20, y.view_mut())).and_then(|()| y.download());
    let error = full.expect_err("the heap is full");
    assert!(matches!(error, Error::ContextLost { .. }), "{error}");
    println!("{error}");
    Ok(())
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
#[test]
fn a_gpu_has_a_heap_of_the_size_that_was_set() {
    use super::stand_in::kernels::{LOG, config, open, saxpy};
    let log = super::stand_in::with_driver("heap::a_gpu_has_a_heap_of_the_size_that_was_set", LOG, || {
        let device = open()?;
        device.set_heap_bytes(64 << 20)?;
        let (x, mut y) = (device.upload(&[1.0_f32])?, device.upload(&[2.0_f32])?);
        device.launch(config(), saxpy(1.0, x.view(), y.view_mut()))?;
        let error = device.set_heap_bytes(1 << 20).expect_err("a kernel was launched").to_string();
        assert!(error.contains("cannot set the heap of kernels to 1048576 bytes"), "{error}");
        assert!(error.contains("before the first launch of a kernel that allocates"), "{error}");
        Ok(())
    });
    assert!(log.is_none_or(|log| log.contains(&"the heap has 67108864 bytes".to_owned())));
}
