//! Shuffles: a lane takes a value of another.

use super::{SIZE, lane_id};
use crate::{Element, backend};

/// Which lane a shuffle takes its value from.
#[derive(Clone, Copy)]
enum Mode {
    Idx,
    Up,
    Down,
    Xor,
}

/// The instruction's operand for parts of `width` lanes.
#[inline(always)]
const fn clamp(mode: Mode, width: u32) -> u32 {
    (SIZE - width) << 8 | if matches!(mode, Mode::Up) { 0 } else { SIZE - 1 }
}

/// The lane that the caller takes its value from, and whether that is the one asked for: as PTX has it for `shfl.sync`.
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

/// Bad widths are found where checks cost nothing.
#[inline(always)]
#[track_caller]
fn check_width(width: u32) {
    if backend::CHECKS_EVERY_ACCESS {
        assert!(
            width.is_power_of_two() && width <= SIZE,
            "a shuffle's width is {width}, and must be 1, 2, 4, 8, 16 or 32"
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
            // A loop with constant bounds: it is unrolled, and the words stay in registers.
            let mut i = 0;
            while i < T::WORDS {
                words[i] = backend::$name(mask, words[i], $operand);
                i += 1;
            }
            T::from_words(words)
        }

        #[doc = concat!(
            "As [`", stringify!($name), "`], in each part of `width` lanes by itself: 1, 2, 4, 8, 16 or 32. Lanes are counted \
             from the first of the part."
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
            "As [`", stringify!($within), "`], and whether there is the lane that was asked for; else the value is the \
             caller's own."
        )]
        #[inline(always)]
        #[track_caller]
        pub fn $with_predicate<T: Shuffle>(mask: u32, value: T, $operand: u32, width: u32) -> (T, bool) {
            ($within(mask, value, $operand, width), self::source(Mode::$mode, $operand, width).1)
        }
    )*};
}

shuffles! {
    /// The value of lane `source`, below 32. Where that lane is not in `mask`, the result is unspecified.
    shuffle_idx shuffle_idx_within warp_shuffle_idx Idx source "__shfl_sync"
    /// The value of the lane `delta` (0 to 31) below the caller's; its own where there is none.
    shuffle_up shuffle_up_within warp_shuffle_up Up delta "__shfl_up_sync"
    /// The value of the lane `delta` (0 to 31) above the caller's; its own where there is none.
    shuffle_down shuffle_down_within warp_shuffle_down Down delta "__shfl_down_sync"
    /// The value of the lane whose index is the caller's exclusive-or `lanes`, below 32.
    shuffle_xor shuffle_xor_within warp_shuffle_xor Xor lanes "__shfl_xor_sync"
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
