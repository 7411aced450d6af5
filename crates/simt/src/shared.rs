//! The shared memory of a block: at most 227 KiB from address 0 on.
//!
//! Dynamic shared memory comes first, followed by the static arrays. Every array is aligned to 16 bytes and filled with
//! an unspecified pattern. Values have 1, 2, 4, 8 or 16 bytes and are aligned to their size. All functions here panic
//! outside of a kernel.

use std::panic::Location;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytemuck::Pod;

use crate::block::Block;
use crate::block::arena::{ArrayInfo, LIMIT};
use crate::bulk;
use crate::current::{current, expect_current};
use crate::faults::FaultKind;
use crate::faults::wait::Barrier;
use crate::memory::Scope;
use crate::observe::{observe, takes_value, value_read};
use crate::on_drop::OnDrop;
use crate::raw::guard;
use crate::region::{ArrayPosition, Space};
use crate::source::Line;
use crate::watch::{Access, MemoryOrder, PhaseRead, Touch, is_watching};

/// A source site that declares a static shared array. Each site must be a separate `static`, because the address of the
/// `static` identifies the array.
#[derive(Debug)]
pub struct Site {
    /// The name that reports use for the array, if it has one.
    name: Option<&'static str>,
    /// The index at which the arena last found this site.
    hint: AtomicUsize,
}

impl Site {
    /// Makes the site of an array that has no name in reports.
    #[expect(clippy::new_without_default, reason = "a site is of use in a static only")]
    pub const fn new() -> Self {
        Self { name: None, hint: AtomicUsize::new(0) }
    }

    /// Makes the site of an array that reports call `name`.
    pub const fn named(name: &'static str) -> Self {
        Self { name: Some(name), hint: AtomicUsize::new(0) }
    }
}

/// Returns the address of the static array of `bytes` bytes that `site` declares. All threads of a block get the same
/// address.
///
/// A site that is used with several sizes has one array per size. Exceeding a block's shared memory is a fault.
#[track_caller]
pub fn allocate_static(site: &'static Site, bytes: usize) -> u32 {
    allocate_array(site, 1, bytes)
}

/// Returns the address of a static array like [`allocate_static`], for `len` elements of `element` bytes each. Reports
/// name these elements by index.
#[track_caller]
pub fn allocate_array(site: &'static Site, element: usize, len: usize) -> u32 {
    allocate_instance(site, "", element, len)
}

/// Returns, like [`allocate_array`], the address of a static array of `len` elements of `element` bytes. `instance`
/// names the instance of the generic function that contains the site; each instance has an array of its own.
#[track_caller]
pub fn allocate_instance(site: &'static Site, instance: &'static str, element: usize, len: usize) -> u32 {
    let block = expect_current("shared::allocate_array");
    let hint = site.hint.load(Ordering::Relaxed);
    let array = ArrayInfo { name: site.name, element, bytes: element.saturating_mul(len), of: None };
    let site_of = (std::ptr::from_ref(site).cast(), instance);
    let region = guard::exempt(|| block.context.arena.region(site_of, array, hint));
    match region {
        Ok((address, found)) => {
            if found != hint {
                site.hint.store(found, Ordering::Relaxed);
            }
            address
        }
        Err(exceeded) => block.raise(exceeded.into(), Location::caller()),
    }
}

/// Returns the address and the length in bytes of the launch's dynamic shared memory.
#[track_caller]
pub fn dynamic() -> (u32, u32) {
    expect_current("shared::dynamic").context.arena.dynamic()
}

/// Returns the host pointer to the shared address `address`. The simulator does not observe accesses through this
/// pointer.
#[track_caller]
pub fn pointer(address: u32) -> *mut u8 {
    expect_current("shared::pointer").context.arena.base().wrapping_add(address as usize)
}

