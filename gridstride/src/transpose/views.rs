//! Buffers of any element as the bits that the kernels move.

use cuda_std::{Global, GlobalMut};
use launch::{Buffer, Element};

/// The elements of `x` as bits of the same size.
///
/// # Safety
/// `T` and `U` must have the same size.
pub unsafe fn view<T: Element, U: Element>(x: &Buffer<T>) -> Global<'_, U> {
    let view = x.view();
    // SAFETY: as many elements of the same size in the same memory, for the same time. A buffer starts at a multiple of
    // every element's size, and all of its bits are a `U`, which is plain data.
    unsafe { Global::from_raw_parts(view.as_ptr().cast(), view.len(), view.device()) }
}

/// The elements of `y` as bits of the same size, to be written.
///
/// # Safety
/// `T` and `U` must have the same size.
pub unsafe fn view_mut<T: Element, U: Element>(y: &mut Buffer<T>) -> GlobalMut<'_, U> {
    let view = y.view_mut();
    // SAFETY: as in `view`; the view borrows the buffer mutably. All bits of a `U` are a `T`, which is plain data.
    unsafe { GlobalMut::from_raw_parts(view.as_ptr().cast(), view.len(), view.device()) }
}
