//! Buffers that are divided among the members of a group.
//!
//! # Design
//!
//! Each member's part is a separate buffer, so every kernel for one device works on a part unchanged.

use std::ops::Range;

use cuda_std::{DeviceCopy, Global, GlobalMut};

use crate::buffer::Buffer;
use crate::copies::copy_all;
use crate::error::Error;
use crate::group::Group;

/// Specifies whether the first and the last element of a [`SplitBuffer`] are neighbours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ends {
    /// The first and the last element are neighbours, as in a ring.
    Wrap,
    /// The first and the last element are not neighbours. Halo elements beyond an end are zero until they are written.
    Open,
}

/// A buffer whose elements are divided among the members of a [`Group`] as evenly as possible. Each part has a halo,
/// which contains copies of elements of its neighbours. [`Group::split`] makes such a buffer.
///
/// ```
/// use launch::{Ends, Group};
///
/// let group = Group::open(&"sim:3".parse()?, &[])?;
/// let mut split = group.split::<u32>(10, 1, Ends::Wrap)?;
/// split.upload(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9])?;
/// split.exchange_halos()?;
/// assert_eq!(split.parts()[0].range(), 0..4);
/// assert_eq!(split.parts()[0].buffer().download()?, [9, 0, 1, 2, 3, 4]);
/// assert_eq!(split.parts()[2].buffer().download()?, [6, 7, 8, 9, 0]);
/// // Kernels are launched on each part's device, with the views that they need.
/// for part in split.parts_mut() {
///     assert_eq!((part.own().len(), part.view().len()), (part.range().len(), part.range().len() + 2));
/// }
/// assert_eq!(split.download()?, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SplitBuffer<T: DeviceCopy> {
    parts: Vec<SplitPart<T>>,
    len: usize,
    ends: Ends,
}

/// A member's part of a [`SplitBuffer`].
#[derive(Debug)]
pub struct SplitPart<T: DeviceCopy> {
    /// The halo before the part's own elements, these elements, and the halo after them. Empty if the part has no
    /// elements.
    buffer: Buffer<T>,
    range: Range<usize>,
    halo: usize,
}

impl Group {
    /// Allocates a buffer of `len` elements, divided among the members in order. All bytes are zero. If the elements do
    /// not divide evenly, the first parts have one element more than the others. Each part that is not empty also has a
    /// halo of `halo` elements on each side.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] or [`Error::TooLarge`] if a part is too large; [`Error::ContextLost`] when an earlier
    /// launch failed.
    pub fn split<T: DeviceCopy>(&self, len: usize, halo: usize, ends: Ends) -> Result<SplitBuffer<T>, Error> {
        let (each, more) = (len / self.members().len(), len % self.members().len());
        let mut start = 0;
        let mut parts = Vec::with_capacity(self.members().len());
        for (number, member) in self.members().iter().enumerate() {
            let own = each + usize::from(number < more);
            let with_halo = halo.checked_mul(2).and_then(|halos| own.checked_add(halos));
            let too_large = || Error::TooLarge { len: halo, element_bytes: size_of::<T>() };
            let room = if own == 0 { 0 } else { with_halo.ok_or_else(too_large)? };
            let halo = if own == 0 { 0 } else { halo };
            parts.push(SplitPart { buffer: member.zeroed(room)?, range: start..start + own, halo });
            start += own;
        }
        Ok(SplitBuffer { parts, len, ends })
    }
}

impl<T: DeviceCopy> SplitPart<T> {
    /// Returns the indices, in the whole split buffer, of the elements that this part owns.
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// Returns the number of halo elements on each side of the part.
    pub fn halo(&self) -> usize {
        self.halo
    }

    /// Returns the part's buffer: the halo before its own elements, these elements, and the halo after them.
    pub fn buffer(&self) -> &Buffer<T> {
        &self.buffer
    }

    /// Returns the part's [`buffer`](Self::buffer), with both halos, for changes.
    pub fn buffer_mut(&mut self) -> &mut Buffer<T> {
        &mut self.buffer
    }

