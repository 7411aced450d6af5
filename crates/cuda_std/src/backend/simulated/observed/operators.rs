//! Operators of user-defined types, which may access memory through pointers and slices in their operands.
//!
//! The macros put calls of these functions around each operator that may have a user-defined operand or may compare
//! slices. For operands of other types, the functions do nothing.

use core::any::type_name;
use core::marker::PhantomData;
use core::panic::Location;

use simt::raw::{self, Callee, Through};

use super::Access;
use super::calls::{Reach, escaped_unknown, is_other, reach};
use super::names::{POINTER, is_accessed, is_made, is_slice, slice_of_numbers};

/// The types of an operator's operands.
pub trait Operands {
    /// Returns true if the operator may be user-defined, or may access the targets of pointers in an operand.
    fn are_own(operator: &'static str) -> bool;
}

impl Operands for () {
    #[inline(always)]
    fn are_own(_operator: &'static str) -> bool {
        false
    }
}

impl<P: Operands, T: ?Sized> Operands for (P, PhantomData<T>) {
    #[inline]
    fn are_own(operator: &'static str) -> bool {
        P::are_own(operator) || is_own::<T>(operator)
    }
}

#[inline]
fn is_own<T: ?Sized>(operator: &'static str) -> bool {
    let name = type_name::<T>();
    let is_sized = size_of::<&T>() == POINTER;
    is_sized && reach(name, POINTER) == Reach::Unknown && (is_other(name) || (is_comparison(operator) && is_made(name)))
}

#[inline]
fn is_comparison(operator: &'static str) -> bool {
    matches!(operator, "PartialEq" | "PartialOrd")
}

/// The type of a method's receiver. Only a slice is considered: the method may access all its elements.
#[derive(Clone, Copy, Debug)]
pub struct Whole<T: ?Sized>(PhantomData<T>);

impl<P: Operands, T: ?Sized> Operands for (P, Whole<T>) {
    #[inline]
    fn are_own(operator: &'static str) -> bool {
        P::are_own(operator) || (size_of::<&T>() != POINTER && type_name::<T>().starts_with('['))
    }
}

/// The type of a compared operand. It may be a slice, and no other report covers the accesses to its elements.
#[derive(Clone, Copy, Debug)]
pub struct Compared<T>(PhantomData<T>);

impl<T> Compared<T> {
    /// Returns true if `T` is a slice and its name does not show the size of the elements.
    #[inline]
    fn is_announced() -> bool {
        let name = type_name::<T>();
        is_slice(name) && slice_of_numbers(name).is_none()
    }
}

impl<P: Operands, T> Operands for (P, Compared<T>) {
    #[inline]
    fn are_own(operator: &'static str) -> bool {
        P::are_own(operator) || is_own::<T>(operator) || Compared::<T>::is_announced()
    }
}

/// The trait of an operator, its position in the source, and the type of its first operand.
///
/// The methods are generic only in the operand's type, and take no closures from the macros. Otherwise the compiler
/// would generate separate code for each of a kernel's hundreds of calls.
#[derive(Clone, Copy, Debug)]
struct Head {
    name: &'static str,
    at: &'static Location<'static>,
    of: Option<&'static str>,
}

impl Head {
    /// Returns true if the checker follows pointers and the operator may use pointers in an operand of type `T`.
    #[inline]
    fn follows<T: ?Sized>(&self) -> bool {
        is_own::<T>(self.name) && raw::is_followed()
    }

    /// Reports that the operator receives `value`.
    #[inline(never)]
    fn hand<T: ?Sized>(&self, value: *const T) {
        let name = type_name::<T>();
        if !is_made(name) || is_accessed(name) {
            // SAFETY: the macros pass the address of an operand.
            let bytes = unsafe { size_of_val(&*value) };
            let callee = Callee { function: self.name, of: self.of };
            // SAFETY: the macros pass the address of an operand, whose size is `bytes`.
            unsafe { escaped_unknown(name, (value.cast(), bytes), callee, self.at) };
        }
    }

    /// Returns true if [`compare`](Self::compare) has something to report for an operand of type `T`.
    #[inline]
    fn compares<T>(&self) -> bool {
        is_slice(type_name::<T>()) || self.follows::<T>()
    }

