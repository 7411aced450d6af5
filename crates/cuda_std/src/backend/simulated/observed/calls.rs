//! Calls that pointers and slices are handed to.
//!
//! What is handed over is looked at by its type's name, and not by methods: where the macros write this, the compiler need
//! not know the type yet.

use core::any::type_name;
use core::panic::Location;

use simt::raw;

use super::At;

/// What may be written through a pointer or a slice.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// It is neither.
    None,
    Read,
    Write,
}

/// Of a `T`. The compiler knows the answer.
#[inline(always)]
fn reach<T>() -> Reach {
    let name = type_name::<T>().as_bytes();
    let is_wide = size_of::<T>() == 2 * size_of::<usize>();
    match name {
        [b'*', b'c', ..] => Reach::Read,
        [b'*', b'm', ..] => Reach::Write,
        [b'&', b'[', ..] if is_wide => Reach::Read,
        [b'&', b'm', b'u', b't', b' ', b'[', ..] if is_wide => Reach::Write,
        _ => Reach::None,
    }
}

/// The address in a pointer or a slice.
///
/// # Safety
/// `value` must point to one of them.
#[inline(always)]
unsafe fn address<T>(value: At<*const T>) -> usize {
    // SAFETY: the caller's word: both begin with the address.
    unsafe { value.0.cast::<*const u8>().read() }.addr()
}

/// What has been handed to a function that is called here.
#[derive(Clone, Copy, Debug)]
pub struct Handed(Option<&'static Location<'static>>);

/// Before the value at `value` is handed to `function`.
#[inline(always)]
#[track_caller]
pub fn handed<T>(value: At<*const T>, function: &'static str) -> Handed {
    let reach = reach::<T>();
    if reach == Reach::None {
        return Handed(None);
    }
    let at = Location::caller();
    if raw::is_followed() {
        // SAFETY: by its type it is one of them, and the macros take the address of a variable, or of a value that lives as
        // long as this.
        raw::handed(unsafe { address(value) }, function, reach == Reach::Write, at);
    }
    Handed(Some(at))
}

impl Handed {
    /// This and `other`, of the same call.
    #[inline(always)]
    pub fn and(self, other: Self) -> Self {
        Self(self.0.or(other.0))
    }
}

/// What a function has returned, to which something was handed.
#[inline(always)]
pub fn after<T>(value: T, handed: Handed) -> T {
    if let Some(at) = handed.0
        && raw::is_followed()
    {
        raw::returned(at);
    }
    value
}

/// Before the value at `value` is put into another.
#[inline(always)]
pub fn kept<T>(value: At<*const T>) {
    if reach::<T>() == Reach::Write && raw::is_followed() {
        // SAFETY: as in `handed`.
        raw::kept(unsafe { address(value) });
    }
}
