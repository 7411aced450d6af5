//! The numbers by which kernels index views and shared arrays.

/// An integer that is an index of an element: `usize`, or a narrower or signed integer such as the `u32` of
/// `thread::thread_idx_x()`.
///
/// A negative index is out of bounds.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no index of an element",
    label = "not an integer",
    note = "an index is an integer of up to 64 bits, such as `u32` or `usize`"
)]
pub trait ElementIndex: Copy + private::Sealed {
    /// Returns the index as a `usize`. A negative number becomes one that no view has.
    fn index(self) -> usize;
}

mod private {
    pub trait Sealed {}
}

macro_rules! indices {
    ($($integer:ident)*) => {$(
        impl private::Sealed for $integer {}

        impl ElementIndex for $integer {
            #[inline(always)]
            fn index(self) -> usize {
                self as usize
            }
        }
    )*};
}

indices! { usize u64 u32 u16 u8 isize i64 i32 i16 i8 }
