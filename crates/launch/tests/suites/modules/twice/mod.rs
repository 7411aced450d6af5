//! A kernel with the same name as its module.

use cuda_std::{GlobalMut, kernel, thread};

/// Multiplies every `y[i]` by two.
#[kernel]
pub fn twice(y: GlobalMut<u32>) {
    let i = thread::index_1d();
    y.store(i, 2 * y.load(i));
}

cuda_std::kernels! { twice }
