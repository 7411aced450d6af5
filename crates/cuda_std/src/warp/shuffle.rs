//! Shuffles: each lane receives a value of another lane.

use super::{SIZE, lane_id};
use crate::{Element, backend};

/// The way in which a shuffle selects the source lane.
#[derive(Clone, Copy)]
enum Mode {
    Idx,
    Up,
    Down,
    Xor,
}

/// Returns the operand of `shfl.sync` that describes segments of `width` lanes.
#[inline(always)]
const fn clamp(mode: Mode, width: u32) -> u32 {
    (SIZE - width) << 8 | if matches!(mode, Mode::Up) { 0 } else { SIZE - 1 }
}

/// Returns the source lane and true, or the caller's own lane and false if the source is outside of the segment. The
/// rule is that of `shfl.sync` in PTX.
#[inline(always)]
fn source(mode: Mode, operand: u32, width: u32) -> (u32, bool) {
    let lane = lane_id();
    let first = lane & !(width - 1);
    let last = first + (width - 1);
    let (source, is_there) = match mode {
        Mode::Idx => (first | operand & (width - 1), true),
        Mode::Up => (lane.wrapping_sub(operand), lane >= first + operand),
        Mode::Down => (lane + operand, lane + operand <= last),
        Mode::Xor => (lane ^ operand, lane ^ operand <= last),
    };
    (if is_there { source } else { lane }, is_there)
}

/// Checks the width of a segment, but only in the simulator, because the check would cost instructions on a GPU.
#[inline(always)]
#[track_caller]
fn check_width(width: u32) {
    if backend::CHECKS_EVERY_ACCESS {
        assert!(
            width.is_power_of_two() && width <= SIZE,
            "the width of a shuffle must be 1, 2, 4, 8, 16 or 32, but is {width}"
        );
    }
}

macro_rules! shuffles {
    ($($(#[$doc:meta])* $name:ident $within:ident $with_predicate:ident $mode:ident $operand:ident $cuda:literal)*) => {$(
        $(#[$doc])*
        #[doc(alias = $cuda)]
        #[inline(always)]
        #[track_caller]
        pub fn $name<T: Shuffle>(mask: u32, value: T, $operand: u32) -> T {
            let mut words = value.to_words();
            // A loop with constant bounds is unrolled, so the words stay in registers.
            let mut i = 0;
            while i < T::WORDS {
                words[i] = backend::$name(mask, words[i], $operand);
                i += 1;
            }
            T::from_words(words)
        }

        #[doc = concat!(
            "A [`", stringify!($name), "`] within segments of `width` lanes. The width must be 1, 2, 4, 8, 16 or 32. \
             Lanes count from the start of the segment."
        )]
        #[doc(alias = $cuda)]
        #[inline(always)]
        #[track_caller]
        pub fn $within<T: Shuffle>(mask: u32, value: T, $operand: u32, width: u32) -> T {
            check_width(width);
            let (from, _) = self::source(Mode::$mode, $operand, width);
            let mut words = value.to_words();
            let mut i = 0;
            while i < T::WORDS {
                let clamp = clamp(Mode::$mode, width);
                words[i] = backend::shuffle_within::$name(mask, words[i], $operand, clamp, from);
                i += 1;
            }
            T::from_words(words)
        }

        #[doc = concat!(
            "A [`", stringify!($within), "`] that also returns true if the source lane is in the segment. Otherwise \
             the value is the caller's own."
        )]
        #[inline(always)]
        #[track_caller]
        pub fn $with_predicate<T: Shuffle>(mask: u32, value: T, $operand: u32, width: u32) -> (T, bool) {
            ($within(mask, value, $operand, width), self::source(Mode::$mode, $operand, width).1)
        }
    )*};
}

shuffles! {
    /// Returns the value of lane `source` (0 to 31). If that lane is not in `mask`, the result is unspecified.
    shuffle_idx shuffle_idx_within warp_shuffle_idx Idx source "__shfl_sync"
    /// Returns the value of the lane whose index is `delta` (0 to 31) lower, or the caller's own value if there is no
    /// such lane.
    shuffle_up shuffle_up_within warp_shuffle_up Up delta "__shfl_up_sync"
    /// Returns the value of the lane whose index is `delta` (0 to 31) higher, or the caller's own value if there is no
    /// such lane.
    shuffle_down shuffle_down_within warp_shuffle_down Down delta "__shfl_down_sync"
    /// Returns the value of the lane whose index is the caller's index XOR `lanes` (0 to 31).
    shuffle_xor shuffle_xor_within warp_shuffle_xor Xor lanes "__shfl_xor_sync"
}

/// A value that a shuffle can transfer: any [`Element`] of at most 16 bytes, as 32-bit words.
pub trait Shuffle: Element {
    /// The number of 32-bit words that hold the value.
    const WORDS: usize;
    /// Returns the value's bytes as the first [`WORDS`](Self::WORDS) words, followed by zeros.
    fn to_words(self) -> [u32; 4];
    /// Returns the value whose bytes are in the first [`WORDS`](Self::WORDS) of these words.
    fn from_words(words: [u32; 4]) -> Self;
}

impl<T: Element> Shuffle for T {
    const WORDS: usize = {
        assert!(size_of::<T>() <= 16, "a shuffle transfers values of at most 16 bytes");
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
