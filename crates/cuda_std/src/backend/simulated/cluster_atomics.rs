//! Atomic operations and fences for the threads of a cluster in the simulator.

use simt::memory::Scope;
use simt::{cluster, memory, shared};

use super::atomics::{note_work, updated};
use crate::atomic::{Atomic, AtomicType, ClusterPlace, Update, same_bits};

#[inline(always)]
#[track_caller]
pub fn fence_cluster() {
    memory::fence_scoped(Scope::Cluster);
}

#[inline(always)]
#[track_caller]
pub fn fence_acquire_release_cluster() {
    memory::fence_acquire_release(Scope::Cluster);
}

/// # Safety
/// If `place` is in global memory, it must be valid for an access of `T`.
#[inline(always)]
#[track_caller]
unsafe fn replace<T: Atomic>(place: ClusterPlace<T>, new: impl Fn(T) -> T) -> T {
    match place {
        // SAFETY: the caller guarantees a valid address.
        ClusterPlace::Global(pointer) => unsafe { memory::update_scoped(pointer, Scope::Cluster, new) },
        ClusterPlace::Shared(address) => shared::update(address, new),
        ClusterPlace::Cluster(address) => cluster::update_scoped(address, Scope::Cluster, new),
    }
}

/// # Safety
/// If `place` is in global memory, it must be valid for an access of `T`.
#[inline(always)]
#[track_caller]
pub unsafe fn cluster_atomic_update<T: Atomic>(update: Update, place: ClusterPlace<T>, value: T) -> T {
    let flushes = T::TYPE == AtomicType::F32 && update == Update::Add && matches!(place, ClusterPlace::Global(_));
    // SAFETY: the caller guarantees a valid address.
    let old = unsafe { replace(place, |old| updated(old, update, value, flushes)) };
    note_work(update);
    old
}

/// # Safety
/// If `place` is in global memory, it must be valid for an access of `T`.
#[inline(always)]
#[track_caller]
pub unsafe fn cluster_atomic_compare_exchange<T: Atomic>(place: ClusterPlace<T>, expected: T, new: T) -> T {
    // SAFETY: the caller guarantees a valid address.
    unsafe { replace(place, |old| if same_bits(old, expected) { new } else { old }) }
}

/// # Safety
/// If `place` is in global memory, it must be valid for an access of `T`.
#[inline(always)]
#[track_caller]
pub unsafe fn cluster_atomic_load<T: Atomic>(place: ClusterPlace<T>, acquire: bool) -> T {
    match place {
        // SAFETY: the caller guarantees a valid address.
        ClusterPlace::Global(pointer) => unsafe { memory::load_scoped(pointer, acquire, Scope::Cluster) },
        ClusterPlace::Shared(address) if acquire => shared::load_acquire(address),
        ClusterPlace::Shared(address) => shared::load_relaxed(address),
        ClusterPlace::Cluster(address) => cluster::load_scoped(address, acquire, Scope::Cluster),
    }
}

/// # Safety
/// If `place` is in global memory, it must be valid for an access of `T`.
#[inline(always)]
#[track_caller]
pub unsafe fn cluster_atomic_store<T: Atomic>(place: ClusterPlace<T>, value: T, release: bool) {
    match place {
        // SAFETY: the caller guarantees a valid address.
        ClusterPlace::Global(pointer) => unsafe { memory::store_scoped(pointer, value, release, Scope::Cluster) },
        ClusterPlace::Shared(address) if release => shared::store_release(address, value),
        ClusterPlace::Shared(address) => shared::store_relaxed(address, value),
        ClusterPlace::Cluster(address) => cluster::store_scoped(address, value, release, Scope::Cluster),
    }
}
