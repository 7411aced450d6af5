//! The simulator's side: every function hands over to [`simt`], with the caller's source line.
//!
//! A function that [`simt`] has under the same name with the same meaning is re-exported.

extern crate std;

use core::ops::{BitAnd, BitOr};

use simt::{memory, shared, thread, warp};

use crate::Element;
use crate::atomic::{Atomic, AtomicInteger, IntegerOperation, Place};

mod call;
mod copies;
mod double;
mod ladder;
mod macros;
pub mod single;

/// Every access is checked, the unchecked ones too.
pub const CHECKS_EVERY_ACCESS: bool = true;

/// What the host sees of this crate beyond what kernels see.
pub mod host_face {
    pub use super::call::{Call, DeviceId, Kernel};
    pub use super::ladder::{Ladder, Rung, RungKernel, UnknownRung};
    pub use simt::{Dim3, KernelInfo, LaunchConfig, Region};
}

pub use call::{DeviceId as Owner, Regions};
pub use copies::Copies;
pub use double::*;

/// What the crate's macros expand to.
pub mod macro_support {
    pub use super::call::{Arguments, Instance, concatenate, total_len};
    pub use super::ladder::find_rung;
    pub use simt::Threads;
    pub use simt::shared::{Site, allocate_array};
    pub use simt::thread::{branch, print as print_formatted};

