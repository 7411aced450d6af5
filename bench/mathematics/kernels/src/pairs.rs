//! Defines pseudo-random pairs of arguments, and the functions whose results are compared at these pairs. The host
//! program that computes hashes also includes this file.

/// Returns 64 pseudo-random bits for the number `i`, by SplitMix64.
fn mix(i: u64) -> u64 {
    let mut z = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

const SPECIAL: [f64; 16] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    2.0,
    -3.0,
    16_777_217.0,
    1e-42,
    -1e-42,
    1.2e-38,
    3.4e38,
    -1e20,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

macro_rules! pair {
    ($(#[$doc:meta])* $name:ident, $float:ty, $bits:ty, $mantissa:literal) => {
        $(#[$doc])*
        pub fn $name(i: u64) -> ($float, $float) {
            let (first, second) = (mix(2 * i), mix(2 * i + 1));
            let any = <$float>::from_bits(first as $bits);
            let moderate = |random: u64| (random as i32) as $float * (1.0 / 33_554_432.0);
            let special = |random: u64| SPECIAL[(random >> 40 & 15) as usize] as $float;
            match i % 6 {
                0 => (any, <$float>::from_bits(second as $bits)),
                // Two numbers with similar exponents.
                1 => {
                    let exponent = (second % 9) as $bits << $mantissa;
                    let low = second as $bits & ((1 << $mantissa) - 1);
                    (any, <$float>::from_bits((any.to_bits() >> $mantissa << $mantissa | low).wrapping_add(exponent)))
                }
                2 => (special(first), if second & 1 == 0 { special(second) } else { moderate(second) }),
                3 => (moderate(first), special(second)),
                // A number near 1 and a whole number of 16 bits.
                4 => (
                    <$float>::from_bits((1.0 as $float).to_bits() ^ (first as $bits & ((1 << ($mantissa - 8)) - 1))),
                    (second as i16) as $float,
                ),
                _ => (moderate(first), moderate(second)),
            }
        }
    };
}

pair! {
    /// Returns the pair of arguments with the number `i`.
    singles, f32, u32, 23
}
pair! {
    /// Returns the pair of arguments with the number `i`.
    doubles, f64, u64, 52
}

/// A result that is compared by its bits. All NaNs count as the same bits.
pub trait Bits {
    fn bits(self) -> u64;
}

impl Bits for f32 {
    fn bits(self) -> u64 {
        u64::from(if self.is_nan() { 0x7fc0_0000 } else { self.to_bits() })
    }
}

impl Bits for f64 {
    fn bits(self) -> u64 {
        if self.is_nan() { 0x7ff8 << 48 } else { self.to_bits() }
    }
}

impl Bits for i32 {
    fn bits(self) -> u64 {
        self as u32 as u64
    }
}

impl Bits for i64 {
    fn bits(self) -> u64 {
        self as u64
    }
}

impl<A: Bits, B: Bits> Bits for (A, B) {
    fn bits(self) -> u64 {
        self.0.bits() ^ self.1.bits().rotate_left(32)
    }
}

/// Calls the macro `$make` with each kernel's name, the function that returns its pairs, and the expression to compute.
#[macro_export]
macro_rules! functions_of_pairs {
    ($make:ident) => {
        $make! {
            p_powf singles |x, y| GpuFloat::powf(x, y);
            p_powi singles |x, y| GpuFloat::powi(x, y as i32);
            p_atan2 singles |x, y| GpuFloat::atan2(x, y);
            p_hypot singles |x, y| GpuFloat::hypot(x, y);
            p_rhypot singles |x, y| GpuFloat::rhypot(x, y);
            p_norm3d singles |x, y| GpuFloat::norm3d(x, y, 0.75);
            p_rnorm3d singles |x, y| GpuFloat::rnorm3d(x, y, 0.75);
            p_norm4d singles |x, y| GpuFloat::norm4d(x, y, 0.75, y);
            p_rnorm4d singles |x, y| GpuFloat::rnorm4d(x, y, 0.75, y);
            p_log singles |x, y| GpuFloat::log(x, y);
            p_fmod singles |x, y| GpuFloat::fmod(x, y);
            p_remquo singles |x, y| GpuFloat::remquo(x, y);
            p_div_euclid singles |x, y| GpuFloat::div_euclid(x, y);
            p_rem_euclid singles |x, y| GpuFloat::rem_euclid(x, y);
            p_fdim singles |x, y| GpuFloat::fdim(x, y);
            p_nextafter singles |x, y| GpuFloat::nextafter(x, y);
            p_ldexp singles |x, y| GpuFloat::ldexp(x, y as i32);
            p_frexp singles |x, y| GpuFloat::frexp(x + 0.0 * y);
            p_sin_cos singles |x, y| GpuFloat::sin_cos(x * 0.0 + y);
            p_sincospi singles |x, _y| GpuFloat::sincospi(x);
            p_jn singles |x, y| GpuFloat::jn(x, y.to_bits() as i32 & 15);
            p_yn singles |x, y| GpuFloat::yn(x, y.to_bits() as i32 & 15);
            p_ln_gamma singles |x, _y| GpuFloat::ln_gamma(x);
            p_norm singles |x, y| cuda_std::norm(&[x, y, 0.75, y, x]);
            p_rnorm singles |x, y| cuda_std::rnorm(&[x, y, 0.75, y, x]);
            p_rint singles |x, _y| GpuFloat::rint(x);
            p_nearbyint singles |x, _y| GpuFloat::nearbyint(x);
            p_lrint singles |x, _y| GpuFloat::lrint(x);
            p_llrint singles |x, _y| GpuFloat::llrint(x);
            p_lround singles |x, _y| GpuFloat::lround(x);
            p_llround singles |x, _y| GpuFloat::llround(x);
            p_norm_f64 doubles |x, y| cuda_std::norm(&[x, y, 0.75, y, x]);
            p_rnorm_f64 doubles |x, y| cuda_std::rnorm(&[x, y, 0.75, y, x]);
            p_rint_f64 doubles |x, _y| GpuFloat::rint(x);
            p_lrint_f64 doubles |x, _y| GpuFloat::lrint(x);
            p_lround_f64 doubles |x, _y| GpuFloat::lround(x);
            p_exp_f64 doubles |x, _y| GpuFloat::exp(x);
            p_ln_f64 doubles |x, _y| GpuFloat::ln(x);
            p_sin_f64 doubles |x, _y| GpuFloat::sin(x);
            p_cos_f64 doubles |x, _y| GpuFloat::cos(x);
            p_tan_f64 doubles |x, _y| GpuFloat::tan(x);
            p_sinpi_f64 doubles |x, _y| GpuFloat::sinpi(x);
            p_cospi_f64 doubles |x, _y| GpuFloat::cospi(x);
            p_asin_f64 doubles |x, _y| GpuFloat::asin(GpuFloat::recip(x));
            p_acos_f64 doubles |x, _y| GpuFloat::acos(GpuFloat::recip(x));
            p_atan_f64 doubles |x, _y| GpuFloat::atan(x);
            p_rsqrt_f64 doubles |x, _y| GpuFloat::rsqrt(x);
            p_cbrt_f64 doubles |x, _y| GpuFloat::cbrt(x);
            p_rcbrt_f64 doubles |x, _y| GpuFloat::rcbrt(x);
            p_erf_f64 doubles |x, _y| GpuFloat::erf(x);
            p_erfc_f64 doubles |x, _y| GpuFloat::erfc(x);
            p_erfinv_f64 doubles |x, _y| GpuFloat::erfinv(x);
            p_erfcinv_f64 doubles |x, _y| GpuFloat::erfcinv(x);
            p_normcdfinv_f64 doubles |x, _y| GpuFloat::normcdfinv(x);
            p_tgamma_f64 doubles |x, _y| GpuFloat::tgamma(x);
            p_lgamma_f64 doubles |x, _y| GpuFloat::lgamma(x);
            p_cyl_bessel_i0_f64 doubles |x, _y| GpuFloat::cyl_bessel_i0(x);
            p_cyl_bessel_i1_f64 doubles |x, _y| GpuFloat::cyl_bessel_i1(x);
            p_floor_f64 doubles |x, _y| GpuFloat::floor(x);
            p_ceil_f64 doubles |x, _y| GpuFloat::ceil(x);
            p_round_f64 doubles |x, _y| GpuFloat::round(x);
            p_trunc_f64 doubles |x, _y| GpuFloat::trunc(x);
            p_fract_f64 doubles |x, _y| GpuFloat::fract(x);
            p_powf_f64 doubles |x, y| GpuFloat::powf(x, y);
            p_atan2_f64 doubles |x, y| GpuFloat::atan2(x, y);
            p_hypot_f64 doubles |x, y| GpuFloat::hypot(x, y);
            p_rhypot_f64 doubles |x, y| GpuFloat::rhypot(x, y);
            p_fmod_f64 doubles |x, y| GpuFloat::fmod(x, y);
            p_remquo_f64 doubles |x, y| GpuFloat::remquo(x, y);
            p_jn_f64 doubles |x, y| GpuFloat::jn(x, y.to_bits() as i32 & 15);
            p_yn_f64 doubles |x, y| GpuFloat::yn(x, y.to_bits() as i32 & 15);
        }
    };
}
