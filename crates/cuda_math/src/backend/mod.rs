//! Selects the module `ptx` with the GPU's operations, or the module `simulated` with the host's operations. Both
//! modules have the same functions.

#[cfg(not(target_arch = "nvptx64"))]
mod simulated;
#[cfg(not(target_arch = "nvptx64"))]
pub use simulated::*;

#[cfg(target_arch = "nvptx64")]
mod ptx;
#[cfg(target_arch = "nvptx64")]
pub use ptx::*;

/// The NaN of `f32` that a GPU's instructions return.
#[cfg(not(target_feature = "sm_80"))]
const NAN_F32: f32 = f32::from_bits(0x7FFF_FFFF);

/// Defines functions that return the NaN `$nan` if an operand is NaN, and otherwise the result of `$number`.
macro_rules! propagating {
    ($($name:ident $type:ident $number:ident $nan:expr;)*) => {$(
        #[inline(always)]
        pub fn $name(a: $type, b: $type) -> $type {
            if a.is_nan() || b.is_nan() { $nan } else { $number(a, b) }
        }
    )*};
}

propagating! {
    minimum_f64 f64 minimum_number_f64 f64::NAN;
    maximum_f64 f64 maximum_number_f64 f64::NAN;
}

// From sm_80 on, GPUs have instructions for `f32`.
#[cfg(not(target_feature = "sm_80"))]
propagating! {
    minimum_f32 f32 minimum_number_f32 NAN_F32;
    maximum_f32 f32 maximum_number_f32 NAN_F32;
}
