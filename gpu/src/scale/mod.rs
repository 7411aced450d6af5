//! `y = s·x`: a vector times a number, the first kernel of the book.
//!
//! | rung | idea | limited by |
//! |---|---|---|
//! | [`scale_one_block()`] | a thread an element, in one block: at most 1024 elements | the launch |
//! | [`scale_grid()`] | blocks side by side, whose threads go on by strides of the grid: any length | memory |
//!
//! Floor: every element is read once and written once, at the device's copy speed. Integers wrap.
//!
//! Source: B. Tuomanen, "Hands-On GPU Programming with Python and CUDA", ch. 4, and its exercise 1, which asks for more
//! than one block.

mod grid;
mod one_block;

pub use grid::scale_grid;
pub use one_block::{MOST_ELEMENTS, scale_one_block};

cuda_std::kernels! {
    /// `y = s·x`, the first kernel of a textbook.
    scale_one_block,
    scale_grid,
}
