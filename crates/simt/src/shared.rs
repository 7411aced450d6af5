//! A block's shared memory: bytes from address 0, at most 227 KiB of them.
//!
//! The dynamic memory comes first, then the static allocations. Every region begins at a multiple of 16 bytes and is
//! filled with a pattern that no kernel should count on. Values have 1, 2, 4, 8 or 16 bytes and stand at multiples of
//! their size. Outside of a kernel all functions here panic.

use std::panic::Location;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytemuck::Pod;

use crate::arena::LIMIT;
use crate::block::Block;
use crate::current::expect_current;
use crate::fault::{FaultKind, Line, Space};
use crate::observe::{Access, observe};

/// A place in the source that declares a static shared array. Each needs a `static` of its own, whose address is the
/// array's identity.
#[derive(Debug)]
pub struct Site {
    /// Where the arena has found this site last.
    hint: AtomicUsize,
}

impl Site {
    /// A new site.
    #[expect(clippy::new_without_default, reason = "a site is of use in a static only")]
    pub const fn new() -> Self {
        Self { hint: AtomicUsize::new(0) }
    }
}

/// The address of the `bytes` bytes that the block has for `site`, the same for all its threads.
///
/// One site asked for with different sizes has one region for each size. More than a block may have is a fault.
#[track_caller]
pub fn allocate_static(site: &'static Site, bytes: usize) -> u32 {
    let block = expect_current("shared::allocate_static");
    let hint = site.hint.load(Ordering::Relaxed);
    match block.arena.region(std::ptr::from_ref(site).cast(), bytes, hint) {
        Ok((address, found)) => {
            if found != hint {
                site.hint.store(found, Ordering::Relaxed);
            }
            address
        }
        Err(exceeded) => {
            let kind = FaultKind::SharedMemory { needed: exceeded.needed, limit: LIMIT };
            block.raise(kind, Location::caller())
        }
    }
}

/// Address and length in bytes of the dynamic shared memory that the launch asked for.
#[track_caller]
pub fn dynamic() -> (u32, u32) {
    expect_current("shared::dynamic").arena.dynamic()
}

/// The value at `address`. A misaligned address, and one outside of what has been allocated, are faults.
#[inline]
#[track_caller]
pub fn load<T: Pod>(address: u32) -> T {
    let block = expect_current("shared::load");
    let pointer = access::<T>(block, Access::Load, address, Location::caller());
    // SAFETY: `access` has checked that the value lies in the arena, at a multiple of its size and so of its
    // alignment. Only this OS thread accesses the arena. Any bytes are a `Pod` value.
    unsafe { pointer.read() }
}

/// The value at `address`, for a thread that waits until another one of its block writes it: now and then lets others
/// run. Faults as [`load`] does.
#[track_caller]
pub fn load_volatile<T: Pod>(address: u32) -> T {
    expect_current("shared::load_volatile").poll(Location::caller());
    load(address)
}

/// Writes `value` at `address`. Faults as [`load`] does.
#[inline]
#[track_caller]
pub fn store<T: Pod>(address: u32, value: T) {
    let block = expect_current("shared::store");
    let pointer = access::<T>(block, Access::Store, address, Location::caller());
    // SAFETY: as in `load`.
    unsafe { pointer.write(value) }
}

/// Writes `value` at `address`, for a thread of the block that waits for it with [`load_volatile`]. Faults as [`load`]
/// does.
#[track_caller]
pub fn store_volatile<T: Pod>(address: u32, value: T) {
    store(address, value);
    expect_current("shared::store_volatile").note_progress();
}

/// Replaces the value at `address` by what `f` makes of it, as one step, and gives the old value. Faults as [`load`]
/// does.
#[track_caller]
pub fn update<T: Pod>(address: u32, f: impl FnOnce(T) -> T) -> T {
    let at = Location::caller();
    let block = expect_current("shared::update");
    let pointer = access::<T>(block, Access::Update, address, at);
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

/// Checks an access to a `T` at `address`.
#[inline]
fn access<T: Pod>(block: &Block, access: Access, address: u32, at: Line) -> *mut T {
    const { assert!(matches!(size_of::<T>(), 1 | 2 | 4 | 8 | 16), "shared memory holds values of 1, 2, 4, 8 or 16 bytes") };
    let (start, size) = (address as usize, size_of::<T>());
    if !start.is_multiple_of(size) {
        block.raise(FaultKind::Misaligned { space: Space::Shared, address: start, size }, at);
    }
    let len = block.arena.len();
    if len < size || start > len - size {
        block.raise(FaultKind::OutOfBounds { space: Space::Shared, index: start, len }, at);
    }
    observe(Space::Shared, access, start, size);
    // SAFETY: the arena has at least `len` bytes.
    unsafe { block.arena.base().add(start).cast() }
}
