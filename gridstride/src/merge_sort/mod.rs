//! Merge sort: puts elements in the order of a comparison, and merges sorted vectors. Equal elements keep their order.
//!
//! [`MergeSortExt`] adds the methods to a device. Use a [`MergeSorter`] for repeated sorts, in streams and in graphs,
//! because its runs allocate no memory. It also sorts by the older kernel of `gpu::merge_sort`.
//!
//! The library's kernels sort `u32` by [`Less`]. For elements of 1 to 64 bytes and a comparison ([`Compare`]) of your
//! own, `gpu::instances!(Point by Nearest: merge_sort);` in your crate of kernels makes the kernels. Numbers are sorted
//! several times faster by [`sort`](crate::sort), and so are structures whose order is that of some of their fields.
//!
//! ```
//! use gridstride::merge_sort::{Less, MergeSorter, default_rung};
//! use gridstride::prelude::*;
//!
//! # fn main() -> Result<(), AlgorithmError> {
//! # let device = launch::Device::open(launch::DeviceChoice::Sim, gridstride::MODULES)?;
//! let mut x = device.upload(&[3_u32, 1, 4, 1, 5])?;
//! let mut sorter = MergeSorter::<u32, Less>::new(&device, default_rung(), x.len())?;
//! sorter.sort_in(device.queue(), Less, &mut x)?;
//! assert_eq!(x.download()?, [1, 1, 3, 4, 5]);
//! # Ok(())
//! # }
//! ```

use std::borrow::Borrow;

use cuda_std::{Global, GlobalMut, Ladder};
use launch::{Call, Device, Error, LaunchConfig, Queue};

use crate::capabilities;
use crate::error::AlgorithmError;
use crate::sort::{bytes_of, refuse_overlap};
use crate::vector::{Vector, VectorMut};

mod sorter;

pub use gpu::merge_sort::tuning::tile;
pub use gpu::merge_sort::{Compare, Less, MergeSortElement, MergeSortRung};
pub use sorter::{MergeSorter, check};

/// Returns the rung that runs by default: the last of the ladder, which is built for all types.
pub fn default_rung() -> MergeSortRung {
    MergeSortRung::LAST
}

/// Extends [`Device`] with sorts by a comparison, and merges, by the default rung, the fastest kernels.
///
/// Vectors are slices, arrays or `Vec`s on the host, or [`Buffer`](launch::Buffer)s on the device. Each function
/// allocates its temporary storage from the device's pool.
pub trait MergeSortExt: Borrow<Device> {
    /// Sorts `x` in the order of `compare`, in place. Equal elements keep their order.
    ///
    /// ```
    /// # use gridstride::prelude::*;
    /// # use gridstride::merge_sort::Less;
    /// # let device = launch::Device::open(launch::DeviceChoice::Sim, gridstride::MODULES)?;
    /// let mut x = [3_u32, 1, 4, 1, 5];
    /// device.sort_by(&mut x, Less)?;
    /// assert_eq!(x, [1, 1, 3, 4, 5]);
    /// # Ok::<(), AlgorithmError>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`AlgorithmError::Launch`] if the device fails or has too little memory.
    fn sort_by<Y, C: Copy + 'static>(&self, x: Y, compare: C) -> Result<(), AlgorithmError>
    where
        Y: VectorMut<Element: MergeSortElement<C>>,
    {
        let device = self.borrow();
        x.update(device, |x| MergeSorter::new(device, default_rung(), x.len())?.sort_in(device.queue(), compare, x))
    }

    /// Returns the elements of `x` in the order of `compare`. The input does not change.
    ///
    /// # Errors
    /// Returns the errors of [`sort_by`](Self::sort_by).
    fn sorted_by<X, C: Copy + 'static>(&self, x: X, compare: C) -> Result<X::Output, AlgorithmError>
    where
        X: Vector<Element: MergeSortElement<C>>,
    {
        let device = self.borrow();
        x.mapped(device, |x, y| {
            MergeSorter::new(device, default_rung(), x.len())?.sort_into(device.queue(), compare, x, y)
        })
    }