/// Sets the name that reports use for an array in dynamic shared memory: `len` elements of type `T` at `address`.
#[track_caller]
pub fn name_dynamic<T>(name: &'static str, address: u32, len: usize) {
    let block = expect_current("shared::name_dynamic");
    let (element, of) = (size_of::<T>(), Some(std::any::type_name::<T>()));
    block.context.arena.name_dynamic(ArrayInfo { name: Some(name), element, bytes: element * len, of }, address);
}

/// Returns the shared address of the byte that `pointer` points to, or `None` if the byte is not in the block's shared
/// memory.
pub fn address_of(pointer: *const u8) -> Option<u32> {
    let arena = &current()?.context.arena;
    let offset = pointer.addr().checked_sub(arena.base().addr())?;
    (offset < LIMIT).then_some(offset as u32)
}

/// Loads the value at `address`. A misaligned or unallocated address is a fault.
#[inline]
#[track_caller]
pub fn load<T: Pod>(address: u32) -> T {
    load_at(address, Location::caller())
}

/// Loads the value at `address` like [`load`]. Faults name `at` as the source line of the access.
#[inline]
#[track_caller]
pub fn load_at<T: Pod>(address: u32, at: &'static Location<'static>) -> T {
    let block = expect_current("shared::load");
    let pointer = access::<T>(block, Access::Load, address, at);
    // SAFETY: `access` has checked that the value is in the arena and aligned to its size. Only this OS thread accesses
    // the arena. Any bytes are a valid `Pod` value.
    unsafe { pointer.read() }
}

/// Loads the value at `address` atomically, without ordering other accesses. A thread may call this function repeatedly
/// to wait for a write by another thread of its block. After some calls, the function lets other threads run. Faults as
/// [`load`] does.
#[track_caller]
pub fn load_relaxed<T: Pod>(address: u32) -> T {
    load_relaxed_at(address, Location::caller())
}

/// Loads the value at `address` like [`load_relaxed`]. Faults name `at` as the source line of the access.
#[track_caller]
pub fn load_relaxed_at<T: Pod>(address: u32, at: &'static Location<'static>) -> T {
    load_atomic(address, MemoryOrder::Relaxed, at)
}

/// Loads the value at `address` like [`load_relaxed`]. If the load reads the value of a [`store_release`], all accesses
/// before that store happen before all accesses after this load.
#[track_caller]
pub fn load_acquire<T: Pod>(address: u32) -> T {
    load_atomic(address, MemoryOrder::AcquireRelease, Location::caller())
}

/// Loads the word of an `mbarrier` like [`load_acquire`]. The load acquires the writes of threads that arrived before
/// the barrier's last phase ended, but not of threads that arrived later. Faults as [`load`] does.
#[track_caller]
pub fn load_phase(address: u32) -> u64 {
    load_atomic(address, MemoryOrder::Phase, Location::caller())
}

#[track_caller]
fn load_atomic<T: Pod>(address: u32, order: MemoryOrder, at: Line) -> T {
    let block = expect_current("shared::load_relaxed");
    block.poll_for(Space::Shared, address as usize, at);
    let pointer = access::<T>(block, Access::AtomicLoad(order, Scope::Device), address, at);
    // SAFETY: `access` has checked that the value is in the arena and aligned. Only this OS thread accesses the arena.
    value_read(unsafe { pointer.read() })
}

/// Stores `value` at `address`. Faults as [`load`] does.
#[inline]
#[track_caller]
pub fn store<T: Pod>(address: u32, value: T) {
    store_at(address, value, Location::caller());
}

/// Stores `value` at `address` like [`store`]. Faults name `at` as the source line of the access.
#[inline]
#[track_caller]
pub fn store_at<T: Pod>(address: u32, value: T, at: &'static Location<'static>) {
    let block = expect_current("shared::store");
    let pointer = access::<T>(block, Access::Store, address, at);
    // SAFETY: `access` has checked that the value is in the arena and aligned. Only this OS thread accesses the arena.
    unsafe { pointer.write(value) }
}

