//! Epilogues: how an element of *C* is computed from its sum.

use cuda_std::{DeviceCopy, Element, Zeroable, unroll};

use super::element::{Output, Sum};

/// Computes the elements of *C* of type `C` from sums of type `S`.
///
/// A kernel passes the element's row and column and two functions, which load the previous element of *C* and the
/// column's bias. An epilogue that does not call them reads neither.
pub trait Epilogue<S, C>: DeviceCopy {
    /// Returns the element of *C* in the row and column `at`. A kernel may also call this function for places beyond
    /// the last row or column; it then ignores the result.
    fn finish(self, sum: S, at: [usize; 2], previous: impl Fn() -> C, bias: impl Fn() -> C) -> C;

    /// Returns `L` elements of *C*. The functions take the number of an element. An epilogue can implement this method
    /// to test its settings once for all elements.
    #[inline(always)]
    fn finish_all<const L: usize>(
        self,
        sums: [S; L],
        at: impl Fn(usize) -> [usize; 2],
        previous: impl Fn(usize) -> C,
        bias: impl Fn(usize) -> C,
    ) -> [C; L]
    where
        S: Copy,
        C: Element,
    {
        generate(|i| self.finish(sums[i], at(i), || previous(i), || bias(i)))
    }

    /// Returns true if the result is always the sum, converted to `C`. A kernel then may store sums in a faster way.
    #[inline(always)]
    fn is_conversion(self) -> bool {
        false
    }
}

/// Returns an array of at most 24 elements, without a loop: the elements stay in registers.
#[inline(always)]
pub fn generate<T: Element, const L: usize>(element: impl Fn(usize) -> T) -> [T; L] {
    let mut all = [<T as Zeroable>::zeroed(); L];
    unroll!(I in L => { all[I] = element(I); });
    all
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
    fn finish(self, sum: S, at: [usize; 2], previous: impl Fn() -> C, bias: impl Fn() -> C) -> C {
        let [element] = self.finish_all([sum], |_| at, |_| previous(), |_| bias());
        element
    }

    #[inline(always)]
    fn finish_all<const L: usize>(
        self,
        sums: [S; L],
        _at: impl Fn(usize) -> [usize; 2],
        previous: impl Fn(usize) -> C,
        bias: impl Fn(usize) -> C,
    ) -> [C; L] {
        let mut values = [S::ZERO; L];
        if self.beta != S::ZERO {
            values = generate(|i| self.beta.multiply_add(previous(i).to_sum(), values[i]));
        }
        if self.steps & Self::BIAS != 0 {
            values = generate(|i| values[i].add(bias(i).to_sum()));
        }
        values = generate(|i| self.alpha.multiply_add(sums[i], values[i]));
        if self.steps & Self::RELU != 0 {
            values = generate(|i| values[i].relu());
        }
        if self.steps & Self::GELU != 0 {
            values = generate(|i| values[i].gelu());
        }
        generate(|i| C::from_sum(values[i]))
    }
}
