//! Computes `y = s·x`, a vector times a number: the first kernel of Tuomanen's book.
//!
//! | rung | idea | limited by |
//! |---|---|---|
//! | [`scale_one_block()`] | one thread per element in a single block: at most 1024 elements | the launch |
//! | [`scale_grid()`] | many blocks and a grid-stride loop: any length | memory |
//! | [`scale_vectorised()`] | 16-byte accesses, one per thread and vector | memory |
//! | [`scale_unaligned()`] | the last rung for views that begin at any address | memory |
//!
//! Floor (the least possible time): the device reads and writes every element once, at its copy bandwidth. Integers
//! wrap.
//!
//! Sources: B. Tuomanen, "Hands-On GPU Programming with Python and CUDA", ch. 4, and its exercise 1 (a kernel with
//! several blocks). For the last rung: J. Luitjens, "Increase Performance with Vectorized Memory Access", NVIDIA, 2013.

pub mod tuning;

pub use one_block::MAX_ELEMENTS;

use cuda_std::{Argument, Element, Global, GlobalMut, KernelParam};

use crate::operator::{Operator, Product};

cuda_std::ladder! {
    /// Computes `y = s·x`: the first kernel of a textbook.
    pub enum ScaleRung: scale {
        /// Returns the kernel call of any rung.
        pub fn call<'call, T: Scalable>(s: T, x: Global<'call, T>, y: GlobalMut<'call, T>) {
            /// One thread per element, in a single block.
            one_block,
            /// A grid whose threads loop over the elements in strides of the grid.
            grid,
            /// 16-byte accesses, one per thread and vector; the grid grows with the length.
            vectorised = vectorised::scale_vectorised<4> + unaligned::scale_unaligned<4>,
        }
    }
}

/// A number type that kernels of this module take as vector elements and as arguments.
pub trait Scalable: Element + KernelParam + Argument {
    /// Returns `s·x`. Integers wrap.
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
