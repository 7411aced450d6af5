//! The comparison of elements.

use cuda_std::DeviceCopy;

/// The order of elements of type `T`. The value of the comparison is an argument of the kernels, so it may contain
/// numbers. Implement this trait for a type of your own, and make the kernels by [`instances!`](crate::instances!).
///
/// The comparison must be a strict weak order: no element is less than itself; if *a* is less than *b* and *b* less
/// than *c*, *a* is less than *c*; and elements of which neither is less than the other are equal to the same elements.
/// With another comparison, the elements of the output are unspecified elements of the input.
pub trait Compare<T>: DeviceCopy {
    /// Returns true if `a` must come before `b`.
    fn is_less(self, a: T, b: T) -> bool;
}

/// The order of the operator `<`. Floats are in this order only if none is NaN.
#[derive(Clone, Copy, PartialEq, Eq, Debug, DeviceCopy)]
pub struct Less;

impl<T: PartialOrd> Compare<T> for Less {
    #[inline(always)]
    fn is_less(self, a: T, b: T) -> bool {
        a < b
    }
}
