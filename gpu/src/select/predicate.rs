//! What decides whether an element is selected.

use cuda_std::{DeviceCopy, Element, Global};

/// What a [`Predicate`] reads.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reads {
    /// The element.
    Element,
    /// The element's flag, a byte. The element is selected if the flag is not 0.
    Flag,
    /// The element and the one before it. The first element is selected.
    Neighbours,
}

/// Decides which elements of type `T` are selected. The value of the predicate is an argument of the kernel, so it may
/// contain numbers, such as a threshold. Implement this trait for a type of your own, and make the kernels by
/// [`instances!`](crate::instances!).
pub trait Predicate<T>: DeviceCopy {
    #[doc(hidden)]
    const READS: Reads = Reads::Element;

    /// Returns true if `element` is selected.
    fn selects(self, element: T) -> bool;

    /// Returns true if `element`, which follows `before`, is selected. Only predicates on [`Reads::Neighbours`]
    /// implement this method.
    #[doc(hidden)]
    #[inline(always)]
    fn selects_after(self, before: T, element: T) -> bool {
        let _ = before;
        self.selects(element)
    }
}

/// Selects the numbers in an interval, or those outside it. The kernels are built by the width of the numbers: the
/// order of any number type is that of unsigned integers, after a conversion of the bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, DeviceCopy)]
#[repr(C)]
pub struct InRange {
    /// The bits to invert in negative numbers: all but the sign bit for floats, none for integers.
    magnitude: u64,
    /// The least number of the interval, converted, and with its highest bit inverted again unless the numbers are
    /// unsigned. The kernels do not invert this bit of the elements, because the difference is the same.
    low: u64,
    /// The greatest number of the interval minus the least, both converted.
    span: u64,
    /// 1 to select the numbers in the interval, 0 to select the others.
    is_inside: u64,
}

/// Selects an element if its flag, a byte of another vector, is not 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug, DeviceCopy)]
pub struct ByFlag;

/// Selects the first element of each run of equal elements. Floats are compared as by `==`: −0 equals +0, and NaN
/// differs from every number.
#[derive(Clone, Copy, PartialEq, Eq, Debug, DeviceCopy)]
#[repr(C)]
pub struct RunStart {
    /// The sign bit of floats, or 0 for integers.
    sign: u64,
    /// The bits of the greatest number without its sign: greater bits are NaN.
    greatest: u64,
}

impl InRange {
    /// Returns the predicate that selects the numbers in `low..=high`, which are the bits of numbers in `format`. A
    /// bound that is `None` is the least or the greatest number. A float that is not a number is in no interval.
    ///
    /// An excluded bound is the neighbour of the given number: `is_excluded` says which bounds are excluded.
    pub const fn new(format: Format, low: Option<u64>, high: Option<u64>, is_excluded: [bool; 2]) -> Self {
        let Format { flip, magnitude, .. } = format;
        let nothing = Self { magnitude, low: 0, span: u64::MAX, is_inside: 0 };
        let [least, greatest] = format.limits();
        let low = match low {
            None => least,
            Some(low) if format.is_nan(low) => return nothing,
            // An excluded zero excludes both zeros, and an included zero includes both.
            Some(low) if is_excluded[0] => match format.ordered(format.zero(low, false)).checked_add(1) {
                Some(low) => low,
                None => return nothing,
            },
            Some(low) => format.ordered(format.zero(low, true)),
        };
        let high = match high {
            None => greatest,
            Some(high) if format.is_nan(high) => return nothing,
            Some(high) if is_excluded[1] => match format.ordered(format.zero(high, true)).checked_sub(1) {
                Some(high) => high,
                None => return nothing,
            },
            Some(high) => format.ordered(format.zero(high, false)),
        };
        if low > high {
            return nothing;
        }
        Self { magnitude, low: low.wrapping_sub(flip), span: high - low, is_inside: 1 }
    }

    /// Returns the predicate that selects the numbers that this one does not select.
    pub const fn negated(self) -> Self {
        Self { is_inside: 1 - self.is_inside, ..self }
    }
}

