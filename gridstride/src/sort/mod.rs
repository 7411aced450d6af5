//! Sort: puts keys in order, and moves a value with each key if there are values. Equal keys keep their order.
//!
//! [`SortExt`] adds sorts by the fastest kernel to a device. Use a [`Sorter`] for repeated sorts, in streams and in
//! graphs, because its runs allocate no memory. It also sorts by the older kernels of `gpu::sort`.
//!
//! Keys are integers and floats of 8 to 64 bits, or a type of your own ([`SortKey`]). Floats are in the order of
//! `total_cmp`. Values have 4, 8 or 16 bytes; with keys of 8 and 16 bits, 4 bytes. [`SortOptions`] choose the order.
//! Structures are also sorted by several fields ([`SortFields`]).
//!
//! ```
//! use gridstride::prelude::*;
//! use gridstride::sort::{SortOptions, Sorter, default_rung};
//!
//! # fn main() -> Result<(), AlgorithmError> {
//! # let device = launch::Device::open(launch::DeviceChoice::Sim, gridstride::MODULES)?;
//! let mut keys = device.upload(&[2.5_f32, -1.0, f32::NAN, 7.0])?;
//! let options = SortOptions { nan_last: true, ..SortOptions::descending() };
//! let mut sorter = Sorter::<f32>::new(&device, default_rung(), keys.len(), &options)?;
//! sorter.sort_in(device.queue(), &mut keys)?;
//! assert_eq!(keys.download()?[..3], [7.0, 2.5, -1.0]);
//! # Ok(())
//! # }
//! ```
//!
//! The borrow checker rejects input and output that overlap, and [`Sorter::sort_views`] returns an error.

use std::borrow::Borrow;

use cuda_std::{Element, Ladder, Zeroable};
use gpu::sort::KeyBits;
pub use gpu::sort::SortRung;
use launch::Device;

use crate::capabilities;
use crate::error::AlgorithmError;
use crate::vector::{Vector, VectorMut};

mod fields;
mod key;
mod launches;
mod options;
mod plan;
mod segments;
mod sorter;

pub use fields::{FieldSorter, SortField, SortFields};
pub use gpu::sort::Encoding;
pub use key::SortKey;
pub(crate) use launches::{grid, written};
pub use options::SortOptions;
#[doc(hidden)]
pub use plan::SortMethod;
pub use plan::{Plan, default_rung};
pub use segments::SegmentSorter;
pub use sorter::{SortIndex, Sorter, plan};
pub(crate) use sorter::{bytes_of, refuse_overlap};

/// Returns the error for keys with the bits `B` and values of type `V`, which the rung does not sort.
fn not_built<B: KeyBits, V: Element>(rung: SortRung) -> AlgorithmError {
    let requested = format!("values of {} bytes with keys of {} bytes", size_of::<V>(), size_of::<B>());
    let offered = "values of 4, 8 or 16 bytes, and with keys of 1 or 2 bytes values of 4 bytes: sort the indices of \
                   others by `argsort`";
    capabilities::refused(rung.rung(), requested, offered.to_owned())
}

/// Extends [`Device`] with sorts by the default rung, the fastest kernels.
///
/// Vectors are slices, arrays or `Vec`s on the host, or [`Buffer`](launch::Buffer)s on the device. Each function
/// allocates its temporary storage from the device's pool.
pub trait SortExt: Borrow<Device> {
    /// Sorts `keys` in ascending order, in place.
    ///
    /// ```
    /// # use gridstride::prelude::*;
    /// # let device = launch::Device::open(launch::DeviceChoice::Sim, gridstride::MODULES)?;
    /// let mut keys = [3, -1, 4, -1, 5];
    /// device.sort(&mut keys)?;
    /// assert_eq!(keys, [-1, -1, 3, 4, 5]);
    /// # Ok::<(), AlgorithmError>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`AlgorithmError::Launch`] if the device fails or has too little memory.
    fn sort<Y: VectorMut<Element: SortKey>>(&self, keys: Y) -> Result<(), AlgorithmError> {
        self.sort_with(keys, &SortOptions::default())
    }

