//! Fences of each scope.

use super::Scope;
use crate::backend;

/// Orders this thread's accesses to global and shared memory before it ahead of those after it, as seen by every
/// thread of the device (`fence.sc.gpu`).
#[doc(alias = "__threadfence")]
#[inline(always)]
#[track_caller]
pub fn fence() {
    backend::fence(Scope::Device);
}

/// As [`fence()`], as seen by every thread of the block (`fence.sc.cta`). The simulator reports who relies on it in
/// another block.
#[doc(alias = "__threadfence_block")]
#[inline(always)]
#[track_caller]
pub fn fence_block() {
    backend::fence(Scope::Block);
}

/// As [`fence()`], as seen by every thread of all devices, and by the host where it maps the memory (`fence.sc.sys`).
#[doc(alias = "__threadfence_system")]
#[inline(always)]
#[track_caller]
pub fn fence_system() {
    backend::fence(Scope::System);
}
