//! Tests kernels that allocate.

#[path = "../fixtures/heap-kernels/src/heap.rs"]
mod kernels;

use kernels::{aligned_boxes, last_digits, leak, pass_between_threads};
use launch::{LaunchConfig, checked_devices, checked_devices_strict};

#[test]
fn kernels_allocate() {
    let bounds: Vec<u32> = (0..40).collect();
    // 2, 3, 5, 7; later primes end in 1, 3, 7 or 9.
    let expected: Vec<u32> =
        (0..40).map(|bound| [3, 4, 6, 8, 12, 20].iter().filter(|&&at| bound >= at).count() as u32).collect();
    for device in checked_devices() {
        device.set_heap_bytes(1 << 20).unwrap();
        let x = device.upload(&bounds).unwrap();
        let mut y = device.zeroed::<u32>(bounds.len()).unwrap();
        device.launch(LaunchConfig::new(2, 32), last_digits(x.view(), y.view_mut())).unwrap();
        assert_eq!(y.download().unwrap(), expected, "{}", device.summary());
        device.launch(LaunchConfig::new(2, 32), aligned_boxes(y.view_mut())).unwrap();
        assert_eq!(y.download().unwrap(), [1; 40], "{}", device.summary());
    }
}

#[test]
fn memory_that_threads_leak_or_share_is_no_fault() {
    for device in checked_devices_strict() {
        let mut y = device.zeroed::<u32>(64).unwrap();
        device.launch(LaunchConfig::new(2, 32), pass_between_threads(y.view_mut())).unwrap();
        let expected: Vec<u32> = (0..64).map(|i| i / 32 * 32 + 1).collect();
        assert_eq!(y.download().unwrap(), expected, "{}", device.summary());
        device.launch(LaunchConfig::new(2, 32), leak(100, y.view_mut())).unwrap();
        assert_eq!(y.download().unwrap(), [7; 64], "{}", device.summary());
    }
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
