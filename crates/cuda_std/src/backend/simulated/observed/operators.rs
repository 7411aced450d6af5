//! Operators of types of one's own, which may access what pointers and slices in their operands lead to.
//!
//! The macros write this around each operator whose operands may be of such a type. For all others nothing remains of it.

use core::any::type_name;
use core::marker::PhantomData;
use core::panic::Location;

use simt::raw::{self, Callee};

use super::calls::{POINTER, Reach, handed_unknown, is_other, reach};

/// The types of operands.
pub trait Operands {
    /// Whether an operator of one of them may be a function of somebody's own.
    fn are_own() -> bool;
}

impl Operands for () {
    #[inline(always)]
    fn are_own() -> bool {
        false
    }
}

impl<P: Operands, T: ?Sized> Operands for (P, PhantomData<T>) {
    #[inline(always)]
    fn are_own() -> bool {
        let name = type_name::<T>();
        let is_sized = size_of::<&T>() == POINTER;
        P::are_own() || (is_sized && is_other(name) && reach(name, POINTER) == Reach::Unknown)
    }
}

/// A slice that a method is called on, if `T` is one.
#[derive(Clone, Copy, Debug)]
pub struct Whole<T: ?Sized>(PhantomData<T>);

impl<P: Operands, T: ?Sized> Operands for (P, Whole<T>) {
    #[inline(always)]
    fn are_own() -> bool {
        P::are_own() || (size_of::<&T>() != POINTER && type_name::<T>().starts_with('['))
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
        Operator { of: Some(type_name::<T>()), ..self }.second(place)
    }

    /// With another operand, which is at `place`.
    #[inline(always)]
    pub fn second<T: ?Sized>(self, place: impl FnOnce() -> *const T) -> Operator<(P, PhantomData<T>)> {
        if <((), PhantomData<T>)>::are_own() && raw::is_followed() {
            let value = place();
            // SAFETY: it is an operand's place.
            let bytes = unsafe { size_of_val(&*value) };
            let callee = Callee { function: self.name, of: self.of };
            // SAFETY: as above.
            unsafe { handed_unknown(type_name::<T>(), (value.cast(), bytes), callee, self.at) };
        }
        self.with()
    }

    /// With what a method is called on that is at `place`: of a slice, the method may access all.
    #[inline(always)]
    pub fn whole<T: ?Sized>(self, place: impl FnOnce() -> *const T) -> Operator<(P, Whole<T>)> {
        if <((), Whole<T>)>::are_own() && raw::is_followed() {
            raw::handed(place().cast::<u8>().addr(), self.name, true, self.at);
        }
        Operator { name: self.name, at: self.at, of: self.of, operands: PhantomData }
    }

    /// With an operand that is computed with the operator.
    #[inline(always)]
    pub fn tagged<T>(self, _tag: Tag<T>) -> Operator<(P, PhantomData<T>)> {
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
        if P::are_own() && raw::is_followed() {
            raw::returned(self.at);
        }
        value
    }
}

/// The type of an operand that is computed with the operator.
#[derive(Debug)]
pub struct Tag<T>(PhantomData<T>);

impl<T> Clone for Tag<T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Tag<T> {}

/// Of an operand that is computed.
#[inline(always)]
pub fn tag<T>() -> Tag<T> {
    Tag(PhantomData)
}

impl<T> Tag<T> {
    /// The operand `value`, to which the operator of the trait `name` is applied.
    #[inline(always)]
    #[track_caller]
    pub fn operand(self, value: T, name: &'static str) -> T {
        operator(name).second(|| &raw const value);
        value
    }
}
