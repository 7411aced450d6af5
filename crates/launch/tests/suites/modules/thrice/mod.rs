//! A generic kernel with the same name as its module.

use cuda_std::{Element, GlobalMut, kernel, thread};

/// Multiplies every `y[i]` by three.
#[kernel(instances(T = [u32, u64]))]
pub fn thrice<T: Element + core::ops::Add<Output = T>>(y: GlobalMut<T>) {
    let i = thread::index_1d();
    y.store(i, y.load(i) + y.load(i) + y.load(i));
}
