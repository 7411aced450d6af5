//! The receiver of a float method call: in a kernel, `x.exp()` becomes `FloatReceiver(x).exp()`.
//!
//! On the host, std's float methods hide trait methods of the same name, but std's results differ from a GPU's in some
//! bits. A receiver of a float, or of a reference to a float, has the methods of [`GpuFloat`] itself. Any other
//! receiver dereferences to its content, so that the call reaches the content's own method.

use core::ops::{Deref, DerefMut};

use super::table::float_functions;
use super::{GpuFloat, type_for};

/// A float or a reference to one.
pub trait FloatValue {
    /// The type of the float.
    type Float: GpuFloat;

    /// Returns the float.
    fn value(&self) -> Self::Float;
}

impl FloatValue for f32 {
    type Float = f32;

    #[inline(always)]
    fn value(&self) -> f32 {
        *self
    }
}

impl FloatValue for f64 {
    type Float = f64;

    #[inline(always)]
    fn value(&self) -> f64 {
        *self
    }
}

impl<V: FloatValue> FloatValue for &V {
    type Float = V::Float;

    #[inline(always)]
    fn value(&self) -> V::Float {
        (**self).value()
    }
}

impl<V: FloatValue> FloatValue for &mut V {
    type Float = V::Float;

    #[inline(always)]
    fn value(&self) -> V::Float {
        (**self).value()
    }
}

/// A wrapper of the value before the dot in a method call. The kernel macros add the wrapper if the method has the name
/// of a function of [`GpuFloat`].
pub struct FloatReceiver<V>(pub V);

/// A wrapper of a reference to the variable before the dot in a method call. The kernel macros use it instead of
/// [`FloatReceiver`], so that the call does not move the variable.
pub struct FloatVariable<'a, V>(pub &'a V);

impl<V> Deref for FloatReceiver<V> {
    type Target = V;

    #[inline(always)]
    fn deref(&self) -> &V {
        &self.0
    }
}

impl<V> DerefMut for FloatReceiver<V> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut V {
        &mut self.0
    }
}

impl<V> Deref for FloatVariable<'_, V> {
    type Target = V;

    #[inline(always)]
    fn deref(&self) -> &V {
        self.0
    }
}

macro_rules! forward {
    (
        core { $($core:tt)* }
        own { $(
            $(#[$doc:meta])*
            $name:ident($($argument:ident: $ty:tt),*) -> $result:tt, $single:literal, $double:literal;
        )* }
    ) => {
        #[allow(missing_docs, reason = "the trait's methods have docs")]
        impl<V: FloatValue> FloatReceiver<V> {
            $(
                #[inline(always)]
                pub fn $name(self $(, $argument: type_for!(V::Float, $ty))*) -> type_for!(V::Float, $result) {
                    GpuFloat::$name(self.0.value() $(, $argument)*)
                }
            )*
        }

        #[allow(missing_docs, reason = "the trait's methods have docs")]
        impl<V: FloatValue> FloatVariable<'_, V> {
            $(
                #[inline(always)]
                pub fn $name(self $(, $argument: type_for!(V::Float, $ty))*) -> type_for!(V::Float, $result) {
                    GpuFloat::$name(self.0.value() $(, $argument)*)
                }
            )*
        }
    };
}

float_functions!(forward);