    /// Sorts `keys` in the order of `options`, in place.
    ///
    /// ```
    /// # use gridstride::prelude::*;
    /// # use gridstride::sort::SortOptions;
    /// # let device = launch::Device::open(launch::DeviceChoice::Sim, gridstride::MODULES)?;
    /// let mut keys = [0x103_u16, 0x201, 0x102];
    /// device.sort_with(&mut keys, &SortOptions { bits: Some(8..16), ..SortOptions::descending() })?;
    /// assert_eq!(keys, [0x201, 0x103, 0x102]);
    /// # Ok::<(), AlgorithmError>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`AlgorithmError::NotBuilt`] if the keys do not have the bits of `options`. Returns
    /// [`AlgorithmError::Launch`] if the device fails or has too little memory.
    fn sort_with<Y: VectorMut<Element: SortKey>>(&self, keys: Y, options: &SortOptions) -> Result<(), AlgorithmError> {
        let device = self.borrow();
        keys.update(device, |keys| {
            Sorter::new(device, default_rung(), keys.len(), options)?.sort_in(device.queue(), keys)
        })
    }

    /// Returns the sorted `keys`. The input does not change.
    ///
    /// ```
    /// # use gridstride::prelude::*;
    /// # let device = launch::Device::open(launch::DeviceChoice::Sim, gridstride::MODULES)?;
    /// assert_eq!(device.sorted(&[0.5_f64, -0.0, 0.0, -2.0])?, [-2.0, -0.0, 0.0, 0.5]);
    /// # Ok::<(), AlgorithmError>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`sort`](Self::sort).
    fn sorted<X: Vector<Element: SortKey>>(&self, keys: X) -> Result<X::Output, AlgorithmError> {
        let device = self.borrow();
        keys.mapped(device, |keys, sorted| self.sort_into(keys, sorted))
    }

    /// Writes the sorted `keys` to `sorted`, which must be as long. The input does not change.
    ///
    /// # Errors
    /// Returns [`launch::Error::LengthMismatch`] if the vectors differ in length, and the errors of
    /// [`sort`](Self::sort).
    fn sort_into<X, Y>(&self, keys: X, sorted: Y) -> Result<(), AlgorithmError>
    where
        X: Vector<Element: SortKey>,
        Y: VectorMut<Element = X::Element>,
    {
        let device = self.borrow();
        keys.on_device(device, |keys| {
            sorted.update(device, |sorted| {
                let options = SortOptions::default();
                Sorter::new(device, default_rung(), keys.len(), &options)?.sort_into(device.queue(), keys, sorted)
            })
        })
    }

    /// Sorts `keys` in ascending order, in place, and moves the value of each key with it.
    ///
    /// ```
    /// # use gridstride::prelude::*;
    /// # let device = launch::Device::open(launch::DeviceChoice::Sim, gridstride::MODULES)?;
    /// let (mut keys, mut values) = ([3_u8, 1, 2], [[0.5_f32], [1.5], [2.5]]);
    /// device.sort_pairs(&mut keys, &mut values)?;
    /// assert_eq!((keys, values), ([1, 2, 3], [[1.5], [2.5], [0.5]]));
    /// # Ok::<(), AlgorithmError>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`launch::Error::LengthMismatch`] if `keys` and `values` differ in length. Returns
    /// [`AlgorithmError::NotBuilt`] if the values do not have 4, 8 or 16 bytes, and the errors of [`sort`](Self::sort).
    fn sort_pairs<Y, Z>(&self, keys: Y, values: Z) -> Result<(), AlgorithmError>
    where
        Y: VectorMut<Element: SortKey>,
        Z: VectorMut,
    {
        let device = self.borrow();
        keys.update(device, |keys| {
            values.update(device, |values| {
                let mut sorter = Sorter::new(device, default_rung(), keys.len(), &SortOptions::default())?;
                sorter.sort_pairs_in(device.queue(), keys, values)
            })
        })
    }

