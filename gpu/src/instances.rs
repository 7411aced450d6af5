//! [`instances!`](crate::instances!): instances of the kernels for the types and operators of another crate.
//!
//! # Design
//!
//! The macro repeats each kernel in the other crate, by the macros of `#[kernel(exported = …)]`. A kernel that reorders
//! elements needs a commutative operator, and asynchronous copies need elements of certain sizes. The macro knows only
//! names, so it cannot leave out an entry that the pair does not need. It can select the entry's types by a constant
//! ([`Select`]). An unneeded kernel is therefore an entry for [`Nothing`]. This entry has few instructions, and the
//! host does not find it by the pair's types.

use cuda_std::{DeviceCopy, Element};

use crate::collective::words::MAX_WORDS;
use crate::histogram::{Key, ToKey, fits_word};
use crate::operator::Operator;

/// Selects one of two types by the constant `FIRST`.
#[doc(hidden)]
pub struct If<const FIRST: bool>;

/// The type that [`If`] selects.
#[doc(hidden)]
pub trait Select<A, B> {
    /// `A` if the constant is true, otherwise `B`.
    type Selected;
}

impl<A, B> Select<A, B> for If<true> {
    type Selected = A;
}

impl<A, B> Select<A, B> for If<false> {
    type Selected = B;
}

/// The operator of an entry that is not needed.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Nothing;

impl Operator<u32> for Nothing {
    const IDENTITY: u32 = 0;
    const COMMUTATIVE: bool = true;
    #[inline(always)]
    fn combine(a: u32, _: u32) -> u32 {
        a
    }
}

/// The key of an entry that is not needed.
#[doc(hidden)]
#[derive(Clone, Copy, DeviceCopy)]
#[repr(transparent)]
pub struct NoKey(u32);

// SAFETY: the only field is a `u32`.
unsafe impl cuda_std::Zeroable for NoKey {}
// SAFETY: the only field is a `u32`.
unsafe impl cuda_std::Pod for NoKey {}

impl ToKey for NoKey {
    #[inline(always)]
    fn to_key(self) -> u32 {
        0
    }
}

cuda_std::__private::kernel! { device { impl Key for NoKey {} } host {
    use cuda_std::{Call, Global, GlobalMut};

    use crate::histogram::EvenBins;

    impl Key for NoKey {
        fn privatised<'call>(
            _: Global<'call, Self>,
            _: EvenBins,
            _: u32,
            _: GlobalMut<'call, u32>,
        ) -> Option<Call<'call>> {
            None
        }

        fn replicated<'call>(
            _: Global<'call, Self>,
            _: EvenBins,
            _: (u32, u32),
            _: GlobalMut<'call, u32>,
            _: GlobalMut<'call, u32>,
        ) -> Option<Call<'call>> {
            None
        }
    }
} }

/// Checks the size of an element when the crate is compiled.
#[doc(hidden)]
pub const fn check_element<T: Element>() {
    assert!(
        size_of::<T>() > 0 && size_of::<T>() <= 4 * MAX_WORDS,
        "an element must have 1 to 64 bytes: make it smaller, or use indices of it"
    );
}

/// Returns true if the kernel for keys in 32-bit words counts keys of type `K`.
#[doc(hidden)]
pub const fn is_in_words<K: ToKey>() -> bool {
    fits_word(size_of::<K>())
}

