//! The names that the bodies of the exported kernels use.
#![doc(hidden)]

pub use cuda_std::{Global, GlobalMut, bf16, f16, opaque, shared_array, thread};

pub use super::{Epilogue, Operand, Output, Problem, Sum};

/// The types of elements and sums, for aliases of the same names.
pub mod types {
    pub use core::primitive::{f32, f64, i8, i32};

    pub use cuda_std::tensor::tf32;
    pub use cuda_std::{bf16, e4m3, e5m2, f16};
}

/// The names in the body of [`matmul_combine()`](super::combine::matmul_combine()).
pub mod combine {
    pub use super::*;
    pub use crate::matmul::tuning::COMBINE;
}

/// The names in the body of [`matmul_register_blocks()`](super::register_blocks::matmul_register_blocks()).
pub mod register_blocks {
    pub use super::*;
    pub use crate::matmul::register_blocks::Along;
    pub use crate::matmul::staging::{Target, fragment, per_vector};
    pub use crate::matmul::tuning::REGISTER_BLOCKS_K as STEP;
}

/// The names in the body of [`matmul_vector()`](super::vector::matmul_vector()).
pub mod vector {
    pub use cuda_std::warp::{self, Shuffle};

    pub use super::*;
    pub use crate::matmul::staging::per_vector;
    pub use crate::matmul::tuning::{
        VECTOR_LINES as LINES, VECTOR_MIN_ALONG as MIN_ALONG, VECTOR_STEPS as STEPS, VECTOR_THREADS as THREADS,
    };
    pub use crate::matmul::vector::{multiply, widened, words};
}
