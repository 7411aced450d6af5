//! Probes: kernels that measure properties of a device, such as its bandwidth. The values that they compute have no
//! other use.
//!
//! | kernel | measures | source |
//! |---|---|---|
//! | [`global_read()`] | bandwidth of reads, by operand size, unroll factor and block size | globalRead |
//! | [`global_write()`] | bandwidth of writes | globalWrite |
//! | [`global_copy()`] | bandwidth of a copy: several loads, then as many stores | globalCopy |
//! | [`global_copy2()`] | bandwidth with two arrays read and one written | globalCopy2 |
//! | [`global_copy_alternating()`] | the loss of a copy if each store precedes the next load | |
//! | [`access_offset()`] | the cost of misaligned accesses of a warp | Harris |
//! | [`access_strided()`] | the cost of strided accesses of a warp | Harris |
//! | [`divergence_by_thread()`], [`divergence_by_warp()`] | the cost of a divergent branch | mathKernel1, mathKernel2 |
//! | [`schedule_print()`], [`schedule_record()`] | the order and the multiprocessors in which blocks and warps run | hello-world_gpu |
//!
//! Sources: N. Wilt, *The CUDA Handbook*, Addison-Wesley, 2013, chapter 5 (globalRead, globalWrite, globalCopy,
//! globalCopy2); M. Harris, "How to Access Global Memory Efficiently in CUDA C/C++ Kernels", NVIDIA, 2013; J. Cheng, M.
//! Grossman, T. McKercher, *Professional CUDA C Programming*, Wrox, 2014, chapter 3 (mathKernel1, mathKernel2); B.
//! Tuomanen, *Hands-On GPU Programming with Python and CUDA*, Packt, 2018, chapter 4 (hello-world_gpu).

#![allow(clippy::needless_range_loop, reason = "an iterator over an array can put it in local memory")]

mod copy;
mod copy2;
mod copy_alternating;
mod divergence;
mod groups;
mod offset;
mod operand;
mod read;
mod schedule;
mod strided;
mod write;

pub use copy::global_copy;
pub use copy_alternating::global_copy_alternating;
pub use copy2::global_copy2;
pub use divergence::{Path, by_thread, by_warp, divergence_by_thread, divergence_by_warp};
pub use offset::access_offset;
pub use operand::{Operand, U32x4};
pub use read::global_read;
pub use schedule::{RECORD, schedule_print, schedule_record};
pub use strided::access_strided;
pub use write::global_write;

cuda_std::kernels! {
    /// Kernels that measure a device: bandwidth by kind of access, the cost of divergence, the order of the blocks.
    global_read,
    global_write,
    global_copy,
    global_copy2,
    global_copy_alternating,
    access_offset,
    access_strided,
    divergence_by_thread,
    divergence_by_warp,
    schedule_print,
    schedule_record,
}
