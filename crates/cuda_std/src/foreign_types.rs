//! The types of the crates glam and half as elements, fields and parameters. With glam's scalar implementation they
//! have CUDA's alignments on the GPU and on the host.

use crate::DeviceCopy;

macro_rules! plain {
    ($krate:ident: $($name:ident)*) => {$(
        // SAFETY: the type is `Pod`, as the constant below checks: no padding and no invalid bit patterns.
        unsafe impl DeviceCopy for $krate::$name {}

        const _: fn() = || {
            fn is_pod<T: bytemuck::Pod>() {}
            is_pod::<$krate::$name>();
        };
    )*};
}

macro_rules! vectors_and_matrices {
    ($krate:ident) => {
        plain! { $krate:
            Vec2 Vec3 Vec4 Quat Mat2 Mat3 Mat4 Affine2
            DVec2 DVec3 DVec4 DQuat DMat2 DMat3 DMat4 DAffine2 DAffine3
            IVec2 IVec3 IVec4 UVec2 UVec3 UVec4
            I8Vec2 I8Vec3 I8Vec4 U8Vec2 U8Vec3 U8Vec4 I16Vec2 I16Vec3 I16Vec4 U16Vec2 U16Vec3 U16Vec4
            I64Vec2 I64Vec3 I64Vec4 U64Vec2 U64Vec3 U64Vec4
        }
    };
}

#[cfg(feature = "glam")]
vectors_and_matrices! { glam }
#[cfg(feature = "glam")]
plain! { glam: Vec3A Mat3A Affine3A ISizeVec2 ISizeVec3 ISizeVec4 USizeVec2 USizeVec3 USizeVec4 }

// Its `Vec3A` and the types with one have padding, and are no elements.
#[cfg(feature = "glam-0-30")]
vectors_and_matrices! { glam_0_30 }

#[cfg(feature = "half")]
plain! { half_crate: f16 bf16 }
