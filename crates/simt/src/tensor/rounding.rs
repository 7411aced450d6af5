//! The rounding of a sum to the type of the result. A sum that becomes 0 becomes +0.

/// The NaN that tensor cores return.
pub(super) const NAN: f32 = f32::from_bits(0x7FFF_FFFF);

/// The exponent of the smallest normal `f32`.
const MIN_EXPONENT: i32 = -126;

/// The type of the sums: of C and D in `D = A B + C`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sum {
    /// `f32`.
    F32,
    /// `f16`. Its values are passed as `f32`, too.
    F16,
}

/// Returns 2 to `exponent`, which must be that of a normal `f64`.
#[inline(always)]
pub(super) const fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// Returns `value` as an `f32` with at most `fraction` bits of fraction, rounded toward zero. Values beyond the largest
/// `f32` become infinities. `value` must be 0, or at least the smallest normal `f32`.
#[inline(always)]
pub(super) fn normal_toward_zero(value: f64, fraction: i32) -> f32 {
    f64::from_bits(value.to_bits() & !((1 << (52 - fraction)) - 1)) as f32
}

/// Returns [`normal_toward_zero`] of any `value`. NaNs remain NaNs.
pub(super) fn toward_zero(value: f64, fraction: i32) -> f32 {
    if value.abs() < f64::from(f32::MIN_POSITIVE) {
        // Subnormal results are multiples of the smallest number with that many bits.
        let scale = power_of_two(fraction - MIN_EXPONENT);
        (f64::from((value * scale) as i32) / scale) as f32
    } else if value.is_nan() {
        NAN
    } else {
        normal_toward_zero(value, fraction)
    }
}

/// Returns the `f16` nearest to `value`, or the even one of two equally near, as an `f32`. NaNs remain NaNs.
#[inline(always)]
pub(super) fn nearest_f16(value: f64) -> f32 {
    // Adding a number whose last bit is the last bit of the result rounds the sum there.
    let exponent = ((value.to_bits() >> 52) as i32 & 0x7FF) - 1023;
    let magic = 1.5 * power_of_two(exponent.clamp(-14, 16) - 10 + 52);
    let rounded = (value + magic) - magic;
    let is_large = rounded.abs() >= 65536.0;
    (if is_large { f64::INFINITY.copysign(value) } else { rounded }) as f32
}

#[cfg(test)]
mod tests {
    use super::{nearest_f16, toward_zero};

    #[test]
    fn sums_are_cut_off() {
        let ulp = f64::from(f32::EPSILON);
        assert_eq!(toward_zero(-1.0 - 1.9 * ulp, 23), -1.0 - f32::EPSILON);
        assert_eq!(toward_zero(1.0 + 2.0_f64.powi(-13) * 1.9, 13), 1.0 + 2.0_f32.powi(-13));
        let smallest = f64::from(f32::from_bits(1));
        assert_eq!(toward_zero(-3.9 * smallest, 23).to_bits(), 0x8000_0003);
        assert_eq!(toward_zero(-0.9 * smallest, 23).to_bits(), 0, "a sum that becomes 0 becomes +0");
        assert_eq!(toward_zero(2.0_f64.powi(128) * (1.0 - 1e-12), 23), f32::MAX);
        assert_eq!(toward_zero(-2.0_f64.powi(128), 23), f32::NEG_INFINITY);
    }

    #[test]
    fn sums_in_f16_are_rounded_to_the_nearest() {
        let ulp = 2.0_f64.powi(-10);
        assert_eq!(f64::from(nearest_f16(1.0 + 0.5 * ulp)), 1.0);
        assert_eq!(f64::from(nearest_f16(1.0 + 1.5 * ulp)), 1.0 + 2.0 * ulp);
        assert_eq!(f64::from(nearest_f16(-1.0 - 0.500_001 * ulp)), -1.0 - ulp);
        assert_eq!(nearest_f16(65519.99), 65504.0);
        assert_eq!(nearest_f16(-65520.0), f32::NEG_INFINITY);
        let smallest = 2.0_f64.powi(-24);
        assert_eq!(f64::from(nearest_f16(2.5 * smallest)), 2.0 * smallest);
        assert_eq!(nearest_f16(-0.5 * smallest).to_bits(), 0, "a sum that becomes 0 becomes +0");
    }
}
