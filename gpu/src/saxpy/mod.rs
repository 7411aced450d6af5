//! `y = a·x + y` over two arrays of length *n*: the smallest complete example of an algorithm's folder.
//!
//! | rung | idea | limited by |
//! |---|---|---|
//! | [`saxpy_monolithic()`] | a thread an element | memory; a launch of as many threads as elements |
//! | [`saxpy_grid_stride()`] | any grid covers any length | memory |
//!
//! Floor: `x` and `y` are read once and `y` is written once, 12 bytes an element, at the device's copy speed. Every rung
//! rounds once an element (`fma`).
//!
//! Sources: M. Harris, "CUDA Pro Tip: Write Flexible Kernels with Grid-Stride Loops", NVIDIA, 2013.

mod grid_stride;
mod monolithic;

pub use grid_stride::saxpy_grid_stride;
pub use monolithic::saxpy_monolithic;

cuda_std::kernels! {
    /// `y = a·x + y`, the smallest complete example.
    saxpy_monolithic,
    saxpy_grid_stride,
}
