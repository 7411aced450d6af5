//! The types of keys, and of the values that move with them.

use std::any::TypeId;

use cuda_std::{Element, Global, GlobalMut, bf16, f16};
pub use gpu::sort::Encoding;
use gpu::sort::{KeyBits, NoPayload};
use launch::Error;

/// A type of keys.
///
/// Integers are in the order of their values, and floats in the order of `total_cmp`: −NaN, −∞, …, −0, 0, …, ∞, NaN.
///
/// Implement this trait for a type of your own whose order is that of an integer or float with the same bits. For
/// example, a structure of two fields is compared by its second field first if it is encoded as an unsigned integer:
///
/// ```
/// use cuda_std::{DeviceCopy, Pod, Zeroable};
/// use gridstride::prelude::*;
/// use gridstride::sort::{Encoding, SortKey};
///
/// #[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
/// #[repr(C, align(8))]
/// struct Version {
///     minor: u32,
///     major: u32,
/// }
/// // SAFETY: the fields are plain integers without padding.
/// unsafe impl Zeroable for Version {}
/// // SAFETY: the fields are plain integers without padding.
/// unsafe impl Pod for Version {}
///
/// impl SortKey for Version {
///     type Bits = u64;
///     const ENCODING: Encoding = Encoding::UNSIGNED;
/// }
///
/// # let device = launch::Device::open(launch::DeviceChoice::Sim, gridstride::MODULES)?;
/// let version = |major, minor| Version { minor, major };
/// let mut versions = [version(2, 0), version(1, 7), version(1, 5)];
/// device.sort(&mut versions)?;
/// assert_eq!(versions, [version(1, 5), version(1, 7), version(2, 0)]);
/// # Ok::<(), AlgorithmError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a type of sort keys",
    label = "not a type of keys",
    note = "keys are integers and floats of 8 to 64 bits, or a type of your own for which you implement `SortKey`"
)]
pub trait SortKey: Element {
    /// The unsigned integer of the same size and alignment.
    type Bits: KeyBits;

    /// The encoding that turns the bits of a key into an unsigned integer of the same order.
    const ENCODING: Encoding;
}

macro_rules! keys {
    ($($type:ident $bits:ident $encoding:expr;)*) => {$(
        impl SortKey for $type {
            type Bits = $bits;
            const ENCODING: Encoding = $encoding;
        }
    )*};
}

keys! {
    u8 u8 Encoding::UNSIGNED;
    u16 u16 Encoding::UNSIGNED;
    u32 u32 Encoding::UNSIGNED;
    u64 u64 Encoding::UNSIGNED;
    i8 u8 Encoding::SIGNED;
    i16 u16 Encoding::SIGNED;
    i32 u32 Encoding::SIGNED;
    i64 u64 Encoding::SIGNED;
    f16 u16 Encoding::float(10);
    bf16 u16 Encoding::float(7);
    f32 u32 Encoding::float(23);
    f64 u64 Encoding::float(52);
}

/// Returns true if `T` has no values: if keys alone are sorted.
pub(super) fn is_none<T: Element>() -> bool {
    TypeId::of::<T>() == TypeId::of::<NoPayload>()
}

/// Evaluates `body` with `P` as the payload that stands for values of type `V` in kernels. If there is no such payload,
/// evaluates `other`.
macro_rules! with_payload {
    ($V:ty, $P:ident => $body:expr, _ => $other:expr) => {
        match size_of::<$V>() {
            _ if $crate::sort::key::is_none::<$V>() => {
                type $P = ::gpu::sort::NoPayload;
                $body
            }
            4 => {
                type $P = u32;
                $body
            }
            8 => {
                type $P = u64;
                $body
            }
            16 => {
                type $P = ::gpu::sort::Words4;
                $body
            }
            _ => $other,
        }
    };
}

pub(super) use with_payload;

/// Returns the elements of `x` as elements of type `U`, which has the same size.
///
/// # Errors
/// Returns [`Error::Misaligned`] if the view does not start at a multiple of the size of `U`.
pub(super) fn cast<'a, T: Element, U: Element>(x: Global<'a, T>) -> Result<Global<'a, U>, Error> {
    check_address::<U>(x.as_ptr() as usize, x.len())?;
    // SAFETY: the elements have the same size, their bits are valid, and the address is aligned.
    Ok(unsafe { Global::from_raw_parts(x.as_ptr().cast(), x.len(), x.device()) })
}

/// Does the same as [`cast`] for elements that a kernel writes.
///
/// # Errors
/// Returns the errors of [`cast`].
pub(super) fn cast_mut<'a, T: Element, U: Element>(x: GlobalMut<'a, T>) -> Result<GlobalMut<'a, U>, Error> {
    check_address::<U>(x.as_ptr() as usize, x.len())?;
    // SAFETY: the elements have the same size, their bits are valid, and the address is aligned.
    Ok(unsafe { GlobalMut::from_raw_parts(x.as_ptr().cast(), x.len(), x.device()) })
}

/// Checks that elements of type `U` can start at `address`.
fn check_address<U>(address: usize, len: usize) -> Result<(), Error> {
    match size_of::<U>() {
        alignment if len > 0 && !address.is_multiple_of(alignment) => Err(Error::Misaligned { address, alignment }),
        _ => Ok(()),
    }
}
