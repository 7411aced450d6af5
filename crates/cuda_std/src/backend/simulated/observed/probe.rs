//! Decisions by the type of a place expression. They do not compute its address, which would check its indices once
//! more.

use core::marker::PhantomData;

use simt::{Step, StepGuard};

use super::steps::{LoopStep, NoStep};
use super::{Own, Sliced, Storage};

/// The type of the pointer to a place expression.
pub struct Probe<P>(PhantomData<P>);

/// Returns the type of the pointer that `address` would return.
#[inline(always)]
pub fn probe<P: ?Sized>(_address: impl FnOnce() -> *const P) -> Probe<*const P> {
    Probe(PhantomData)
}

/// The methods for places of all types that have no methods of their own here.
pub trait OtherProbe: Sized {
    /// Returns true if the storage of the elements depends on the address.
    #[inline(always)]
    fn takes_address(&self) -> bool {
        false
    }

    /// Returns the storage of the elements of a place expression in `_storage`.
    #[inline(always)]
    fn passed<W: Storage>(self, _storage: W) -> Own {
        Own
    }

    /// Enters the enclosing loops before a call on a value of this type, which may contain a barrier.
    #[inline(always)]
    fn in_loops(self, loops: &[&LoopStep]) -> Self {
        loops.iter().for_each(|step| step.enter());
        self
    }

    /// Returns the step that a call on a value of this type adds to the call path.
    #[inline(always)]
    #[track_caller]
    fn step(self) -> Step {
        Step::new()
    }

    /// Returns the step that a call adds to the call path if the call may end early.
    #[inline(always)]
    #[track_caller]
    fn guard(self) -> StepGuard {
        StepGuard::new()
    }

    /// Returns an empty step, for a call that is not in a branch.
    #[inline(always)]
    fn no_step(self) -> NoStep {
        NoStep
    }
}

impl<P> OtherProbe for Probe<P> {}

macro_rules! slices {
    ($($slice:ty)*) => {$(
        impl<T> Probe<*const $slice> {
            /// Returns true because the storage of the elements depends on the address.
            #[inline(always)]
            pub fn takes_address(&self) -> bool {
                true
            }

            /// Returns the storage of the elements.
            #[inline(always)]
            pub fn passed<W: Storage>(self, _storage: W) -> Sliced {
                Sliced
            }
        }
    )*};
}

slices! { &[T] &mut [T] }

impl<T> Probe<*const [T]> {
    /// Returns the storage of the elements of a slice, which is that of the slice.
    #[inline(always)]
    pub fn passed<W: Storage>(self, storage: W) -> W {
        storage
    }
}

impl<T, const N: usize> Probe<*const [T; N]> {
    /// Returns the storage of the elements of an array, which is that of the array.
    #[inline(always)]
    pub fn passed<W: Storage>(self, storage: W) -> W {
        storage
    }
}
