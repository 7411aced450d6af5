//! Collectives: operations of all threads of a warp or block together, and values exchanged between blocks. Several
//! algorithms share them. Kernels of other crates may use them too (`docs/collectives.md`). The terms are CUB's.
//!
//! | module | contents |
//! |---|---|
//! | [`warp`] | reduction, scans and broadcast across the lanes of a warp; reduction of several rows of values |
//! | [`block`] | reduction, scans and broadcast across the threads of a block; the prefix of a warp in its block |
//! | [`arrangement`] | a tile in the registers of a block: load and store in a blocked or striped arrangement |
//! | [`tile`] | a tile in the registers of a block: load, scan, store |
//! | [`compaction`] | the chosen items of a warp's rows, stored one after the other |
//! | [`ranks`] | the positions of a tile's items in the order of a digit of their keys |
//! | [`flagged_words`] | values that a block publishes for others in global memory |
//! | [`vectors`] | 16-byte vectors in views that begin at any address |
//! | [`words`] | the 32-bit words of an element of up to 64 bytes, and their shuffles |
//!
//! *Items* are the elements that a thread keeps in registers. A *tile* consists of the elements that a block processes
//! at once. Its length is the number of threads times the *items per thread*. The *aggregate* of a tile or warp is the
//! combination of all its items. The *prefix* is the combination of all items before it.
//!
//! All lanes of a warp, or all threads of a block, must call each function here, unless its documentation says
//! otherwise. The earlier element is always the left operand. The operator therefore need not be commutative unless the
//! documentation of a function says so.
//!
//! Functions that depend on the element type but not on an operator are inlined only in GPU code. In the simulator, all
//! operators share one compiled copy of each such function. This reduces compile time.

pub mod arrangement;
pub mod block;
pub mod compaction;
pub mod flagged_words;
pub mod ranks;
pub mod tile;
pub mod vectors;
pub mod warp;
pub mod words;

/// The number of lanes in a warp, as an array length.
pub const LANES: usize = cuda_std::warp::SIZE as usize;
