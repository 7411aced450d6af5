//! The GPU back end: PTX instructions through `core::arch::nvptx`, LLVM's intrinsics and `asm!`.
//!
//! Barriers and warp operations are LLVM intrinsics and not `asm!`. LLVM knows that the intrinsics are convergent, so
//! it neither duplicates them nor moves them into a branch. Shared memory uses `asm!` with 32-bit addresses, because a
//! Rust pointer to shared memory would be a generic pointer.

use core::arch::{asm, nvptx};
use core::ffi::c_void;

use crate::print::{Format, Pieces, PrintArguments};

#[macro_use]
mod macros;

mod atomics;
mod barriers;
mod bits;
mod bulk;
mod cluster;
mod cluster_atomics;
mod copies;
mod fp8;
mod half;
#[allow(unexpected_cfgs, reason = "`cuda_builder` sets the condition")]
mod heap;
mod matrix;
mod memory;
mod missing;
mod mma;
mod narrow_atomics;
mod statics;
mod warp;
mod wgmma;
mod wide_atomics;

pub use atomics::*;
pub use barriers::*;
pub use bits::*;
pub use bulk::*;
pub use cluster::*;
pub use cluster_atomics::*;
pub use copies::Copies;
pub use fp8::*;
pub use half::*;
pub use heap::DeviceHeap;
pub use matrix::{ldmatrix, stmatrix};
pub use memory::*;
pub(crate) use mma::{require_products, round_to_tf32};
pub use narrow_atomics::*;
pub use statics::*;
pub use warp::*;
pub use wgmma::*;

/// False: a GPU checks only the accesses of safe methods.
pub const CHECKS_EVERY_ACCESS: bool = false;

/// Empty: a GPU has no host items.
pub mod host_face {}

/// Items used in the expansions of the crate's macros.
pub mod macro_support {
    pub use super::bulk::MapHandle;
    pub use super::memory::shared_pointer;
    pub use super::statics::{StaticPlace, StaticValue};
    pub use super::{compiler_fence, fail_with, instance, print};
    pub use crate::print::{NotShown, Piece, Pieces, Shown};
    pub use crate::{
        __assertion as assertion, __constant as constant, __fail as fail, __global_static as global_static,
        __kernel as kernel, __kernel_list as kernel_list, __parameter_address as parameter_address,
        __println as println, __shared_array as shared_array,
    };
}

/// The owner of a view's memory. The type is empty in code for the GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner;

impl Owner {
    #[inline(always)]
    pub(crate) const fn bound(self, len: usize) -> usize {
        len
    }
}

/// Does nothing on a GPU. The crate calls this function before a kernel obtains a pointer to global memory.
#[inline(always)]
pub(crate) fn exposing() {}

/// The memory regions of a call's parameters. The type is empty in code for the GPU.
#[derive(Clone, Debug)]
pub struct Regions;

impl Regions {
    pub(crate) const fn new() -> Self {
        Self
    }

    pub(crate) fn push(
        &mut self,
        _name: &'static str,
        _start: usize,
        _bytes: usize,
        _element: usize,
        _is_writable: bool,
    ) {
    }
}

/// Returns the owner of the views passed to a kernel.
#[inline(always)]
pub fn kernel_owner() -> Owner {
    Owner
}

macro_rules! indices {
    ($($name:ident $intrinsic:ident;)*) => {
        $(
            #[inline(always)]
            pub fn $name() -> u32 {
                // SAFETY: the instruction only reads a special register.
                unsafe { nvptx::$intrinsic() as u32 }
            }
        )*
    };
}

indices! {
    thread_idx_x _thread_idx_x;
    thread_idx_y _thread_idx_y;
    thread_idx_z _thread_idx_z;
    block_idx_x _block_idx_x;
    block_idx_y _block_idx_y;
    block_idx_z _block_idx_z;
    block_dim_x _block_dim_x;
    block_dim_y _block_dim_y;
    block_dim_z _block_dim_z;
    grid_dim_x _grid_dim_x;
    grid_dim_y _grid_dim_y;
    grid_dim_z _grid_dim_z;
}

unsafe extern "C" {
    #[link_name = "llvm.nvvm.read.ptx.sreg.laneid"]
    fn laneid() -> u32;
    #[link_name = "llvm.nvvm.barrier0.popc"]
    fn barrier_popc(predicate: u32) -> u32;
    #[link_name = "llvm.nvvm.barrier0.and"]
    fn barrier_and(predicate: u32) -> u32;
    #[link_name = "llvm.nvvm.barrier0.or"]
    fn barrier_or(predicate: u32) -> u32;
    #[link_name = "llvm.nvvm.nanosleep"]
    fn llvm_nanosleep(nanos: u32);
}

#[inline(always)]
pub fn lane_id() -> u32 {
    // SAFETY: the instruction only reads a special register.
    unsafe { laneid() }
}

#[inline(always)]
pub fn sync_threads() {
    // SAFETY: a barrier accesses no memory of the program. If not all threads reach it, the kernel hangs or ends with
    // an error.
    unsafe { nvptx::_syncthreads() }
}

