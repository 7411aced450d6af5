//! Tensor cores: products of small matrices, which a warp computes together.
//!
//! [`mma`] has the fragments of matrices in a warp's registers and their products (`mma.sync`). [`matrix`] moves
//! fragments between shared memory and registers (`ldmatrix`, `stmatrix`).

mod layout;
pub mod matrix;
pub mod mma;
mod operand;
#[macro_use]
mod products;

pub use layout::{ColumnMajor, Elements, ElementsMut, Layout, RowMajor};
pub use operand::{Operand, Tile, tf32};
pub(crate) use products::for_each_product;
