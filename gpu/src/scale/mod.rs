//! `y = s·x`: a vector times a number, the first kernel of the book.
//!
//! | rung | idea | limited by |
//! |---|---|---|
//! | [`scale_one_block()`] | one thread per element, in one block: at most 1024 elements | the launch |
//! | [`scale_grid()`] | blocks side by side, whose threads go on by strides of the grid: any length | memory |
//! | [`scale_vectorised()`] | 16-byte accesses, one of each vector per thread | memory |
//! | [`scale_unaligned()`] | the last rung for views that begin anywhere | memory |
//!
//! Floor: every element is read once and written once, at the device's copy speed. Integers wrap.
//!
//! Source: B. Tuomanen, "Hands-On GPU Programming with Python and CUDA", ch. 4, and its exercise 1, which asks for more
//! than one block; the last rung: J. Luitjens, as there.

pub mod tuning;

pub use one_block::MOST_ELEMENTS;

use cuda_std::{Argument, Element, Global, GlobalMut, KernelParam};

use crate::operator::{Operator, Product};

cuda_std::ladder! {
    /// `y = s·x`, the first kernel of a textbook.
    pub enum ScaleRung: scale {
        /// A call of any rung.
        pub fn call<'call, T: Scalable>(s: T, x: Global<'call, T>, y: GlobalMut<'call, T>) {
            /// One thread per element, in one block.
            one_block,
            /// A grid, whose threads go over the elements in strides of it.
            grid,
            /// 16-byte accesses, one of each vector per thread, in a grid as large as it takes.
            vectorised = vectorised::scale_vectorised<4> + unaligned::scale_unaligned<4>,
        }
    }
}

/// A number that a vector may be multiplied by, and that a kernel may be given.
pub trait Scalable: Element + KernelParam + Argument {
    /// `s·x`; integers wrap.
    fn times(s: Self, x: Self) -> Self;
}

impl<T> Scalable for T
where
    T: Element + KernelParam + Argument,
    Product: Operator<T>,
{
    #[inline(always)]
    fn times(s: Self, x: Self) -> Self {
        Product::combine(s, x)
    }
}
