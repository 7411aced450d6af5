//! Vectors on the host and on a device, as the methods of a device take them.
//!
//! A slice is brought to the device and its result back. A [`Buffer`] stays where it is, and its result is another one.

use launch::{Buffer, Device, Element, Error};

use crate::error::AlgorithmError;

/// A vector to read: a slice, an array or a `Vec` on the host, or a [`Buffer`] on the device.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no vector to read",
    label = "neither a slice nor a buffer",
    note = "give `&x`, where `x` is a slice, an array or a `Vec` on the host, or a `Buffer` on the device; of part of one, `&x[a..b]`"
)]
pub trait Vector: sealed::Sealed {
    /// Its elements.
    type Element: Element;

    /// The type of a result for a vector of this kind: a `Vec`, or a [`Buffer`].
    type Output;

    /// Gives `work` the elements on `device`.
    #[doc(hidden)]
    fn on_device<R>(
        self,
        device: &Device,
        work: impl FnOnce(&Buffer<Self::Element>) -> Result<R, AlgorithmError>,
    ) -> Result<R, AlgorithmError>;

    /// The result from a buffer that has it.
    #[doc(hidden)]
    fn output(result: Buffer<Self::Element>) -> Result<Self::Output, Error>;

    /// Returns the elements that `work` writes, given these elements on `device` and as many others to write.
    #[doc(hidden)]
    fn mapped(
        self,
        device: &Device,
        work: impl FnOnce(&Buffer<Self::Element>, &mut Buffer<Self::Element>) -> Result<(), AlgorithmError>,
    ) -> Result<Self::Output, AlgorithmError>
    where
        Self: Sized,
    {
        let result = self.on_device(device, |x| {
            let mut y = device.alloc(x.len())?;
            work(x, &mut y)?;
            Ok(y)
        })?;
        Ok(Self::output(result)?)
    }
}

/// A vector to read and write.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no vector to write",
    label = "neither a slice nor a buffer, borrowed mutably",
    note = "give `&mut y`, where `y` is a slice, an array or a `Vec` on the host, or a `Buffer` on the device"
)]
pub trait VectorMut: sealed::Sealed {
    /// Its elements.
    type Element: Element;

    /// Gives `work` the elements on `device`, and takes over what it makes of them.
    #[doc(hidden)]
    fn update(
        self,
        device: &Device,
        work: impl FnOnce(&mut Buffer<Self::Element>) -> Result<(), AlgorithmError>,
    ) -> Result<(), AlgorithmError>;
}

mod sealed {
    pub trait Sealed {}
}

impl<T: Element> sealed::Sealed for &Buffer<T> {}

impl<T: Element> Vector for &Buffer<T> {
    type Element = T;
    type Output = Buffer<T>;

    fn on_device<R>(
        self,
        _device: &Device,
        work: impl FnOnce(&Buffer<T>) -> Result<R, AlgorithmError>,
    ) -> Result<R, AlgorithmError> {
        work(self)
    }

    fn output(result: Buffer<T>) -> Result<Buffer<T>, Error> {
        Ok(result)
    }
}

impl<T: Element> sealed::Sealed for &mut Buffer<T> {}

impl<T: Element> VectorMut for &mut Buffer<T> {
    type Element = T;

    fn update(
        self,
        _device: &Device,
        work: impl FnOnce(&mut Buffer<T>) -> Result<(), AlgorithmError>,
    ) -> Result<(), AlgorithmError> {
        work(self)
    }
}

macro_rules! on_host {
    ($([$($generics:tt)*] $type:ty;)*) => {$(
        impl<T: Element, $($generics)*> sealed::Sealed for &$type {}

        impl<T: Element, $($generics)*> Vector for &$type {
            type Element = T;
            type Output = Vec<T>;

            fn on_device<R>(
                self,
                device: &Device,
                work: impl FnOnce(&Buffer<T>) -> Result<R, AlgorithmError>,
            ) -> Result<R, AlgorithmError> {
                work(&device.upload(self)?)
            }

            fn output(result: Buffer<T>) -> Result<Vec<T>, Error> {
                result.download()
            }
        }

        impl<T: Element, $($generics)*> sealed::Sealed for &mut $type {}

        impl<T: Element, $($generics)*> VectorMut for &mut $type {
            type Element = T;

            fn update(
                self,
                device: &Device,
                work: impl FnOnce(&mut Buffer<T>) -> Result<(), AlgorithmError>,
            ) -> Result<(), AlgorithmError> {
                let mut buffer = device.upload(self)?;
                work(&mut buffer)?;
                Ok(buffer.download_into(self)?)
            }
        }
    )*};
}

on_host! {
    [] [T];
    [] Vec<T>;
    [const N: usize] [T; N];
}
