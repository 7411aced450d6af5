//! Functions that decide by the type of a place expression. They do not compute the place's address, because that would
//! check its indices a second time.

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

/// The methods of a [`Probe`] whose type has no inherent methods of these names.
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

    /// Enters the enclosing loops before a method call on a value of this type, because the call may contain a barrier.
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

    /// Returns the step of a call from which control may return early, such as by `?`. The step ends when the value is
    /// dropped.
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
    /// Returns the storage of the elements of a slice, which is the storage of the slice.
    #[inline(always)]
    pub fn passed<W: Storage>(self, storage: W) -> W {
        storage
    }
}

impl<T, const N: usize> Probe<*const [T; N]> {
    /// Returns the storage of the elements of an array, which is the storage of the array.
    #[inline(always)]
    pub fn passed<W: Storage>(self, storage: W) -> W {
        storage
    }
}
