//! Simulated global memory: its allocations, and the functions by which a kernel accesses it.
//!
//! Values have 1, 2, 4, 8 or 16 bytes and are aligned to their size. Other sizes do not compile, and a misaligned
//! access is a fault. No access is a data race in Rust's sense, because all accesses are atomic on the host. An access
//! of 16 bytes is two atomic accesses of 8 bytes; a lock makes the two one operation if the access is atomic. Outside
//! of a kernel the functions also work, but panic where a kernel would fault.

use std::panic::Location;
use std::sync::atomic::{self, AtomicU16, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytemuck::Pod;

pub use crate::allocation::{Allocation, OutOfMemory, capacity, used};
use crate::current::{current, expect_current};
use crate::faults::FaultKind;
pub use crate::free_memory::available;
use crate::observe::{observe, takes_value, value_read};
use crate::ordered::{load_ordered, store_ordered};
use crate::region::{self, ArrayPosition, Space};
pub use crate::scope::Scope;
use crate::source::Line;
use crate::statics::DeviceStatic;
use crate::synchronisations::SyncKind;
use crate::watch::{Access, MemoryOrder, Touch, has_weak_memory, is_watching};

/// Loads the value at `ptr`.
///
/// # Safety
/// `ptr` must point to a `T` in a live allocation. While other threads write this memory, all of them must access it
/// through this module. `ptr` need not be aligned, because this function checks its alignment.
#[inline(always)]
#[track_caller]
pub unsafe fn load<T: Pod>(ptr: *const T) -> T {
    // SAFETY: the caller guarantees what `load_at` requires.
    unsafe { load_at(ptr, Location::caller()) }
}

/// Loads the value at `ptr` like [`load`]. Faults name `at` as the source line of the access.
///
/// # Safety
/// The caller must meet the conditions of [`load`].
#[inline(always)]
pub unsafe fn load_at<T: Pod>(ptr: *const T, at: &'static Location<'static>) -> T {
    check::<T>(ptr, at);
    notify::<T>(ptr, Access::Load, at);
    // SAFETY: the caller guarantees the memory, and `check` has checked the alignment.
    unsafe { load_ordered(ptr, Ordering::Relaxed) }
}

/// Loads the value at `ptr` like [`load_at`], and assumes that no thread writes it during the launch. In a checked
/// launch such a write is a fault.
///
/// # Safety
/// The caller must meet the conditions of [`load`].
#[inline(always)]
pub unsafe fn load_read_only_at<T: Pod>(ptr: *const T, at: &'static Location<'static>) -> T {
    check::<T>(ptr, at);
    notify::<T>(ptr, Access::ReadOnlyLoad, at);
    // SAFETY: the caller guarantees the memory, and `check` has checked the alignment.
    unsafe { load_ordered(ptr, Ordering::Relaxed) }
}

/// Stores `value` at `ptr`.
///
/// # Safety
/// The caller must meet the conditions of [`load`], and the memory must be writable.
#[inline(always)]
#[track_caller]
pub unsafe fn store<T: Pod>(ptr: *mut T, value: T) {
    // SAFETY: the caller guarantees what `store_at` requires.
    unsafe { store_at(ptr, value, Location::caller()) }
}

/// Stores `value` at `ptr` like [`store`]. Faults name `at` as the source line of the access.
///
/// # Safety
/// The caller must meet the conditions of [`store`].
#[inline(always)]
pub unsafe fn store_at<T: Pod>(ptr: *mut T, value: T, at: &'static Location<'static>) {
    check::<T>(ptr, at);
    notify::<T>(ptr, Access::Store, at);
    // SAFETY: the caller guarantees the memory, and `check` has checked the alignment.
    unsafe { store_ordered(ptr, value, Ordering::Relaxed) }
}

/// Loads the value at `ptr` atomically for the threads of `scope`. The load is acquiring if `acquires` is true. A
/// thread may call this function repeatedly to wait for another thread's write. Each call waits for the block's turn,
/// and after some calls other threads run.
///
/// If an acquiring load reads the value of a releasing store, all accesses before the store happen before all accesses
/// after the load. A relaxed load orders no other access.
///
/// # Safety
/// The caller must meet the conditions of [`load`].
#[inline]
#[track_caller]
pub unsafe fn load_scoped<T: Pod>(ptr: *const T, acquires: bool, scope: Scope) -> T {
    // SAFETY: the caller guarantees what `load_scoped_at` requires.
    unsafe { load_scoped_at(ptr, acquires, scope, Location::caller()) }
}

/// Loads the value at `ptr` like [`load_scoped`]. Faults name `at` as the source line of the access.
///
/// # Safety
/// The caller must meet the conditions of [`load`].
#[inline]
pub unsafe fn load_scoped_at<T: Pod>(ptr: *const T, acquires: bool, scope: Scope, at: &'static Location<'static>) -> T {
    check::<T>(ptr, at);
    wait_for_write(ptr.addr(), at);
    notify::<T>(ptr, Access::AtomicLoad(memory_order(acquires), scope), at);
    let whole = whole::<T>();
    // SAFETY: the caller guarantees the memory, and `check` has checked the alignment.
    let newest = unsafe { load_ordered(ptr, if acquires { Ordering::Acquire } else { Ordering::Relaxed }) };
    drop(whole);
    value_read(newest)
}

/// Stores `value` at `ptr` atomically for the threads of `scope`, after the block's turn has come. The store is
/// releasing if `releases` is true.
///
/// If an acquiring load reads the value of a releasing store, all accesses before the store happen before all accesses
/// after the load. A relaxed store orders no other access.
///
/// # Safety
/// The caller must meet the conditions of [`store`].
#[inline]
#[track_caller]
pub unsafe fn store_scoped<T: Pod>(ptr: *mut T, value: T, releases: bool, scope: Scope) {
    // SAFETY: the caller guarantees what `store_scoped_at` requires.
    unsafe { store_scoped_at(ptr, value, releases, scope, Location::caller()) }
}

/// Stores `value` at `ptr` like [`store_scoped`]. Faults name `at` as the source line of the access.
///
/// # Safety
/// The caller must meet the conditions of [`store`].
#[inline]
pub unsafe fn store_scoped_at<T: Pod>(
    ptr: *mut T,
    value: T,
    releases: bool,
    scope: Scope,
    at: &'static Location<'static>,
) {
    check::<T>(ptr, at);
    let write = || {
        notify::<T>(ptr, Access::AtomicStore(memory_order(releases), scope), at);
        let order = if releases { Ordering::Release } else { Ordering::Relaxed };
        let _whole = whole::<T>();
        // SAFETY: the caller guarantees the memory, and `check` has checked the alignment.
        if takes_value(|| unsafe { load_ordered(ptr.cast_const(), Ordering::Relaxed) }, value) {
            // SAFETY: the caller guarantees the memory, and `check` has checked the alignment.
            unsafe { store_ordered(ptr, value, order) }
        }
    };
    announce_write(write, ptr.addr(), at);
}

#[inline(always)]
fn memory_order(acquires_or_releases: bool) -> MemoryOrder {
    if acquires_or_releases { MemoryOrder::AcquireRelease } else { MemoryOrder::Relaxed }
}

/// Returns the lock of all atomic accesses of 16 bytes if `T` has 16 bytes. Another device may access the same memory
/// at the same time. No thread may wait while it holds the lock.
#[inline(always)]
fn whole<T>() -> Option<MutexGuard<'static, ()>> {
    static WHOLE: Mutex<()> = Mutex::new(());
    const { size_of::<T>() == 16 }.then(|| WHOLE.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Updates the value at `ptr` atomically like [`update_scoped`], in device scope.
///
/// # Safety
/// The caller must meet the conditions of [`store`].
#[inline]
#[track_caller]
pub unsafe fn update<T: Pod>(ptr: *mut T, f: impl Fn(T) -> T) -> T {
    // SAFETY: the caller guarantees what `update_scoped` requires.
    unsafe { update_scoped(ptr, Scope::Device, f) }
}

/// Replaces the value of 2, 4, 8 or 16 bytes at `ptr` with the result of `f`, atomically for the threads of `scope`.
/// Returns the old value. The call waits for the block's turn, and may call `f` more than once.
///
/// # Safety
/// The caller must meet the conditions of [`store`].
#[inline]
#[track_caller]
pub unsafe fn update_scoped<T: Pod>(ptr: *mut T, scope: Scope, f: impl Fn(T) -> T) -> T {
    const { assert!(matches!(size_of::<T>(), 2 | 4 | 8 | 16), "an atomic update must have 2, 4, 8 or 16 bytes") };
    let at = Location::caller();
    check::<T>(ptr, at);
    let block = current();
    if let Some(block) = block {
        block.take_turn();
    }
    notify::<T>(ptr, Access::Update(scope), at);
    let mut is_changed = false;
    macro_rules! update {
        ($Atomic:ty) => {{
            // SAFETY: the caller guarantees the memory, and `check` has checked the alignment.
            let cell = unsafe { <$Atomic>::from_ptr(ptr.cast()) };
            bytemuck::cast(cell.update(Ordering::AcqRel, Ordering::Relaxed, |old| {
                let new = bytemuck::cast(f(bytemuck::cast(old)));
                is_changed = old != new;
                new
            }))
        }};
    }
    let old = if has_weak_memory() {
        // SAFETY: the caller guarantees the memory, and `check` has checked the alignment. A watched launch runs on one
        // OS thread.
        let newest = unsafe { load_ordered(ptr.cast_const(), Ordering::Relaxed) };
        let old = value_read(newest);
        let new = f(old);
        is_changed = bytemuck::bytes_of(&old) != bytemuck::bytes_of(&new);
        if takes_value(|| newest, new) {
            // SAFETY: the caller guarantees the memory, and `check` has checked the alignment.
            unsafe { store_ordered(ptr, new, Ordering::Relaxed) };
        }
        old
    } else {
        match size_of::<T>() {
            2 => update!(AtomicU16),
            4 => update!(AtomicU32),
            8 => update!(AtomicU64),
            _ => {
                let _whole = whole::<T>();
                // SAFETY: the caller guarantees the memory, and `check` has checked the alignment.
                let old = unsafe { load_ordered(ptr.cast_const(), Ordering::Acquire) };
                let new = f(old);
                is_changed = bytemuck::bytes_of(&old) != bytemuck::bytes_of(&new);
                // SAFETY: as for the load.
                unsafe { store_ordered(ptr, new, Ordering::Release) };
                old
            }
        }
    };
    match block {
        // A thread that waits for a lock makes updates that change nothing.
        Some(block) if !is_changed => block.poll_for(Space::Global, ptr.addr(), at),
        Some(block) => {
            if is_watching() {
                block.note_change(Space::Global, ptr.addr(), at);
            }
            block.note_write(at);
        }
        None => {}
    }
    old
}

/// Orders memory accesses like [`fence_scoped`], in device scope.
#[track_caller]
pub fn fence() {
    fence_scoped(Scope::Device);
}

/// Orders all memory accesses of the thread that precede the fence before all its accesses after the fence, for the
/// threads of `scope`. All threads of the scope agree on one order of these fences (`fence.sc`). The call waits for the
/// block's turn.
#[track_caller]
pub fn fence_scoped(scope: Scope) {
    fence_as(scope, true);
}

/// Orders memory accesses like [`fence_scoped`], for threads that synchronise by atomic accesses around the fence.
/// Threads need not agree on an order of such fences (`fence.acq_rel`).
#[track_caller]
pub fn fence_acquire_release(scope: Scope) {
    fence_as(scope, false);
}

#[track_caller]
fn fence_as(scope: Scope, is_sequential: bool) {
    if let Some(block) = current() {
        if block.leaves_out(SyncKind::Fence, Location::caller()) {
            return;
        }
        block.take_turn();
        if is_sequential && has_weak_memory() {
            block.wait_by_choice(None);
        }
        if is_watching() {
            block.notify(|watcher, block| watcher.fence(block, scope, is_sequential));
        }
    }
    atomic::fence(Ordering::SeqCst);
}

#[inline]
fn wait_for_write(address: usize, at: Line) {
    if let Some(block) = current() {
        block.take_turn();
        block.poll_at(address, at);
    }
}

#[inline]
fn announce_write(write: impl FnOnce(), address: usize, at: Line) {
    let block = current();
    if let Some(block) = block {
        block.take_turn();
    }
    write();
    if let Some(block) = block {
        if is_watching() {
            block.note_change(Space::Global, address, at);
        }
        block.note_write(at);
    }
}

/// Checks the alignment of an access to a `T` at `ptr`.
#[inline(always)]
fn check<T: Pod>(ptr: *const T, at: Line) {
    const { assert!(matches!(size_of::<T>(), 1 | 2 | 4 | 8 | 16), "an access must have 1, 2, 4, 8 or 16 bytes") };
    if !ptr.addr().is_multiple_of(size_of::<T>()) {
        misaligned(ptr.addr(), size_of::<T>(), at);
    }
}

/// Notifies the watcher of an access to a `T` at `ptr`, immediately before the access.
#[inline(always)]
fn notify<T: Pod>(ptr: *const T, access: Access, at: Line) {
    observe(Touch { space: Space::Global, access, address: ptr.addr(), bytes: size_of::<T>(), at });
}

#[cold]
#[inline(never)]
fn misaligned(address: usize, size: usize, at: Line) -> ! {
    let kind = |element| FaultKind::Misaligned { space: Space::Global, element, address, size };
    match current() {
        Some(block) => {
            let position = region::locate(block.grid().regions, address);
            block.raise(kind(position.and_then(ArrayPosition::named).map(Box::new)), at)
        }
        None => panic!("{}, at {at}", kind(None)),
    }
}

/// Ends the launch with a fault at the caller's line. The fault is an out-of-bounds access to element `index` of a view
/// of `len` elements that begins at address `view`.
#[cold]
#[track_caller]
pub fn out_of_bounds(view: usize, index: usize, len: usize) -> ! {
    let block = expect_current("memory::out_of_bounds");
    let grid = block.grid();
    let of_static = || Some(grid.statics()?.at(view)?.name);
    let array = region::name_of_view(grid.regions, view).or_else(of_static);
    block.raise(
        FaultKind::OutOfBounds { space: Space::Global, array, element_type: None, index, len },
        Location::caller(),
    )
}

/// Returns the address of the memory of a static variable on the device that runs the kernel.
///
/// # Panics
/// When this function is called outside of a kernel. The static variable has a separate address on each device.
#[inline]
#[track_caller]
pub fn static_address(of: &'static DeviceStatic) -> *mut u8 {
    let block = expect_current("memory::static_address");
    match block.grid().static_address(of) {
        Ok(address) => address,
        Err(error) => block.raise(FaultKind::HostMemory(error.to_string()), Location::caller()),
    }
}
