//! [`FieldSorter`]: sorts structures by several of their fields.

use std::marker::PhantomData;
use std::ops::Range;

use cuda_std::{Element, Global, GlobalMut, Ladder};
use gpu::sort::{Encoding, sort_gather};
use launch::{Buffer, Call, Device, Error, Held, Queue, Resources};

use super::launches::grid;
use super::sorter::{SortIndex, bytes_of, refuse_overlap};
use super::{SortKey, SortOptions, Sorter, default_rung};
use crate::capabilities;
use crate::error::AlgorithmError;

/// A field by which structures are sorted, with its order. The macro [`sort_fields!`](crate::sort_fields!) lists them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SortField {
    offset: usize,
    bytes: usize,
    encoding: Encoding,
}

impl SortField {
    /// Returns the field of `T` that `field` returns, in ascending order. `offset` is the number of bytes before it:
    /// `SortField::new(offset_of!(Reading, time), |reading: &Reading| &reading.time)`.
    ///
    /// # Panics
    /// Panics when the program is compiled, if no `K` can be at this offset.
    pub const fn new<T: Element, K: SortKey>(offset: usize, field: fn(&T) -> &K) -> Self {
        let (_, bytes) = (field, size_of::<K::Bits>());
        assert!(
            bytes == size_of::<K>() && offset.is_multiple_of(bytes) && offset + bytes <= size_of::<T>(),
            "no such field is at this offset: write `offset_of!(Type, field)`"
        );
        Self { offset, bytes, encoding: K::ENCODING }
    }

    /// Returns the same field in descending order.
    #[must_use]
    pub const fn descending(self) -> Self {
        Self { encoding: self.encoding.descending(), ..self }
    }

    /// Returns the same field with every NaN after all numbers.
    #[must_use]
    pub const fn nan_last(self) -> Self {
        Self { encoding: self.encoding.nan_last(), ..self }
    }
}

/// A structure that is sorted by some of its fields. The macro [`sort_fields!`](crate::sort_fields!) implements this
/// trait.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no list of the fields by which it is sorted",
    label = "no fields are listed",
    note = "add `gridstride::sort_fields!(Type: field, other_field descending);`"
)]
pub trait SortFields: Element {
    /// The fields that are compared. If the first fields of two structures are equal, the second fields decide, and so
    /// on. Fields that are not listed are not compared.
    const FIELDS: &'static [SortField];
}

/// Lists the fields by which structures are sorted, the most significant first. A field is a
/// [`SortKey`](crate::sort::SortKey), in ascending order unless `descending` follows its name. `nan_last` puts every
/// NaN after all numbers.
///
/// ```
/// use cuda_std::{DeviceCopy, Pod, Zeroable};
/// use gridstride::prelude::*;
///
/// #[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
/// #[repr(C)]
/// struct Reading {
///     value: f32,
///     station: u32,
///     time: u64,
/// }
/// // SAFETY: the fields are plain numbers without padding.
/// unsafe impl Zeroable for Reading {}
/// // SAFETY: the fields are plain numbers without padding.
/// unsafe impl Pod for Reading {}
///
/// gridstride::sort_fields!(Reading: station, value descending nan_last);
///
/// # let device = launch::Device::open(launch::DeviceChoice::Sim, gridstride::MODULES)?;
/// let reading = |station, value, time| Reading { value, station, time };
/// let mut readings = [reading(2, 0.5, 0), reading(1, -1.0, 1), reading(1, 3.0, 2)];
/// device.sort_by_fields(&mut readings)?;
/// assert_eq!(readings, [reading(1, 3.0, 2), reading(1, -1.0, 1), reading(2, 0.5, 0)]);
/// # Ok::<(), AlgorithmError>(())
/// ```
#[macro_export]
macro_rules! sort_fields {
    ($T:ty: $($field:ident $($order:ident)*),+ $(,)?) => {
        impl $crate::sort::SortFields for $T {
            const FIELDS: &'static [$crate::sort::SortField] = &[$(
                $crate::sort::SortField::new(::core::mem::offset_of!($T, $field), |all: &$T| &all.$field)
                $(.$order())*
            ),+];
        }
    };
}

