//! Tensor cores: products of small matrices, which a warp computes together.
//!
//! [`mma`] has the fragments of matrices in a warp's registers and their products (`mma.sync`). [`matrix`] moves
//! fragments between shared memory and registers (`ldmatrix`, `stmatrix`). [`wgmma`] has the products of a warpgroup,
//! whose factors are [`SharedTile`]s.

mod layout;
pub mod matrix;
pub mod mma;
mod operand;
#[macro_use]
mod products;
mod registers;
mod shared_tile;
pub mod wgmma;

pub use layout::{ColumnMajor, Elements, ElementsMut, Layout, RowMajor};
#[allow(unused_imports, reason = "GPUs from sm_80 on have an instruction")]
pub(crate) use operand::round_to_tf32;
pub use operand::{Operand, Tile, tf32};
pub(crate) use products::{for_each_product, for_each_wgmma};
pub use shared_tile::{
    Factor, PanelLayout, Plain16, RowMajorPart, SharedTile, Swizzle32, Swizzle64, Swizzle128, TransposedPart,
};