    /// Returns the elements of `a` and `b`, both of which must be sorted, in the order of `compare`. Of equal elements,
    /// those of `a` come first.
    ///
    /// ```
    /// # use gridstride::prelude::*;
    /// # use gridstride::merge_sort::Less;
    /// # let device = launch::Device::open(launch::DeviceChoice::Sim, gridstride::MODULES)?;
    /// assert_eq!(device.merge_by(&[1_u32, 4, 9], &[2, 4], Less)?, [1, 2, 4, 4, 9]);
    /// # Ok::<(), AlgorithmError>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`sort_by`](Self::sort_by).
    fn merge_by<X, Y, C: Copy + 'static>(&self, a: X, b: Y, compare: C) -> Result<X::Output, AlgorithmError>
    where
        X: Vector<Element: MergeSortElement<C>>,
        Y: Vector<Element = X::Element>,
    {
        let device = self.borrow();
        let merged = a.on_device(device, |a| {
            b.on_device(device, |b| {
                let mut merged = device.alloc(a.len() + b.len())?;
                merge_views(device.queue(), compare, a.view(), b.view(), merged.view_mut())?;
                Ok(merged)
            })
        })?;
        Ok(X::output(merged)?)
    }
}

impl MergeSortExt for Device {}

/// Enqueues the merge of `a` and `b`, both of which must be sorted, to `y`. Of equal elements, those of `a` come first.
/// A view may begin at any element of a buffer.
///
/// # Errors
/// Returns [`Error::LengthMismatch`] if `y` is not as long as `a` and `b` together, and [`Error::Overlap`] if an input
/// overlaps the output. Otherwise returns the error of the launch.
pub fn merge_views<T: MergeSortElement<C>, C: Copy + 'static>(
    queue: Queue<'_>,
    compare: C,
    a: Global<'_, T>,
    b: Global<'_, T>,
    y: GlobalMut<'_, T>,
) -> Result<(), AlgorithmError> {
    let [of_a, of_b] = [a, b].map(|view| bytes_of(view.as_ptr(), view.len()));
    let of_y = bytes_of(y.as_ptr(), y.len());
    refuse_overlap(&[(&of_a, &of_y), (&of_b, &of_y)])?;
    match a.len().checked_add(b.len()) {
        Some(len) if len == y.len() => {}
        len => {
            let other = len.unwrap_or(usize::MAX);
            return Err(Error::LengthMismatch { what: "merge to", buffer: y.len(), other }.into());
        }
    }
    launch_tiles::<T, C>(queue, y.len(), || T::merge_path(a, b, 0, compare, y))
}

/// Launches `call` with one block per tile of `n` elements, unless there are none.
fn launch_tiles<'call, T: MergeSortElement<C>, C: 'static>(
    queue: Queue<'_>,
    n: usize,
    call: impl FnOnce() -> Option<Call<'call>>,
) -> Result<(), AlgorithmError> {
    if n == 0 {
        return Ok(());
    }
    // A launch with `u32::MAX` blocks fails.
    let blocks = u32::try_from(n.div_ceil(tile(size_of::<T>()))).unwrap_or(u32::MAX);
    let config = LaunchConfig::new(blocks, gpu::merge_sort::tuning::THREADS);
    Ok(queue.launch(config, call().ok_or_else(|| not_built::<T, C>(MergeSortRung::MergePath))?)?)
}

/// Returns the error for a rung that is not built for elements of type `T` and the comparison `C`.
fn not_built<T: MergeSortElement<C>, C: 'static>(rung: MergeSortRung) -> AlgorithmError {
    match T::IS_OWN {
        true => capabilities::not_built_of_own::<T, C, _>(rung, &[MergeSortRung::MergePath]),
        false => capabilities::not_built(rung, &capabilities::of_operator::<T, C>()),
    }
}