#[inline(always)]
pub fn sync_threads_count(predicate: bool) -> u32 {
    // SAFETY: a barrier accesses no memory of the program.
    unsafe { barrier_popc(predicate as u32) }
}

#[inline(always)]
pub fn sync_threads_and(predicate: bool) -> bool {
    // SAFETY: a barrier accesses no memory of the program.
    unsafe { barrier_and(predicate as u32) != 0 }
}

#[inline(always)]
pub fn sync_threads_or(predicate: bool) -> bool {
    // SAFETY: a barrier accesses no memory of the program.
    unsafe { barrier_or(predicate as u32) != 0 }
}

#[inline(always)]
pub fn nanosleep(nanos: u32) {
    // SAFETY: the instruction only waits.
    unsafe { llvm_nanosleep(nanos) }
}

/// Defines functions that each call one intrinsic.
macro_rules! intrinsics {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty = $intrinsic:ident($($passed:expr),*);)*) => {
        $(
            #[inline(always)]
            pub fn $name($($argument: $type),*) -> $result {
                // SAFETY: the intrinsic accesses no memory. A mask without the caller returns an unspecified value.
                unsafe { $intrinsic($($passed),*) }
            }
        )*
    };
}

use intrinsics;

#[inline(always)]
pub fn multiply_wide(a: u32, b: u32) -> u64 {
    let product;
    // SAFETY: the instruction only computes on registers.
    unsafe {
        asm!("mul.wide.u32 {}, {}, {};", out(reg64) product, in(reg32) a, in(reg32) b,
            options(pure, nomem, nostack, preserves_flags));
    }
    product
}

macro_rules! special_registers {
    ($($name:ident $type:ident $class:ident $instruction:literal;)*) => {$(
        #[inline(always)]
        pub fn $name() -> $type {
            let value;
            // SAFETY: the instruction only reads a special register. It is not `pure`, because each call must read the
            // register anew.
            unsafe { asm!($instruction, out($class) value, options(nostack, preserves_flags)) };
            value
        }
    )*};
}

special_registers! {
    multiprocessor_id u32 reg32 "mov.u32 {}, %smid;";
    warp_slot u32 reg32 "mov.u32 {}, %warpid;";
    global_timer u64 reg64 "mov.u64 {}, %globaltimer;";
    clock u64 reg64 "mov.u64 {}, %clock64;";
}

/// Returns a number that identifies the instance of the generic function that contains the closure. The name of the
/// closure's type contains the function's generic arguments.
pub const fn instance<F>(_closure: &F) -> u64 {
    let name = core::any::type_name::<F>().as_bytes();
    // FNV-1a.
    let (mut hash, mut index) = (0xcbf2_9ce4_8422_2325_u64, 0);
    while index < name.len() {
        hash = (hash ^ name[index] as u64).wrapping_mul(0x0000_0100_0000_01b3);
        index += 1;
    }
    hash
}

/// Keeps the compiler from moving accesses across the call, like `core`'s function of this name. LLVM's back end for
/// GPUs cannot compile `core`'s function.
#[inline(always)]
pub fn compiler_fence(_order: core::sync::atomic::Ordering) {
    // SAFETY: executes nothing.
    unsafe { asm!("", options(nostack, preserves_flags)) };
}

/// Returns `is_taken`. Only the simulator counts branches.
#[inline(always)]
pub fn branch(is_taken: bool) -> bool {
    is_taken
}

/// Ends the kernel with an error. The host sees the error at its next call of the driver.
#[cold]
#[inline(always)]
fn trap() -> ! {
    // SAFETY: `trap` does not return.
    unsafe { asm!("trap;", options(noreturn, nostack)) }
}

#[inline(always)]
pub fn out_of_bounds_global(_view: usize, _index: usize, _len: usize) -> ! {
    trap()
}

#[inline(always)]
pub fn part_out_of_range(_view: usize, _part: [usize; 2], _view_len: usize) -> Owner {
    trap()
}

#[inline(always)]
pub fn out_of_bounds_shared(_view: u32, _index: usize, _len: usize) -> ! {
    trap()
}

/// Passes a message to the driver, which prints it when the host next synchronises. [`println!`](crate::println) calls
/// this function.
#[inline(always)]
pub fn print<P: Pieces, A: PrintArguments>(_pieces: P, arguments: A) {
    arguments.with_words(|words| {
        // SAFETY: the format ends with a zero and has a placeholder of 8 bytes for each word.
        unsafe { nvptx::vprintf(Format::<P, A>::TEXT.as_ptr(), words.as_ptr().cast::<c_void>()) };
    });
}

/// Prints a message and ends the kernel with an error.
#[cold]
#[inline(never)]
pub fn fail_with<P: Pieces, A: PrintArguments>(pieces: P, arguments: A) -> ! {
    print(pieces, arguments);
    trap()
}

/// Handles a panic: ends the kernel with an error. In PTX a panic is a trap without a message; the simulator runs the
/// same source and reports the message.
#[panic_handler]
fn panic(_info: &core::panic::PanicInfo<'_>) -> ! {
    trap()
}
