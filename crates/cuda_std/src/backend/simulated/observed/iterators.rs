//! Iterators over a slice's elements.

use core::iter::FusedIterator;
use core::panic::Location;

use simt::raw::{self, Through};

use super::Access;

/// An iterator over the elements of a slice. It reports the access to each element.
#[derive(Clone, Debug)]
pub struct Observed<I> {
    elements: I,
    /// The source position at which the iterator was created.
    at: &'static Location<'static>,
}

impl<I> Observed<I> {
    #[inline(always)]
    #[track_caller]
    pub(super) fn new(elements: I) -> Self {
        Self { elements, at: Location::caller() }
    }
}

/// An item of an [`Observed`] iterator.
pub trait Accessed {
    /// Reports the access to the item.
    fn tell(&self, at: &'static Location<'static>);
}

impl<T> Accessed for &T {
    #[inline(always)]
    fn tell(&self, at: &'static Location<'static>) {
        let element: *const T = *self;
        raw::touch_at((element.addr(), size_of::<T>(), align_of::<T>()), Access::Read, Through::Slice, at);
    }
}

impl<T> Accessed for &mut T {
    #[inline(always)]
    fn tell(&self, at: &'static Location<'static>) {
        let element = core::ptr::from_ref::<T>(self);
        raw::touch_at((element.addr(), size_of::<T>(), align_of::<T>()), Access::Write, Through::Slice, at);
    }
}

impl<I: Iterator<Item: Accessed>> Iterator for Observed<I> {
    type Item = I::Item;

    #[inline(always)]
    fn next(&mut self) -> Option<I::Item> {
        self.elements.next().inspect(|element| element.tell(self.at))
    }

    #[inline(always)]
    fn nth(&mut self, n: usize) -> Option<I::Item> {
        self.elements.nth(n).inspect(|element| element.tell(self.at))
    }

    #[inline(always)]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.elements.size_hint()
    }
}

impl<I: DoubleEndedIterator<Item: Accessed>> DoubleEndedIterator for Observed<I> {
    #[inline(always)]
    fn next_back(&mut self) -> Option<I::Item> {
        self.elements.next_back().inspect(|element| element.tell(self.at))
    }
}

impl<I: ExactSizeIterator<Item: Accessed>> ExactSizeIterator for Observed<I> {}

impl<I: FusedIterator<Item: Accessed>> FusedIterator for Observed<I> {}