impl RunStart {
    /// Returns the predicate for numbers of a type described by `format`.
    pub const fn new(format: Format) -> Self {
        Self { sign: if format.is_float() { format.flip } else { 0 }, greatest: format.greatest }
    }
}

/// The bits of a number type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Format {
    flip: u64,
    magnitude: u64,
    greatest: u64,
    bits: u32,
}

impl Format {
    /// Returns the format of unsigned integers of `bits` bits.
    pub const fn unsigned(bits: u32) -> Self {
        Self { flip: 0, magnitude: 0, greatest: u64::MAX, bits }
    }

    /// Returns the format of signed integers of `bits` bits.
    pub const fn signed(bits: u32) -> Self {
        Self { flip: 1 << (bits - 1), ..Self::unsigned(bits) }
    }

    /// Returns the format of floats of `bits` bits, whose infinity has the bits `infinity`.
    pub const fn float(bits: u32, infinity: u64) -> Self {
        let flip = 1 << (bits - 1);
        Self { flip, magnitude: flip - 1, greatest: infinity, bits }
    }

    const fn is_float(self) -> bool {
        self.magnitude != 0
    }

    const fn is_nan(self, bits: u64) -> bool {
        self.is_float() && bits & !self.flip > self.greatest
    }

    /// Returns `bits`, or if they are a zero of a float, the bits of the zero with this sign.
    const fn zero(self, bits: u64, is_negative: bool) -> u64 {
        if !self.is_float() || bits & !self.flip != 0 {
            return bits;
        }
        if is_negative { self.flip } else { 0 }
    }

    /// Returns the least and the greatest number, which are infinite for floats, as [`ordered`](Self::ordered) returns
    /// them.
    const fn limits(self) -> [u64; 2] {
        if self.is_float() {
            [self.ordered(self.flip | self.greatest), self.ordered(self.greatest)]
        } else {
            [0, u64::MAX >> (64 - self.bits)]
        }
    }

    /// Returns unsigned integers in the order of the numbers whose bits are `bits`.
    const fn ordered(self, bits: u64) -> u64 {
        let is_negative = bits >> (self.bits - 1) & 1 == 1;
        bits ^ self.flip ^ if is_negative { self.magnitude } else { 0 }
    }
}

macro_rules! words {
    ($($word:ident $signed:ident)*) => {$(
        impl Predicate<$word> for InRange {
            #[inline(always)]
            fn selects(self, element: $word) -> bool {
                let negative = (element as $signed >> ($word::BITS - 1)) as $word;
                let ascending = element ^ (negative & self.magnitude as $word);
                (ascending.wrapping_sub(self.low as $word) <= self.span as $word) == (self.is_inside != 0)
            }
        }

        impl Predicate<$word> for RunStart {
            const READS: Reads = Reads::Neighbours;

            #[inline(always)]
            fn selects(self, _: $word) -> bool {
                true
            }

            #[inline(always)]
            fn selects_after(self, before: $word, element: $word) -> bool {
                let sign = self.sign as $word;
                let is_same = before == element && element & !sign <= self.greatest as $word;
                !is_same && (before | element) & !sign != 0
            }
        }

        flags! { $word }
    )*};
}

macro_rules! flags {
    ($word:ty) => {
        impl Predicate<$word> for ByFlag {
            const READS: Reads = Reads::Flag;

            #[inline(always)]
            fn selects(self, _: $word) -> bool {
                false
            }
        }
    };
}

/// 16 bytes of any element.
pub type Quad = [u32; 4];

words! { u8 i8 u16 i16 u32 i32 u64 i64 }
flags! { Quad }

/// Returns true if element `i` of `x` is selected. `flags` has as many elements as `x` if the predicate reads flags.
#[inline(always)]
pub fn is_selected<T: Element, P: Predicate<T>>(x: Global<T>, flags: Global<u8>, predicate: P, i: usize) -> bool {
    match P::READS {
        Reads::Element => predicate.selects(x.load(i)),
        Reads::Flag => flags.load(i) != 0,
        Reads::Neighbours if i == 0 => true,
        Reads::Neighbours => predicate.selects_after(x.load(i - 1), x.load(i)),
    }
}