/// Makes the kernels of reduce, scan, by key, segments, select, merge sort, histogram or the matrix product for a type,
/// operator, predicate, comparison or epilogue of the calling crate.
///
/// ```ignore
/// gpu::instances!(Point by Farthest: reduce, scan); // `Farthest` implements `gpu::operator::Operator<Point>`
/// gpu::instances!(Point by Farthest: by_key);       // with keys of 4 and 8 bytes
/// gpu::instances!(Point by Farthest: segments);
/// gpu::instances!(Point by IsNear: select);         // `IsNear` implements `gpu::select::Predicate<Point>`
/// gpu::instances!(Point by Nearest: merge_sort);    // `Nearest` implements `gpu::merge_sort::Compare<Point>`
/// gpu::instances!(Shade: histogram);                // `Shade` implements `gpu::histogram::ToKey`
/// gpu::instances!(bf16 to bf16 by Swish: matmul);   // `Swish` implements `gpu::matmul::Epilogue<f32, bf16>`
/// ```
///
/// The type and the operator must be names in scope; `type Vector = [f32; 3];` gives a name to another type. At least
/// one of them must be a type of the calling crate. An element is any [`Element`] of 1 to 64 bytes: plain numbers
/// without padding. The calling crate is one of kernels: `cuda_builder` compiles it to PTX, and the program embeds it
/// by `launch::include_ptx!`. It depends on this crate by
///
/// ```toml
/// gpu = { path = "…", default-features = false, features = ["instances"] }
/// ```
///
/// An operator that is not commutative gets the kernels that keep the order of the operands.
///
/// A line for `matmul` has the type of *A* and *B*, the type of *C*, and an epilogue of the calling crate. It makes the
/// kernels that run by default for these types on any GPU, including those for `sm_80` and `sm_90a`.
#[macro_export]
macro_rules! instances {
    ($T:ident by $P:ident: select $(,)?) => {
        $crate::instances! { @ $T by $P: select PredicateType }
    };
    ($T:ident by $C:ident: merge_sort $(,)?) => {
        $crate::instances! { @ $T by $C: merge_sort ComparisonType }
    };
    (@ $T:ident by $P:ident: $algorithm:ident $Type:ident) => {
        const _: () = {
            #[allow(dead_code, unused_imports, missing_docs, unreachable_pub)]
            #[allow(private_interfaces, non_camel_case_types, non_local_definitions)]
            mod instance {
                use super::*;
                type ElementType = $T;
                type $Type = $P;
                const _: () = $crate::instances::check_element::<ElementType>();
                $crate::__instances! { $algorithm $T $P }
            }
        };
    };
    ($T:ident by $O:ident: $($algorithm:ident),+ $(,)?) => {
        const _: () = {
            #[allow(dead_code, unused_imports, missing_docs, unreachable_pub)]
            #[allow(private_interfaces, non_local_definitions)]
            mod instance {
                use super::*;
                type ElementType = $T;
                type OperatorType = $O;
                const _: () = $crate::instances::check_element::<ElementType>();
                const IS_COMMUTATIVE: bool = <OperatorType as $crate::operator::Operator<ElementType>>::COMMUTATIVE;
                $($crate::__instances! { $algorithm $T $O })+
            }
        };
    };
    ($T:ident to $C:ident by $E:ident: matmul $(,)?) => {
        $crate::__matmul_instances! { epilogue $E, $T to $C by $E }
    };
    ($K:ident: histogram $(,)?) => {
        const _: () = {
            #[allow(dead_code, unused_imports, missing_docs, unreachable_pub)]
            #[allow(private_interfaces, non_local_definitions)]
            mod instance {
                use super::*;
                type KeyType = $K;
                $crate::__instances! { histogram $K }
            }
        };
    };
    ($($other:tt)*) => {
        ::core::compile_error!(
            "write `gpu::instances!(Type by Operator: reduce, scan, by_key, segments);`, `gpu::instances!(Type by \
             Predicate: select);`, `gpu::instances!(Type by Comparison: merge_sort);`, `gpu::instances!(Key: \
             histogram);` or `gpu::instances!(bf16 to bf16 by Epilogue: matmul);` with names of types that are in scope"
        );
    };
}

/// The assertion of the exported kernels: core's, a trap without a message on a GPU.
#[doc(hidden)]
#[macro_export]
macro_rules! __assert {
    ($($condition:tt)*) => { ::core::assert!($($condition)*) };
}