    /// Reports the accesses that a comparison makes through its operand at `place`.
    #[inline(never)]
    fn compare<T>(&self, place: *const T) {
        let name = type_name::<T>();
        if !is_slice(name) {
            return self.hand(place);
        }
        // SAFETY: the name of the operand's type shows that it is a slice.
        let slice = unsafe { place.cast::<*const [()]>().read() };
        let start = slice.cast::<u8>().addr();
        match slice_of_numbers(name) {
            Some(bytes) => {
                // No number needs a larger alignment.
                let align = bytes.min(POINTER);
                raw::touch_at((start, slice.len() * bytes, align), Access::Read, Through::Slice, self.at);
            }
            None if raw::is_followed() => raw::escaped(start, self.name, false, self.at),
            None => {}
        }
    }
}

/// Returns the name of `T` if `T` is a user-defined type, whose own operator is then applied.
#[inline]
fn owner<T: ?Sized>() -> Option<&'static str> {
    let name = type_name::<T>();
    // A tuple is compared part by part, each with the operator of its own type.
    (is_other(name) && !is_made(name)).then_some(name)
}

/// The report of an operator and its operands, made before the operator is applied.
#[derive(Clone, Copy, Debug)]
pub struct Operator<P> {
    head: Head,
    operands: PhantomData<P>,
}

/// Starts the report of an operator of the trait `name`.
#[inline(always)]
#[track_caller]
pub fn operator(name: &'static str) -> Operator<()> {
    Operator { head: Head { name, at: Location::caller(), of: None }, operands: PhantomData }
}

// The closures are `Copy`, so that no code is needed to drop them.
impl<P> Operator<P> {
    /// Adds the first operand, which is at `place`.
    #[inline(always)]
    pub fn first<T: ?Sized>(mut self, place: impl FnOnce() -> *const T + Copy) -> Operator<(P, PhantomData<T>)> {
        self.head.of = owner::<T>();
        self.second(place)
    }

    /// Adds another operand, which is at `place`.
    #[inline(always)]
    pub fn second<T: ?Sized>(self, place: impl FnOnce() -> *const T + Copy) -> Operator<(P, PhantomData<T>)> {
        if self.head.follows::<T>() {
            self.head.hand(place());
        }
        self.with()
    }

    /// Adds an operand of a comparison. If the operand is a slice, reports that the comparison reads its elements.
    #[inline(always)]
    pub fn compared<T>(self, place: impl FnOnce() -> *const T + Copy) -> Operator<(P, Compared<T>)> {
        if self.head.compares::<T>() {
            self.head.compare(place());
        }
        self.with()
    }

    /// Adds the receiver of a method. The method may access all elements of a slice.
    #[inline(always)]
    pub fn whole<T: ?Sized>(self, place: impl FnOnce() -> *const T + Copy) -> Operator<(P, Whole<T>)> {
        if <((), Whole<T>)>::are_own(self.head.name) && raw::is_followed() {
            raw::escaped(place().cast::<u8>().addr(), self.head.name, true, self.head.at);
        }
        self.with()
    }

    /// Adds a computed operand of a comparison.
    #[inline(always)]
    pub fn tagged_compared<T>(self, _tag: Tag<T>) -> Operator<(P, Compared<T>)> {
        self.with()
    }

    /// Adds a computed operand.
    #[inline(always)]
    pub fn tagged<T: ?Sized>(self, _tag: Tag<T>) -> Operator<(P, PhantomData<T>)> {
        self.with()
    }

    #[inline(always)]
    fn with<Q>(self) -> Operator<Q> {
        Operator { head: self.head, operands: PhantomData }
    }
}

impl<P: Operands> Operator<P> {
    /// Reports that the operator has returned, and returns its result `value`.
    #[inline(always)]
    pub fn done<R>(self, value: R) -> R {
        if P::are_own(self.head.name) && raw::is_followed() {
            raw::returned(self.head.at);
        }
        value
    }
}

/// The type of a computed operand.
#[derive(Debug)]
pub struct Tag<T: ?Sized>(PhantomData<T>);

impl<T: ?Sized> Clone for Tag<T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for Tag<T> {}

/// Returns a tag whose type the compiler infers from the operand.
#[inline(always)]
pub fn tag<T: ?Sized>() -> Tag<T> {
    Tag(PhantomData)
}

impl<T: ?Sized> Tag<T> {
    /// Reports that the operator of the trait `name` is applied to the operand at `owner(&value)`, and returns `value`.
    #[inline(always)]
    #[track_caller]
    pub fn applied<V>(self, value: V, name: &'static str, owner: impl FnOnce(&V) -> *const T + Copy) -> V {
        operator(name).first(|| owner(&value));
        value
    }
}

impl<T> Tag<T> {
    /// Reports that `value` is an operand of an operator of the trait `name`, and returns `value`.
    #[inline(always)]
    #[track_caller]
    pub fn operand(self, value: T, name: &'static str) -> T {
        operator(name).second(|| &raw const value);
        value
    }

    /// Reports that `value` is an operand of a comparison by the trait `name`, and returns `value`.
    #[inline(always)]
    #[track_caller]
    pub fn compared(self, value: T, name: &'static str) -> T {
        operator(name).compared(|| &raw const value);
        value
    }
}
