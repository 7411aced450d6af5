//! Calls that pointers and slices are handed to.

use core::panic::Location;

use simt::raw;

/// What is to be done when the function has returned.
pub trait Token: Copy {
    /// Does it.
    fn returned(self);
}

/// Nothing: the argument was neither a pointer nor a slice.
impl Token for () {
    #[inline(always)]
    fn returned(self) {}
}

/// That of one argument, and of the others.
impl<A: Token, B: Token> Token for (A, B) {
    #[inline(always)]
    fn returned(self) {
        self.0.returned();
        self.1.returned();
    }
}

/// A pointer or a slice is handed to a function that is called here.
#[derive(Clone, Copy, Debug)]
pub struct Handed(&'static Location<'static>);

impl Handed {
    #[inline(always)]
    #[track_caller]
    pub(super) fn new(address: usize, function: &'static str, is_written: bool) -> Self {
        let at = Location::caller();
        if raw::is_followed() {
            raw::handed(address, function, is_written, at);
        }
        Self(at)
    }
}

impl Token for Handed {
    #[inline(always)]
    fn returned(self) {
        if raw::is_followed() {
            raw::returned(self.0);
        }
    }
}

/// What a function has returned, to whom something was handed.
#[inline(always)]
pub fn after<T, K: Token>(value: T, token: K) -> T {
    token.returned();
    value
}
