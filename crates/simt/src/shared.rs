//! A block's shared memory: bytes from address 0, at most 227 KiB of them.
//!
//! The dynamic memory comes first, then the static allocations. Every region begins at a multiple of 16 bytes and is
//! filled with a pattern that no kernel should count on. Values have 1, 2, 4, 8 or 16 bytes and stand at multiples of
//! their size. Outside of a kernel all functions here panic.

use std::panic::Location;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytemuck::Pod;

use crate::block::Block;
use crate::block::arena::{ArrayInfo, Exceeded, LIMIT, STATIC_LIMIT};
use crate::current::{current, expect_current};
use crate::fault::FaultKind;
use crate::memory::Scope;
use crate::observe::observe;
use crate::raw::guard;
use crate::region::Space;
use crate::source::Line;
use crate::watch::{Access, MemoryOrder, Touch, is_watching};

/// A place in the source that declares a static shared array. Each needs a `static` of its own, whose address is the
/// array's identity.
#[derive(Debug)]
pub struct Site {
    /// What reports call the array.
    name: Option<&'static str>,
    /// Where the arena has found this site last.
    hint: AtomicUsize,
}

impl Site {
    /// A new site of an array without a name.
    #[expect(clippy::new_without_default, reason = "a site is of use in a static only")]
    pub const fn new() -> Self {
        Self { name: None, hint: AtomicUsize::new(0) }
    }

    /// A new site of an array that reports call `name`.
    pub const fn named(name: &'static str) -> Self {
        Self { name: Some(name), hint: AtomicUsize::new(0) }
    }
}

/// The address of the `bytes` bytes that the block has for `site`, the same for all its threads.
///
/// One site asked for with different sizes has one region for each size. More than a block may have is a fault.
#[track_caller]
pub fn allocate_static(site: &'static Site, bytes: usize) -> u32 {
    allocate_array(site, 1, bytes)
}

/// As [`allocate_static`], for `len` elements of `element` bytes, by which reports count.
#[track_caller]
pub fn allocate_array(site: &'static Site, element: usize, len: usize) -> u32 {
    let block = expect_current("shared::allocate_array");
    let hint = site.hint.load(Ordering::Relaxed);
    let array = ArrayInfo { name: site.name, element, bytes: element.saturating_mul(len), of: None };
    let region = guard::own(|| block.context.arena.region(std::ptr::from_ref(site).cast(), array, hint));
    match region {
        Ok((address, found)) => {
            if found != hint {
                site.hint.store(found, Ordering::Relaxed);
            }
            address
        }
        Err(exceeded) => {
            let kind = match exceeded {
                Exceeded::All { needed } => FaultKind::SharedMemory { needed, limit: LIMIT },
                Exceeded::Static { needed } => FaultKind::StaticSharedMemory { needed, limit: STATIC_LIMIT },
            };
            block.raise(kind, Location::caller())
        }
    }
}

/// Address and length in bytes of the dynamic shared memory that the launch asked for.
#[track_caller]
pub fn dynamic() -> (u32, u32) {
    expect_current("shared::dynamic").context.arena.dynamic()
}

/// The host's pointer to `address`, through which the current block's thread may access shared memory unseen.
#[track_caller]
pub fn pointer(address: u32) -> *mut u8 {
    expect_current("shared::pointer").context.arena.base().wrapping_add(address as usize)
}

/// Says what reports call the array at `address` of dynamic shared memory: `len` elements of type `T`.
#[track_caller]
pub fn name_dynamic<T>(name: &'static str, address: u32, len: usize) {
    let block = expect_current("shared::name_dynamic");
    let (element, of) = (size_of::<T>(), Some(std::any::type_name::<T>()));
    block.context.arena.name_dynamic(ArrayInfo { name: Some(name), element, bytes: element * len, of }, address);
}

/// The address of the byte that `pointer` points to, if that is in the shared memory of the caller's block.
pub fn address_of(pointer: *const u8) -> Option<u32> {
    let arena = &current()?.context.arena;
    let offset = pointer.addr().checked_sub(arena.base().addr())?;
    (offset < LIMIT).then_some(offset as u32)
}

/// The value at `address`. A misaligned address, and one outside of what has been allocated, are faults.
#[inline]
#[track_caller]
pub fn load<T: Pod>(address: u32) -> T {
    load_at(address, Location::caller())
}

/// As [`load`], as an access of the line `at`.
#[inline]
#[track_caller]
pub fn load_at<T: Pod>(address: u32, at: &'static Location<'static>) -> T {
    let block = expect_current("shared::load");
    let pointer = access::<T>(block, Access::Load, address, at);
    // SAFETY: `access` has checked that the value lies in the arena, at a multiple of its size and so of its
    // alignment. Only this OS thread accesses the arena. Any bytes are a `Pod` value.
    unsafe { pointer.read() }
}

/// The value at `address`, as one step, for a thread that waits until another one of its block writes it: now and then
/// lets others run. Faults as [`load`] does.
#[track_caller]
pub fn load_relaxed<T: Pod>(address: u32) -> T {
    load_relaxed_at(address, Location::caller())
}

/// As [`load_relaxed`], as an access of the line `at`.
#[track_caller]
pub fn load_relaxed_at<T: Pod>(address: u32, at: &'static Location<'static>) -> T {
    load_atomic(address, MemoryOrder::Relaxed, at)
}

