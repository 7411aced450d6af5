//! Test kernels for memory accesses of every width and with every cache hint.

use cuda_std::{Global, GlobalMut, kernel, thread};

/// Copies the bytes of `x` five times to `y`, with accesses of 1, 2, 4, 8 and 16 bytes. `y` must be five times as long
/// as `x`. The length of `x` must be a multiple of 16.
#[kernel(max_threads = 1024, wide(loads, stores))]
pub fn copy_wide(x: Global<u8>, y: GlobalMut<u8>) {
    let n = x.len();
    for i in thread::grid_stride(n) {
        y.store(i, x.load(i));
    }
    for i in thread::grid_stride(n / 2) {
        y.store_vec(n / 2 + i, x.load_vec::<2>(i));
    }
    for i in thread::grid_stride(n / 4) {
        y.store_vec(2 * n / 4 + i, x.load_vec::<4>(i));
    }
    for i in thread::grid_stride(n / 8) {
        y.store_vec(3 * n / 8 + i, x.load_vec::<8>(i));
    }
    for i in thread::grid_stride(n / 16) {
        y.store_vec(4 * n / 16 + i, x.load_vec::<16>(i));
    }
}

/// Copies `x` to `y` twice: once with streaming accesses, once through the read-only path. `y` must be twice as long as
/// `x`. Copies `x32` to `y32` the same way, in vectors of four `f32`.
#[kernel(max_threads = 1024)]
pub fn copy_hinted(x: Global<f64>, y: GlobalMut<f64>, x32: Global<f32>, y32: GlobalMut<f32>) {
    let n = x.len();
    for i in thread::grid_stride(n) {
        y.store_streaming(i, x.load_streaming(i));
        y.store(n + i, x.load_readonly(i));
    }
    for i in thread::grid_stride(x32.len() / 4) {
        let [a, b, c, d] = x32.load_vec::<4>(i);
        y32.store_vec(i, [d, c, b, a]);
    }
}
