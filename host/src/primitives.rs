//! The algorithms as methods of a device, on slices and on device buffers.
//!
//! A slice is brought to the device and its result back. A [`Buffer`] stays where it is, and its result is another one.
//!
//! ```
//! use host::prelude::*;
//!
//! # fn main() -> Result<(), AlgorithmError> {
//! # let device = launch::Device::open(launch::DeviceChoice::Sim, host::modules::MODULES)?;
//! # /*
//! let device = host::open()?; // a GPU where there is one, else the simulator
//! # */
//! let x = [3.0_f32, -1.0, 4.0, -1.5];
//! assert_eq!(device.reduce(&x, Sum)?, 4.5);
//! assert_eq!(device.scan_inclusive(&x, Max)?, [3.0, 3.0, 4.0, 4.0]);
//!
//! let x = device.upload(&x)?; // from here on without a copy in between
//! let sums: Buffer<f32> = device.scan_exclusive(&x, Sum)?;
//! assert_eq!(device.reduce(&sums, Min)?, 0.0);
//! # Ok(())
//! # }
//! ```

use gpu::operator::Operator;
use launch::{Buffer, Device, Element, Error};

use crate::options::Size;
use crate::reduce::{ReduceKernel, Reducible, reduce};
use crate::rungs::AlgorithmError;
use crate::saxpy::{Real, SaxpyKernel, saxpy};
use crate::scale::{Scalable, ScaleKernel, scale};
use crate::scan::{ScanKernel, ScanKind, Scannable, scan};
use crate::transpose::{TransposeKernel, transpose};

/// A vector to read: a slice, an array or a `Vec` on the host, or a [`Buffer`] on the device.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no vector to read",
    label = "neither a slice nor a buffer",
    note = "give `&x`, where `x` is a slice, an array or a `Vec` on the host, or a `Buffer` on the device; of part of one, `&x[a..b]`"
)]
pub trait Vector: sealed::Sealed {
    /// Its elements.
    type Element: Element;

    /// What a result is, of a vector of this kind: a `Vec`, or a [`Buffer`].
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

/// The algorithms, each by its fastest kernel.
///
/// On a GPU, work on buffers returns as soon as it is launched, but for [`reduce`](Self::reduce), whose result is a value.
pub trait Primitives {
    /// All elements of `x` combined in order: `x[0] ∘ x[1] ∘ …`; of none, the operator's identity.
    ///
    /// ```
    /// # use host::prelude::*;
    /// # let device = launch::Device::open(launch::DeviceChoice::Sim, host::modules::MODULES)?;
    /// assert_eq!(device.reduce(&[3, 1, 4, 1, 5], Product)?, 60);
    /// assert_eq!(device.reduce(&Vec::<f64>::new(), Min)?, f64::INFINITY);
    /// # Ok::<(), AlgorithmError>(())
    /// ```
    ///
    /// # Errors
    /// [`AlgorithmError::Launch`] when the device fails or has too little memory.
    fn reduce<X, O>(&self, x: X, operator: O) -> Result<X::Element, AlgorithmError>
    where
        X: Vector<Element: Reducible<O>>,
        O: Operator<X::Element>;

    /// The inclusive scan: element i is `x[0] ∘ … ∘ x[i]`.
    ///
    /// ```
    /// # use host::prelude::*;
    /// # let device = launch::Device::open(launch::DeviceChoice::Sim, host::modules::MODULES)?;
    /// assert_eq!(device.scan_inclusive(&[3, 1, 4, 1, 5], Sum)?, [3, 4, 8, 9, 14]);
    /// # Ok::<(), AlgorithmError>(())
    /// ```
    ///
    /// # Errors
    /// As for [`reduce`](Self::reduce).
    fn scan_inclusive<X, O>(&self, x: X, operator: O) -> Result<X::Output, AlgorithmError>
    where
        X: Vector<Element: Scannable<O>>,
        O: Operator<X::Element>;

    /// The exclusive scan: element i is `x[0] ∘ … ∘ x[i − 1]`, and element 0 the operator's identity.
    ///
    /// ```
    /// # use host::prelude::*;
    /// # let device = launch::Device::open(launch::DeviceChoice::Sim, host::modules::MODULES)?;
    /// assert_eq!(device.scan_exclusive(&[3, 1, 4, 1, 5], Sum)?, [0, 3, 4, 8, 9]);
    /// # Ok::<(), AlgorithmError>(())
    /// ```
    ///
    /// # Errors
    /// As for [`reduce`](Self::reduce).
    fn scan_exclusive<X, O>(&self, x: X, operator: O) -> Result<X::Output, AlgorithmError>
    where
        X: Vector<Element: Scannable<O>>,
        O: Operator<X::Element>;

