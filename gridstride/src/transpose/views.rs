//! Views of buffers as the integers that the transpose kernels move.

use cuda_std::{Global, GlobalMut};
use launch::{Buffer, Element};

/// Returns a view of `x` whose elements are integers of the same size.
///
/// # Safety
/// `T` and `U` must have the same size.
pub unsafe fn view<T: Element, U: Element>(x: &Buffer<T>) -> Global<'_, U> {
    let view = x.view();
    // SAFETY: the result has as many elements of the same size in the same memory, for the same lifetime. A buffer
    // begins at a multiple of every element's size. Any bits are a valid `U`, which is plain data.
    unsafe { Global::from_raw_parts(view.as_ptr().cast(), view.len(), view.device()) }
}

/// Returns a mutable view of `y` whose elements are integers of the same size.
///
/// # Safety
/// `T` and `U` must have the same size.
pub unsafe fn view_mut<T: Element, U: Element>(y: &mut Buffer<T>) -> GlobalMut<'_, U> {
    let view = y.view_mut();
    // SAFETY: the result has as many elements of the same size in the same memory, which `view` borrows mutably. A
    // buffer begins at a multiple of every element's size. Any bits are a valid `T`, which is plain data.
    unsafe { GlobalMut::from_raw_parts(view.as_ptr().cast(), view.len(), view.device()) }
}
