//! Exclusive parts of a buffer.
//!
//! # Design
//!
//! `Stream::upload_part` fills memory and returns a read-only view of it, so it takes a `BufferPart`, not a
//! `GlobalMut`. A kernel may hold the returned `Global` as `&[T]`, whose elements no other code may write. A part is
//! therefore not `Copy`.

use std::iter;

use cuda_std::{DeviceCopy, Global, GlobalMut};

/// An exclusive part of a buffer on a device, like a `&mut [T]` in host memory.
/// [`Buffer::as_part_mut`](crate::Buffer::as_part_mut) makes one.
///
/// Unlike a [`GlobalMut`], a part cannot be copied. It can therefore become a [`Global`], whose elements are not
/// written any more.
pub struct BufferPart<'a, T> {
    view: GlobalMut<'a, T>,
}

impl<'a, T: DeviceCopy> BufferPart<'a, T> {
    /// Creates an exclusive part from the elements of `view`. During `'a`, no other view of these elements may be used.
    pub(crate) fn new(view: GlobalMut<'a, T>) -> Self {
        Self { view }
    }

    /// Returns the number of elements in the part.
    pub fn len(&self) -> usize {
        self.view.len()
    }

    /// Returns `true` if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.view.is_empty()
    }

    /// Returns a view of the elements for kernels to read.
    pub fn view(self) -> Global<'a, T> {
        let view = self.view;
        // SAFETY: it is the same memory, and consuming `self` has removed the only mutable view of it.
        unsafe { Global::from_raw_parts(view.as_ptr(), view.len(), view.device()) }
    }

    /// Returns a view of the elements for kernels to read and write.
    pub fn view_mut(self) -> GlobalMut<'a, T> {
        self.view
    }

    /// Divides the part into its first `middle` elements and the rest. If the part has fewer elements, the launches and
    /// copies that use the results return an error.
    #[track_caller]
    pub fn split_at(self, middle: usize) -> (Self, Self) {
        let first = self.view.part(0, middle);
        (Self::new(first), Self::new(self.view.part(middle, self.view.len().saturating_sub(middle))))
    }

    /// Divides the part into consecutive parts of `len` elements, or of 1 element if `len` is 0. The last part has the
    /// remaining elements.
    pub fn chunks(self, len: usize) -> impl Iterator<Item = Self> {
        let mut rest = Some(self).filter(|part| !part.is_empty());
        iter::from_fn(move || {
            let part = rest.take()?;
            let chunk = len.clamp(1, part.len());
            let (first, others) = part.split_at(chunk);
            rest = Some(others).filter(|part| !part.is_empty());
            Some(first)
        })
    }

    pub(crate) fn write_view(&self) -> GlobalMut<'a, T> {
        self.view
    }
}
