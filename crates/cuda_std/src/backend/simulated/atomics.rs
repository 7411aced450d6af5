//! Atomic operations and fences in the simulator.

use simt::raw::{self, Use};
use simt::{memory, shared, thread};

use crate::atomic::{Atomic, AtomicType, Place, Scope, Update, same_bits};

impl From<Scope> for memory::Scope {
    fn from(scope: Scope) -> Self {
        match scope {
            Scope::Block => Self::Block,
            Scope::Device => Self::Device,
            Scope::System => Self::System,
        }
    }
}

#[inline(always)]
#[track_caller]
pub fn fence(scope: Scope) {
    memory::fence_scoped(scope.into());
}

#[inline(always)]
#[track_caller]
pub fn fence_acquire_release(scope: Scope) {
    memory::fence_acquire_release(scope.into());
}

/// Returns `place` with a known memory space. Reports a fault if a generic pointer is not valid for the use `what`.
#[inline(always)]
#[track_caller]
fn resolved<T>(place: Place<T>, what: Use) -> Place<T> {
    match place {
        Place::Generic(pointer) => {
            raw::check_atomic(pointer.addr(), size_of::<T>(), what);
            match shared::address_of(pointer.cast()) {
                Some(address) => Place::Shared(address),
                None => Place::Global(pointer),
            }
        }
        known => known,
    }
}

/// Returns the pointer of `place` in a checked launch, if it points to a local variable of the calling thread. The
/// watcher must not see its accesses, because the stack of another thread may have had the same address.
#[inline(always)]
fn local<T>(place: &Place<T>) -> Option<*mut T> {
    match place {
        Place::Generic(pointer) if raw::is_followed() && raw::is_on_stack(pointer.addr()) => Some(*pointer),
        _ => None,
    }
}

/// # Safety
/// If `place` is in global memory, it must be valid for an access of `T`.
#[inline(always)]
#[track_caller]
unsafe fn replace<T: Atomic>(place: Place<T>, scope: Scope, new: impl Fn(T) -> T) -> T {
    if let Some(pointer) = local(&place) {
        // SAFETY: the caller guarantees a valid address, and a checked launch runs on one OS thread.
        unsafe {
            let old = pointer.read();
            pointer.write(new(old));
            return old;
        }
    }
    match resolved(place, Use::Update) {
        Place::Shared(address) => shared::update(address, new),
        // SAFETY: the caller guarantees a valid address.
        Place::Global(pointer) | Place::Generic(pointer) => unsafe {
            memory::update_scoped(pointer, scope.into(), new)
        },
    }
}

/// # Safety
/// If `place` is in global memory, it must be valid for an access of `T`.
#[inline(always)]
#[track_caller]
pub unsafe fn atomic_update<T: Atomic>(update: Update, place: Place<T>, value: T, scope: Scope) -> T {
    let place = if local(&place).is_some() { place } else { resolved(place, Use::Update) };
    let is_sum = T::TYPE == AtomicType::F32 && update == Update::Add;
    let flushes = is_sum && !matches!(place, Place::Shared(_));
    // SAFETY: the caller guarantees a valid address.
    let old = unsafe { replace(place, scope, |old| updated(old, update, value, flushes)) };
    note_work(update);
    old
}

/// Returns the element that results from applying `update` to `old`. Subnormal numbers count as zero if `flushes` is
/// true.
#[inline(always)]
pub(super) fn updated<T: Atomic>(old: T, update: Update, value: T, flushes: bool) -> T {
    match (T::TYPE == AtomicType::F32 && update == Update::Add, flushes) {
        (false, _) => old.updated(update, value),
        (true, false) => with_gpu_nan(old.updated(update, value)),
        (true, true) => with_gpu_nan(flushed(flushed(old).updated(update, flushed(value)))),
    }
}

/// Notes progress of the thread if it does not wait by `update`.
#[inline(always)]
pub(super) fn note_work(update: Update) {
    // Threads do not wait by means of these updates. Many of them leave the element unchanged, which is not a lack of
    // progress.
    let works = matches!(update, Update::Min | Update::Max | Update::And | Update::Or);
    if works && thread::is_simulated() {
        thread::note_work();
    }
}

/// Returns `value`, with a subnormal `f32` replaced by zero of the same sign, as GPUs' additions in global memory do.
fn flushed<T: Atomic>(value: T) -> T {
    let single: f32 = bytemuck::cast(value);
    bytemuck::cast(if single.is_subnormal() { 0_f32.copysign(single) } else { single })
}

/// Returns the sum `value`. If the sum is NaN, returns the NaN with the bits that GPUs return.
fn with_gpu_nan<T: Atomic>(value: T) -> T {
    let single: f32 = bytemuck::cast(value);
    bytemuck::cast(if single.is_nan() { f32::from_bits(0x7FFF_FFFF) } else { single })
}

/// # Safety
/// If `place` is in global memory, it must be valid for an access of `T`.
#[inline(always)]
#[track_caller]
pub unsafe fn atomic_compare_exchange<T: Atomic>(place: Place<T>, expected: T, new: T, scope: Scope) -> T {
    // SAFETY: the caller guarantees a valid address.
    unsafe { replace(place, scope, |old| if same_bits(old, expected) { new } else { old }) }
}

/// # Safety
/// If `place` is in global memory, it must be valid for an access of `T`.
#[inline(always)]
#[track_caller]
pub unsafe fn atomic_load<T: Atomic>(place: Place<T>, acquire: bool, scope: Scope) -> T {
    if let Some(pointer) = local(&place) {
        // SAFETY: the caller guarantees a valid address, and a checked launch runs on one OS thread.
        return unsafe { pointer.read() };
    }
    match resolved(place, Use::Read) {
        Place::Shared(address) if acquire => shared::load_acquire(address),
        Place::Shared(address) => shared::load_relaxed(address),
        // SAFETY: the caller guarantees a valid address.
        Place::Global(pointer) | Place::Generic(pointer) => unsafe {
            memory::load_scoped(pointer, acquire, scope.into())
        },
    }
}

/// # Safety
/// If `place` is in global memory, it must be valid for an access of `T`.
#[inline(always)]
#[track_caller]
pub unsafe fn atomic_store<T: Atomic>(place: Place<T>, value: T, release: bool, scope: Scope) {
    if let Some(pointer) = local(&place) {
        // SAFETY: the caller guarantees a valid address, and a checked launch runs on one OS thread.
        unsafe { pointer.write(value) };
        return;
    }
    match resolved(place, Use::Write) {
        Place::Shared(address) if release => shared::store_release(address, value),
        Place::Shared(address) => shared::store_relaxed(address, value),
        // SAFETY: the caller guarantees a valid address.
        Place::Global(pointer) | Place::Generic(pointer) => unsafe {
            memory::store_scoped(pointer, value, release, scope.into());
        },
    }
}
