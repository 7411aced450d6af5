//! Vectors of 16 bytes in views that begin anywhere.

use cuda_std::{Element, Global};

/// Elements from `address` on before the first that begins a whole vector of `V`.
#[inline(always)]
pub const fn before_first_vector<T, const V: usize>(address: usize) -> usize {
    address.wrapping_neg() % (V * size_of::<T>()) / size_of::<T>()
}

/// Whether a vector of `V` elements begins at `address`.
#[inline(always)]
pub const fn is_aligned<T, const V: usize>(address: usize) -> bool {
    address.is_multiple_of(V * size_of::<T>())
}

/// Elements `V·index..V·index + V` of `x`: in one load if `is_aligned`, else in one for each.
///
/// # Safety
/// `x` must have these elements and, if `is_aligned`, begin where a vector does.
#[inline(always)]
pub unsafe fn load_vector<T: Element, const V: usize>(x: Global<T>, index: usize, is_aligned: bool) -> [T; V] {
    if is_aligned {
        // SAFETY: the caller's.
        unsafe { x.load_vec_unchecked(index) }
    } else {
        // SAFETY: the caller's.
        core::array::from_fn(|k| unsafe { x.load_unchecked(index * V + k) })
    }
}
