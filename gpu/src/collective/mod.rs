//! Collectives: what the threads of a warp or of a block do together, and how blocks hand values to one another. What the
//! algorithms share, in CUB's words.
//!
//! | module | what it has |
//! |---|---|
//! | [`warp`] | reduce across the lanes of a warp; rows of values reduced one after the other |
//! | [`block`] | reduce across the threads of a block; what the warps before a thread's own have |
//! | [`tile`] | a tile in a block's registers: load, scan, store |
//! | [`flagged_words`] | values that a block publishes for others in global memory |
//! | [`vectors`] | vectors of 16 bytes in views that begin anywhere |
//!
//! *Items* are the elements that a thread keeps in registers; a *tile* is what a block takes at once, which is its threads
//! times the *items per thread*. The *aggregate* of a tile, or of a warp, is all of its items combined; the *prefix* is all
//! that stands before it combined.
//!
//! Every function here is called by all lanes of a warp, or by all threads of a block, unless it says otherwise. The operator
//! need not be commutative unless the function says so: what stands first is the left operand.
//!
//! Functions that depend on the elements' type and not on an operator are inlined on a GPU only. In the simulator all operators
//! share one compiled copy of each, which leaves a build a quarter less to compile.

pub mod block;
pub mod flagged_words;
pub mod tile;
pub mod vectors;
pub mod warp;

/// Lanes of a warp, as an array's length.
pub const LANES: usize = cuda_std::warp::SIZE as usize;