/// Begins an asynchronous copy of a `T` to `address`. Until the same thread ends the copy by [`fill`], these bytes are
/// unspecified, and no thread may access them. Faults as [`load`] does.
#[track_caller]
pub fn discard<T: Pod>(address: u32) {
    let block = expect_current("shared::discard");
    let pointer = access::<T>(block, Access::Discard, address, Location::caller());
    // SAFETY: `access` has checked that the bytes are in the arena. Only this OS thread accesses the arena.
    unsafe { pointer.cast::<u8>().write_bytes(block.context.arena.pattern(), size_of::<T>()) };
}

/// Ends an asynchronous copy by storing `value` at `address`. The thread must have begun the copy by [`discard`] and
/// have waited for the copy.
#[track_caller]
pub fn fill<T: Pod>(address: u32, value: T) {
    let block = expect_current("shared::fill");
    let pointer = access::<T>(block, Access::Fill, address, Location::caller());
    // SAFETY: `access` has checked that the value is in the arena and aligned. Only this OS thread accesses the arena.
    unsafe { pointer.write(value) }
}

/// Stores `value` at `address` atomically, without ordering other accesses. Another thread of the block may wait for
/// the value with [`load_relaxed`]. Faults as [`load`] does.
#[track_caller]
pub fn store_relaxed<T: Pod>(address: u32, value: T) {
    store_relaxed_at(address, value, Location::caller());
}

/// Stores `value` at `address` like [`store_relaxed`]. Faults name `at` as the source line of the access.
#[track_caller]
pub fn store_relaxed_at<T: Pod>(address: u32, value: T, at: &'static Location<'static>) {
    store_atomic(address, value, MemoryOrder::Relaxed, at);
}

/// Stores `value` at `address` like [`store_relaxed`]. All accesses before this store happen before all accesses after
/// a [`load_acquire`] that reads the value.
#[track_caller]
pub fn store_release<T: Pod>(address: u32, value: T) {
    store_atomic(address, value, MemoryOrder::AcquireRelease, Location::caller());
}

#[track_caller]
fn store_atomic<T: Pod>(address: u32, value: T, order: MemoryOrder, at: Line) {
    let block = expect_current("shared::store_relaxed");
    let pointer = access::<T>(block, Access::AtomicStore(order, Scope::Device), address, at);
    // SAFETY: `access` has checked that the value is in the arena and aligned. Only this OS thread accesses the arena.
    if takes_value(|| unsafe { pointer.read() }, value) {
        // SAFETY: as for the read.
        unsafe { pointer.write(value) };
    }
    if is_watching() {
        block.note_change(Space::Shared, address as usize, at);
    }
    block.note_write(at);
}

/// Replaces the value at `address` atomically with the result of `f`, and returns the old value. Faults as [`load`]
/// does.
#[track_caller]
pub fn update<T: Pod>(address: u32, f: impl FnOnce(T) -> T) -> T {
    update_as(Access::Update(Scope::Device), address, f)
}

/// Makes the calling thread arrive at an `mbarrier`, by an update of the barrier's word like [`update`]. The arrival
/// releases the thread's earlier accesses to the threads of its block that wait, and acquires nothing. `f` returns the
/// new word, and true if this arrival ends a phase.
#[track_caller]
pub fn arrive(address: u32, f: impl FnOnce(u64) -> (u64, bool)) -> u64 {
    let mut is_over = false;
    let old = update_as(Access::Arrive, address, |old| {
        let (new, ends) = f(old);
        is_over = ends;
        new
    });
    if is_over {
        bulk::end_phase(expect_current("shared::arrive"), address);
    }
    old
}

/// Notes that the thread has read the word of the `mbarrier` at `address`: whether the phase for which it waits has
/// ended, the number of the current phase modulo 256, and the number of arrivals that it still expects. In a checked
/// launch, a report of a thread that waits for ever then names the phase.
#[inline]
#[track_caller]
pub fn note_phase(address: u32, is_over: bool, phase: u64, missing: u32) {
    if is_watching() {
        let read = PhaseRead { is_over, phase, missing };
        expect_current("shared::note_phase").notify(|watcher, block| watcher.phase_read(block, address as usize, read));
    }
}

