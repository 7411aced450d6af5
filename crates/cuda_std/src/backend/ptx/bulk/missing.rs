//! The functions for GPUs without the instructions. They end the kernel with an error, except for those that need no
//! instruction.

use super::super::{ballot, lane_id};
use super::MapHandle;
use crate::bulk::{BulkNumber, Reduction};

pub use super::super::barriers::{
    barrier_is_over as barrier_try_wait, barrier_parity_is_over as barrier_try_wait_parity,
};

/// Prints that the GPU lacks the instructions, and ends the kernel with an error.
#[cold]
#[inline(never)]
fn fail() -> ! {
    fallback!("bulk" 90 missing);
    crate::__fail! {
        { Text("bulk copies need a GPU of compute capability 9.0 and PTX for sm_90"), } {}
    }
}

#[inline(always)]
pub fn elect_one() -> bool {
    ballot(crate::warp::FULL_MASK, true).trailing_zeros() == lane_id()
}

/// Does nothing: a barrier of the block makes the initialisation known.
#[inline(always)]
pub fn fence_barrier_init() {}

/// Does nothing: there are no asynchronous operations with a proxy of their own.
#[inline(always)]
pub fn fence_proxy_async() {}

/// Does nothing, like [`fence_proxy_async`].
#[inline(always)]
pub fn fence_proxy_async_shared() {}

macro_rules! missing {
    ($($name:ident($($type:ty),*) $(-> $result:ty)?;)*) => {$(
        #[inline(always)]
        pub fn $name($(_: $type),*) $(-> $result)? {
            fail()
        }
    )*};
}

missing! {
    barrier_expect(u32, u32);
    barrier_arrive_and_expect(u32, u32) -> u64;
    barrier_arrive_at(u32, u32);
    bulk_commit();
    map_prefetch_map(MapHandle);
}

macro_rules! missing_unsafe {
    ($($name:ident$(<$($parameter:ident: $bound:path),*>)?($($type:ty),*);)*) => {$(
        /// # Safety
        /// There is no condition, because the function ends the kernel.
        #[inline(always)]
        pub unsafe fn $name$(<$($parameter: $bound),*>)?($(_: $type),*) {
            fail()
        }
    )*};
}

missing_unsafe! {
    bulk_load(*const u8, u32, u32, u32, Option<u16>);
    bulk_send(u32, u32, u32, u32, u32);
    bulk_store(u32, *mut u8, u32);
    bulk_prefetch(*const u8, u32);
    bulk_reduce<T: BulkNumber, R: Reduction<T>>(u32, *mut T, u32);
}

#[inline(always)]
pub fn bulk_wait<const PENDING: usize>() {
    fail()
}

#[inline(always)]
pub fn bulk_wait_read<const PENDING: usize>() {
    fail()
}

macro_rules! missing_maps {
    ($($name:ident($($type:ty),*);)*) => {$(
        /// # Safety
        /// There is no condition, because the function ends the kernel.
        #[inline(always)]
        pub unsafe fn $name<const D: usize>(_: MapHandle, _: [i32; D] $(, _: $type)*) {
            fail()
        }
    )*};
}

missing_maps! {
    map_load(u32, usize, u32, Option<u16>);
    map_store(u32, usize);
    map_prefetch();
}

/// # Safety
/// There is no condition, because the function ends the kernel.
#[inline(always)]
pub unsafe fn map_reduce<T: BulkNumber, R: Reduction<T>, const D: usize>(_: MapHandle, _: [i32; D], _: u32, _: usize) {
    fail()
}