/// A sort of structures by several of their fields that can run repeatedly. It owns the temporary storage that it
/// needs, so a run allocates no memory. Structures whose listed fields are equal keep their order.
///
/// The sorter sorts the indices of the structures by one field after the other, from the last to the first, and then
/// moves the structures. All structures share its kernels. A structure whose listed fields have at most 64 bits
/// together is sorted faster as one key ([`SortKey`]).
pub struct FieldSorter<T: SortFields> {
    indices: Buffer<u32>,
    /// The keys of one field.
    keys: Buffer<u64>,
    /// A sorter for each width of fields, in bytes.
    sorters: Vec<(usize, Box<dyn IndexSorter>)>,
    structures: PhantomData<fn(T)>,
}

impl<T: SortFields> FieldSorter<T> {
    /// The number of bytes of the widest field.
    const WIDEST: usize = {
        let (mut widest, mut i) = (0, 0);
        while i < T::FIELDS.len() {
            widest = if T::FIELDS[i].bytes > widest { T::FIELDS[i].bytes } else { widest };
            i += 1;
        }
        assert!(widest > 0, "a sort by fields needs at least one field");
        widest
    };

    /// Returns a sorter for `n` structures on `device`.
    ///
    /// # Errors
    /// Returns [`AlgorithmError::NotBuilt`] for more than 2³² structures. Returns [`AlgorithmError::Launch`] if the
    /// device has too little memory.
    pub fn new(device: &Device, n: usize) -> Result<Self, AlgorithmError> {
        if n as u64 > u32::MAX_KEYS {
            let offered = "at most 4294967296: sort them by a comparison, with `sort_by`".to_owned();
            return Err(capabilities::refused(default_rung().rung(), format!("fields of {n} structures"), offered));
        }
        let mut sorters: Vec<(usize, Box<dyn IndexSorter>)> = Vec::new();
        for &SortField { bytes, .. } in T::FIELDS {
            if sorters.iter().all(|(width, _)| *width != bytes) {
                sorters.push((bytes, sorter(device, n, bytes)?));
            }
        }
        let keys = device.alloc((n * Self::WIDEST).div_ceil(8))?;
        Ok(Self { indices: device.alloc(n)?, keys, sorters, structures: PhantomData })
    }

    /// Writes the sorted structures of `x` to `y`. The input does not change.
    ///
    /// # Errors
    /// Returns [`Error::LengthMismatch`] if the sorter was made for another length. Otherwise returns the error of a
    /// launch.
    pub fn sort_into(&mut self, queue: Queue<'_>, x: &Buffer<T>, y: &mut Buffer<T>) -> Result<(), AlgorithmError> {
        self.sort_views(queue, x.view(), y.view_mut())
    }

    /// Does the same as [`sort_into`](Self::sort_into) for views, such as parts of buffers. A view may begin at any
    /// structure of a buffer.
    ///
    /// # Errors
    /// Returns the errors of [`sort_into`](Self::sort_into), and [`Error::Overlap`] if the views overlap.
    pub fn sort_views(
        &mut self,
        queue: Queue<'_>,
        x: Global<'_, T>,
        y: GlobalMut<'_, T>,
    ) -> Result<(), AlgorithmError> {
        refuse_overlap(&[(&bytes_of(x.as_ptr(), x.len()), &bytes_of(y.as_ptr(), y.len()))])?;
        let (what, buffer) = ("sort by fields with this sorter", self.indices.len());
        for other in [x.len(), y.len()] {
            if other != buffer {
                return Err(Error::LengthMismatch { what, buffer, other }.into());
            }
        }
        let Self { indices, keys, sorters, .. } = self;
        let (indices, keys) = (indices.view_mut(), keys.view_mut());
        for (pass, field) in T::FIELDS.iter().rev().enumerate() {
            gather(queue, x, field.offset..field.offset + field.bytes, indices, pass == 0, keys)?;
            for (_, sorter) in sorters.iter_mut().filter(|(bytes, _)| *bytes == field.bytes) {
                sorter.sort_indices(queue, field.encoding, keys, indices)?;
            }
        }
        gather(queue, x, 0..size_of::<T>(), indices, false, y)
    }

    /// Returns the index in the input of each sorted structure of the last run.
    pub fn indices(&self) -> &Buffer<u32> {
        &self.indices
    }

    /// Returns the number of bytes of the sorter's temporary storage.
    pub fn temporary_bytes(&self) -> u64 {
        let sorters = self.sorters.iter().map(|(_, sorter)| sorter.bytes()).sum::<u64>();
        4 * self.indices.len() as u64 + 8 * self.keys.len() as u64 + sorters
    }
}

