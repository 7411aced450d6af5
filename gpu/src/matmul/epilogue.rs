//! Epilogues: how an element of *C* is computed from its sum.

use cuda_std::DeviceCopy;

use super::element::{Output, Sum};

/// Computes the elements of *C* of type `C` from sums of type `S`.
///
/// A kernel passes the element's row and column and two functions, which load the previous element of *C* and the
/// column's bias. An epilogue that does not call them reads neither.
pub trait Epilogue<S, C>: DeviceCopy {
    /// Returns the element of *C* in the row and column `at`.
    fn finish(self, sum: S, at: [usize; 2], previous: impl FnOnce() -> C, bias: impl FnOnce() -> C) -> C;

    /// Returns true if the result is always the sum, converted to `C`. A kernel then may store sums in a faster way.
    #[inline(always)]
    fn is_conversion(self) -> bool {
        false
    }
}

/// The epilogue α·sum + β·*C* + bias, and then an activation.
#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(C)]
pub struct Linear<S> {
    /// The factor α of the product.
    pub alpha: S,
    /// The factor β of the previous *C*, which is not read if β is zero.
    pub beta: S,
    /// The sum of the further steps: [`BIAS`](Self::BIAS), and [`RELU`](Self::RELU) or [`GELU`](Self::GELU).
    pub steps: u32,
}

impl<S> Linear<S> {
    /// The step that adds the column's bias.
    pub const BIAS: u32 = 1;
    /// The step that replaces negative results by zero.
    pub const RELU: u32 = 2;
    /// The step that applies the Gaussian error linear unit, in its approximation by tanh.
    pub const GELU: u32 = 4;
}

impl<S: Sum + PartialEq, C: Output<S>> Epilogue<S, C> for Linear<S> {
    #[inline(always)]
    fn is_conversion(self) -> bool {
        self.alpha == S::ONE && self.beta == S::ZERO && self.steps == 0
    }

    #[inline(always)]
    fn finish(self, sum: S, _at: [usize; 2], previous: impl FnOnce() -> C, bias: impl FnOnce() -> C) -> C {
        let mut value = S::ZERO;
        if self.beta != S::ZERO {
            value = self.beta.multiply_add(previous().to_sum(), value);
        }
        if self.steps & Self::BIAS != 0 {
            value = value.add(bias().to_sum());
        }
        value = self.alpha.multiply_add(sum, value);
        if self.steps & Self::RELU != 0 {
            value = value.relu();
        }
        if self.steps & Self::GELU != 0 {
            value = value.gelu();
        }
        C::from_sum(value)
    }
}