    pub use crate::{
        __kernel as kernel, __kernel_list as kernel_list, __println as println, __shared_array as shared_array,
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

pub use simt::memory::fence;
pub use simt::thread::{branch, lane_id, sync_threads, sync_threads_count};
pub use simt::warp::{ballot, sync as sync_warp};

/// Only kernels of the PTX side take their parameters apart.
pub fn kernel_owner() -> Owner {
    Owner::NONE
}

#[inline(always)]
#[track_caller]
pub fn shuffle_idx(mask: u32, value: u32, source: u32) -> u32 {
    // A lane that does not take part has no value: an arbitrary one makes the mistake visible.
    warp::exchange(mask, value.into(), source).unwrap_or(0xDEAD_BEEF) as u32
}

#[inline(always)]
#[track_caller]
fn shuffle_from(mask: u32, value: u32, source: Option<u32>) -> u32 {
    shuffle_idx(mask, value, source.filter(|&lane| lane < crate::warp::SIZE).unwrap_or(thread::lane_id()))
}

/// On a GPU only the lower five bits of a delta count.
#[inline(always)]
#[track_caller]
fn check_delta(delta: u32) {
    assert!(delta < crate::warp::SIZE, "a shuffle's delta is {delta}, and must be below 32");
}

#[inline(always)]
#[track_caller]
pub fn shuffle_up(mask: u32, value: u32, delta: u32) -> u32 {
    check_delta(delta);
    shuffle_from(mask, value, thread::lane_id().checked_sub(delta))
}

#[inline(always)]
#[track_caller]
pub fn shuffle_down(mask: u32, value: u32, delta: u32) -> u32 {
    check_delta(delta);
    shuffle_from(mask, value, thread::lane_id().checked_add(delta))
}

#[inline(always)]
#[track_caller]
pub fn shuffle_xor(mask: u32, value: u32, lanes: u32) -> u32 {
    shuffle_from(mask, value, Some(thread::lane_id() ^ lanes))
}

#[inline(always)]
#[track_caller]
pub fn any(mask: u32, predicate: bool) -> bool {
    ballot(mask, predicate) != 0
}

#[inline(always)]
#[track_caller]
pub fn all(mask: u32, predicate: bool) -> bool {
    ballot(mask, !predicate) == 0
}

#[inline(always)]
pub fn multiply_wide(a: u32, b: u32) -> u64 {
    u64::from(a) * u64::from(b)
}

pub fn fma_f32(x: f32, a: f32, b: f32) -> f32 {
    x.mul_add(a, b)
}

pub fn fma_f64(x: f64, a: f64, b: f64) -> f64 {
    x.mul_add(a, b)
}

macro_rules! extremes {
    ($($name:ident $type:ident $inherent:ident $zero:ident;)*) => {$(
        #[inline]
        pub fn $name(a: $type, b: $type) -> $type {
            // Rust leaves open which zero is the less.
            if a == 0.0 && b == 0.0 {
                $type::from_bits(a.to_bits().$zero(b.to_bits()))
            } else {
                a.$inherent(b)
            }
        }
    )*};
}

extremes! {
    minimum_number_f32 f32 min bitor;
    maximum_number_f32 f32 max bitand;
    minimum_number_f64 f64 min bitor;
    maximum_number_f64 f64 max bitand;
}

/// The simulator is one multiprocessor, whose warps stand in the places of their numbers in the block.
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

pub fn sqrt_f32(x: f32) -> f32 {
    x.sqrt()
}

pub fn sqrt_f64(x: f64) -> f64 {
    x.sqrt()
}

#[cold]
#[track_caller]
pub fn out_of_bounds_global(view: usize, index: usize, len: usize) -> ! {
    if !thread::is_simulated() {
        assert!(index < len, "index {index} is out of bounds of a device view of length {len}");
        panic!(
            "element {index} of a device view of length {len} was accessed on the host: download the buffer instead"
        );
    }
    memory::out_of_bounds(view, index, len)
}

pub use simt::shared::out_of_bounds as out_of_bounds_shared;

/// [`simt::memory`] checks the alignment of every access itself.
#[inline(always)]
pub fn check_vec_alignment(_address: usize, _bytes: usize) {}

/// The block's dynamic shared memory: its address and size in bytes.
#[inline(always)]
pub fn dynamic_shared() -> (u32, u32) {
    shared::dynamic()
}

/// # Safety
/// None here: the simulator checks the address.
#[inline(always)]
#[track_caller]
pub unsafe fn shared_load<T: Element>(address: u32) -> T {
    shared::load(address)
}

/// # Safety
/// None here: the simulator checks the address.
#[inline(always)]
#[track_caller]
pub unsafe fn shared_store<T: Element>(address: u32, value: T) {
    shared::store(address, value);
}

/// # Safety
/// `pointer` must be valid for an access of `T`.
#[inline(always)]
#[track_caller]
pub unsafe fn global_load<T: Element>(pointer: *const T) -> T {
    // SAFETY: the caller's.
    unsafe { memory::load(pointer) }
}

pub use global_load as global_load_readonly;
pub use global_load as global_load_streaming;

#[inline(always)]
pub fn opaque<T: Element>(value: T) -> T {
    value
}

/// There is no cache.
///
/// # Safety
/// None is needed here; on a GPU, `pointer` must be valid for an access of `T`.
#[inline(always)]
pub unsafe fn global_prefetch<T: Element>(_pointer: *const T) {}

/// # Safety
/// `pointer` must be valid for an access of `T`.
#[inline(always)]
#[track_caller]
pub unsafe fn global_store<T: Element>(pointer: *mut T, value: T) {
    // SAFETY: the caller's.
    unsafe { memory::store(pointer, value) }
}

pub use global_store as global_store_streaming;

/// # Safety
/// `pointer` must be valid for an access of `[T; N]`.
#[inline(always)]
#[track_caller]
pub unsafe fn global_load_vec<T: Element, const N: usize>(pointer: *const T) -> [T; N] {
    const { assert!(matches!(size_of::<[T; N]>(), 1 | 2 | 4 | 8 | 16), "a vector has 1, 2, 4, 8 or 16 bytes") };
    macro_rules! load {
        ($word:ty) => {{
            // SAFETY: the caller's; the word has the vector's size.
            let word: $word = unsafe { memory::load(pointer.cast()) };
            bytemuck::pod_read_unaligned(bytemuck::bytes_of(&word))
        }};
    }
    match size_of::<[T; N]>() {
        1 => load!(u8),
        2 => load!(u16),
        4 => load!(u32),
        8 => load!(u64),
        _ => load!(u128),
    }
}

/// # Safety
/// `pointer` must be valid for an access of `[T; N]`.
#[inline(always)]
#[track_caller]
pub unsafe fn global_store_vec<T: Element, const N: usize>(pointer: *mut T, values: [T; N]) {
    const { assert!(matches!(size_of::<[T; N]>(), 1 | 2 | 4 | 8 | 16), "a vector has 1, 2, 4, 8 or 16 bytes") };
    macro_rules! store {
        ($word:ty) => {{
            let word: $word = bytemuck::pod_read_unaligned(bytemuck::bytes_of(&values));
            // SAFETY: the caller's; the word has the vector's size.
            unsafe { memory::store(pointer.cast(), word) }
        }};
    }
    match size_of::<[T; N]>() {
        1 => store!(u8),
        2 => store!(u16),
        4 => store!(u32),
        8 => store!(u64),
        _ => store!(u128),
    }
}

/// # Safety
/// A global place must be valid for an access of `T`.
#[inline(always)]
#[track_caller]
unsafe fn update<T: Element>(place: Place<T>, new: impl Fn(T) -> T) -> T {
    match place {
        // SAFETY: the caller's.
        Place::Global(pointer) => unsafe { memory::update(pointer, new) },
        Place::Shared(address) => shared::update(address, new),
    }
}

/// # Safety
/// A global place must be valid for an access of `T`.
#[inline(always)]
#[track_caller]
pub unsafe fn atomic_add<T: Atomic>(place: Place<T>, value: T) -> T {
    // SAFETY: the caller's.
    unsafe { update(place, |old| old.add(value)) }
}

/// # Safety
/// A global place must be valid for an access of `T`.
#[inline(always)]
#[track_caller]
pub unsafe fn atomic_exchange<T: Atomic>(place: Place<T>, value: T) -> T {
    // SAFETY: the caller's.
    unsafe { update(place, |_| value) }
}

/// # Safety
/// A global place must be valid for an access of `T`.
#[inline(always)]
#[track_caller]
pub unsafe fn atomic_compare_exchange<T: Atomic>(place: Place<T>, expected: T, new: T) -> T {
    let same = |old: &T| bytemuck::bytes_of(old) == bytemuck::bytes_of(&expected);
    // SAFETY: the caller's.
    unsafe { update(place, |old| if same(&old) { new } else { old }) }
}

/// # Safety
/// A global place must be valid for an access of `T`.
#[inline(always)]
#[track_caller]
pub unsafe fn atomic_integer<T: AtomicInteger>(operation: IntegerOperation, place: Place<T>, value: T) -> T {
    let apply = |old: T| match operation {
        IntegerOperation::Min => old.min(value),
        IntegerOperation::Max => old.max(value),
        IntegerOperation::And => T::from_bits(old.bits() & value.bits()),
        IntegerOperation::Or => T::from_bits(old.bits() | value.bits()),
        IntegerOperation::Xor => T::from_bits(old.bits() ^ value.bits()),
    };
    // SAFETY: the caller's.
    let old = unsafe { update(place, apply) };
    // Nobody waits by these: a minimum or a bit map that most threads leave as it is is no lack of progress.
    if operation != IntegerOperation::Xor && thread::is_simulated() {
        thread::note_work();
    }
    old
}

/// # Safety
/// A global place must be valid for an access of `T`.
#[inline(always)]
#[track_caller]
pub unsafe fn atomic_load<T: Atomic>(place: Place<T>, acquire: bool) -> T {
    match place {
        // SAFETY: the caller's.
        Place::Global(pointer) if acquire => unsafe { memory::load_acquire(pointer) },
        // SAFETY: the caller's.
        Place::Global(pointer) => unsafe { memory::load_relaxed(pointer) },
        Place::Shared(address) if acquire => shared::load_acquire(address),
        Place::Shared(address) => shared::load_relaxed(address),
    }
}

/// # Safety
/// A global place must be valid for an access of `T`.
#[inline(always)]
#[track_caller]
pub unsafe fn atomic_store<T: Atomic>(place: Place<T>, value: T, release: bool) {
    match place {
        // SAFETY: the caller's.
        Place::Global(pointer) if release => unsafe { memory::store_release(pointer, value) },
        // SAFETY: the caller's.
        Place::Global(pointer) => unsafe { memory::store_relaxed(pointer, value) },
        Place::Shared(address) if release => shared::store_release(address, value),
        Place::Shared(address) => shared::store_relaxed(address, value),
    }
}