impl<T: SortFields> Resources for FieldSorter<T> {
    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        self.indices.hold(held);
        self.keys.hold(held);
        for (_, sorter) in &mut self.sorters {
            sorter.hold(held);
        }
    }
}

/// A sorter of keys of some width, and of indices with them.
trait IndexSorter: Resources {
    /// Sorts the keys at the beginning of `keys` and their indices, in place.
    fn sort_indices(
        &mut self,
        queue: Queue<'_>,
        encoding: Encoding,
        keys: GlobalMut<'_, u64>,
        indices: GlobalMut<'_, u32>,
    ) -> Result<(), AlgorithmError>;

    /// Returns the number of bytes of the temporary storage.
    fn bytes(&self) -> u64;
}

impl<B: SortKey> IndexSorter for Sorter<B, u32> {
    fn sort_indices(
        &mut self,
        queue: Queue<'_>,
        encoding: Encoding,
        keys: GlobalMut<'_, u64>,
        indices: GlobalMut<'_, u32>,
    ) -> Result<(), AlgorithmError> {
        self.set_encoding(encoding);
        self.run(queue, None, words_mut::<u64, B>(keys).part(0, indices.len()), Some(indices))
    }

    fn bytes(&self) -> u64 {
        self.temporary_bytes()
    }
}

/// Returns a sorter for `n` keys of `bytes` bytes.
fn sorter(device: &Device, n: usize, bytes: usize) -> Result<Box<dyn IndexSorter>, AlgorithmError> {
    let (rung, options) = (default_rung(), SortOptions::default());
    Ok(match bytes {
        1 => Box::new(Sorter::<u8, u32>::new(device, rung, n, &options)?),
        2 => Box::new(Sorter::<u16, u32>::new(device, rung, n, &options)?),
        4 => Box::new(Sorter::<u32, u32>::new(device, rung, n, &options)?),
        _ => Box::new(Sorter::<u64, u32>::new(device, rung, n, &options)?),
    })
}

/// Launches the kernel that copies the bytes `range` of the structure at each index to `y`. If `sets_indices` is true,
/// it first sets the indices to 0, 1, 2, ….
fn gather<T: Element, U: Element>(
    queue: Queue<'_>,
    x: Global<'_, T>,
    range: Range<usize>,
    indices: GlobalMut<'_, u32>,
    sets_indices: bool,
    y: GlobalMut<'_, U>,
) -> Result<(), AlgorithmError> {
    let (n, sets_indices) = (indices.len(), u32::from(sets_indices));
    if n == 0 {
        return Ok(());
    }
    // The structures of an aligned vector consist of aligned words.
    let is_words = align_of::<T>().is_multiple_of(4) && range.len().is_multiple_of(4);
    let width = if is_words { 4 } else { 1 };
    let (stride, first, count) = (size_of::<T>() / width, range.start / width, range.len() / width);
    let call: Call<'_> = match is_words {
        true => sort_gather::<u32>(words(x), stride, first, count, indices, sets_indices, words_mut(y)),
        false => sort_gather::<u8>(words(x), stride, first, count, indices, sets_indices, words_mut(y)),
    };
    Ok(queue.launch(grid(n), call)?)
}

/// Returns the bytes of `x` as words of type `W`, as many as fit. `x` must be aligned for them.
fn words<'a, T: Element, W: Element>(x: Global<'a, T>) -> Global<'a, W> {
    debug_assert!(x.is_empty() || x.as_ptr().cast::<W>().is_aligned());
    // SAFETY: the words are within the elements of `x`. They are aligned, by this function's contract, and any bits are
    // a word.
    unsafe { Global::from_raw_parts(x.as_ptr().cast(), x.len() * size_of::<T>() / size_of::<W>(), x.device()) }
}

/// Does the same as [`words`] for words that a kernel writes.
fn words_mut<'a, T: Element, W: Element>(y: GlobalMut<'a, T>) -> GlobalMut<'a, W> {
    debug_assert!(y.is_empty() || y.as_ptr().cast::<W>().is_aligned());
    // SAFETY: the words are within the elements of `y`. They are aligned, by this function's contract, and any bits are
    // an element.
    unsafe { GlobalMut::from_raw_parts(y.as_ptr().cast(), y.len() * size_of::<T>() / size_of::<W>(), y.device()) }
}