    /// The transpose of a matrix: `x` has `height` rows of `width` elements, the result `width` rows of `height`.
    ///
    /// ```
    /// # use host::prelude::*;
    /// # let device = launch::Device::open(launch::DeviceChoice::Sim, host::modules::MODULES)?;
    /// assert_eq!(device.transpose(b"abcdef", 3, 2)?, b"adbecf");
    /// # Ok::<(), AlgorithmError>(())
    /// ```
    ///
    /// # Errors
    /// [`AlgorithmError::SizeMismatch`] unless `x` has `width · height` elements; else as for [`reduce`](Self::reduce).
    fn transpose<X>(&self, x: X, width: usize, height: usize) -> Result<X::Output, AlgorithmError>
    where
        X: Vector;

    /// `y[i] = a·x[i] + y[i]`, each rounded once, in `f32` or `f64`.
    ///
    /// ```
    /// # use host::prelude::*;
    /// # let device = launch::Device::open(launch::DeviceChoice::Sim, host::modules::MODULES)?;
    /// let mut y = [10.0, 20.0];
    /// device.saxpy(2.0, &[1.0, 2.0], &mut y)?;
    /// assert_eq!(y, [12.0, 24.0]);
    /// # Ok::<(), AlgorithmError>(())
    /// ```
    ///
    /// `x` and `y` cannot overlap, which the compiler sees:
    ///
    /// ```compile_fail,E0502
    /// # use host::prelude::*;
    /// # fn overlap(device: &launch::Device, y: &mut Buffer<f32>) -> Result<(), AlgorithmError> {
    /// device.saxpy(2.0, &*y, y)
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] unless `x` and `y` have as many elements; else as for [`reduce`](Self::reduce).
    fn saxpy<X, Y>(&self, a: X::Element, x: X, y: Y) -> Result<(), AlgorithmError>
    where
        X: Vector<Element: Real>,
        Y: VectorMut<Element = X::Element>;

    /// `s·x[i]` for each element.
    ///
    /// ```
    /// # use host::prelude::*;
    /// # let device = launch::Device::open(launch::DeviceChoice::Sim, host::modules::MODULES)?;
    /// assert_eq!(device.scale(0.5, &[1.0, 3.0])?, [0.5, 1.5]);
    /// # Ok::<(), AlgorithmError>(())
    /// ```
    ///
    /// # Errors
    /// As for [`reduce`](Self::reduce).
    fn scale<X>(&self, s: X::Element, x: X) -> Result<X::Output, AlgorithmError>
    where
        X: Vector<Element: Scalable>;
}

impl Primitives for Device {
    fn reduce<X, O>(&self, x: X, operator: O) -> Result<X::Element, AlgorithmError>
    where
        X: Vector<Element: Reducible<O>>,
        O: Operator<X::Element>,
    {
        let kernel = ReduceKernel::best_for::<X::Element, O>();
        x.on_device(self, |x| reduce(self, kernel, x, operator))
    }

    fn scan_inclusive<X, O>(&self, x: X, operator: O) -> Result<X::Output, AlgorithmError>
    where
        X: Vector<Element: Scannable<O>>,
        O: Operator<X::Element>,
    {
        scanned(self, ScanKind::Inclusive, x, operator)
    }

    fn scan_exclusive<X, O>(&self, x: X, operator: O) -> Result<X::Output, AlgorithmError>
    where
        X: Vector<Element: Scannable<O>>,
        O: Operator<X::Element>,
    {
        scanned(self, ScanKind::Exclusive, x, operator)
    }

    fn transpose<X>(&self, x: X, width: usize, height: usize) -> Result<X::Output, AlgorithmError>
    where
        X: Vector,
    {
        let result = x.on_device(self, |x| {
            let mut y = self.alloc(x.len())?;
            transpose(self, TransposeKernel::BEST, Size { width, height }, x, &mut y)?;
            Ok(y)
        })?;
        Ok(X::output(result)?)
    }

    fn saxpy<X, Y>(&self, a: X::Element, x: X, y: Y) -> Result<(), AlgorithmError>
    where
        X: Vector<Element: Real>,
        Y: VectorMut<Element = X::Element>,
    {
        x.on_device(self, |x| y.update(self, |y| saxpy(self, SaxpyKernel::BEST, a, x, y)))
    }

    fn scale<X>(&self, s: X::Element, x: X) -> Result<X::Output, AlgorithmError>
    where
        X: Vector<Element: Scalable>,
    {
        let result = x.on_device(self, |x| {
            let mut y = self.alloc(x.len())?;
            scale(self, ScaleKernel::Grid, s, x, &mut y)?;
            Ok(y)
        })?;
        Ok(X::output(result)?)
    }
}

fn scanned<X, O>(device: &Device, kind: ScanKind, x: X, operator: O) -> Result<X::Output, AlgorithmError>
where
    X: Vector<Element: Scannable<O>>,
    O: Operator<X::Element>,
{
    let result = x.on_device(device, |x| {
        let mut y = device.alloc(x.len())?;
        scan(device, ScanKernel::best_for::<X::Element, O>(device, x.len()), kind, x, &mut y, operator)?;
        Ok(y)
    })?;
    Ok(X::output(result)?)
}
