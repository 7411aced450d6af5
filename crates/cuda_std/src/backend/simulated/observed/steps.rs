//! The steps of a call path: calls and loops that may contain a barrier, as far as the macro knows.

use core::cell::Cell;

use simt::{Step, StepGuard};

use super::Probe;
use crate::half::{bf16, bf16x2, f16, f16x2};
use crate::{AsyncCopies, Constant, Global, GlobalMut, GlobalStatic, Shared, SharedStatic, atomic, thread};

/// A type whose methods contain no barrier if they have the names of methods of std or `cuda_std`.
pub trait Plain {}

macro_rules! plain {
    ($($type:ty;)*) => {
        $(impl Plain for $type {})*
    };
}

macro_rules! plain_of {
    ($element:ident: $($type:ty;)*) => {
        $(impl<$element> Plain for $type {})*
    };
}

plain! {
    u8; u16; u32; u64; u128; usize; i8; i16; i32; i64; i128; isize; f32; f64; bool; char; str;
    f16; bf16; f16x2; bf16x2; thread::GridStride; AsyncCopies;
    core::sync::atomic::AtomicU32; core::sync::atomic::AtomicI32; core::sync::atomic::AtomicU64;
}

plain_of! {
    T:
    Global<'_, T>; GlobalMut<'_, T>; Shared<T>; atomic::AtomicRef<'_, T>; Constant<T>; GlobalStatic<T>;
    SharedStatic<T>; *const T; *mut T; core::ptr::NonNull<T>; [T]; core::slice::Iter<'_, T>;
    core::slice::IterMut<'_, T>; core::ops::Range<T>;
}

impl<T: Plain + ?Sized> Plain for &T {}
impl<T: Plain + ?Sized> Plain for &mut T {}
impl<T: Plain> Plain for Option<T> {}
impl<T, const N: usize> Plain for [T; N] {}

/// A step of a call path that a thread leaves after a call.
pub trait CallStep {
    /// Leaves the step and returns `value`, the result of the call.
    fn leave<T>(&self, value: T) -> T;
}

impl CallStep for Step {
    #[inline(always)]
    fn leave<T>(&self, value: T) -> T {
        Self::leave(self, value)
    }
}

/// The empty step of a call that contains no barrier.
#[derive(Debug)]
pub struct NoStep;

impl NoStep {
    /// Does nothing, because the call contains no barrier.
    #[inline(always)]
    pub const fn enter(&self) -> &Self {
        self
    }
}

impl CallStep for NoStep {
    #[inline(always)]
    fn leave<T>(&self, value: T) -> T {
        value
    }
}

/// Leaves the call's `step` and returns `value`, the result of the call.
#[inline(always)]
pub fn leave<T>(step: &impl CallStep, value: T) -> T {
    step.leave(value)
}

/// The step of a loop in a call path. A thread enters the step at most once, and leaves it when the value is dropped.
#[derive(Debug)]
pub struct LoopStep {
    step: StepGuard,
    is_entered: Cell<bool>,
}

impl LoopStep {
    /// Creates the step of the loop at the caller's line.
    #[inline(always)]
    #[track_caller]
    #[expect(clippy::new_without_default, reason = "the location is the caller's")]
    pub fn new() -> Self {
        Self { step: StepGuard::new(), is_entered: Cell::new(false) }
    }

    /// Enters the loop.
    #[inline(always)]
    pub fn enter(&self) {
        if !self.is_entered.replace(true) {
            self.step.enter();
        }
    }

    /// Notes that an iteration of the loop begins.
    #[inline(always)]
    pub fn again(&self) {
        self.step.again();
    }
}

/// A call on a value of a plain type needs no step.
impl<P: Plain + ?Sized> Probe<*const P> {
    /// Does nothing, because a call on a plain value contains no barrier.
    #[inline(always)]
    pub fn in_loops(self, _loops: &[&LoopStep]) -> Self {
        self
    }

    /// Returns an empty step.
    #[inline(always)]
    pub fn step(self) -> NoStep {
        NoStep
    }

    /// Returns an empty step.
    #[inline(always)]
    pub fn guard(self) -> NoStep {
        NoStep
    }
}
