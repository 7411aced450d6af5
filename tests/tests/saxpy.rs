//! saxpy: every rung against the reference, on every device.

use gpu::saxpy::{saxpy_grid_stride, saxpy_monolithic};
use host::saxpy::{SaxpyKernel, reference, saxpy};
use launch::{Device, Error, LaunchConfig};
use tests::{devices, random_floats, simulated};

/// Around the warp, the block, and 2^20; a prime; nothing and one.
const SIZES: [usize; 14] = [0, 1, 2, 31, 32, 33, 127, 255, 256, 257, 1009, 65_537, (1 << 20) - 1, (1 << 20) + 1];

fn assert_close(found: &[f32], a: f32, x: &[f32], y: &[f32]) {
    assert_eq!(found.len(), y.len());
    for i in 0..y.len() {
        let (expected, bound) = (reference::element(a, x[i], y[i]), reference::bound(a, x[i], y[i]));
        let error = (f64::from(found[i]) - expected).abs();
        assert!(error <= bound, "element {i}: {} instead of {expected}, off by {error:e} > {bound:e}", found[i]);
    }
}

fn conforms(kernel: SaxpyKernel, device: &Device) {
    for n in SIZES {
        let (a, x, y) = (-1.7, random_floats(n, 1), random_floats(n, 2));
        let dx = device.upload(&x).unwrap();
        let mut dy = device.upload(&y).unwrap();
        saxpy(device, kernel, a, &dx, &mut dy).unwrap();
        assert_close(&dy.download().unwrap(), a, &x, &y);
    }
}

#[test]
fn monolithic_conforms() {
    devices().for_each(|device| conforms(SaxpyKernel::Monolithic, &device));
}

#[test]
fn grid_stride_conforms() {
    devices().for_each(|device| conforms(SaxpyKernel::GridStride, &device));
}

#[test]
fn grid_stride_gives_the_same_for_any_grid() {
    let n = 10_007;
    let (a, x, y) = (0.3, random_floats(n, 3), random_floats(n, 4));
    for device in devices() {
        let dx = device.upload(&x).unwrap();
        let results = [(1, 1), (1, 32), (3, 64), (40, 256), (7, 1000), (200, 1024)].map(|(grid, block)| {
            let mut dy = device.upload(&y).unwrap();
            device.launch(LaunchConfig::new(grid, block), saxpy_grid_stride(a, dx.view(), dy.view_mut())).unwrap();
            dy.download().unwrap()
        });
        assert_close(&results[0], a, &x, &y);
        assert!(results.iter().all(|result| result == &results[0]));
    }
}

#[test]
fn special_values_pass_through() {
    let x = [f32::NAN, f32::INFINITY, -0.0, f32::MAX, f32::MIN_POSITIVE];
    for device in devices() {
        let dx = device.upload(&x).unwrap();
        let mut dy = device.upload(&[1.0_f32; 5]).unwrap();
        device.launch(LaunchConfig::new(1, 32), saxpy_monolithic(2.0, dx.view(), dy.view_mut())).unwrap();
        let y = dy.download().unwrap();
        assert!(y[0].is_nan());
        assert_eq!(y[1..], [f32::INFINITY, 1.0, f32::INFINITY, 1.0]);
    }
}

#[test]
fn lengths_must_match() {
    let device = simulated(0);
    let x = device.upload(&[1.0; 3]).unwrap();
    let mut y = device.upload(&[1.0; 4]).unwrap();
    let error = saxpy(&device, SaxpyKernel::GridStride, 1.0, &x, &mut y).unwrap_err();
    assert!(matches!(error, Error::LengthMismatch { .. }), "{error}");
}

#[test]
fn a_short_input_is_a_fault_at_the_kernels_line() {
    let device = simulated(0);
    let x = device.upload(&[1.0; 3]).unwrap();
    let mut y = device.upload(&[1.0; 40]).unwrap();
    let call = saxpy_monolithic(1.0, x.view(), y.view_mut());
    let message = device.launch(LaunchConfig::new(1, 64), call).unwrap_err().to_string();
    for part in ["saxpy_monolithic", "monolithic.rs:", "3"] {
        assert!(message.contains(part), "`{part}` is not in: {message}");
    }
}
