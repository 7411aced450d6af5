//! The macros that make the kernels of the matrix product for an epilogue of another crate.

/// Makes the kernels of the matrix product that run by default for two types and the epilogue `EpilogueType`.
///
/// Each line has a module, a kernel, and its generic arguments but for the epilogue. The name before `=` is that of the
/// argument in the entry: several pairs of types have the same kernels, whose entries need different names.
#[doc(hidden)]
#[macro_export]
macro_rules! __matmul_instances {
    (epilogue $Epilogue:ident, $($line:tt)*) => {
        const _: () = {
            #[allow(dead_code, unused_imports, missing_docs, unreachable_pub)]
            #[allow(private_interfaces, non_camel_case_types, non_local_definitions)]
            mod instance {
                use super::*;
                type EpilogueType = $Epilogue;
                $crate::__matmul_instances! { $($line)* }
            }
        };
    };
    (f32 to f32 by $E:ident) => {
        $crate::__matmul_instances! { @ f32 f32 $E
            combine: combine f32 = f32, f32;
            narrow: register_blocks f32 = f32, f32, 4;
            wide: register_blocks f32 = f32, f32, 8;
            vector: vector f32 = f32, f32;
            async_copies: async_copies f32 = f32, f32;
            mma_sync: mma_sync tf32 = tf32, f32;
            clustered_128: clustered tf32 = tf32, f32, 128, 32;
            clustered_256: clustered tf32 = tf32, f32, 256, 32;
        }
    };
    (f64 to f64 by $E:ident) => {
        $crate::__matmul_instances! { @ f64 f64 $E
            combine: combine f64 = f64, f64;
            narrow: register_blocks f64 = f64, f64, 4;
            wide: register_blocks f64 = f64, f64, 8;
            mma_sync: mma_sync f64 = f64, f64;
            mma_double: mma_double f64 = f64, f64;
        }
    };
    (i8 to i32 by $E:ident) => {
        $crate::__matmul_instances! { @ i8 i32 $E
            combine: combine i32 = i32, i32;
            wide: register_blocks i8 = i8, i32, 8;
            mma_sync: mma_sync i8 = i8, i32;
            clustered_128: clustered i8 = i8, i32, 128, 128;
            clustered_256: clustered i8 = i8, i32, 256, 128;
        }
    };
    (f16 to f16 by $E:ident) => { $crate::__matmul_instances! { half f16 $E } };
    (bf16 to bf16 by $E:ident) => { $crate::__matmul_instances! { half bf16 $E } };
    (half $T:ident $E:ident) => {
        $crate::__matmul_instances! { @ $T $T $E
            combine: combine f32 = f32, $T;
            wide: register_blocks $T = $T, $T, 8;
            vector: vector $T = $T, $T;
            mma_sync: mma_sync $T = $T, $T;
            clustered_128: clustered $T = $T, $T, 128, 64;
            clustered_192: clustered $T = $T, $T, 192, 64;
            clustered_256: clustered $T = $T, $T, 256, 64;
            split_32: cluster_split $T = $T, $T, 32, 64;
            split_64: cluster_split $T = $T, $T, 64, 64;
            split_128: cluster_split $T = $T, $T, 128, 64;
        }
    };
    (f16 to f32 by $E:ident) => { $crate::__matmul_instances! { single f16 f16 $E } };
    (bf16 to f32 by $E:ident) => { $crate::__matmul_instances! { single bf16 bf16 $E } };
    (e4m3 to f32 by $E:ident) => { $crate::__matmul_instances! { single e4m3 f16 $E } };
    (e5m2 to f32 by $E:ident) => { $crate::__matmul_instances! { single e5m2 f16 $E } };
    // The kernels multiply elements of type `$U`.
    (single $T:ident $U:ident $E:ident) => {
        $crate::__matmul_instances! { @ $T f32 $E
            combine: combine $T = f32, f32;
            wide: register_blocks $T = $U, f32, 8;
            mma_sync: mma_sync $T = $U, f32;
            clustered_128: clustered $T = $U, f32, 128, 64;
        }
    };
    (@ $T:ident $C:ident $E:ident
    $($module:ident: $kernel:ident $name:ident = $U:ident, $V:ident $(, $n:literal)*;)*) => {
        $($crate::__matmul_instance! { $kernel $module $name = $U, $V, $E $(, $n)* })*
        ::cuda_std::__private::kernel! { device {} host {
            impl
                $crate::matmul::MatmulEpilogue<
                    $crate::matmul::exported::types::$T,
                    $crate::matmul::exported::types::$C
                > for EpilogueType
            {
                const INSTANCES: ::cuda_std::__private::ExportedInstances = {
                    use ::cuda_std::__private::{ExportedInstances, Instance};
                    const ALL: &[Instance] = &[$(Instance::of::<$module::kernel>()),*];
                    // SAFETY: the kernels are made by the macros of this crate's exported kernels.
                    unsafe { ExportedInstances::new(ALL) }
                };
            }
        } }
    };
    ($T:ident to $C:ident by $E:ident) => {
        ::core::compile_error!(::core::concat!(
            "the library has no product of `",
            ::core::stringify!($T),
            "` to `",
            ::core::stringify!($C),
            "`: use f32 to f32, f64 to f64, f16 to f16 or f32, bf16 to bf16 or f32, e4m3 or e5m2 to f32, or i8 to i32"
        ));
    };
}

/// Makes an instance of one kernel in a module, which has it as `kernel`.
#[doc(hidden)]
#[macro_export]
macro_rules! __matmul_instance {
    (combine $($rest:tt)*) => {
        $crate::__matmul_instance! { @ __instance_of_matmul_combine matmul_combine matmul::exported::combine $($rest)* }
    };
    (register_blocks $($rest:tt)*) => {
        $crate::__matmul_instance! { @ __instance_of_matmul_register_blocks matmul_register_blocks
        matmul::exported::register_blocks $($rest)* }
    };
    (vector $($rest:tt)*) => {
        $crate::__matmul_instance! { @ __instance_of_matmul_vector matmul_vector matmul::exported::vector $($rest)* }
    };
    (async_copies $($rest:tt)*) => {
        $crate::__matmul_instance! { @ __instance_of_matmul_async_copies matmul_async_copies matmul_tensor::exported
        $($rest)* }
    };
    (mma_sync $($rest:tt)*) => {
        $crate::__matmul_instance! { @ __instance_of_matmul_mma_sync matmul_mma_sync matmul_tensor::exported $($rest)* }
    };
    (mma_double $($rest:tt)*) => {
        $crate::__matmul_instance! { @ __instance_of_matmul_mma_double matmul_mma_double matmul_warpgroup::exported
        $($rest)* }
    };
    (clustered $($rest:tt)*) => {
        $crate::__matmul_instance! { @ __instance_of_matmul_clustered matmul_clustered matmul_warpgroup::exported
        $($rest)* }
    };
    (cluster_split $($rest:tt)*) => {
        $crate::__matmul_instance! { @ __instance_of_matmul_cluster_split matmul_cluster_split
        matmul_warpgroup::exported $($rest)* }
    };
    (@ $instance:ident $kernel:ident $($scope:ident)::+ $module:ident $name:ident = $U:ident, $V:ident, $E:ident
    $(, $n:literal)*) => {
        mod $module {
            use $crate::$($scope)::+::*;
            type $E = super::EpilogueType;
            type $name = $crate::matmul::exported::types::$U;
            $crate::$instance!($name, $V, $E $(, $n)*);
            pub use $kernel as kernel;
        }
    };
}
