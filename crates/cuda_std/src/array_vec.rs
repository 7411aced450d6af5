//! A vector of at most `N` items, stored in place.

use core::fmt;
use core::mem::MaybeUninit;

/// A vector of at most `N` items, stored in place. Its unused capacity stays uninitialised.
#[derive(Clone)]
pub(crate) struct ArrayVec<T: Copy, const N: usize> {
    /// The storage of the items, of which the first `len` are initialised.
    items: [MaybeUninit<T>; N],
    len: usize,
}

impl<T: Copy, const N: usize> ArrayVec<T, N> {
    #[inline]
    pub(crate) const fn new() -> Self {
        Self { items: [const { MaybeUninit::uninit() }; N], len: 0 }
    }

    /// Appends `item`.
    ///
    /// # Panics
    /// If the vector is full.
    #[inline]
    pub(crate) fn push(&mut self, item: T) {
        self.items[self.len] = MaybeUninit::new(item);
        self.len += 1;
    }

    #[inline]
    pub(crate) fn as_slice(&self) -> &[T] {
        // SAFETY: `push` has written the first `len` items, and `len` is at most `N`.
        unsafe { core::slice::from_raw_parts(self.items.as_ptr().cast(), self.len) }
    }

    #[inline]
    pub(crate) fn as_mut_slice(&mut self) -> &mut [T] {
        // SAFETY: `push` has written the first `len` items, and `len` is at most `N`.
        unsafe { core::slice::from_raw_parts_mut(self.items.as_mut_ptr().cast(), self.len) }
    }
}

impl<T: Copy + fmt::Debug, const N: usize> fmt::Debug for ArrayVec<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;

    #[test]
    fn it_has_what_was_pushed() {
        let mut array_vec = ArrayVec::<u8, 2>::new();
        assert!(array_vec.as_slice().is_empty());
        array_vec.push(1);
        array_vec.push(2);
        assert_eq!(array_vec.clone().as_slice(), [1, 2]);
        assert_eq!(std::format!("{array_vec:?}"), "[1, 2]");
        assert!(std::panic::catch_unwind(move || array_vec.push(3)).is_err());
    }
}