/// Makes the kernels of one algorithm.
#[doc(hidden)]
#[macro_export]
macro_rules! __instances {
    (reduce $T:ident $O:ident) => {
        mod reduce {
            use super::{ElementType, IS_COMMUTATIVE, OperatorType};

            $crate::__instance! { shuffle { !super::IS_COMMUTATIVE } reduce::exported
            __instance_of_reduce_shuffle $T $O }
            $crate::__instance! { grid_stride { super::IS_COMMUTATIVE } reduce::exported
            __instance_of_reduce_grid_stride $T $O VECTOR }
            $crate::__instance! { one_tile { super::IS_COMMUTATIVE } reduce::exported
            __instance_of_reduce_one_tile $T $O VECTOR }
            $crate::__instance! { unaligned { super::IS_COMMUTATIVE } reduce::exported
            __instance_of_reduce_unaligned $T $O VECTOR }
            ::cuda_std::__private::kernel! { device {} host {
                use {grid_stride::reduce_grid_stride, one_tile::reduce_one_tile};
                use {shuffle::reduce_shuffle, unaligned::reduce_unaligned};
                use ::cuda_std::{Call, Global, GlobalMut};
                use $crate::collective::vectors::vector_len;
                $crate::__reduce_element! { ElementType, OperatorType, own }
            } }
        }
    };
    (scan $T:ident $O:ident) => {
        mod scan {
            use super::{ElementType, OperatorType};

            $crate::__instance! { look_back { true } scan::exported::look_back
            __instance_of_scan_look_back $T $O VECTOR }
            $crate::__instance! { pipelined { $crate::scan::is_pipelined::<super::ElementType>() }
            scan::exported::pipelined __instance_of_scan_pipelined $T $O VECTOR }
            ::cuda_std::__private::kernel! { device {} host {
                use {look_back::scan_look_back, pipelined::scan_pipelined};
                use ::cuda_std::{Call, Global, GlobalMut};
                use $crate::collective::vectors::vector_len;
                $crate::__scan_element! { ElementType, OperatorType, true }
            } }
        }
    };
    (by_key $T:ident $O:ident) => {
        mod by_key {
            use super::{ElementType, OperatorType};

            $crate::__by_key_instance! { narrow u32 Key32 $T $O }
            $crate::__by_key_instance! { wide u64 Key64 $T $O }
            ::cuda_std::__private::kernel! { device {} host {
                use narrow::by_key_look_back as narrow_look_back;
                use wide::by_key_look_back as wide_look_back;
                $crate::__by_key_element! {
                    ElementType as ElementType, OperatorType, narrow_look_back, wide_look_back, {}
                }
            } }
        }
    };
    (segments $T:ident $O:ident) => {
        mod segments {
            use super::{ElementType, OperatorType};

            $crate::__segmented! { ElementType, OperatorType; }
            mod look_back {
                use $crate::segments::exported::*;
                type $T = super::ElementType;
                type $O = super::OperatorType;
                const VECTOR: usize = $crate::collective::vectors::vector_len(::core::mem::size_of::<$T>());
                const CHUNKS: usize = max_chunks(VECTOR * ::core::mem::size_of::<$T>(), VECTOR);
                $crate::__instance_of_segments_look_back!($T, $O, VECTOR, CHUNKS);
            }
            ::cuda_std::__private::kernel! { device {} host {
                use look_back::segments_look_back;
                const VECTOR: usize = $crate::collective::vectors::vector_len(::core::mem::size_of::<ElementType>());
                const CHUNKS: usize =
                    $crate::segments::tuning::max_chunks(VECTOR * ::core::mem::size_of::<ElementType>(), VECTOR);
                $crate::__segment_element! {
                    ElementType as ElementType, OperatorType, CHUNKS, $crate::segments::Order::NONE, segments_look_back
                }
            } }
        }
    };
    (select $T:ident $P:ident) => {
        mod select {
            use super::{ElementType, PredicateType};

            mod look_back {
                use $crate::select::exported::*;
                type $T = super::ElementType;
                type $P = super::PredicateType;
                const ROWS: usize = max_rows(::core::mem::size_of::<$T>());
                $crate::__instance_of_select_look_back!($T, $P, ROWS);
            }
            ::cuda_std::__private::kernel! { device {} host {
                use look_back::select_look_back;
                $crate::__select_element! { ElementType, PredicateType }
            } }
        }
    };
    (merge_sort $T:ident $C:ident) => {
        mod merge_sort {
            use super::{ComparisonType, ElementType};

            $crate::__merge_sort_instance! { block __instance_of_merge_sort_block $T $C }
            $crate::__merge_sort_instance! { merge_path __instance_of_merge_sort_merge_path $T $C }
            ::cuda_std::__private::kernel! { device {} host {
                use {block::merge_sort_block, merge_path::merge_sort_merge_path};
                $crate::__merge_sort_element! { ElementType, ComparisonType, { const IS_OWN: bool = true; } }
            } }
        }
    };
    (histogram $K:ident) => {
        mod histogram {
            use super::KeyType;

            $crate::__key_instance! { privatised { !$crate::instances::is_in_words::<super::KeyType>() }
            __instance_of_histogram_privatised $K }
            $crate::__key_instance! { replicated { $crate::instances::is_in_words::<super::KeyType>() }
            __instance_of_histogram_replicated $K }
            ::cuda_std::__private::kernel! { device {} host {
                use {privatised::histogram_privatised, replicated::histogram_replicated};
            } }
            $crate::__histogram_key! { KeyType, { const IS_OWN: bool = true; } }
        }
    };
    ($algorithm:ident $($rest:tt)*) => {
        ::core::compile_error!(::core::concat!(
            "there is no algorithm `",
            ::core::stringify!($algorithm),
            "` with an operator: use `reduce`, `scan`, `by_key` or `segments`"
        ));
    };
}

