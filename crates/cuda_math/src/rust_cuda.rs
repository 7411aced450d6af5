//! Functions under the names of Rust-CUDA.

use super::GpuFloat;

/// The functions of [`GpuFloat`] that have other names in Rust-CUDA's trait `FloatExt`.
pub trait FloatExt: GpuFloat {
    /// Rust-CUDA's name for [`erf`](GpuFloat::erf).
    #[inline(always)]
    fn error_function(self) -> Self {
        self.erf()
    }

    /// Rust-CUDA's name for [`erfc`](GpuFloat::erfc).
    #[inline(always)]
    fn complementary_error_function(self) -> Self {
        self.erfc()
    }

    /// Rust-CUDA's name for [`erfcinv`](GpuFloat::erfcinv).
    #[inline(always)]
    fn inv_complementary_error_function(self) -> Self {
        self.erfcinv()
    }

    /// Rust-CUDA's name for [`erfcx`](GpuFloat::erfcx).
    #[inline(always)]
    fn scaled_complementary_error_function(self) -> Self {
        self.erfcx()
    }

    /// Rust-CUDA's name for [`ilogb`](GpuFloat::ilogb).
    #[inline(always)]
    fn unbiased_exp(self) -> i32 {
        self.ilogb()
    }

    /// Rust-CUDA's name for [`lgamma`](GpuFloat::lgamma).
    #[inline(always)]
    fn log_gamma(self) -> Self {
        self.lgamma()
    }

    /// Rust-CUDA's name for [`ln_1p`](GpuFloat::ln_1p).
    #[inline(always)]
    fn log1p(self) -> Self {
        self.ln_1p()
    }

    /// Rust-CUDA's name for [`normcdf`](GpuFloat::normcdf).
    #[inline(always)]
    fn norm_cdf(self) -> Self {
        self.normcdf()
    }

    /// Rust-CUDA's name for [`normcdfinv`](GpuFloat::normcdfinv).
    #[inline(always)]
    fn inv_norm_cdf(self) -> Self {
        self.normcdfinv()
    }

    /// Rust-CUDA's name for [`scalbn`](GpuFloat::scalbn).
    #[inline(always)]
    fn scale_by_n(self, exponent: i32) -> Self {
        self.scalbn(exponent)
    }
}

impl<F: GpuFloat> FloatExt for F {}
