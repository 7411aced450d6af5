//! Calls of functions that receive pointers and slices.
//!
//! The name of a value's type decides how the value is searched for pointers. Methods cannot decide this, because
//! the compiler may infer the type only after the call that the macro writes. The name shows everything about a
//! pointer, a slice, a tuple or an array. It does not show the content of a structure. The simulator therefore notes
//! each pointer that becomes a part of a structure, and later searches the structure's bytes for the noted pointers.

use core::any::type_name;
use core::mem::MaybeUninit;
use core::panic::Location;
use core::sync::atomic::{AtomicU64, Ordering};

use simt::raw::{self, Callee};

use super::At;
use super::names::{POINTER, array, behind, is_of_std};

/// The kind of pointers that a value contains.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// The value contains no pointers, or only observed ones.
    None,
    /// The value is a pointer or a slice for reading.
    Read,
    /// The value is a pointer or a slice for writing.
    Write,
    /// The start of the type's name does not show the kind, so the rest of the name or the value's bytes must be
    /// examined.
    Unknown,
}

/// Returns the kind of pointers in a value whose type has the name `name` and the size `bytes`. The optimiser evaluates
/// the call at compile time. The function is not generic, so the program contains it only once.
#[inline(always)]
pub(super) fn reach(name: &'static str, bytes: usize) -> Reach {
    if bytes < POINTER {
        return Reach::None;
    }
    let is_wide = bytes == 2 * POINTER;
    match name.as_bytes() {
        [b'*', b'c', ..] => Reach::Read,
        [b'*', b'm', ..] => Reach::Write,
        [b'&', b'[', ..] if is_wide => Reach::Read,
        [b'&', b'm', b'u', b't', b' ', b'[', ..] if is_wide => Reach::Write,
        // These names are references to references, or to types that may contain references.
        [b'&', b'&' | b'(', ..]
        | [b'&', b'[', b'&' | b'(', ..]
        | [b'&', b'm', b'u', b't', b' ', b'&' | b'(', ..]
        | [b'&', b'm', b'u', b't', b' ', b'[', b'&' | b'(', ..] => Reach::Unknown,
        // The accesses through such a reference are reported where it is made. Numbers and observed types contain no
        // pointer.
        [b'&', ..]
        | [b'u' | b'i' | b'f', b'0'..=b'9', b'0'..=b'9']
        | [b'u' | b'i', b'8']
        | [b'u' | b'i', b'1', b'2', b'8']
        | b"bool"
        | b"char"
        | [b'u' | b'i', b's', b'i', b'z', b'e']
        | [b'c', b'u', b'd', b'a', b'_', b's', b't', b'd', b':', ..] => Reach::None,
        _ => Reach::Unknown,
    }
}

/// Returns true for names of all types except arrays, slices, pointers, references and types of the standard library.
#[inline(always)]
pub(super) fn is_other(name: &'static str) -> bool {
    !is_of_std(name) && !matches!(name.as_bytes(), [b'[' | b'*' | b'&', ..])
}

/// The pointers that a type's name shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    /// No pointers.
    Silent,
    /// Pointers for reading.
    Read,
    /// Pointers for writing.
    Write,
    /// Observed iterators and closures, whose accesses are reported.
    Observed,
}

impl Name {
    fn of(name: &str) -> Self {
        let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
        let is_iterator = || has(&["slice::iter::"]);
        if has(&["::Observed<", "{{closure}}"]) {
            Self::Observed
        } else if has(&["*mut ", "&mut [", "::NonNull<"]) || (is_iterator() && has(&["Mut<"])) {
            Self::Write
        } else if is_iterator() || has(&["*const ", "&["]) {
            Self::Read
        } else {
            Self::Silent
        }
    }
}

