//! Parts of a buffer that nobody else sees.
//!
//! # Design
//!
//! A stream that fills memory returns a read-only view of it only from a `BufferPart`. A part cannot be copied, because
//! a kernel may hold a `Global` as `&[T]`, which nobody else may write.

use std::iter;

use cuda_std::{DeviceCopy, Global, GlobalMut};

/// Elements of a buffer that nobody else sees, as a `&mut [T]` is for the host's memory. Made by
/// [`Buffer::as_part_mut`](crate::Buffer::as_part_mut).
///
/// Unlike a [`GlobalMut`] it cannot be copied, so that it can become a [`Global`], which nobody writes.
pub struct BufferPart<'a, T> {
    view: GlobalMut<'a, T>,
}

impl<'a, T: DeviceCopy> BufferPart<'a, T> {
    /// `view` must be the only one of its elements as long as `'a` lasts.
    pub(crate) fn new(view: GlobalMut<'a, T>) -> Self {
        Self { view }
    }

    /// How many elements it has.
    pub fn len(&self) -> usize {
        self.view.len()
    }

    /// Whether it has no element.
    pub fn is_empty(&self) -> bool {
        self.view.is_empty()
    }

    /// The elements, for kernels to read.
    pub fn view(self) -> Global<'a, T> {
        let view = self.view;
        // SAFETY: the same memory; `self`, without which nobody can write it, is gone.
        unsafe { Global::from_raw_parts(view.as_ptr(), view.len(), view.device()) }
    }

    /// The elements, for kernels to read and write.
    pub fn view_mut(self) -> GlobalMut<'a, T> {
        self.view
    }

    /// The first `middle` elements, and the rest.
    ///
    /// # Panics
    ///
    /// When there are fewer, as a slice's `split_at` does.
    pub fn split_at(self, middle: usize) -> (Self, Self) {
        let first = self.view.part(0, middle);
        (Self::new(first), Self::new(self.view.part(middle, self.view.len() - middle)))
    }

    /// Parts of `len` elements, or 1 if `len` is 0, in order; the last has what remains.
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
