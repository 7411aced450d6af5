//! 16-byte vectors in views that begin at any address.

use cuda_std::{Element, Global};

/// Returns the number of elements from `address` to the next multiple of the size of a vector of `V` elements.
#[inline(always)]
pub const fn before_first_vector<T, const V: usize>(address: usize) -> usize {
    address.wrapping_neg() % (V * size_of::<T>()) / size_of::<T>()
}

/// Returns true if `address` is a multiple of the size of a vector of `V` elements.
#[inline(always)]
pub const fn is_aligned<T, const V: usize>(address: usize) -> bool {
    address.is_multiple_of(V * size_of::<T>())
}

/// Returns elements `V·index..V·index + V` of `x`. If `is_aligned` is true, this function loads the elements in one
/// access, otherwise one by one.
///
/// # Safety
/// `x` must contain these elements. If `is_aligned` is true, `x` must start at a multiple of the vector's size.
#[inline(always)]
pub unsafe fn load_vector<T: Element, const V: usize>(x: Global<T>, index: usize, is_aligned: bool) -> [T; V] {
    if is_aligned {
        // SAFETY: by this function's contract, `x` is aligned and contains this vector.
        unsafe { x.load_vec_unchecked(index) }
    } else {
        // SAFETY: by this function's contract, `x` contains these elements.
        core::array::from_fn(|k| unsafe { x.load_unchecked(index * V + k) })
    }
}