/// Returns [`Name::of`] of `name` from a cache, so that each name is searched once and not once per call.
fn known(name: &'static str) -> Name {
    const ALL: [Name; 4] = [Name::Silent, Name::Read, Name::Write, Name::Observed];
    const SLOTS: usize = 1024;
    /// Each slot holds the address and the length of a name, and in its two lowest bits the [`Name`]. Names with the
    /// same slot replace each other. No name is empty, so no entry is 0.
    static KNOWN: [AtomicU64; SLOTS] = [const { AtomicU64::new(0) }; SLOTS];

    let key = (name.as_ptr().addr() as u64) << 18 | ((name.len() as u64) & 0xffff) << 2;
    let slot = &KNOWN[(key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54) as usize];
    // A slot is one word, so a read returns a whole entry.
    let found = slot.load(Ordering::Relaxed);
    if found & !3 == key {
        return ALL[(found & 3) as usize];
    }
    let shows = Name::of(name);
    slot.store(key | shows as u64, Ordering::Relaxed);
    shows
}

/// Returns the address in a pointer or a slice.
///
/// # Safety
/// `value` must point to a pointer or a slice.
#[inline(always)]
unsafe fn address<T>(value: At<*const T>) -> usize {
    // SAFETY: the caller guarantees a pointer or a slice; both begin with the address.
    unsafe { value.0.cast::<*const u8>().read() }.addr()
}

/// Returns the aligned words among the `bytes` bytes at `start`. Only these words can contain pointers.
///
/// # Safety
/// The bytes must belong to a value that lives for `'a`.
unsafe fn words<'a>(start: *const u8, bytes: usize) -> &'a [MaybeUninit<usize>] {
    // Pointers are aligned to their size.
    let skipped = start.align_offset(align_of::<usize>());
    let len = bytes.saturating_sub(skipped) / size_of::<usize>();
    if len == 0 {
        return &[];
    }
    // SAFETY: these words are in the value, and need not be initialised.
    unsafe { core::slice::from_raw_parts(start.add(skipped).cast(), len) }
}

/// Reports that `callee` receives a value whose type has the name `name`.
///
/// # Safety
/// The value must be the `bytes` bytes at `start`, or begin with them.
#[cold]
#[inline(never)]
pub(super) unsafe fn escaped_unknown(
    name: &'static str,
    (start, bytes): (*const u8, usize),
    callee: Callee,
    at: &'static Location<'static>,
) {
    let is_shown = match known(name) {
        Name::Observed => return,
        Name::Silent => None,
        Name::Read => Some(false),
        Name::Write => Some(true),
    };
    if let Some((inner, least)) = behind(name) {
        // SAFETY: the value is a reference, and its target has at least this size.
        return unsafe { escaped_unknown(inner, (start.cast::<*const u8>().read(), least), callee, at) };
    }
    if let Some((element, len)) = array(name)
        && behind(element).is_some()
    {
        // SAFETY: the value is an array of this number of references.
        let look = |index| unsafe { escaped_unknown(element, (start.add(index * POINTER), POINTER), callee, at) };
        return (0..len).for_each(look);
    }
    // SAFETY: the caller guarantees that the value exists, and it does not change during the call.
    raw::escaped_value(unsafe { words(start, bytes) }, is_shown, callee, at);
}

/// The report of a call's arguments. It contains the source position of the call.
#[derive(Clone, Copy, Debug)]
pub struct Escaped(&'static Location<'static>);

/// Starts the report of a call.
#[inline(always)]
#[track_caller]
pub fn calling() -> Escaped {
    Escaped(Location::caller())
}

impl Escaped {
    /// Reports that `function` receives the value at `value`.
    #[inline(always)]
    pub fn value<T>(self, value: At<*const T>, function: &'static str) -> Self {
        let reach = reach(type_name::<T>(), size_of::<T>());
        if reach != Reach::None && raw::is_followed() {
            match reach {
                // SAFETY: the macros pass the address of a variable, or of a value that lives long enough.
                Reach::Unknown => unsafe {
                    escaped_unknown(type_name::<T>(), (value.0.cast(), size_of::<T>()), function.into(), self.0);
                },
                // SAFETY: the macros pass the address of a live value, which is a pointer or a slice by its type.
                _ => raw::escaped(unsafe { address(value) }, function, reach == Reach::Write, self.0),
            }
        }
        self
    }

    /// Reports that the method `function` is called on the value at `value`, if the value has a user-defined type. A
    /// method of this name on a slice or a pointer is observed instead.
    #[inline(always)]
    pub fn other<T>(self, value: At<*const T>, function: &'static str) -> Self {
        if is_other(type_name::<T>()) && reach(type_name::<T>(), size_of::<T>()) == Reach::Unknown {
            return self.value(value, function);
        }
        self
    }