    /// Returns the indices of `keys` in ascending order of the keys, and waits for them. Indices of equal keys are in
    /// ascending order.
    ///
    /// ```
    /// # use gridstride::prelude::*;
    /// # let device = launch::Device::open(launch::DeviceChoice::Sim, gridstride::MODULES)?;
    /// assert_eq!(device.argsort(&[2.5_f32, -1.0, 7.0, -1.0])?, [1, 3, 0, 2]);
    /// # Ok::<(), AlgorithmError>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`AlgorithmError::NotBuilt`] if there are more than 2³² keys, and the errors of [`sort`](Self::sort). A
    /// [`Sorter`] with values of type `u64` sorts indices of more keys.
    fn argsort<X: Vector<Element: SortKey>>(&self, keys: X) -> Result<Vec<u32>, AlgorithmError> {
        let device = self.borrow();
        keys.on_device(device, |keys| {
            let mut sorter = Sorter::<_, u32>::new(device, default_rung(), keys.len(), &SortOptions::default())?;
            let (mut sorted, mut indices) = (device.alloc(keys.len())?, device.alloc(keys.len())?);
            sorter.argsort_into(device.queue(), keys, (&mut sorted, &mut indices))?;
            Ok(indices.download()?)
        })
    }

    /// Returns the first `k` of `keys` in the order of `options`, and their indices, and waits for them. In the order
    /// [`SortOptions::descending`], these are the `k` largest keys, the largest first. Equal keys are in the order of
    /// their indices. If there are fewer than `k` keys, all are returned.
    ///
    /// This sorts all keys, whatever `k` is.
    ///
    /// ```
    /// # use gridstride::prelude::*;
    /// # use gridstride::sort::SortOptions;
    /// # let device = launch::Device::open(launch::DeviceChoice::Sim, gridstride::MODULES)?;
    /// let (keys, indices) = device.top_k(&[2.5_f32, -1.0, 7.0, 2.5], 3, &SortOptions::descending())?;
    /// assert_eq!((keys, indices), (vec![7.0, 2.5, 2.5], vec![2, 0, 3]));
    /// # Ok::<(), AlgorithmError>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`argsort`](Self::argsort) and [`sort_with`](Self::sort_with).
    fn top_k<X: Vector<Element: SortKey>>(
        &self,
        keys: X,
        k: usize,
        options: &SortOptions,
    ) -> Result<(Vec<X::Element>, Vec<u32>), AlgorithmError> {
        let device = self.borrow();
        keys.on_device(device, |keys| {
            let mut sorter = Sorter::<_, u32>::new(device, default_rung(), keys.len(), options)?;
            let (mut sorted, mut indices) = (device.alloc(keys.len())?, device.alloc(keys.len())?);
            sorter.argsort_into(device.queue(), keys, (&mut sorted, &mut indices))?;
            let k = k.min(keys.len());
            let mut first = (vec![X::Element::zeroed(); k], vec![0; k]);
            sorted.download_range(0, &mut first.0)?;
            indices.download_range(0, &mut first.1)?;
            Ok(first)
        })
    }

    /// Sorts the structures `x` by the fields that [`sort_fields!`](crate::sort_fields!) lists, in place. Structures
    /// whose listed fields are equal keep their order.
    ///
    /// # Errors
    /// Returns the errors of [`FieldSorter::new`]. Returns [`AlgorithmError::Launch`] if the device fails.
    fn sort_by_fields<Y: VectorMut<Element: SortFields>>(&self, x: Y) -> Result<(), AlgorithmError> {
        let device = self.borrow();
        x.update(device, |x| {
            let mut sorted = device.alloc(x.len())?;
            FieldSorter::new(device, x.len())?.sort_into(device.queue(), x, &mut sorted)?;
            Ok(x.copy_from(&sorted)?)
        })
    }

    /// Sorts the keys of each segment in ascending order, in place. Segment *i* has the keys
    /// `offsets[i]..offsets[i + 1]`. Keys before the first and after the last segment do not change.
    ///
    /// ```
    /// # use gridstride::prelude::*;
    /// # let device = launch::Device::open(launch::DeviceChoice::Sim, gridstride::MODULES)?;
    /// let mut keys = [3, 1, 2, 9, 8, 7, 0];
    /// device.sort_segments(&mut keys, &[0, 3, 3, 6])?;
    /// assert_eq!(keys, [1, 2, 3, 7, 8, 9, 0]);
    /// # Ok::<(), AlgorithmError>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`SegmentSorter::new`].
    fn sort_segments<Y: VectorMut<Element: SortKey>>(&self, keys: Y, offsets: &[usize]) -> Result<(), AlgorithmError> {
        let device = self.borrow();
        keys.update(device, |keys| {
            let mut sorter = SegmentSorter::new(device, keys.len(), offsets, &SortOptions::default())?;
            sorter.sort_in(device.queue(), keys)
        })
    }
}

impl SortExt for Device {}
