//! The generic arguments of kernels, by which the host finds a kernel's instance.

use std::any::TypeId;

/// A generic argument of a kernel instance: the argument's name and identity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GenericArgument {
    /// The argument as it is written in the name of the entry: `f32`, `sum`, `4`.
    pub name: &'static str,
    /// The type or const value that the argument stands for.
    pub id: ArgumentId,
}

impl GenericArgument {
    /// Makes a generic argument from its name in the entry and its identity.
    pub const fn new(name: &'static str, id: ArgumentId) -> Self {
        Self { name, id }
    }
}

/// The identity of a generic argument. Two identities are equal if they stand for the same type or the same value.
///
/// ```
/// use simt::ArgumentId;
///
/// assert_eq!(ArgumentId::of::<f32>(), ArgumentId::of::<core::primitive::f32>());
/// assert_ne!(ArgumentId::of::<f32>(), ArgumentId::of::<f64>());
/// assert_ne!(ArgumentId::value(2), ArgumentId::value(4));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArgumentId {
    /// The type of a type parameter.
    Type(TypeId),
    /// The value of a const parameter. A `u128` above `i128::MAX` is wrapped.
    Value(i128),
}

impl ArgumentId {
    /// Returns the identity of the type `T`.
    pub const fn of<T: 'static>() -> Self {
        Self::Type(TypeId::of::<T>())
    }

    /// Returns the identity of the value of a const parameter.
    pub const fn value(value: i128) -> Self {
        Self::Value(value)
    }
}