    /// Returns a view of the part's [`buffer`](Self::buffer), with both halos, for kernels to read.
    pub fn view(&self) -> Global<'_, T> {
        self.buffer.view()
    }

    /// Returns a view of the part's own elements, without halos, for kernels to read.
    pub fn own(&self) -> Global<'_, T> {
        self.buffer.view().part(self.halo, self.range.len())
    }

    /// Returns a view of the part's own elements, without halos, for kernels to read and write.
    pub fn own_mut(&mut self) -> GlobalMut<'_, T> {
        self.buffer.view_mut().part(self.halo, self.range.len())
    }
}

impl<T: DeviceCopy> SplitBuffer<T> {
    /// Returns the number of elements in the split buffer, without halos.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns `true` if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the parts of the split buffer, one per member.
    pub fn parts(&self) -> &[SplitPart<T>] {
        &self.parts
    }

    /// Returns the parts of the split buffer, one per member, for changes.
    pub fn parts_mut(&mut self) -> &mut [SplitPart<T>] {
        &mut self.parts
    }

    /// Replaces the elements with the elements of `data`; halos do not change. Waits for earlier launches.
    ///
    /// # Errors
    ///
    /// [`Error::LengthMismatch`] if `data` and this split buffer have different lengths; [`Error::ContextLost`] when an
    /// earlier launch failed.
    pub fn upload(&mut self, data: &[T]) -> Result<(), Error> {
        if data.len() != self.len {
            return Err(Error::LengthMismatch { what: "upload", buffer: self.len, other: data.len() });
        }
        self.parts.iter_mut().try_for_each(|part| part.buffer.upload_range(part.halo, &data[part.range.clone()]))
    }

    /// Copies the elements, without halos, to the host. Waits for earlier launches.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfHostMemory`] if the elements do not fit into host memory; [`Error::ContextLost`] when an earlier
    /// launch failed.
    pub fn download(&self) -> Result<Vec<T>, Error> {
        let mut data: Vec<T> = Vec::new();
        let requested_bytes = (self.len * size_of::<T>()) as u64;
        data.try_reserve_exact(self.len).map_err(|_| Error::OutOfHostMemory { requested_bytes })?;
        for part in &self.parts {
            part.buffer.append_to(&mut data, part.halo, part.range.len())?;
        }
        Ok(data)
    }

    /// Copies the current elements of each part to its neighbours' halos. The copies run after the earlier work of the
    /// members and before their later work, except work in streams. On GPUs the call returns at once.
    ///
    /// # Errors
    ///
    /// [`Error::ContextLost`] when an earlier launch failed.
    pub fn exchange_halos(&mut self) -> Result<(), Error> {
        let mut copies = Vec::new();
        for part in self.parts.iter().filter(|part| part.halo > 0) {
            let end = part.range.len() + part.halo;
            for (element, at) in [(part.range.start as isize - part.halo as isize, 0), (part.range.end as isize, end)] {
                for (of, from, at, len) in self.pieces(element, at, part.halo) {
                    copies.extend(part.buffer.copy_of(at, &of.buffer, from..from + len));
                }
            }
        }
        // SAFETY: each halo element is a target once, and no halo element is a source. No view exists, because `self`
        // is borrowed mutably.
        unsafe { copy_all(&copies, None) }
    }

    /// Returns the pieces from which a halo is copied. The halo contains copies of the `len` elements that start at
    /// `element`, and begins at offset `at` of its part. Each piece consists of a source part, the piece's offset in
    /// that part, its offset in the halo's part, and its length.
    fn pieces(&self, element: isize, at: usize, len: usize) -> Vec<(&SplitPart<T>, usize, usize, usize)> {
        let mut pieces = Vec::new();
        let mut done = 0;
        while done < len {
            let wanted = element + done as isize;
            let inside = match self.ends {
                Ends::Wrap => Some(wanted.rem_euclid(self.len as isize) as usize),
                Ends::Open => usize::try_from(wanted).ok().filter(|&wanted| wanted < self.len),
            };
            let owner = inside.and_then(|element| {
                self.parts.iter().find(|part| part.range.contains(&element)).map(|part| (part, element))
            });
            done += match owner {
                Some((part, element)) => {
                    let piece = (part.range.end - element).min(len - done);
                    pieces.push((part, part.halo + element - part.range.start, at + done, piece));
                    piece
                }
                // These elements are beyond an end: those before the first element, or all remaining elements after the
                // last.
                None if wanted < 0 => wanted.unsigned_abs().min(len - done),
                None => len - done,
            };
        }
        pieces
    }
}