/// As [`load_relaxed`], with everything that was written before the [`store_release`] that wrote the value.
#[track_caller]
pub fn load_acquire<T: Pod>(address: u32) -> T {
    load_atomic(address, MemoryOrder::AcquireRelease, Location::caller())
}

/// The word of a barrier, as [`load_acquire`] gives it, with what the threads wrote that arrived before its last phase was over:
/// nothing is known of those who have arrived since. Faults as [`load`] does.
#[track_caller]
pub fn load_phase(address: u32) -> u64 {
    load_atomic(address, MemoryOrder::Phase, Location::caller())
}

#[track_caller]
fn load_atomic<T: Pod>(address: u32, order: MemoryOrder, at: Line) -> T {
    let block = expect_current("shared::load_relaxed");
    block.poll(at);
    let pointer = access::<T>(block, Access::AtomicLoad(order, Scope::Device), address, at);
    // SAFETY: as in `load`.
    unsafe { pointer.read() }
}

/// Writes `value` at `address`. Faults as [`load`] does.
#[inline]
#[track_caller]
pub fn store<T: Pod>(address: u32, value: T) {
    store_at(address, value, Location::caller());
}

/// As [`store`], as an access of the line `at`.
#[inline]
#[track_caller]
pub fn store_at<T: Pod>(address: u32, value: T, at: &'static Location<'static>) {
    let block = expect_current("shared::store");
    let pointer = access::<T>(block, Access::Store, address, at);
    // SAFETY: as in `load`.
    unsafe { pointer.write(value) }
}

/// Begins an asynchronous copy to the 16 bytes at `address`, which are unspecified until the same thread ends the copy
/// by [`fill`]. In between no thread may access them. Faults as [`load`] does.
#[track_caller]
pub fn discard(address: u32) {
    let block = expect_current("shared::discard");
    let pointer = access::<u128>(block, Access::Discard, address, Location::caller());
    // SAFETY: as in `load`; any bytes are a `u128`.
    unsafe { pointer.cast::<u8>().write_bytes(block.context.arena.pattern(), size_of::<u128>()) };
}

/// Writes what the asynchronous copy brings that the thread has begun by [`discard`], when the thread has waited for
/// it.
#[track_caller]
pub fn fill(address: u32, value: u128) {
    let block = expect_current("shared::fill");
    let pointer = access::<u128>(block, Access::Fill, address, Location::caller());
    // SAFETY: as in `load`.
    unsafe { pointer.write(value) }
}

/// Writes `value` at `address`, as one step, for a thread of the block that waits for it with [`load_relaxed`]. Faults as
/// [`load`] does.
#[track_caller]
pub fn store_relaxed<T: Pod>(address: u32, value: T) {
    store_relaxed_at(address, value, Location::caller());
}

/// As [`store_relaxed`], as an access of the line `at`.
#[track_caller]
pub fn store_relaxed_at<T: Pod>(address: u32, value: T, at: &'static Location<'static>) {
    store_atomic(address, value, MemoryOrder::Relaxed, at);
}

/// As [`store_relaxed`], so that who reads the value with [`load_acquire`] sees everything that was written before.
#[track_caller]
pub fn store_release<T: Pod>(address: u32, value: T) {
    store_atomic(address, value, MemoryOrder::AcquireRelease, Location::caller());
}

#[track_caller]
fn store_atomic<T: Pod>(address: u32, value: T, order: MemoryOrder, at: Line) {
    let block = expect_current("shared::store_relaxed");
    let pointer = access::<T>(block, Access::AtomicStore(order, Scope::Device), address, at);
    // SAFETY: as in `load`.
    unsafe { pointer.write(value) };
    block.note_progress();
}

/// Replaces the value at `address` by what `f` makes of it, as one step, and gives the old value. Faults as [`load`]
/// does.
#[track_caller]
pub fn update<T: Pod>(address: u32, f: impl FnOnce(T) -> T) -> T {
    update_as(Access::Update(Scope::Device), address, f)
}

/// As [`update`], of the word of a barrier at which the thread arrives: it passes on what it has done before its last fence, and
/// learns nothing of others. `f` tells as well whether a phase is over then.
#[track_caller]
pub fn arrive(address: u32, f: impl FnOnce(u64) -> (u64, bool)) -> u64 {
    let mut is_over = false;
    let old = update_as(Access::Arrive, address, |old| {
        let (new, ends) = f(old);
        is_over = ends;
        new
    });
    if is_over && is_watching() {
        expect_current("shared::arrive").tell(|watcher, block| watcher.end_phase(block, address as usize));
    }
    old
}

#[track_caller]
fn update_as<T: Pod>(kind: Access, address: u32, f: impl FnOnce(T) -> T) -> T {
    let at = Location::caller();
    let block = expect_current("shared::update");
    let pointer = access::<T>(block, kind, address, at);
    // SAFETY: as in `load`.
    let old = unsafe { pointer.read() };
    let new = f(old);
    // SAFETY: as in `load`.
    unsafe { pointer.write(new) };
    if bytemuck::bytes_of(&old) == bytemuck::bytes_of(&new) {
        block.poll(at);
    } else {
        block.note_progress();
    }
    old
}

/// Ends the launch with a fault at the caller's line: element `index` of a view of `len` elements from address `view` on
/// was asked for.
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
    let element =
        block.context.arena.locate(address, size).and_then(|place| Some(Box::new((place.name?, place.index))));
    block.raise(FaultKind::Misaligned { space: Space::Shared, element, address, size }, at)
}

/// Checks an access to a `T` at `address`.
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
