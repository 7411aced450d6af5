//! Probes: kernels that measure the machine and compute nothing that anybody needs.
//!
//! | kernel | what it shows | source |
//! |---|---|---|
//! | [`global_read()`] | bandwidth of reading, by operand size, unroll factor and block | globalRead |
//! | [`global_write()`] | the same of writing | globalWrite |
//! | [`global_copy()`] | the same of copying: several loads, then as many stores | globalCopy |
//! | [`global_copy2()`] | the same with two arrays read and one written | globalCopy2 |
//! | [`global_copy_alternating()`] | what a copy loses when each store stands before the next load | |
//! | [`access_offset()`] | what a misaligned warp costs | Harris |
//! | [`access_strided()`] | what a strided warp costs | Harris |
//! | [`divergence_by_thread()`], [`divergence_by_warp()`] | what it costs that the lanes of a warp go two ways | mathKernel1, mathKernel2 |
//! | [`schedule_print()`], [`schedule_record()`] | in which order, and where, blocks and warps run | hello-world_gpu |
//!
//! Sources: N. Wilt, *The CUDA Handbook*, Addison-Wesley, 2013, chapter 5 (globalRead, globalWrite, globalCopy,
//! globalCopy2); M. Harris, "How to Access Global Memory Efficiently in CUDA C/C++ Kernels", NVIDIA, 2013; J. Cheng, M.
//! Grossman, T. McKercher, *Professional CUDA C Programming*, Wrox, 2014, chapter 3 (mathKernel1, mathKernel2); B. Tuomanen,
//! *Hands-On GPU Programming with Python and CUDA*, Packt, 2018, chapter 4 (hello-world_gpu).

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
    /// What the machine does: bandwidth by access, the cost of divergence, the order in which blocks run.
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
