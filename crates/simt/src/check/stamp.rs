//! An access in 12 bytes.

/// Threads of a block are kept in sets of so many: a bit each.
pub(super) const SET: u32 = u64::BITS;

/// An access as the shadow memory keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    /// The block's place in the order of the grid.
    pub(super) block: u32,
    /// The epoch of the thread.
    pub(super) epoch: u32,
    /// From the lowest bit: what the entry is, 3 bits, see `shadow`; the thread, 10 bits; the number of the source
    /// line.
    who: u32,
}

const TAG_BITS: u32 = 3;
const THREAD_BITS: u32 = 10;
const TAG: u32 = (1 << TAG_BITS) - 1;
const THREAD: u32 = ((1 << THREAD_BITS) - 1) << TAG_BITS;
/// The bits of a thread's place in its set.
const PLACE: u32 = (SET - 1) << TAG_BITS;

impl Stamp {
    /// How many source lines have numbers.
    pub(super) const SITES: u32 = 1 << (32 - TAG_BITS - THREAD_BITS);

    pub(super) const fn new(block: u32, thread: u32, epoch: u32, site: u32, tag: u32) -> Self {
        Self { block, epoch, who: site << (TAG_BITS + THREAD_BITS) | thread << TAG_BITS & THREAD | tag }
    }

    #[inline(always)]
    pub(super) fn tag(&self) -> u32 {
        self.who & TAG
    }

    pub(super) fn with_tag(self, tag: u32) -> Self {
        Self { who: self.who & !TAG | tag, ..self }
    }

    #[inline(always)]
    pub(super) fn thread(&self) -> u32 {
        (self.who & THREAD) >> TAG_BITS
    }

    pub(super) fn site(&self) -> u32 {
        self.who >> (TAG_BITS + THREAD_BITS)
    }

    /// The bit of the thread in its set.
    #[inline(always)]
    pub(super) fn bit(&self) -> u64 {
        1 << (self.thread() % SET)
    }

    /// Whether both are of one epoch of one thread.
    #[inline(always)]
    pub(super) fn is_same_epoch(&self, other: &Self) -> bool {
        (self.block, self.epoch) == (other.block, other.epoch) && (self.who ^ other.who) & THREAD == 0
    }

    /// Whether both are of threads of one set in the same epoch.
    #[inline(always)]
    pub(super) fn is_of_set(&self, other: &Self) -> bool {
        (self.block, self.epoch) == (other.block, other.epoch) && (self.who ^ other.who) & (THREAD & !PLACE) == 0
    }

    /// Whether both differ in nothing but the place of the thread in its set, and the tag.
    #[inline(always)]
    pub(super) fn is_like(&self, other: &Self) -> bool {
        (self.block, self.epoch) == (other.block, other.epoch) && (self.who ^ other.who) & !(PLACE | TAG) == 0
    }

    /// The same access by the thread at `place` of the set.
    pub(super) fn at_place(&self, place: u32) -> Self {
        Self { who: self.who & !PLACE | place << TAG_BITS, ..*self }
    }
}
