//! Arithmetic on 16-bit floats, computed in `f64` and rounded once, and the rounding of 8-bit floats. The simulator
//! uses these functions, and GPUs that lack the instructions use them too.
//!
//! # Design
//!
//! `f64` represents the product of two 16-bit floats exactly. A sum in `f64` is rounded to odd. Rounding this sum to 16
//! bits then returns the same result as a single rounding. NaNs have the bits that GPUs return.

/// A format with `exponent` bits for the exponent, `fraction` bits for the fraction, and one bit for the sign.
#[derive(Clone, Copy)]
pub struct Format {
    exponent: u32,
    fraction: u32,
}

pub const F16: Format = Format { exponent: 5, fraction: 10 };
pub const BF16: Format = Format { exponent: 8, fraction: 7 };
/// Only for [`Format::magnitude`]: the largest exponent has numbers.
pub const E4M3: Format = Format { exponent: 4, fraction: 3 };
/// Only for [`Format::magnitude`].
pub const E5M2: Format = Format { exponent: 5, fraction: 2 };

/// The NaN that GPUs return.
const NAN: u16 = 0x7FFF;

#[allow(dead_code, reason = "a GPU has instructions for the operations, where only the conversions are compiled")]
impl Format {
    const fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    const fn infinity(self) -> u16 {
        0x7FFF & !((1 << self.fraction) - 1)
    }

    /// Returns the float nearest to `value`, or the even one of two equally near floats.
    #[inline]
    pub const fn round(self, value: f64) -> u16 {
        if value.is_nan() {
            return NAN;
        }
        let sign = (value.to_bits() >> 48) as u16 & 0x8000;
        let (rounded, infinity) = (self.magnitude(value), self.infinity());
        if rounded >= infinity as u64 { sign | infinity } else { sign | rounded as u16 }
    }

    /// Returns the bits of the float nearest to the magnitude of `value`, as if the exponent had no limit. `value` must
    /// not be NaN.
    #[inline]
    pub const fn magnitude(self, value: f64) -> u64 {
        let magnitude = value.to_bits() & !(1 << 63);
        let exponent = (magnitude >> 52) as i32 - 1023 + self.bias();
        let significand = magnitude & ((1 << 52) - 1) | 1 << 52;
        // A subnormal has fewer fraction bits.
        let shift = 52 - self.fraction as i32 + if exponent <= 0 { 1 - exponent } else { 0 };
        if shift > 54 {
            return 0;
        }
        let kept = significand >> shift;
        let rest = significand & ((1 << shift) - 1);
        let half = 1_u64 << (shift - 1);
        let rounded = kept + (rest > half || rest == half && kept & 1 == 1) as u64;
        // The leading 1 bit of a normal number adds to the exponent, like a carry from the rounding.
        let base = if exponent <= 0 { 0 } else { ((exponent - 1) as u64) << self.fraction };
        base + rounded
    }

    /// Converts `bits` to `f64` without rounding.
    #[inline]
    pub const fn widen(self, bits: u16) -> f64 {
        let sign = (bits as u64 & 0x8000) << 48;
        let exponent = (bits & 0x7FFF) >> self.fraction;
        let fraction = (bits & ((1 << self.fraction) - 1)) as u64;
        let is_last = exponent == (1 << self.exponent) - 1;
        let magnitude = if is_last {
            0x7FF << 52 | fraction << (52 - self.fraction)
        } else if exponent == 0 {
            // The value is a multiple of the smallest subnormal number, which is normal as an `f64`.
            let step = f64::from_bits(((1024 - self.bias() - self.fraction as i32) as u64) << 52);
            (fraction as f64 * step).to_bits()
        } else {
            ((exponent as i32 - self.bias() + 1023) as u64) << 52 | fraction << (52 - self.fraction)
        };
        f64::from_bits(sign | magnitude)
    }

    /// Returns `a·b + c`, rounded once.
    #[inline]
    pub const fn fma(self, a: u16, b: u16, c: u16) -> u16 {
        let (a, b, c) = (self.widen(a), self.widen(b), self.widen(c));
        // The product is exact. The sum is rounded to odd, so that rounding it again equals a single rounding.
        let product = a * b;
        let sum = product + c;
        if !sum.is_finite() {
            return self.round(sum);
        }
        let other = sum - product;
        let error = (product - (sum - other)) + (c - other);
        let bits = sum.to_bits();
        if error == 0.0 || bits & 1 == 1 {
            return self.round(sum);
        }
        let is_outward = (error > 0.0) == (sum > 0.0);
        self.round(f64::from_bits(if is_outward { bits + 1 } else { bits - 1 }))
    }

