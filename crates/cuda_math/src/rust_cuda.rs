//! Functions under the names of Rust-CUDA.

use super::GpuFloat;

/// The functions that Rust-CUDA's trait of this name names differently than [`GpuFloat`].
pub trait FloatExt: GpuFloat {
    /// [`erf`](GpuFloat::erf).
    #[inline(always)]
    fn error_function(self) -> Self {
        self.erf()
    }

    /// [`erfc`](GpuFloat::erfc).
    #[inline(always)]
    fn complementary_error_function(self) -> Self {
        self.erfc()
    }

    /// [`erfcinv`](GpuFloat::erfcinv).
    #[inline(always)]
    fn inv_complementary_error_function(self) -> Self {
        self.erfcinv()
    }

    /// [`erfcx`](GpuFloat::erfcx).
    #[inline(always)]
    fn scaled_complementary_error_function(self) -> Self {
        self.erfcx()
    }

    /// [`ilogb`](GpuFloat::ilogb).
    #[inline(always)]
    fn unbiased_exp(self) -> i32 {
        self.ilogb()
    }

    /// [`lgamma`](GpuFloat::lgamma).
    #[inline(always)]
    fn log_gamma(self) -> Self {
        self.lgamma()
    }

    /// [`ln_1p`](GpuFloat::ln_1p).
    #[inline(always)]
    fn log1p(self) -> Self {
        self.ln_1p()
    }

    /// [`normcdf`](GpuFloat::normcdf).
    #[inline(always)]
    fn norm_cdf(self) -> Self {
        self.normcdf()
    }

    /// [`normcdfinv`](GpuFloat::normcdfinv).
    #[inline(always)]
    fn inv_norm_cdf(self) -> Self {
        self.normcdfinv()
    }

    /// [`scalbn`](GpuFloat::scalbn).
    #[inline(always)]
    fn scale_by_n(self, exponent: i32) -> Self {
        self.scalbn(exponent)
    }
}

impl<F: GpuFloat> FloatExt for F {}
