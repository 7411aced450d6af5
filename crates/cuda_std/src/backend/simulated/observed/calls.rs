//! Calls that pointers and slices are handed to.
//!
//! What is handed over is looked at by its type's name, and not by methods: where the macros write this, the compiler
//! need not know the type yet. The name tells all of a pointer, a slice, a tuple or an array. Of a structure it does
//! not tell what is in it: the pointers that are put into one are noted, and looked for in its bytes.

use core::any::type_name;
use core::mem::MaybeUninit;
use core::panic::Location;
use core::sync::atomic::{AtomicU64, Ordering};

use simt::raw::{self, Callee};

use super::At;
use super::names::{POINTER, array, behind, is_of_std};

/// What there is of pointers in a value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Nothing, or what is observed wherever it is.
    None,
    /// It is a pointer or a slice, through which is read.
    Read,
    /// It is one, through which may be written.
    Write,
    /// The rest of the type's name, or the bytes, have to be looked at.
    Unknown,
}

/// Of a type of that name and size. The compiler knows the answer; the function is no generic one, so that there is one
/// of it.
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
        // References to others, or to what may have them in it.
        [b'&', b'&' | b'(', ..]
        | [b'&', b'[', b'&' | b'(', ..]
        | [b'&', b'm', b'u', b't', b' ', b'&' | b'(', ..]
        | [b'&', b'm', b'u', b't', b' ', b'[', b'&' | b'(', ..] => Reach::Unknown,
        // What such a reference shows is told of where it is made. Numbers, and what is observed itself.
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

/// Whether it is neither that nor an array, a slice or a pointer.
#[inline(always)]
pub(super) fn is_other(name: &'static str) -> bool {
    !is_of_std(name) && !matches!(name.as_bytes(), [b'[' | b'*' | b'&', ..])
}

/// What the name of a type shows of the pointers in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    /// Nothing.
    Silent,
    /// They are read from.
    Read,
    /// They may be written through.
    Write,
    /// What observed iterators and closures access is told of.
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

/// As [`Name::of`], which searches a type's name once, not once per call.
fn known(name: &'static str) -> Name {
    const ALL: [Name; 4] = [Name::Silent, Name::Read, Name::Write, Name::Observed];
    const SLOTS: usize = 1024;
    /// The address and the length of a name, and what it shows in the two lowest bits. Names that share a slot take it
    /// from each other. No type's name is empty, so none is 0.
    static KNOWN: [AtomicU64; SLOTS] = [const { AtomicU64::new(0) }; SLOTS];

    let key = (name.as_ptr().addr() as u64) << 18 | ((name.len() as u64) & 0xffff) << 2;
    let slot = &KNOWN[(key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54) as usize];
    // A slot is one word: whoever reads it has a whole entry.
    let found = slot.load(Ordering::Relaxed);
    if found & !3 == key {
        return ALL[(found & 3) as usize];
    }
    let shows = Name::of(name);
    slot.store(key | shows as u64, Ordering::Relaxed);
    shows
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

/// The words of the `bytes` bytes at `start` that pointers may be in.
///
/// # Safety
/// The bytes must be a value's, for as long as `'a` lasts.
unsafe fn words<'a>(start: *const u8, bytes: usize) -> &'a [MaybeUninit<usize>] {
    // No pointer is at another place than a multiple of its size.
    let skipped = start.align_offset(align_of::<usize>());
    let len = bytes.saturating_sub(skipped) / size_of::<usize>();
    if len == 0 {
        return &[];
    }
    // SAFETY: these words are in the value, and need not be initialised.
    unsafe { core::slice::from_raw_parts(start.add(skipped).cast(), len) }
}

/// A value of a type of that name is handed to `callee`.
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
        // SAFETY: the value is a reference, and what it leads to is so large at least.
        return unsafe { escaped_unknown(inner, (start.cast::<*const u8>().read(), least), callee, at) };
    }
    if let Some((element, len)) = array(name)
        && behind(element).is_some()
    {
        // SAFETY: the value is so many references.
        let look = |index| unsafe { escaped_unknown(element, (start.add(index * POINTER), POINTER), callee, at) };
        return (0..len).for_each(look);
    }
    // SAFETY: the caller's word; the value is not changed meanwhile.
    raw::escaped_value(unsafe { words(start, bytes) }, is_shown, callee, at);
}

