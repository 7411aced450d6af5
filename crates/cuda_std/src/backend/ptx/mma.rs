//! Products of tensor cores (`mma.sync`).

use core::arch::asm;

#[allow(unused_imports, reason = "a newer architecture has the instructions")]
use super::missing::missing;
use crate::tensor::mma::Product;
use crate::tensor::{Tile, for_each_product, tf32};
use crate::{bf16, e4m3, e5m2, f16};

/// Executes the instruction `$name`. `$first` and `$more` are the names of the registers of A, B and C.
macro_rules! instruction {
    ((1 1 2) $($rest:tt)*) => { instruction! { @ [a0] [b0] [c0 c1] $($rest)* } };
    ((2 1 2) $($rest:tt)*) => { instruction! { @ [a0 a1] [b0] [c0 c1] $($rest)* } };
    ((2 1 4) $($rest:tt)*) => { instruction! { @ [a0 a1] [b0] [c0 c1 c2 c3] $($rest)* } };
    ((4 2 2) $($rest:tt)*) => { instruction! { @ [a0 a1 a2 a3] [b0 b1] [c0 c1] $($rest)* } };
    ((4 2 4) $($rest:tt)*) => { instruction! { @ [a0 a1 a2 a3] [b0 b1] [c0 c1 c2 c3] $($rest)* } };
    ((8 4 4) $($rest:tt)*) => {
        instruction! { @ [a0 a1 a2 a3 a4 a5 a6 a7] [b0 b1 b2 b3] [c0 c1 c2 c3] $($rest)* }
    };
    (@ [$($a:ident)*] [$($b:ident)*] [$($c:ident)*] $class:ident $name:expr, $a_in:ident $b_in:ident $c_in:ident) => {{
        let ([$($a),*], [$($b),*], [$(mut $c),*]) = ($a_in, $b_in, $c_in);
        // SAFETY: the instruction only computes on registers. It is not `pure`, because the lanes of a warp must
        // execute it together.
        unsafe {
            asm!(concat!($name, instruction!(@list $($c)*), ",", instruction!(@list $($a)*), ",",
                    instruction!(@list $($b)*), ",", instruction!(@list $($c)*), ";"),
                $($a = in($class) $a,)* $($b = in($class) $b,)* $($c = inout($class) $c,)*
                options(nomem, nostack, preserves_flags));
        }
        [$($c),*]
    }};
    (@list $first:ident $($more:ident)*) => {
        concat!(" {{{", stringify!($first), "}" $(, ", {", stringify!($more), "}")*, "}}")
    };
}

macro_rules! define {
    ($([$arch:tt $feature:tt] $a:ident $b:ident $c:ident $m:tt $n:tt $k:tt
        $class:ident $registers:tt $types:tt;)*) => {$(
        impl Product<$b, $c, $m, $n, $k> for $a {
            #[cfg(target_feature = $feature)]
            #[inline(always)]
            fn multiply_add(
                a: <$a as Tile<$m, $k>>::Registers,
                b: <$b as Tile<$k, $n>>::Registers,
                c: <$c as Tile<$m, $n>>::Registers,
            ) -> <$c as Tile<$m, $n>>::Registers {
                instruction! {
                    $registers $class concat!("mma.sync.aligned.m", $m, "n", $n, "k", $k, ".row.col.", $types), a b c
                }
            }

            #[cfg(not(target_feature = $feature))]
            #[inline(always)]
            fn multiply_add(
                _: <$a as Tile<$m, $k>>::Registers,
                _: <$b as Tile<$k, $n>>::Registers,
                _: <$c as Tile<$m, $n>>::Registers,
            ) -> <$c as Tile<$m, $n>>::Registers {
                missing!($arch)
            }
        }
    )*};
}

for_each_product! { define }

/// Returns `value`, rounded to the nearest number of `tf32`.
#[cfg(target_feature = "sm_80")]
#[inline(always)]
pub fn round_to_tf32(value: f32) -> f32 {
    let rounded: u32;
    // SAFETY: the instruction only computes a number.
    unsafe {
        asm!("cvt.rna.tf32.f32 {}, {};", out(reg32) rounded, in(reg32) value,
            options(pure, nomem, nostack, preserves_flags));
    }
    f32::from_bits(rounded)
}

#[cfg(not(target_feature = "sm_80"))]
pub(crate) use crate::tensor::round_to_tf32;

#[inline(always)]
pub fn require_products() {
    #[cfg(not(target_feature = "sm_80"))]
    super::missing::need_80();
}
