//! Buffers that are divided among the members of a group.

use std::ops::Range;

use cuda_std::{DeviceCopy, Global, GlobalMut};

use crate::buffer::Buffer;
use crate::copies::copy_all;
use crate::error::Error;
use crate::group::Group;

/// What is beside the first and the last element of a [`SplitBuffer`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ends {
    /// The last and the first: it is a ring.
    Wrap,
    /// Nothing. What halos have of that is zero until somebody writes it.
    Open,
}

/// Elements that are divided among the members of a [`Group`] as evenly as can be, each part with copies of elements
/// that its neighbours have: its halo. Made by [`Group::split`].
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
    /// The halo before, its own elements, and the halo after; nothing if it has no elements of its own.
    buffer: Buffer<T>,
    range: Range<usize>,
    halo: usize,
}

impl Group {
    /// `len` elements, all of whose bytes are zero, divided among the members in their order: where they cannot have as
    /// many, the first have one more. Each part has the `halo` elements before it and those after it, too, unless it is
    /// empty.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], [`Error::TooLarge`]; [`Error::ContextLost`] when a launch made before failed.
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
    /// Which of all elements are its own.
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// How many elements its halo has on each side.
    pub fn halo(&self) -> usize {
        self.halo
    }

    /// The halo before, its own elements, and the halo after.
    pub fn buffer(&self) -> &Buffer<T> {
        &self.buffer
    }

    /// As [`buffer`](Self::buffer).
    pub fn buffer_mut(&mut self) -> &mut Buffer<T> {
        &mut self.buffer
    }

    /// The halo before, its own elements, and the halo after, for kernels to read.
    pub fn view(&self) -> Global<'_, T> {
        self.buffer.view()
    }

    /// Its own elements, for kernels to read.
    pub fn own(&self) -> Global<'_, T> {
        self.buffer.view().part(self.halo, self.range.len())
    }

    /// Its own elements, for kernels to read and write.
    pub fn own_mut(&mut self) -> GlobalMut<'_, T> {
        self.buffer.view_mut().part(self.halo, self.range.len())
    }
}

impl<T: DeviceCopy> SplitBuffer<T> {
    /// How many elements it has, halos not counted.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no element.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The part of each member.
    pub fn parts(&self) -> &[SplitPart<T>] {
        &self.parts
    }

    /// As [`parts`](Self::parts).
    pub fn parts_mut(&mut self) -> &mut [SplitPart<T>] {
        &mut self.parts
    }

    /// Replaces the elements by those of `data`; halos stay as they are. Waits for the launches made before.
    ///
    /// # Errors
    ///
    /// [`Error::LengthMismatch`] unless `data` has as many elements; [`Error::ContextLost`] when a launch made before
    /// failed.
    pub fn upload(&mut self, data: &[T]) -> Result<(), Error> {
        if data.len() != self.len {
            return Err(Error::LengthMismatch { what: "upload", buffer: self.len, other: data.len() });
        }
        self.parts.iter_mut().try_for_each(|part| part.buffer.upload_range(part.halo, &data[part.range.clone()]))
    }

    /// The elements on the host, halos not among them. Waits for the launches made before.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfHostMemory`]; [`Error::ContextLost`] when a launch made before failed.
    pub fn download(&self) -> Result<Vec<T>, Error> {
        let mut data: Vec<T> = Vec::new();
        let requested_bytes = (self.len * size_of::<T>()) as u64;
        data.try_reserve_exact(self.len).map_err(|_| Error::OutOfHostMemory { requested_bytes })?;
        for part in &self.parts {
            part.buffer.append_to(&mut data, part.halo, part.range.len())?;
        }
        Ok(data)
    }

    /// Replaces the halos by what the elements are now that they stand for. It comes after all that the members were
    /// asked before, and before all that they are asked later, but for what streams are asked; on GPUs it returns at
    /// once.
    ///
    /// # Errors
    ///
    /// [`Error::ContextLost`] when a launch made before failed.
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
        // SAFETY: halos are copied to, each element once, and elements outside of halos copied from; no view of any
        // exists, as all is borrowed mutably.
        unsafe { copy_all(&copies, None) }
    }

    /// Where the elements from `element` on are that a halo of `len` has from `at` on: in pieces, each the part that it
    /// is of, its place there and in the halo, and its length.
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
                // Beyond an end: before the first element, or for all that is left.
                None if wanted < 0 => wanted.unsigned_abs().min(len - done),
                None => len - done,
            };
        }
        pieces
    }
}
