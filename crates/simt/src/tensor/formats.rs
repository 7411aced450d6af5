//! The formats of the elements that tensor cores multiply, and of the sums.

/// A format of elements. Every value of these formats is also a value of `f32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// IEEE 754's format of 16 bits, 10 of them for the fraction.
    F16,
    /// The upper 16 bits of an `f32`.
    Bf16,
    /// The upper 19 bits of an `f32`, in 32 bits. Tensor cores ignore the lower 13 bits.
    Tf32,
    /// 8 bits, 3 of them for the fraction. The format has no infinities, and only `0x7F` and `0xFF` are NaN.
    E4m3,
    /// The upper 8 bits of an `f16`.
    E5m2,
}

impl Format {
    /// The number of bits of an element in memory and in registers.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Self::F16 | Self::Bf16 => 16,
            Self::Tf32 => 32,
            Self::E4m3 | Self::E5m2 => 8,
        }
    }

    /// The exponent of the smallest normal number, which is also that of the subnormal numbers.
    pub(super) const fn min_exponent(self) -> i32 {
        match self {
            Self::F16 | Self::E5m2 => -14,
            Self::Bf16 | Self::Tf32 => -126,
            Self::E4m3 => -6,
        }
    }

    /// Returns the value of the element whose bits are the lowest [`bits`](Self::bits) of `bits`.
    #[inline]
    #[must_use]
    pub const fn decode(self, bits: u32) -> f32 {
        match self {
            Self::F16 => decode_f16(bits),
            Self::Bf16 => f32::from_bits(bits << 16),
            Self::Tf32 => f32::from_bits(bits & !0x1FFF),
            Self::E4m3 => {
                let magnitude = f32::from_bits((bits & 0x7F) << 20) * f32::from_bits((127 + 120) << 23);
                let nan = if bits & 0x7F == 0x7F { f32::NAN.to_bits() } else { 0 };
                f32::from_bits(magnitude.to_bits() | nan | (bits & 0x80) << 24)
            }
            Self::E5m2 => decode_f16(bits << 8),
        }
    }

    /// Returns the bits of the `f16` with this value. NaNs become the NaN of tensor cores.
    pub(crate) fn encode_f16(value: f32) -> u32 {
        let (sign, magnitude) = (value.to_bits() >> 16 & 0x8000, value.abs());
        let bits = if magnitude.is_nan() {
            return 0x7FFF;
        } else if magnitude == f32::INFINITY {
            0x7C00
        } else if magnitude < 2.0_f32.powi(-14) {
            (magnitude * 2.0_f32.powi(24)) as u32
        } else {
            (magnitude.to_bits() >> 13) - (112 << 10)
        };
        sign | bits
    }
}

/// Returns the value of the `f16` in the lower 16 bits.
#[inline]
const fn decode_f16(bits: u32) -> f32 {
    // The product moves the exponent from the bias 15 to 127, and normalises subnormal numbers.
    let magnitude = f32::from_bits((bits & 0x7FFF) << 13) * f32::from_bits((127 + 112) << 23);
    let special = if bits & 0x7C00 == 0x7C00 { 0x7F80_0000 } else { 0 };
    f32::from_bits(magnitude.to_bits() | special | (bits & 0x8000) << 16)
}

#[cfg(test)]
mod tests {
    use super::Format;

    #[test]
    fn every_f16_is_encoded_as_it_was_decoded() {
        for bits in 0..=u32::from(u16::MAX) {
            let value = Format::F16.decode(bits);
            assert_eq!(Format::encode_f16(value), if value.is_nan() { 0x7FFF } else { bits });
        }
    }
}