    #[inline]
    pub const fn add(self, a: u16, b: u16) -> u16 {
        self.fma(a, self.one(), b)
    }

    #[inline]
    pub const fn sub(self, a: u16, b: u16) -> u16 {
        // The sign of a NaN does not matter.
        self.add(a, b ^ 0x8000)
    }

    #[inline]
    pub const fn mul(self, a: u16, b: u16) -> u16 {
        self.round(self.widen(a) * self.widen(b))
    }

    const fn one(self) -> u16 {
        (self.bias() as u16) << self.fraction
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_float_is_rounded_to_itself() {
        for format in [F16, BF16] {
            for bits in 0..=u16::MAX {
                let wide = format.widen(bits);
                let expected = if wide.is_nan() { NAN } else { bits };
                assert_eq!(format.round(wide), expected, "{bits:#x}");
            }
        }
    }

    #[test]
    fn widening_is_that_of_f32() {
        for bits in 0..=u16::MAX {
            let single = f32::from_bits(u32::from(bits) << 16);
            if !single.is_nan() {
                assert_eq!(BF16.widen(bits), f64::from(single), "{bits:#x}");
            }
        }
        assert_eq!([0x3C00, 0x0001, 0x7BFF, 0xC000].map(|bits| F16.widen(bits)), [1.0, 2_f64.powi(-24), 65504.0, -2.0]);
    }

    /// Checks that the midpoint of two consecutive floats is rounded to the even one, and numbers beside it to the
    /// nearer one.
    #[test]
    fn what_lies_between_goes_to_the_nearest() {
        for format in [F16, BF16] {
            for bits in 0..format.infinity() - 1 {
                let (low, high) = (format.widen(bits), format.widen(bits + 1));
                let middle = (low + high) / 2.0;
                let even = if bits % 2 == 0 { bits } else { bits + 1 };
                let beside = f64::from_bits(middle.to_bits() + 1);
                let before = f64::from_bits(middle.to_bits() - 1);
                assert_eq!([before, middle, beside].map(|value| format.round(value)), [bits, even, bits + 1]);
                assert_eq!(format.round(-middle), even | 0x8000);
            }
            let largest = format.widen(format.infinity() - 1);
            assert_eq!(
                [2.0 * largest, f64::MAX, -f64::INFINITY].map(|value| format.round(value)),
                [format.infinity(), format.infinity(), format.infinity() | 0x8000]
            );
        }
    }

    /// Checks that a sum is rounded once, even if rounding it to `f64` first would give a midpoint.
    #[test]
    fn a_product_and_a_sum_are_rounded_once() {
        let one = F16.one();
        // 1 + 2⁻¹¹ is the midpoint between 1 and the next float. A slightly larger number is rounded to the next float.
        let middle = F16.round(2_f64.powi(-11));
        assert_eq!(F16.fma(middle, one, one), one);
        assert_eq!(F16.fma(F16.round(2_f64.powi(-11) + 2_f64.powi(-20)), one, one), one + 1);
        // The product 2⁻¹¹ + 2⁻²¹ makes the sum slightly larger than the midpoint 1 + 2⁻¹¹.
        let just_above = F16.fma(F16.round(1.0 + 2_f64.powi(-10)), F16.round(2_f64.powi(-11)), one);
        assert_eq!(just_above, one + 1);
        // In bf16, the exponents of two numbers can differ by more than the 53 bits of an `f64`'s precision.
        let (big, middle) = (BF16.round(2_f64.powi(60)), BF16.round(2_f64.powi(52)));
        let up = BF16.fma(BF16.round(2_f64.powi(-60)), BF16.one(), BF16.round(1.0));
        assert_eq!(up, BF16.one());
        assert_eq!(BF16.add(big, middle), big, "the midpoint is rounded to the even float");
        let odd = big + 1;
        assert_eq!(BF16.add(odd, middle), odd + 1);
        let nearly = BF16.round(2_f64.powi(26));
        // The product 2²⁶·2²⁶ = 2⁵² is half a unit in the last place of `odd`, so the sum is a midpoint.
        assert_eq!(BF16.fma(nearly, nearly, odd), odd + 1);
    }
}
