//! By key: scans or reduces the values of each run of equal keys.
//!
//! [`ByKeyExt`] adds the methods to a device. Use a [`ByKeyRunner`] for repeated runs, on views, and where the number
//! of runs should stay on the device.
//!
//! ```
//! use gpu::operator::Sum;
//! use gridstride::by_key::ByKeyRunner;
//! use launch::{Device, DeviceChoice};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let device = Device::open(DeviceChoice::Sim, gridstride::MODULES)?; // or `Auto`: a GPU where there is one
//! let (keys, values) = (device.upload(&[7_u32, 7, 2, 7])?, device.upload(&[1.0_f32, 2.0, 4.0, 8.0])?);
//! let (mut y_keys, mut y, mut count) = (device.alloc(4)?, device.alloc(4)?, device.alloc(1)?);
//! let mut sums = ByKeyRunner::<u32, f32, Sum>::new(&device, keys.len())?;
//! let outputs = (y_keys.view_mut(), y.view_mut(), count.view_mut());
//! sums.reduce(&device, keys.view(), values.view(), outputs)?;
//! assert_eq!(count.download()?, [3]);
//! assert_eq!(y_keys.download()?[..3], [7, 2, 7]);
//! assert_eq!(y.download()?[..3], [3.0, 4.0, 8.0]);
//! # Ok(())
//! # }
//! ```

use std::borrow::Borrow;

use gpu::operator::Operator;
use launch::{Buffer, Device};

use crate::error::AlgorithmError;
use crate::scan::ScanKind;
use crate::select::{downloaded, shortened};
use crate::vector::Vector;

mod runner;
mod textbook;

pub use gpu::by_key::{ByKeyElement, ByKeyRung, RunKey};
pub use runner::{ByKeyRunner, tile};
pub use textbook::check;

/// Extends [`Device`] with scans and reductions by key by the fastest kernel. A run consists of consecutive equal keys;
/// −0 equals +0, and a NaN is a run by itself. The key of a run is that of its last element.
pub trait ByKeyExt: Borrow<Device> {
    /// Returns the key of each run and the combination of its values, in order. Waits for the number of runs.
    ///
    /// ```
    /// # use gridstride::prelude::*;
    /// # let device = launch::Device::open(launch::DeviceChoice::Sim, gridstride::MODULES)?;
    /// let (keys, sums) = device.reduce_by_key(&[7, 7, 2, 7], &[1.0, 2.0, 4.0, 8.0], Sum)?;
    /// assert_eq!((keys, sums), (vec![7, 2, 7], vec![3.0, 4.0, 8.0]));
    /// # Ok::<(), AlgorithmError>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`AlgorithmError::Launch`] if there is not one value per key, or if the device fails or has too little
    /// memory.
    fn reduce_by_key<X, Y, O>(&self, keys: X, values: Y, operator: O) -> Result<(X::Output, Y::Output), AlgorithmError>
    where
        X: Vector<Element: RunKey>,
        Y: Vector<Element: ByKeyElement<O>>,
        O: Operator<Y::Element>,
    {
        // The operator's value is not used, because its type determines the kernel.
        let (_, device) = (operator, self.borrow());
        let (keys, values) = keys.on_device(device, |keys| {
            values.on_device(device, |values: &Buffer<Y::Element>| {
                let n = keys.len();
                let (mut y_keys, mut y, mut count) = (device.alloc(n)?, device.alloc(n)?, device.alloc(1)?);
                let outputs = (y_keys.view_mut(), y.view_mut(), count.view_mut());
                ByKeyRunner::<_, _, O>::new(device, n)?.reduce(device, keys.view(), values.view(), outputs)?;
                let count = downloaded(&count)?;
                Ok((shortened(y_keys, count)?, shortened(y, count)?))
            })
        })?;
        Ok((X::output(keys)?, Y::output(values)?))
    }

    /// Returns the inclusive scan of the values of each run: an element combines the values from the beginning of its
    /// run up to its own.
    ///
    /// ```
    /// # use gridstride::prelude::*;
    /// # let device = launch::Device::open(launch::DeviceChoice::Sim, gridstride::MODULES)?;
    /// assert_eq!(device.scan_by_key_inclusive(&[7, 7, 2, 7], &[1, 2, 4, 8], Sum)?, [1, 3, 4, 8]);
    /// # Ok::<(), AlgorithmError>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`AlgorithmError::Launch`] if there is not one value per key, or if the device fails or has too little
    /// memory.
    fn scan_by_key_inclusive<X, Y, O>(&self, keys: X, values: Y, operator: O) -> Result<Y::Output, AlgorithmError>
    where
        X: Vector<Element: RunKey>,
        Y: Vector<Element: ByKeyElement<O>>,
        O: Operator<Y::Element>,
    {
        scanned(self.borrow(), ScanKind::Inclusive, keys, values, operator)
    }

    /// Returns the exclusive scan of the values of each run. The first element of each run is the operator's identity.
    ///
    /// ```
    /// # use gridstride::prelude::*;
    /// # let device = launch::Device::open(launch::DeviceChoice::Sim, gridstride::MODULES)?;
    /// assert_eq!(device.scan_by_key_exclusive(&[7, 7, 2, 7], &[1, 2, 4, 8], Sum)?, [0, 1, 0, 0]);
    /// # Ok::<(), AlgorithmError>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`scan_by_key_inclusive`](Self::scan_by_key_inclusive).
    fn scan_by_key_exclusive<X, Y, O>(&self, keys: X, values: Y, operator: O) -> Result<Y::Output, AlgorithmError>
    where
        X: Vector<Element: RunKey>,
        Y: Vector<Element: ByKeyElement<O>>,
        O: Operator<Y::Element>,
    {
        scanned(self.borrow(), ScanKind::Exclusive, keys, values, operator)
    }
}

impl ByKeyExt for Device {}

fn scanned<X, Y, O>(device: &Device, kind: ScanKind, keys: X, values: Y, _: O) -> Result<Y::Output, AlgorithmError>
where
    X: Vector<Element: RunKey>,
    Y: Vector<Element: ByKeyElement<O>>,
    O: Operator<Y::Element>,
{
    keys.on_device(device, |keys| {
        values.mapped(device, |values, y| {
            ByKeyRunner::<_, _, O>::new(device, keys.len())?.scan(
                device,
                kind,
                keys.view(),
                values.view(),
                y.view_mut(),
            )
        })
    })
}
