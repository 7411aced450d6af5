//! Operators of user-defined types, which may access memory through pointers and slices in their operands.
//!
//! The macros write these calls around each operator whose operands may have a user-defined type. For operands of all
//! other types the calls are empty.

use core::any::type_name;
use core::marker::PhantomData;
use core::panic::Location;

use simt::raw::{self, Callee, Through};

use super::Access;
use super::calls::{Reach, escaped_unknown, is_other, reach};
use super::names::{POINTER, is_accessed, is_made, is_slice, slice_of_numbers};

/// The types of an operator's operands.
pub trait Operands {
    /// Returns true if a user may have implemented the operator, or if it may access the targets of pointers in an
    /// operand.
    fn are_own(operator: &'static str) -> bool;
}

impl Operands for () {
    #[inline(always)]
    fn are_own(_operator: &'static str) -> bool {
        false
    }
}

impl<P: Operands, T: ?Sized> Operands for (P, PhantomData<T>) {
    #[inline(always)]
    fn are_own(operator: &'static str) -> bool {
        P::are_own(operator) || is_own::<T>(operator)
    }
}

#[inline(always)]
fn is_own<T: ?Sized>(operator: &'static str) -> bool {
    let name = type_name::<T>();
    let is_sized = size_of::<&T>() == POINTER;
    is_sized && reach(name, POINTER) == Reach::Unknown && (is_other(name) || (is_comparison(operator) && is_made(name)))
}

#[inline(always)]
fn is_comparison(operator: &'static str) -> bool {
    matches!(operator, "PartialEq" | "PartialOrd")
}

/// The receiver of a method. If `T` is a slice, the method may access all its elements.
#[derive(Clone, Copy, Debug)]
pub struct Whole<T: ?Sized>(PhantomData<T>);

impl<P: Operands, T: ?Sized> Operands for (P, Whole<T>) {
    #[inline(always)]
    fn are_own(operator: &'static str) -> bool {
        P::are_own(operator) || (size_of::<&T>() != POINTER && type_name::<T>().starts_with('['))
    }
}

/// The type of a compared value, which may be a slice whose accesses have not been reported.
#[derive(Clone, Copy, Debug)]
pub struct Compared<T>(PhantomData<T>);

impl<T> Compared<T> {
    /// Returns true for a slice if its type's name does not show the size of its elements.
    #[inline(always)]
    fn is_announced() -> bool {
        let name = type_name::<T>();
        is_slice(name) && slice_of_numbers(name).is_none()
    }
}

impl<P: Operands, T> Operands for (P, Compared<T>) {
    #[inline(always)]
    fn are_own(operator: &'static str) -> bool {
        P::are_own(operator) || is_own::<T>(operator) || Compared::<T>::is_announced()
    }
}

/// The report of an operator, which is collected before the operator is applied.
#[derive(Clone, Copy, Debug)]
pub struct Operator<P> {
    /// The name of the operator's trait.
    name: &'static str,
    at: &'static Location<'static>,
    /// The type of the first operand.
    of: Option<&'static str>,
    operands: PhantomData<P>,
}

/// Starts the report of an operator of the trait `name`.
#[inline(always)]
#[track_caller]
pub fn operator(name: &'static str) -> Operator<()> {
    Operator { name, at: Location::caller(), of: None, operands: PhantomData }
}

impl<P> Operator<P> {
    /// Adds the first operand, which is at `place`.
    #[inline(always)]
    pub fn first<T: ?Sized>(self, place: impl FnOnce() -> *const T) -> Operator<(P, PhantomData<T>)> {
        // A tuple is compared part by part, each with the operator of its own type.
        let of = Some(type_name::<T>()).filter(|name| is_other(name) && !is_made(name));
        Operator { of, ..self }.second(place)
    }

    /// Adds another operand, which is at `place`.
    #[inline(always)]
    pub fn second<T: ?Sized>(self, place: impl FnOnce() -> *const T) -> Operator<(P, PhantomData<T>)> {
        if is_own::<T>(self.name) && raw::is_followed() {
            self.hand(place());
        }
        self.with()
    }

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

    /// Adds an operand of a comparison. If it is a slice, the accesses to its elements have not been reported.
    #[inline(always)]
    pub fn compared<T>(self, place: impl FnOnce() -> *const T) -> Operator<(P, Compared<T>)> {
        let (name, at) = (type_name::<T>(), self.at);
        if is_slice(name) {
            // SAFETY: the operand is a slice by its name.
            let slice = unsafe { place().cast::<*const [()]>().read() };
            let start = slice.cast::<u8>().addr();
            match slice_of_numbers(name) {
                Some(bytes) => {
                    // No number needs a larger alignment.
                    let align = bytes.min(POINTER);
                    raw::touch_at((start, slice.len() * bytes, align), Access::Read, Through::Slice, at);
                }
                None if raw::is_followed() => raw::escaped(start, self.name, false, at),
                None => {}
            }
        } else if is_own::<T>(self.name) && raw::is_followed() {
            self.hand(place());
        }
        Operator { name: self.name, at, of: self.of, operands: PhantomData }
    }

    /// Adds the receiver of a method. The method may access all elements of a slice.
    #[inline(always)]
    pub fn whole<T: ?Sized>(self, place: impl FnOnce() -> *const T) -> Operator<(P, Whole<T>)> {
        if <((), Whole<T>)>::are_own(self.name) && raw::is_followed() {
            raw::escaped(place().cast::<u8>().addr(), self.name, true, self.at);
        }
        Operator { name: self.name, at: self.at, of: self.of, operands: PhantomData }
    }

    /// Adds a computed operand of a comparison.
    #[inline(always)]
    pub fn tagged_compared<T>(self, _tag: Tag<T>) -> Operator<(P, Compared<T>)> {
        Operator { name: self.name, at: self.at, of: self.of, operands: PhantomData }
    }

    /// Adds a computed operand.
    #[inline(always)]
    pub fn tagged<T: ?Sized>(self, _tag: Tag<T>) -> Operator<(P, PhantomData<T>)> {
        self.with()
    }

    #[inline(always)]
    fn with<T: ?Sized>(self) -> Operator<(P, PhantomData<T>)> {
        Operator { name: self.name, at: self.at, of: self.of, operands: PhantomData }
    }
}

impl<P: Operands> Operator<P> {
    /// Reports the end of the operator, and returns its result `value`.
    #[inline(always)]
    pub fn done<R>(self, value: R) -> R {
        if P::are_own(self.name) && raw::is_followed() {
            raw::returned(self.at);
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
    /// Reports that the operator of the trait `name` is applied to the target of `owner`, and returns `value`.
    #[inline(always)]
    #[track_caller]
    pub fn applied<V>(self, value: V, name: &'static str, owner: impl FnOnce(&V) -> *const T) -> V {
        operator(name).first(|| owner(&value));
        value
    }
}

impl<T> Tag<T> {
    /// Reports that the operator of the trait `name` is applied to the operand `value`, and returns the operand.
    #[inline(always)]
    #[track_caller]
    pub fn operand(self, value: T, name: &'static str) -> T {
        operator(name).second(|| &raw const value);
        value
    }

    /// Reports that the comparison of the trait `name` is applied to the operand `value`, and returns the operand.
    #[inline(always)]
    #[track_caller]
    pub fn compared(self, value: T, name: &'static str) -> T {
        operator(name).compared(|| &raw const value);
        value
    }
}
