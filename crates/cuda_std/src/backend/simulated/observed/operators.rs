//! Operators of types of one's own, which may access what pointers and slices in their operands lead to.
//!
//! The macros write this around each operator whose operands may be of such a type. For all others nothing remains of
//! it.

use core::any::type_name;
use core::marker::PhantomData;
use core::panic::Location;

use simt::raw::{self, Callee, Through};

use super::Access;
use super::calls::{Reach, escaped_unknown, is_other, reach};
use super::names::{POINTER, is_accessed, is_made, is_slice, slice_of_numbers};

/// The types of operands.
pub trait Operands {
    /// Whether the operator of that trait may be a function of somebody's own, or access what pointers in one of them
    /// lead to.
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

/// A slice that a method is called on, if `T` is one.
#[derive(Clone, Copy, Debug)]
pub struct Whole<T: ?Sized>(PhantomData<T>);

impl<P: Operands, T: ?Sized> Operands for (P, Whole<T>) {
    #[inline(always)]
    fn are_own(operator: &'static str) -> bool {
        P::are_own(operator) || (size_of::<&T>() != POINTER && type_name::<T>().starts_with('['))
    }
}

/// What is compared, and may be a slice of which nothing has been told.
#[derive(Clone, Copy, Debug)]
pub struct Compared<T>(PhantomData<T>);

impl<T> Compared<T> {
    /// Whether it is a slice whose elements have a size that its name does not show.
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

/// An operator that is about to be applied.
#[derive(Clone, Copy, Debug)]
pub struct Operator<P> {
    /// Its trait.
    name: &'static str,
    at: &'static Location<'static>,
    /// The type of the first operand.
    of: Option<&'static str>,
    operands: PhantomData<P>,
}

/// Before an operator of the trait `name` is applied.
#[inline(always)]
#[track_caller]
pub fn operator(name: &'static str) -> Operator<()> {
    Operator { name, at: Location::caller(), of: None, operands: PhantomData }
}

impl<P> Operator<P> {
    /// With the first operand, which is at `place`.
    #[inline(always)]
    pub fn first<T: ?Sized>(self, place: impl FnOnce() -> *const T) -> Operator<(P, PhantomData<T>)> {
        // What is compared with a tuple's operator is its parts, each with its own.
        let of = Some(type_name::<T>()).filter(|name| is_other(name) && !is_made(name));
        Operator { of, ..self }.second(place)
    }

    /// With another operand, which is at `place`.
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
            // SAFETY: it is an operand's place.
            let bytes = unsafe { size_of_val(&*value) };
            let callee = Callee { function: self.name, of: self.of };
            // SAFETY: as above.
            unsafe { escaped_unknown(name, (value.cast(), bytes), callee, self.at) };
        }
    }

    /// With an operand of a comparison that is at `place`, and of whose elements nothing is told, should it be a slice.
    #[inline(always)]
    pub fn compared<T>(self, place: impl FnOnce() -> *const T) -> Operator<(P, Compared<T>)> {
        let (name, at) = (type_name::<T>(), self.at);
        if is_slice(name) {
            // SAFETY: it is a slice, by its name, and an operand.
            let slice = unsafe { place().cast::<*const [()]>().read() };
            let start = slice.cast::<u8>().addr();
            match slice_of_numbers(name) {
                Some(bytes) => {
                    // No number need be aligned to more.
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

    /// With what a method is called on that is at `place`: of a slice, the method may access all.
    #[inline(always)]
    pub fn whole<T: ?Sized>(self, place: impl FnOnce() -> *const T) -> Operator<(P, Whole<T>)> {
        if <((), Whole<T>)>::are_own(self.name) && raw::is_followed() {
            raw::escaped(place().cast::<u8>().addr(), self.name, true, self.at);
        }
        Operator { name: self.name, at: self.at, of: self.of, operands: PhantomData }
    }

    /// With an operand of a comparison that is computed with it.
    #[inline(always)]
    pub fn tagged_compared<T>(self, _tag: Tag<T>) -> Operator<(P, Compared<T>)> {
        Operator { name: self.name, at: self.at, of: self.of, operands: PhantomData }
    }

    /// With an operand that is computed with the operator.
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
    /// `value`, which the operator has given.
    #[inline(always)]
    pub fn done<R>(self, value: R) -> R {
        if P::are_own(self.name) && raw::is_followed() {
            raw::returned(self.at);
        }
        value
    }
}

/// The type of an operand that is computed with the operator.
#[derive(Debug)]
pub struct Tag<T: ?Sized>(PhantomData<T>);

impl<T: ?Sized> Clone for Tag<T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for Tag<T> {}

/// Of an operand that is computed.
#[inline(always)]
pub fn tag<T: ?Sized>() -> Tag<T> {
    Tag(PhantomData)
}

impl<T: ?Sized> Tag<T> {
    /// `value`, to which the operator of the trait `name` is applied, where what has the operator is.
    #[inline(always)]
    #[track_caller]
    pub fn applied<V>(self, value: V, name: &'static str, owner: impl FnOnce(&V) -> *const T) -> V {
        operator(name).first(|| owner(&value));
        value
    }
}

impl<T> Tag<T> {
    /// The operand `value`, to which the operator of the trait `name` is applied.
    #[inline(always)]
    #[track_caller]
    pub fn operand(self, value: T, name: &'static str) -> T {
        operator(name).second(|| &raw const value);
        value
    }

    /// The same of a comparison.
    #[inline(always)]
    #[track_caller]
    pub fn compared(self, value: T, name: &'static str) -> T {
        operator(name).compared(|| &raw const value);
        value
    }
}
