//! The keys that a histogram counts.

use cuda_std::Element;
use cuda_std::warp::Shuffle;

use super::tuning::{BYTES, Shape, WORDS};

/// A type that converts to a key of 32 bits, from which its bin follows. Implement this trait for a type of your own,
/// and make the kernels by [`instances!`](crate::instances!).
pub trait ToKey: Element {
    /// Returns the key.
    fn to_key(self) -> u32;
}

/// Declares the trait [`Key`] with these methods, which only the host has.
macro_rules! key_trait {
    ({ $($methods:tt)* }) => {
        /// A key for which kernels are built: `u8`, `u32`, or a key of another crate that has made the kernels by
        /// [`instances!`](crate::instances!).
        #[diagnostic::on_unimplemented(
            message = "no kernel counts keys of type `{Self}`",
            label = "no such kernel is built",
            note = "keys are u8 and u32",
            note = "for a key of your own, implement `gpu::histogram::ToKey` and add `gpu::instances!(Key: histogram);` to \
                    the crate of your kernels"
        )]
        pub trait Key: ToKey {
            /// The number of keys in a 32-bit word, or 0 if a word does not consist of whole keys.
            const PER_WORD: usize = if fits_word(size_of::<Self>()) { 4 / size_of::<Self>() } else { 0 };

            /// True if [`histogram_replicated`](super::histogram_replicated()) has one counter per value of a key
            /// instead of one per bin. It then computes the bin of each value once, when it adds up the counters. This
            /// suits key types with few values.
            const BY_VALUE: bool = false;

            /// The launch shape of [`histogram_replicated`](super::histogram_replicated()).
            const SHAPE: Shape = WORDS;

            /// True if another crate has made the instances. They belong to one rung: `replicated` if a 32-bit word
            /// consists of whole keys, otherwise `privatised`.
            #[doc(hidden)]
            const IS_OWN: bool = false;

            /// Returns the key as an integer.
            #[inline(always)]
            fn value(self) -> u32 {
                self.to_key()
            }

            /// Returns the key at position `place` in `word`.
            #[inline(always)]
            fn in_word(word: u32, place: usize) -> u32 {
                Self::from_words([word >> (8 * size_of::<Self>() * place), 0, 0, 0]).value()
            }

            $($methods)*
        }
    };
}

cuda_std::__private::kernel! { device { key_trait! { {} } } host { key_trait! { {
    /// Returns a call of [`histogram_privatised()`](super::histogram_privatised()), or `None` if it is not built.
    #[doc(hidden)]
    fn privatised<'call>(
        keys: ::cuda_std::Global<'call, Self>,
        bins: super::EvenBins,
        segment: u32,
        counts: ::cuda_std::GlobalMut<'call, u32>,
    ) -> Option<::cuda_std::Call<'call>>;

    /// Returns a call of [`histogram_replicated()`](super::histogram_replicated()), or `None` if it is not built.
    #[doc(hidden)]
    fn replicated<'call>(
        keys: ::cuda_std::Global<'call, Self>,
        bins: super::EvenBins,
        shape: (u32, u32),
        state: ::cuda_std::GlobalMut<'call, u32>,
        counts: ::cuda_std::GlobalMut<'call, u32>,
    ) -> Option<::cuda_std::Call<'call>>;
} } } }

/// Returns true if a 32-bit word consists of whole keys of `bytes` bytes.
pub const fn fits_word(bytes: usize) -> bool {
    matches!(bytes, 1 | 2 | 4)
}

/// Implements [`Key`] with these constants, and for the host by the kernels in scope.
#[doc(hidden)]
#[macro_export]
macro_rules! __histogram_key {
    ($K:ty, { $($constants:tt)* }) => {
        ::cuda_std::__private::kernel! {
            device {
                impl $crate::histogram::Key for $K { $($constants)* }
            }
            host {
                impl $crate::histogram::Key for $K {
                    $($constants)*

                    #[inline]
                    fn privatised<'call>(
                        keys: ::cuda_std::Global<'call, Self>,
                        bins: $crate::histogram::EvenBins,
                        segment: u32,
                        counts: ::cuda_std::GlobalMut<'call, u32>,
                    ) -> ::core::option::Option<::cuda_std::Call<'call>> {
                        histogram_privatised::if_built::<$K>(keys, bins, segment, counts)
                    }

                    #[inline]
                    fn replicated<'call>(
                        keys: ::cuda_std::Global<'call, Self>,
                        bins: $crate::histogram::EvenBins,
                        (segment, replicas): (u32, u32),
                        state: ::cuda_std::GlobalMut<'call, u32>,
                        counts: ::cuda_std::GlobalMut<'call, u32>,
                    ) -> ::core::option::Option<::cuda_std::Call<'call>> {
                        histogram_replicated::if_built::<$K>(keys, bins, segment, replicas, state, counts)
                    }
                }
            }
        }
    };
}

cuda_std::__private::kernel! { device {} host {
    use super::{privatised::histogram_privatised, replicated::histogram_replicated};
} }

macro_rules! keys {
    ($($type:ident: $by_value:literal, $shape:expr;)*) => {$(
        impl ToKey for $type {
            #[inline(always)]
            fn to_key(self) -> u32 {
                self.into()
            }
        }

        crate::__histogram_key! { $type, {
            const BY_VALUE: bool = $by_value;
            const SHAPE: Shape = $shape;

            #[inline(always)]
            fn in_word(word: u32, place: usize) -> u32 {
                Self::value((word >> (8 * size_of::<$type>() * place)) as $type)
            }
        } }
    )*};
}

keys! {
    u8: true, BYTES;
    u32: false, WORDS;
}
