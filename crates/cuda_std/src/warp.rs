//! Operations among the lanes of a warp.
//!
//! Lanes run independently of each other: nothing is in step unless one of these operations brings the lanes together.
//! `mask` names the lanes that take part, bit *i* for lane *i*; every one of them that has not ended must call the same
//! operation with the same mask, and the caller must be among them. The simulator reports where that does not hold.

use crate::{Element, backend};

/// Lanes in a warp.
pub const SIZE: u32 = 32;

/// Every lane of a full warp.
pub const FULL_MASK: u32 = u32::MAX;

/// The calling thread's lane, `0..32`.
#[inline(always)]
pub fn lane_id() -> u32 {
    backend::lane_id()
}

/// The warp's index in its block.
#[inline(always)]
pub fn warp_id() -> u32 {
    crate::thread::index_in_block() / SIZE
}

/// Waits for the lanes of `mask`; what each wrote to memory before is then seen by the others.
#[inline(always)]
#[track_caller]
pub fn sync_warp(mask: u32) {
    backend::sync_warp(mask);
}

macro_rules! shuffles {
    ($($(#[$doc:meta])* $name:ident $operand:ident)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[track_caller]
        pub fn $name<T: Shuffle>(mask: u32, value: T, $operand: u32) -> T {
            let mut words = value.to_words();
            // A loop with constant bounds: it is unrolled, and the words stay in registers.
            let mut i = 0;
            while i < T::WORDS {
                words[i] = backend::$name(mask, words[i], $operand);
                i += 1;
            }
            T::from_words(words)
        }
    )*};
}

shuffles! {
    /// The value of lane `source`, below 32. Where that lane is not in `mask`, the result is unspecified.
    shuffle_idx source
    /// The value of the lane `delta` (0 to 31) below the caller's; its own where there is none.
    shuffle_up delta
    /// The value of the lane `delta` (0 to 31) above the caller's; its own where there is none.
    shuffle_down delta
    /// The value of the lane whose index is the caller's exclusive-or `lanes`, below 32.
    shuffle_xor lanes
}

/// The lanes of `mask` for which `predicate` holds, bit *i* for lane *i*.
#[inline(always)]
#[track_caller]
pub fn ballot(mask: u32, predicate: bool) -> u32 {
    backend::ballot(mask, predicate)
}

/// Whether `predicate` holds for some lane of `mask`.
#[inline(always)]
#[track_caller]
pub fn any(mask: u32, predicate: bool) -> bool {
    backend::any(mask, predicate)
}

/// Whether `predicate` holds for every lane of `mask`.
#[inline(always)]
#[track_caller]
pub fn all(mask: u32, predicate: bool) -> bool {
    backend::all(mask, predicate)
}

/// The mask of the lanes that hold a thread in a block of `block_size` threads: the last warp may not be full.
#[inline(always)]
pub fn mask_in_block(block_size: u32) -> u32 {
    let in_warp = block_size - warp_id() * SIZE;
    if in_warp >= SIZE { FULL_MASK } else { (1 << in_warp) - 1 }
}

/// What a shuffle can carry: any [`Element`] of at most 16 bytes, moved as 32-bit words.
pub trait Shuffle: Element {
    /// How many words.
    const WORDS: usize;
    /// Its bytes as the first [`WORDS`](Self::WORDS) words; zeros fill the rest.
    fn to_words(self) -> [u32; 4];
    /// The value of [`to_words`](Self::to_words).
    fn from_words(words: [u32; 4]) -> Self;
}

impl<T: Element> Shuffle for T {
    const WORDS: usize = {
        assert!(size_of::<T>() <= 16, "a shuffle carries at most 16 bytes");
        size_of::<T>().div_ceil(4)
    };

    #[inline(always)]
    fn to_words(self) -> [u32; 4] {
        let mut words = [0; 4];
        bytemuck::bytes_of_mut(&mut words)[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&self));
        words
    }

    #[inline(always)]
    fn from_words(words: [u32; 4]) -> Self {
        bytemuck::pod_read_unaligned(&bytemuck::bytes_of(&words)[..size_of::<T>()])
    }
}
