//! [`MergeSorter`]: a sort by a comparison that keeps its device memory between runs.

use std::marker::PhantomData;

use cuda_std::{Global, GlobalMut};
use gpu::merge_sort::tuning::tile;
use gpu::merge_sort::{MergeSortElement, MergeSortRung};
use launch::{Buffer, Device, Error, Held, Queue, Resources};

use super::{launch_tiles, not_built};
use crate::error::AlgorithmError;
use crate::sort::{bytes_of, grid, refuse_overlap, written};

/// A sort of *n* elements of type `T` by a comparison of type `C` that can run repeatedly. It owns the temporary
/// storage that it needs, so a run allocates no memory. Equal elements keep their order.
pub struct MergeSorter<T: MergeSortElement<C>, C> {
    rung: MergeSortRung,
    n: usize,
    /// The elements between launches.
    other: Buffer<T>,
    comparison: PhantomData<fn(C)>,
}

impl<T: MergeSortElement<C>, C: Copy + 'static> MergeSorter<T, C> {
    /// Returns a sorter for `n` elements on `device`.
    ///
    /// # Errors
    /// Returns [`AlgorithmError::NotBuilt`] if the rung is not built for `T` and `C`. Returns [`Error::OutOfMemory`] if
    /// the device has too little memory.
    pub fn new(device: &Device, rung: MergeSortRung, n: usize) -> Result<Self, AlgorithmError> {
        check::<T, C>(rung)?;
        let between = if n > first_run::<T>(rung) { n } else { 0 };
        Ok(Self { rung, n, other: device.alloc(between)?, comparison: PhantomData })
    }

    /// Sorts `x` in the order of `compare`, in place.
    ///
    /// # Errors
    /// Returns [`Error::LengthMismatch`] if the sorter was made for another length. Otherwise returns the error of a
    /// launch.
    pub fn sort_in(&mut self, queue: Queue<'_>, compare: C, x: &mut Buffer<T>) -> Result<(), AlgorithmError> {
        self.run(queue, compare, None, x.view_mut())
    }

    /// Writes the elements of `x` to `y` in the order of `compare`. The input does not change.
    ///
    /// # Errors
    /// Returns the errors of [`sort_in`](Self::sort_in).
    pub fn sort_into(
        &mut self,
        queue: Queue<'_>,
        compare: C,
        x: &Buffer<T>,
        y: &mut Buffer<T>,
    ) -> Result<(), AlgorithmError> {
        self.run(queue, compare, Some(x.view()), y.view_mut())
    }

    /// Does the same as [`sort_into`](Self::sort_into) for views, such as parts of buffers. A view may begin at any
    /// element of a buffer.
    ///
    /// # Errors
    /// Returns the errors of [`sort_in`](Self::sort_in), and [`Error::Overlap`] if the views overlap.
    pub fn sort_views(
        &mut self,
        queue: Queue<'_>,
        compare: C,
        x: Global<'_, T>,
        y: GlobalMut<'_, T>,
    ) -> Result<(), AlgorithmError> {
        refuse_overlap(&[(&bytes_of(x.as_ptr(), x.len()), &bytes_of(y.as_ptr(), y.len()))])?;
        self.run(queue, compare, Some(x), y)
    }

    /// Returns the number of bytes of the sorter's temporary storage.
    pub fn temporary_bytes(&self) -> u64 {
        self.other.len() as u64 * size_of::<T>() as u64
    }

    /// Sorts `y`, or `x` into `y`.
    fn run(
        &mut self,
        queue: Queue<'_>,
        compare: C,
        x: Option<Global<'_, T>>,
        y: GlobalMut<'_, T>,
    ) -> Result<(), AlgorithmError> {
        let (rung, n, other) = (self.rung, self.n, self.other.view_mut());
        for len in [Some(y.len()), x.map(|x| x.len())].into_iter().flatten() {
            if len != n {
                return Err(Error::LengthMismatch { what: "sort with this sorter", buffer: n, other: len }.into());
            }
        }
        if n == 0 {
            return Ok(());
        }
        let merges = n.div_ceil(first_run::<T>(rung)).next_power_of_two().ilog2();
        match rung {
            MergeSortRung::Ranks => {
                // In place, the number of launches is even, so that the first does not write what it reads. A merge of
                // one run copies.
                let launches = if x.is_none() { merges.next_multiple_of(2) } else { merges.max(1) };
                let mut from = x.unwrap_or_else(|| written(y));
                for launch in 0..launches {
                    let to = if (launches - launch).is_multiple_of(2) { other } else { y };
                    let call = T::ranks(from, 1 << launch, compare, to).ok_or_else(|| not_built::<T, C>(rung))?;
                    queue.launch(grid(n), call)?;
                    from = written(to);
                }
            }
            MergeSortRung::MergePath => {
                // The launches write the output and the other buffer in turn, and the output in the last launch.
                let mut to = if merges.is_multiple_of(2) { y } else { other };
                let x = match x {
                    // The tiles are sorted in place.
                    None if merges.is_multiple_of(2) => written(y).part(0, 0),
                    None => written(y),
                    Some(x) => x,
                };
                launch_tiles::<T, C>(queue, n, || T::block(x, compare, to))?;
                for merge in 0..merges {
                    let from = written(to);
                    to = if (merges - merge).is_multiple_of(2) { other } else { y };
                    launch_tiles::<T, C>(queue, n, || T::merge_path(from, from.part(0, 0), 1 << merge, compare, to))?;
                }
            }
        }
        Ok(())
    }
}

/// Checks that the rung is built for elements of type `T` and the comparison `C`.
///
/// # Errors
/// [`AlgorithmError::NotBuilt`] if it is not.
pub fn check<T: MergeSortElement<C>, C: 'static>(rung: MergeSortRung) -> Result<(), AlgorithmError> {
    if T::IS_OWN && rung != MergeSortRung::MergePath { Err(not_built::<T, C>(rung)) } else { Ok(()) }
}

/// Returns the number of elements in a run before the first merge.
fn first_run<T>(rung: MergeSortRung) -> usize {
    match rung {
        MergeSortRung::Ranks => 1,
        MergeSortRung::MergePath => tile(size_of::<T>()),
    }
}

impl<T: MergeSortElement<C>, C> Resources for MergeSorter<T, C> {
    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        self.other.hold(held);
    }
}
