//! Views of a buffer that treat its elements as integers. The transpose kernels move these integers.

use cuda_std::{Global, GlobalMut};
use launch::{Buffer, Element};

/// Returns a view of `x` that treats each element as an integer of the same size.
///
/// # Safety
/// `T` and `U` must have the same size.
pub unsafe fn view<T: Element, U: Element>(x: &Buffer<T>) -> Global<'_, U> {
    let view = x.view();
    // SAFETY: the result has the same number of elements of the same size, in the same memory and for the same
    // lifetime. The address of a buffer is a multiple of the size of every element type. `U` is plain data, so all bit
    // patterns are valid.
    unsafe { Global::from_raw_parts(view.as_ptr().cast(), view.len(), view.device()) }
}

/// Returns a mutable view of `y` that treats each element as an integer of the same size.
///
/// # Safety
/// `T` and `U` must have the same size.
pub unsafe fn view_mut<T: Element, U: Element>(y: &mut Buffer<T>) -> GlobalMut<'_, U> {
    let view = y.view_mut();
    // SAFETY: the result has the same number of elements of the same size, in the same memory, which `view` borrows
    // mutably. The address of a buffer is a multiple of the size of every element type. `T` is plain data, so all bit
    // patterns are valid.
    unsafe { GlobalMut::from_raw_parts(view.as_ptr().cast(), view.len(), view.device()) }
}