    /// Reports a call like [`other`](Self::other), on a variable that is a reference to the value at `value`.
    #[inline(always)]
    pub fn other_referred<T: ?Sized>(self, value: At<*const T>, function: &'static str) -> Self {
        if is_other(type_name::<T>()) { self.referred(value, function) } else { self }
    }

    /// Reports that `function` receives a reference to the value at `value`.
    #[inline(always)]
    pub fn referred<T: ?Sized>(self, value: At<*const T>, function: &'static str) -> Self {
        let name = type_name::<T>();
        let is_sized = size_of::<&T>() == POINTER;
        // Dynamically sized types except slices are excluded.
        let is_slice = !is_sized && name.starts_with('[');
        if (is_sized || is_slice) && !name.starts_with("cuda_std::") && raw::is_followed() {
            let start = value.0.cast::<u8>();
            if is_slice {
                raw::escaped(start.addr(), function, true, self.0);
            } else {
                // SAFETY: the kernel holds a reference to the value.
                unsafe { escaped_unknown(name, (start, size_of_val(&*value.0)), function.into(), self.0) };
            }
        }
        self
    }
}

/// Reports that `function` receives the computed `value`, and returns the value.
#[inline(always)]
#[track_caller]
pub fn passed<T>(value: T, function: &'static str) -> T {
    let at = At(&raw const value);
    Escaped(Location::caller()).value(at, function);
    value
}

/// Reports that the method `function` is called on the computed `value`, and returns the value. Methods of the standard
/// library's types are not reported, because they access nothing.
#[inline(always)]
#[track_caller]
pub fn received<T>(value: T, function: &'static str) -> T {
    if is_of_std(type_name::<T>()) {
        return value;
    }
    passed(value, function)
}

/// Reports the end of the call `escaped`, and returns its result `value`.
#[inline(always)]
pub fn after<T>(escaped: Escaped, value: T) -> T {
    if raw::is_followed() {
        raw::returned(escaped.0);
    }
    value
}

/// Reports the end of a call like [`after`], for a function named `from_ptr`. For `cuda_std`'s atomic types, the
/// simulator checks the accesses of this function and counts the call as entered.
#[inline(always)]
pub fn after_from_ptr<T>(escaped: Escaped, value: T) -> T {
    if type_name::<T>().starts_with("&cuda_std::atomic::") {
        raw::entered("from_ptr");
    }
    after(escaped, value)
}

/// Notes that the value at `value` becomes a part of another value.
#[inline(always)]
pub fn retained<T>(value: At<*const T>) {
    let reach = reach(type_name::<T>(), size_of::<T>());
    if matches!(reach, Reach::Read | Reach::Write) && raw::is_followed() {
        // SAFETY: the macros pass the address of a live value, which is a pointer or a slice by its type.
        raw::retained(unsafe { address(value) }, reach == Reach::Write);
    }
}

/// Notes that the computed `value` becomes a part of another value, and returns the value.
#[inline(always)]
pub fn retaining<T>(value: T) -> T {
    retained(At(&raw const value));
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shows<T>(_: &T) -> Name {
        let name = type_name::<T>();
        let first = known(name);
        assert_eq!(first, Name::of(name), "{name}");
        assert_eq!(known(name), first, "the second look-up of {name}");
        first
    }

    #[test]
    fn the_name_of_a_type_shows_what_its_pointers_are_for() {
        let mut numbers = [1_u32, 2];
        assert_eq!(shows(&(1_u64, 2_u64)), Name::Silent);
        assert_eq!(shows(&(numbers.as_ptr(), 2_usize)), Name::Read);
        assert_eq!(shows(&(&numbers[..], 2_usize)), Name::Read);
        assert_eq!(shows(&numbers.iter()), Name::Read);
        assert_eq!(shows(&[numbers.as_mut_ptr(); 2]), Name::Write);
        assert_eq!(shows(&(&mut numbers[..], 2_usize)), Name::Write);
        assert_eq!(shows(&numbers.iter_mut()), Name::Write);
        assert_eq!(shows(&core::ptr::NonNull::from(&mut numbers)), Name::Write);
        assert_eq!(shows(&|| numbers.len()), Name::Observed);
    }
}
