//! The vectors that extension traits such as `ReduceExt` take as arguments: slices on the host and buffers on the
//! device.
//!
//! If the argument is a slice, the method copies the elements to the device and the result back to the host. If it is a
//! [`Buffer`], the elements and the result stay on the device.

use launch::{Buffer, Device, DeviceCopy, Element, Error};

use crate::error::AlgorithmError;

/// A vector that an algorithm reads: a slice, an array or a `Vec` on the host, or a [`Buffer`] on the device.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read as a vector",
    label = "neither a slice nor a buffer",
    note = "pass `&x`, where `x` is a slice, an array or a `Vec` on the host, or a `Buffer` on the device"
)]
pub trait Vector: sealed::Sealed {
    /// The type of the vector's elements.
    type Element: Element;

    /// The type of the result: a `Vec` for a host vector, a [`Buffer`] for a buffer.
    type Output;

    /// The type of a result with elements of type `U`: a `Vec<U>` for a host vector, a [`Buffer`] for a buffer.
    type OutputOf<U: DeviceCopy>;

    /// Calls `work` with a buffer on `device` that contains the elements.
    #[doc(hidden)]
    fn on_device<R>(
        self,
        device: &Device,
        work: impl FnOnce(&Buffer<Self::Element>) -> Result<R, AlgorithmError>,
    ) -> Result<R, AlgorithmError>;

    /// Returns the elements if they are on the host.
    #[doc(hidden)]
    fn on_host(&self) -> Option<&[Self::Element]> {
        None
    }

    /// Converts the buffer `result` to [`Output`](Self::Output).
    #[doc(hidden)]
    fn output(result: Buffer<Self::Element>) -> Result<Self::Output, Error>;

    /// Converts the buffer `result` to [`OutputOf`](Self::OutputOf).
    #[doc(hidden)]
    fn output_of<U: DeviceCopy>(result: Buffer<U>) -> Result<Self::OutputOf<U>, Error>;

    /// Calls `work` with the elements on `device` and with an output buffer of the same length. Returns the converted
    /// output.
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

/// A vector that an algorithm reads and overwrites: a mutably borrowed slice, array, `Vec` or [`Buffer`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be written as a vector",
    label = "neither a slice nor a buffer, borrowed mutably",
    note = "pass `&mut y`, where `y` is a slice, an array or a `Vec` on the host, or a `Buffer` on the device"
)]
pub trait VectorMut: sealed::Sealed {
    /// The type of the vector's elements.
    type Element: Element;

    /// Calls `work` with a buffer on `device` that contains the elements, and stores the changed elements in this
    /// vector.
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
    type OutputOf<U: DeviceCopy> = Buffer<U>;

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

    fn output_of<U: DeviceCopy>(result: Buffer<U>) -> Result<Buffer<U>, Error> {
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
            type OutputOf<U: DeviceCopy> = Vec<U>;

            fn on_device<R>(
                self,
                device: &Device,
                work: impl FnOnce(&Buffer<T>) -> Result<R, AlgorithmError>,
            ) -> Result<R, AlgorithmError> {
                work(&device.upload(self)?)
            }

            fn on_host(&self) -> Option<&[T]> {
                Some(&self[..])
            }

            fn output(result: Buffer<T>) -> Result<Vec<T>, Error> {
                result.download()
            }

            fn output_of<U: DeviceCopy>(result: Buffer<U>) -> Result<Vec<U>, Error> {
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
