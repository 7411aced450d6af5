//! Describes a memory access in 12 bytes: its block, thread, epoch and source site.

/// The number of threads in a set. The threads of a block are divided into sets of consecutive threads, for masks with
/// one bit per thread.
pub(super) const SET: u32 = u64::BITS;

/// A memory access in the form in which shadow memory stores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    /// The position of the thread's block in the order in which the grid's blocks run.
    pub(super) block: u32,
    /// The epoch in which the thread made the access.
    pub(super) epoch: u32,
    /// From the lowest bit: 3 bits for the tag, which `shadow` defines, 10 bits for the thread, and the number of the
    /// source site.
    who: u32,
}

const TAG_BITS: u32 = 3;
const THREAD_BITS: u32 = 10;
const TAG: u32 = (1 << TAG_BITS) - 1;
const THREAD: u32 = ((1 << THREAD_BITS) - 1) << TAG_BITS;
/// The bits of `who` that hold the thread's index in its set.
const PLACE: u32 = (SET - 1) << TAG_BITS;

impl Stamp {
    /// The maximum number of source sites that a stamp can distinguish.
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

    /// Returns a mask with the bit of the thread in its set.
    #[inline(always)]
    pub(super) fn bit(&self) -> u64 {
        1 << (self.thread() % SET)
    }

    /// Returns true if the same thread made both accesses in the same epoch.
    #[inline(always)]
    pub(super) fn is_same_epoch(&self, other: &Self) -> bool {
        (self.block, self.epoch) == (other.block, other.epoch) && (self.who ^ other.who) & THREAD == 0
    }

    /// Returns true if threads of one set made both accesses in the same epoch.
    #[inline(always)]
    pub(super) fn is_of_set(&self, other: &Self) -> bool {
        (self.block, self.epoch) == (other.block, other.epoch) && (self.who ^ other.who) & (THREAD & !PLACE) == 0
    }

    /// Returns true if the two accesses differ at most in the tag and in the thread's index in its set.
    #[inline(always)]
    pub(super) fn is_like(&self, other: &Self) -> bool {
        (self.block, self.epoch) == (other.block, other.epoch) && (self.who ^ other.who) & !(PLACE | TAG) == 0
    }

    /// Returns the same access by another thread of the set: the thread whose index in the set is `place`.
    pub(super) fn at_place(&self, place: u32) -> Self {
        Self { who: self.who & !PLACE | place << TAG_BITS, ..*self }
    }
}
