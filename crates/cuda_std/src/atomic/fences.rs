//! Memory fences of each scope.

use super::Scope;
use crate::backend;

/// Orders this thread's earlier accesses to global and shared memory before its later accesses, for every thread of the
/// device (`fence.sc.gpu`).
#[doc(alias = "__threadfence")]
#[inline(always)]
#[track_caller]
pub fn fence() {
    backend::fence(Scope::Device);
}

/// Orders accesses like [`fence()`], but only for the threads of the block (`fence.sc.cta`). The simulator reports a
/// thread of another block that relies on such a fence.
#[doc(alias = "__threadfence_block")]
#[inline(always)]
#[track_caller]
pub fn fence_block() {
    backend::fence(Scope::Block);
}

/// Orders accesses like [`fence()`], but only for the threads of the cluster (`fence.sc.cluster`).
#[inline(always)]
#[track_caller]
pub fn fence_cluster() {
    backend::fence_cluster();
}

/// Orders accesses like [`fence()`], but for the threads of all devices, and for the host if it maps the memory
/// (`fence.sc.sys`).
#[doc(alias = "__threadfence_system")]
#[inline(always)]
#[track_caller]
pub fn fence_system() {
    backend::fence(Scope::System);
}

/// Orders this thread's earlier accesses before its later atomic stores, and its earlier atomic loads before its later
/// accesses, for every thread of the device (`fence.acq_rel.gpu`). It is cheaper than [`fence()`].
///
/// Unlike [`fence()`], it does not order an atomic store before a later atomic load of another element.
#[doc(alias = "cuda::atomic_thread_fence")]
#[inline(always)]
#[track_caller]
pub fn fence_acq_rel() {
    backend::fence_acquire_release(Scope::Device);
}

/// Orders accesses like [`fence_acq_rel`], but only for the threads of the block (`fence.acq_rel.cta`).
#[inline(always)]
#[track_caller]
pub fn fence_acq_rel_block() {
    backend::fence_acquire_release(Scope::Block);
}

/// Orders accesses like [`fence_acq_rel`], but only for the threads of the cluster (`fence.acq_rel.cluster`).
#[inline(always)]
#[track_caller]
pub fn fence_acq_rel_cluster() {
    backend::fence_acquire_release_cluster();
}

/// Orders accesses like [`fence_acq_rel`], but for the threads of all devices and for the host (`fence.acq_rel.sys`).
#[inline(always)]
#[track_caller]
pub fn fence_acq_rel_system() {
    backend::fence_acquire_release(Scope::System);
}
