//! Where segments begin and end: [`Bounds`].

use cuda_std::{DeviceCopy, Global, warp};

use crate::collective::LANES;

/// The kind and number of segments, as the kernel takes them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, DeviceCopy)]
#[repr(C)]
pub struct Layout {
    /// The number of segments.
    pub segments: u64,
    /// The number of elements per segment, if there are no offsets.
    pub row: u64,
    /// The number of 32-bit words per offset, 1 or 2, or 0 if all segments have the same length.
    pub words: u64,
}

impl Layout {
    /// Returns the number of words of the offsets.
    #[inline(always)]
    pub fn offset_words(self) -> usize {
        self.words as usize * (self.segments as usize + 1)
    }
}

/// The bounds of the segments. Segment *i* has the elements from bound *i* up to but not including bound *i* + 1.
#[derive(Clone, Copy)]
pub struct Bounds<'a> {
    offsets: Global<'a, u32>,
    layout: Layout,
}

impl<'a> Bounds<'a> {
    /// Returns the bounds in `offsets`, which must have [`offset_words`](Layout::offset_words) elements.
    #[inline(always)]
    pub fn new(offsets: Global<'a, u32>, layout: Layout) -> Self {
        assert!(offsets.len() == layout.offset_words() && layout.words <= 2);
        Self { offsets, layout }
    }

    /// Returns the number of segments.
    #[inline(always)]
    pub fn segments(self) -> usize {
        self.layout.segments as usize
    }

    /// Returns bound `index`.
    ///
    /// # Safety
    /// `index` must be at most the number of segments.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn get(self, index: usize) -> usize {
        match self.layout.words {
            0 => index * self.layout.row as usize,
            // SAFETY: there is one more offset than segments, and each has one word.
            1 => unsafe { self.offsets.load_unchecked(index) as usize },
            _ => {
                // SAFETY: there is one more offset than segments, and each has two words, which begin at a multiple of
                // 8 bytes, because the offsets are `u64`.
                let words = unsafe { self.offsets.load_vec_unchecked::<2>(index) };
                (u64::from(words[1]) << 32 | u64::from(words[0])) as usize
            }
        }
    }

    /// Returns the number of segments that end at or before element `position`. All lanes of a full warp must call this
    /// function.
    ///
    /// In each step, the warp divides the candidates into 32 parts and reads the end of the last segment of each part.
    #[inline(always)]
    #[track_caller]
    pub fn ended(self, position: usize) -> usize {
        let (mut low, mut high) = (0, self.segments());
        while low < high {
            let part = (high - low).div_ceil(LANES);
            let last = low + (warp::lane_id() as usize + 1) * part - 1;
            // SAFETY: `last` is below `high`, which is at most the number of segments.
            let has_ended = last < high && unsafe { self.get(last + 1) } <= position;
            low += warp::ballot(warp::FULL_MASK, has_ended).count_ones() as usize * part;
            high = high.min(low + part - 1);
        }
        low
    }
}