/// A call that something is handed to.
#[derive(Clone, Copy, Debug)]
pub struct Escaped(&'static Location<'static>);

/// Before a function is called.
#[inline(always)]
#[track_caller]
pub fn calling() -> Escaped {
    Escaped(Location::caller())
}

impl Escaped {
    /// Before the value at `value` is handed to `function`.
    #[inline(always)]
    pub fn value<T>(self, value: At<*const T>, function: &'static str) -> Self {
        let reach = reach(type_name::<T>(), size_of::<T>());
        if reach != Reach::None && raw::is_followed() {
            match reach {
                // SAFETY: the macros take the address of a variable, or of a value that lives as long as this.
                Reach::Unknown => unsafe {
                    escaped_unknown(type_name::<T>(), (value.0.cast(), size_of::<T>()), function.into(), self.0);
                },
                // SAFETY: as above, and by its type it is one of them.
                _ => raw::escaped(unsafe { address(value) }, function, reach == Reach::Write, self.0),
            }
        }
        self
    }

    /// Before a method is called on the value at `value` whose name, `function`, is one of slices' or pointers': on
    /// these it is observed, and a type of one's own may have another.
    #[inline(always)]
    pub fn other<T>(self, value: At<*const T>, function: &'static str) -> Self {
        if is_other(type_name::<T>()) && reach(type_name::<T>(), size_of::<T>()) == Reach::Unknown {
            return self.value(value, function);
        }
        self
    }

    /// The same of a variable that is a reference to what is at `value`.
    #[inline(always)]
    pub fn other_referred<T: ?Sized>(self, value: At<*const T>, function: &'static str) -> Self {
        if is_other(type_name::<T>()) { self.referred(value, function) } else { self }
    }

    /// Before a reference to what is at `value` is handed to `function`.
    #[inline(always)]
    pub fn referred<T: ?Sized>(self, value: At<*const T>, function: &'static str) -> Self {
        let name = type_name::<T>();
        let is_sized = size_of::<&T>() == POINTER;
        // A slice, if not what is known by its methods alone.
        let is_slice = !is_sized && name.starts_with('[');
        if (is_sized || is_slice) && !name.starts_with("cuda_std::") && raw::is_followed() {
            let start = value.0.cast::<u8>();
            if is_slice {
                raw::escaped(start.addr(), function, true, self.0);
            } else {
                // SAFETY: the kernel has a reference to it.
                unsafe { escaped_unknown(name, (start, size_of_val(&*value.0)), function.into(), self.0) };
            }
        }
        self
    }
}

/// `value`, which has been computed, and is handed to `function`.
#[inline(always)]
#[track_caller]
pub fn passed<T>(value: T, function: &'static str) -> T {
    let at = At(&raw const value);
    Escaped(Location::caller()).value(at, function);
    value
}

/// As [`passed`], of what a method is called on. Those of the standard library's own types access nothing.
#[inline(always)]
#[track_caller]
pub fn received<T>(value: T, function: &'static str) -> T {
    if is_of_std(type_name::<T>()) {
        return value;
    }
    passed(value, function)
}

/// What a function has returned, to which something may have been handed.
#[inline(always)]
pub fn after<T>(escaped: Escaped, value: T) -> T {
    if raw::is_followed() {
        raw::returned(escaped.0);
    }
    value
}

/// As [`after`], of a function that is called `from_ptr`: those of `cuda_std`'s atomic types are observed.
#[inline(always)]
pub fn after_from_ptr<T>(escaped: Escaped, value: T) -> T {
    if type_name::<T>().starts_with("&cuda_std::atomic::") {
        raw::entered("from_ptr");
    }
    after(escaped, value)
}

/// Before the value at `value` is put into another.
#[inline(always)]
pub fn retained<T>(value: At<*const T>) {
    let reach = reach(type_name::<T>(), size_of::<T>());
    if matches!(reach, Reach::Read | Reach::Write) && raw::is_followed() {
        // SAFETY: as in `Escaped::value`.
        raw::retained(unsafe { address(value) }, reach == Reach::Write);
    }
}

/// `value`, which has been computed, and is put into another.
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
        assert_eq!(known(name), first, "asked again: {name}");
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