/// Marks the calling thread as waiting for a phase of an `mbarrier` until the result is dropped. Until then, the thread
/// must do nothing but read the barrier's word again and again. A launch in which all threads wait ends with a fault.
#[inline]
#[must_use = "the wait ends when this value is dropped"]
pub fn begin_wait() -> impl Drop {
    let set = |waits| {
        if let Some(block) = current() {
            block.run_queue.set_waits_for_phase(block.thread(), waits);
        }
    };
    set(true);
    OnDrop(move || set(false))
}

/// Returns the name that reports use for the `mbarrier` at `address`, such as "the barrier `full[0]`".
#[cold]
#[track_caller]
pub fn barrier_name(address: u32) -> String {
    let arena = &expect_current("shared::barrier_name").context.arena;
    let element = arena.locate(address as usize, 8).and_then(ArrayPosition::named);
    Barrier(element, address as usize).to_string()
}

#[track_caller]
fn update_as<T: Pod>(kind: Access, address: u32, f: impl FnOnce(T) -> T) -> T {
    let at = Location::caller();
    let block = expect_current("shared::update");
    let pointer = access::<T>(block, kind, address, at);
    // SAFETY: `access` has checked that the value is in the arena and aligned. Only this OS thread accesses the arena.
    let newest = unsafe { pointer.read() };
    let old = value_read(newest);
    let new = f(old);
    if takes_value(|| newest, new) {
        // SAFETY: `access` has checked that the value is in the arena and aligned. Only this OS thread accesses it.
        unsafe { pointer.write(new) };
    }
    if bytemuck::bytes_of(&old) == bytemuck::bytes_of(&new) {
        block.poll_for(Space::Shared, address as usize, at);
    } else {
        if is_watching() {
            block.note_change(Space::Shared, address as usize, at);
        }
        block.note_write(at);
    }
    old
}

/// Ends the launch with a fault at the caller's line. The fault is an out-of-bounds access to element `index` of a view
/// of `len` elements that begins at address `view`.
#[cold]
#[track_caller]
pub fn out_of_bounds(view: u32, index: usize, len: usize) -> ! {
    let block = expect_current("shared::out_of_bounds");
    let (array, element_type) = block.context.arena.array_of_view(view as usize, len);
    let kind = FaultKind::OutOfBounds { space: Space::Shared, array, element_type, index, len };
    block.raise(kind, Location::caller())
}

#[cold]
#[inline(never)]
fn misaligned(block: &Block, address: usize, size: usize, at: Line) -> ! {
    let element = block.context.arena.locate(address, size).and_then(ArrayPosition::named).map(Box::new);
    block.raise(FaultKind::Misaligned { space: Space::Shared, element, address, size }, at)
}

/// Checks an access to a `T` at the shared address `address`, notifies the watcher, and returns the host pointer to the
/// value.
#[inline]
fn access<T: Pod>(block: &Block, access: Access, address: u32, at: Line) -> *mut T {
    const { assert!(matches!(size_of::<T>(), 1 | 2 | 4 | 8 | 16), "shared memory holds values of 1, 2, 4, 8 or 16 bytes") };
    let (start, size) = (address as usize, size_of::<T>());
    if !start.is_multiple_of(size) {
        misaligned(block, start, size, at);
    }
    let len = block.context.arena.len();
    if len < size || start > len - size {
        let space = Space::Shared;
        block.raise(FaultKind::OutOfBounds { space, array: None, element_type: None, index: start, len }, at);
    }
    observe(Touch { space: Space::Shared, access, address: start, bytes: size, at });
    // SAFETY: the arena has at least `len` bytes.
    unsafe { block.context.arena.base().add(start).cast() }
}
