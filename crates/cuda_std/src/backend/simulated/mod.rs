//! The simulator back end: every function calls [`simt`] with the caller's source line.
//!
//! Functions that [`simt`] has under the same name are re-exported.

extern crate std;

use simt::thread;

use crate::Element;

mod atomics;
mod barriers;
mod bits;
mod bulk;
mod call;
mod cluster;
mod cluster_atomics;
mod copies;
mod half;
mod ladder;
mod macros;
mod matrix;
mod memory;
mod mma;
mod narrow_atomics;
pub mod observed;
mod part;
mod statics;
mod warp;
mod wgmma;

/// True: the simulator checks every access, including those of unchecked methods.
pub const CHECKS_EVERY_ACCESS: bool = true;

/// Items that exist only on the host.
pub mod host_face {
    pub use super::bulk::MapHandle;
    pub use super::call::{Call, DeviceId, Kernel};
    pub use super::ladder::{Ladder, Rung, RungKernel, UnknownRung};
    pub use super::part::PartOutOfRange;
    pub use simt::{ArgumentId, DeviceStatic, Dim3, GenericArgument, KernelInfo, LaunchConfig, Region};
}

pub use crate::fp8::software::*;
pub use atomics::*;
pub use barriers::*;
pub use bits::*;
pub use bulk::*;
pub use call::{DeviceId as Owner, Regions};
pub use cluster::*;
pub use cluster_atomics::*;
pub use copies::Copies;
pub use half::*;
pub use matrix::{ldmatrix, stmatrix};
pub use memory::*;
pub(crate) use mma::{require_products, round_to_tf32};
pub use narrow_atomics::*;
pub use part::part_out_of_range;
pub use simt::raw::exposing;
pub use statics::*;
pub use warp::*;
pub use wgmma::*;

/// Items used in the expansions of the crate's macros.
pub mod macro_support {
    pub use super::call::{Arguments, ExportedInstances, Instance, concatenate, total_len};
    pub use super::ladder::find_rung;
    pub use super::observed;
    pub use super::observed::LoopStep;
    pub use super::statics::StaticPlace;
    pub use simt::shared::{Site, allocate_instance, pointer as shared_pointer};
    pub use simt::thread::{begin_unused, branch, end_unused, print as print_formatted};
    pub use simt::{DeviceStatic, LoopCount, Step, StepGuard, Threads};

    pub use crate::{
        __assertion as assertion, __constant as constant, __global_static as global_static, __kernel as kernel,
        __kernel_list as kernel_list, __println as println, __shared_array as shared_array,
    };
}

macro_rules! indices {
    ($($name:ident $of:ident $axis:ident;)*) => {
        $(#[inline(always)] pub fn $name() -> u32 { thread::$of().$axis })*
    };
}

indices! {
    thread_idx_x thread_idx x;
    thread_idx_y thread_idx y;
    thread_idx_z thread_idx z;
    block_idx_x block_idx x;
    block_idx_y block_idx y;
    block_idx_z block_idx z;
    block_dim_x block_dim x;
    block_dim_y block_dim y;
    block_dim_z block_dim z;
    grid_dim_x grid_dim x;
    grid_dim_y grid_dim y;
    grid_dim_z grid_dim z;
}

pub use simt::thread::{branch, lane_id, sync_threads, sync_threads_count};

#[inline(always)]
#[track_caller]
pub fn sync_threads_and(predicate: bool) -> bool {
    sync_threads_count(!predicate) == 0
}

#[inline(always)]
#[track_caller]
pub fn sync_threads_or(predicate: bool) -> bool {
    sync_threads_count(predicate) != 0
}

/// Lets other threads run, because the calling thread may wait for them.
#[inline(always)]
#[track_caller]
pub fn nanosleep(_nanos: u32) {
    thread::poll();
}

/// Returns no owner. The simulator never calls this function: only PTX entries assemble views from their parts.
pub fn kernel_owner() -> Owner {
    Owner::NONE
}

#[inline(always)]
pub fn multiply_wide(a: u32, b: u32) -> u64 {
    u64::from(a) * u64::from(b)
}

/// Returns 0, because the simulator has one multiprocessor.
pub fn multiprocessor_id() -> u32 {
    0
}

pub fn warp_slot() -> u32 {
    crate::warp::warp_id()
}

pub fn global_timer() -> u64 {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed().as_nanos() as u64
}

pub fn clock() -> u64 {
    global_timer()
}

#[inline(always)]
pub fn opaque<T: Element>(value: T) -> T {
    value
}