/// Makes an instance of one kernel in a module: for the pair of types if the condition holds, otherwise for a pair that
/// costs nothing.
#[doc(hidden)]
#[macro_export]
macro_rules! __instance {
    ($module:ident $condition:block $($scope:ident)::+ $kernel:ident $T:ident $O:ident $($V:ident)?) => {
        mod $module {
            use $crate::$($scope)::+::*;
            use $crate::instances::{If, Nothing, Select};
            const IS_NEEDED: bool = $condition;
            type $T = <If<IS_NEEDED> as Select<super::ElementType, u32>>::Selected;
            type $O = <If<IS_NEEDED> as Select<super::OperatorType, Nothing>>::Selected;
            const VECTOR: usize = $crate::collective::vectors::vector_len(::core::mem::size_of::<$T>());
            $crate::$kernel!($T, $O $(, $V)?);
        }
    };
}

/// Makes an instance of one kernel of histogram in a module, like [`__instance!`](crate::__instance!).
#[doc(hidden)]
#[macro_export]
macro_rules! __key_instance {
    ($module:ident $condition:block $kernel:ident $K:ident) => {
        mod $module {
            use $crate::histogram::exported::*;
            use $crate::instances::{If, NoKey, Select};
            const IS_NEEDED: bool = $condition;
            type $K = <If<IS_NEEDED> as Select<super::KeyType, NoKey>>::Selected;
            $crate::$kernel!($K);
        }
    };
}

/// Makes an instance of the kernel of by key in a module, for keys of type `$key`.
#[doc(hidden)]
#[macro_export]
macro_rules! __by_key_instance {
    ($module:ident $key:ident $Key:ident $T:ident $O:ident) => {
        mod $module {
            use $crate::by_key::exported::*;
            type $Key = $key;
            type $T = super::ElementType;
            type $O = super::OperatorType;
            const ROWS: usize = max_rows(::core::mem::size_of::<$key>() + ::core::mem::size_of::<$T>());
            $crate::__instance_of_by_key_look_back!($Key, RunStart, $T, $O, ROWS);
        }
    };
}

/// Makes an instance of one kernel of merge sort in a module.
#[doc(hidden)]
#[macro_export]
macro_rules! __merge_sort_instance {
    ($module:ident $kernel:ident $T:ident $C:ident) => {
        mod $module {
            use $crate::merge_sort::exported::*;
            type $T = super::ElementType;
            type $C = super::ComparisonType;
            const ITEMS: usize = items(::core::mem::size_of::<$T>());
            $crate::$kernel!($T, $C, ITEMS);
        }
    };
}
