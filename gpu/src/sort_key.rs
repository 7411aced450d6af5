//! The keys of radix sorts: unsigned integers, the encoding of other numbers in them, and the values that move with
//! them. Several algorithms share the encoding.

use cuda_std::Element;

use crate::collective::ranks::{DIGIT_BITS, RADIX};

/// The encoding of keys as unsigned integers that have the same order.
///
/// A kernel encodes the keys when it loads them for the first time and decodes them when it stores them for the last
/// time. One instance of a kernel therefore sorts all types of keys of the same width, in ascending and descending
/// order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Encoding(u32);

const SIGNED: u32 = 1;
const DESCENDING: u32 = 2;
const NAN_LAST: u32 = 4;

/// The position of the number of a float's fraction bits, which is 0 for an integer.
const FRACTION_AT: u32 = 8;

impl Encoding {
    /// Unsigned integers in ascending order: the encoding changes no bit.
    pub const UNSIGNED: Self = Self(0);

    /// Signed integers in ascending order.
    pub const SIGNED: Self = Self(SIGNED);

    /// IEEE 754 floats with `fraction_bits` bits of fraction, in the order of `total_cmp`.
    pub const fn float(fraction_bits: u32) -> Self {
        Self(SIGNED | fraction_bits << FRACTION_AT)
    }

    /// The same keys in descending order.
    pub const fn descending(self) -> Self {
        Self(self.0 ^ DESCENDING)
    }

    /// The same keys, but with every NaN after all numbers. Integers do not change.
    pub const fn nan_last(self) -> Self {
        if self.0 >> FRACTION_AT == 0 { self } else { Self(self.0 | NAN_LAST) }
    }

    /// Returns the number that a kernel takes as its argument.
    pub const fn code(self) -> u32 {
        self.0
    }

    /// Returns the encoding whose [`code`](Self::code) is `code`.
    #[inline(always)]
    pub const fn from_code(code: u32) -> Self {
        Self(code)
    }
}

/// The constants of an [`Encoding`] for keys of type `K`.
#[derive(Clone, Copy)]
pub struct Masks<K> {
    /// The bits that are inverted if the sign bit is set.
    fold: K,
    /// The bits that are then inverted in every key.
    flip: K,
    /// The number that is then subtracted. It moves the NaNs that would be first behind the last key.
    offset: K,
}

/// An unsigned integer: the bits of a key.
pub trait KeyBits: Element {
    /// The number of bits.
    const BITS: u32;

    /// The greatest value.
    const MAX: Self;

    /// Returns the constants of `encoding`.
    fn masks(encoding: Encoding) -> Masks<Self>;

    /// Returns the encoded key.
    fn encode(self, masks: Masks<Self>) -> Self;

    /// Returns the key whose encoding is this one.
    fn decode(self, masks: Masks<Self>) -> Self;

    /// Returns the bits from `shift` on that are set in `mask`. `shift` must be below [`BITS`](Self::BITS).
    fn digit(self, shift: u32, mask: u32) -> u32;

    /// Returns key `index` of a vector.
    fn in_vector(vector: [u32; 4], index: usize) -> Self;
}

macro_rules! keys {
    ($($type:ident $signed:ident)*) => {$(
        impl KeyBits for $type {
            const BITS: u32 = $type::BITS;
            const MAX: Self = $type::MAX;

            #[inline(always)]
            fn masks(Encoding(code): Encoding) -> Masks<Self> {
                let (sign, fraction_bits) = (1 << ($type::BITS - 1), code >> FRACTION_AT);
                let sign_flip = if code & SIGNED != 0 { sign } else { 0 };
                Masks {
                    fold: if fraction_bits != 0 { sign - 1 } else { 0 },
                    flip: sign_flip ^ if code & DESCENDING != 0 { $type::MAX } else { 0 },
                    offset: if code & NAN_LAST != 0 { ((1 as $type).wrapping_shl(fraction_bits)) - 1 } else { 0 },
                }
            }

            #[inline(always)]
            fn encode(self, masks: Masks<Self>) -> Self {
                let sign = (self as $signed >> ($type::BITS - 1)) as $type;
                (self ^ sign & masks.fold ^ masks.flip).wrapping_sub(masks.offset)
            }

            #[inline(always)]
            fn decode(self, masks: Masks<Self>) -> Self {
                let key = self.wrapping_add(masks.offset) ^ masks.flip;
                key ^ (key as $signed >> ($type::BITS - 1)) as $type & masks.fold
            }

            #[inline(always)]
            fn digit(self, shift: u32, mask: u32) -> u32 {
                self.wrapping_shr(shift) as u32 & mask
            }

            #[inline(always)]
            fn in_vector(vector: [u32; 4], index: usize) -> Self {
                if size_of::<Self>() == 8 {
                    return (u64::from(vector[index * 2 % 4]) | u64::from(vector[(index * 2 + 1) % 4]) << 32) as $type;
                }
                let per_word = 4 / size_of::<Self>().min(4);
                (vector[index / per_word] >> (8 * size_of::<Self>() * (index % per_word)) % 32) as $type
            }
        }
    )*};
}

keys! { u8 i8 u16 i16 u32 i32 u64 i64 }

/// A value that moves with its key, or [`NoPayload`].
pub trait Payload: Element {
    /// True if there are no values.
    const IS_NONE: bool = false;

    /// The number of bytes of a value, or 0 if there are no values.
    const SIZE: usize = if Self::IS_NONE { 0 } else { size_of::<Self>() };

    /// Returns the value for index `index` in a sort of indices. Wider types than `u64` have no such values.
    #[inline(always)]
    fn of_index(_index: usize) -> Self {
        Self::zeroed()
    }
}

/// The payload of a sort of keys alone. Views of it are empty.
#[derive(Clone, Copy, cuda_std::DeviceCopy)]
#[repr(transparent)]
pub struct NoPayload(u8);

// SAFETY: the only field is a `u8`.
unsafe impl cuda_std::Zeroable for NoPayload {}
// SAFETY: the only field is a `u8`.
unsafe impl cuda_std::Pod for NoPayload {}

/// A payload of 16 bytes.
pub type Words4 = [u32; 4];

impl Payload for NoPayload {
    const IS_NONE: bool = true;
}

impl Payload for u32 {
    #[inline(always)]
    fn of_index(index: usize) -> Self {
        index as Self
    }
}

impl Payload for u64 {
    #[inline(always)]
    fn of_index(index: usize) -> Self {
        index as Self
    }
}

impl Payload for Words4 {}

/// Returns the mask of a digit that has `bits` bits, or [`DIGIT_BITS`] if that is less.
#[inline(always)]
pub fn digit_mask(bits: u32) -> u32 {
    // The last operation tells the compiler that a digit is below `RADIX`.
    ((1 << bits.min(DIGIT_BITS)) - 1) & (RADIX as u32 - 1)
}
