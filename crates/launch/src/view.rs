//! Views from which a stream can copy.

use cuda_std::{DeviceId, Element, Global, GlobalMut};

/// A view from which a stream can copy: [`Global`] or [`GlobalMut`].
pub trait View<'a, T>: sealed::Sealed<'a> {}

impl<'a, T: Element> View<'a, T> for Global<'a, T> {}

impl<'a, T: Element> View<'a, T> for GlobalMut<'a, T> {}

/// The address, length and device of a view's elements.
pub struct Region {
    pub(crate) start: *const u8,
    pub(crate) len: usize,
    pub(crate) device: DeviceId,
}

pub(crate) mod sealed {
    use super::{Element, Global, GlobalMut, Region};

    /// Sealed, because unsafe code relies on `region` being correct.
    pub trait Sealed<'a> {
        fn region(&self) -> Region;
    }

    impl<'a, T: Element> Sealed<'a> for Global<'a, T> {
        fn region(&self) -> Region {
            Region { start: self.as_ptr().cast(), len: self.len(), device: self.device() }
        }
    }

    impl<'a, T: Element> Sealed<'a> for GlobalMut<'a, T> {
        fn region(&self) -> Region {
            Region { start: self.as_ptr().cast_const().cast(), len: self.len(), device: self.device() }
        }
    }
}
