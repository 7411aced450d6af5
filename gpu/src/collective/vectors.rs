//! The vectors in which the algorithms load and store, in views that begin at any address.

use cuda_std::{Element, Global};

/// Returns the number of elements of `bytes` bytes in a vector: as many as have 16 bytes, but at most 8. An element
/// that does not divide 16 bytes is a vector by itself.
pub const fn vector_len(bytes: usize) -> usize {
    match bytes {
        1 | 2 => 8,
        4 => 4,
        8 => 2,
        _ => 1,
    }
}

/// Returns the alignment of a vector of `bytes` bytes: the largest power of two that divides `bytes`, up to 16.
pub const fn vector_alignment(bytes: usize) -> usize {
    let alignment = bytes & bytes.wrapping_neg();
    if alignment > 16 { 16 } else { alignment }
}

/// Returns the number of elements between `address` and the next boundary of a vector of `V` elements.
#[inline(always)]
pub const fn before_first_vector<T, const V: usize>(address: usize) -> usize {
    address.wrapping_neg() % (V * size_of::<T>()) / size_of::<T>()
}

/// Returns true if `address` is a multiple of the size of a vector of `V` elements.
#[inline(always)]
pub const fn is_aligned<T, const V: usize>(address: usize) -> bool {
    address.is_multiple_of(vector_alignment(V * size_of::<T>()))
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
