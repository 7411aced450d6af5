//! The GPU back end: LLVM's intrinsics and PTX instructions.

mod double;
pub mod single;

pub use double::*;

unsafe extern "C" {
    #[link_name = "llvm.fma.f32"]
    fn llvm_fma_f32(x: f32, a: f32, b: f32) -> f32;
    #[link_name = "llvm.fma.f64"]
    fn llvm_fma_f64(x: f64, a: f64, b: f64) -> f64;
    #[link_name = "llvm.minnum.f32"]
    fn llvm_minnum_f32(a: f32, b: f32) -> f32;
    #[link_name = "llvm.maxnum.f32"]
    fn llvm_maxnum_f32(a: f32, b: f32) -> f32;
    #[link_name = "llvm.minnum.f64"]
    fn llvm_minnum_f64(a: f64, b: f64) -> f64;
    #[link_name = "llvm.maxnum.f64"]
    fn llvm_maxnum_f64(a: f64, b: f64) -> f64;
    #[link_name = "llvm.sqrt.f32"]
    fn llvm_sqrt_f32(x: f32) -> f32;
    #[link_name = "llvm.sqrt.f64"]
    fn llvm_sqrt_f64(x: f64) -> f64;
}

/// Defines functions that each call one intrinsic.
macro_rules! intrinsics {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty = $intrinsic:ident;)*) => {
        $(
            #[inline(always)]
            pub fn $name($($argument: $type),*) -> $result {
                // SAFETY: the instruction only computes with registers.
                unsafe { $intrinsic($($argument),*) }
            }
        )*
    };
}

intrinsics! {
    fma_f32(x: f32, a: f32, b: f32) -> f32 = llvm_fma_f32;
    fma_f64(x: f64, a: f64, b: f64) -> f64 = llvm_fma_f64;
    minimum_number_f32(a: f32, b: f32) -> f32 = llvm_minnum_f32;
    maximum_number_f32(a: f32, b: f32) -> f32 = llvm_maxnum_f32;
    minimum_number_f64(a: f64, b: f64) -> f64 = llvm_minnum_f64;
    maximum_number_f64(a: f64, b: f64) -> f64 = llvm_maxnum_f64;
    sqrt_f32(x: f32) -> f32 = llvm_sqrt_f32;
    sqrt_f64(x: f64) -> f64 = llvm_sqrt_f64;
}

#[cfg(target_feature = "sm_80")]
unsafe extern "C" {
    #[link_name = "llvm.minimum.f32"]
    fn llvm_minimum_f32(a: f32, b: f32) -> f32;
    #[link_name = "llvm.maximum.f32"]
    fn llvm_maximum_f32(a: f32, b: f32) -> f32;
}

// The instructions `min.NaN.f32` and `max.NaN.f32`.
#[cfg(target_feature = "sm_80")]
intrinsics! {
    minimum_f32(a: f32, b: f32) -> f32 = llvm_minimum_f32;
    maximum_f32(a: f32, b: f32) -> f32 = llvm_maximum_f32;
}
