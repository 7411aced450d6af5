//! The tables of the products of `mma.sync` and `wgmma`, from which both back ends are made.

/// Calls `$define!` with a row for each product: the first architecture that has it, the element types of A, B and C,
/// the shape (M, N, K), the class of the registers, the numbers of a lane's registers of A, B and C, and the types of
/// the instruction.
macro_rules! for_each_product {
    ($define:ident) => {
        $define! {
            [75 "sm_75"] f16 f16 f16 16 8 8 reg32 (2 1 2) "f16.f16.f16.f16";
            [75 "sm_75"] f16 f16 f32 16 8 8 reg32 (2 1 4) "f32.f16.f16.f32";
            [80 "sm_80"] f16 f16 f16 16 8 16 reg32 (4 2 2) "f16.f16.f16.f16";
            [80 "sm_80"] f16 f16 f32 16 8 16 reg32 (4 2 4) "f32.f16.f16.f32";
            [80 "sm_80"] bf16 bf16 f32 16 8 8 reg32 (2 1 4) "f32.bf16.bf16.f32";
            [80 "sm_80"] bf16 bf16 f32 16 8 16 reg32 (4 2 4) "f32.bf16.bf16.f32";
            [80 "sm_80"] tf32 tf32 f32 16 8 4 reg32 (2 1 4) "f32.tf32.tf32.f32";
            [80 "sm_80"] tf32 tf32 f32 16 8 8 reg32 (4 2 4) "f32.tf32.tf32.f32";
            [80 "sm_80"] f64 f64 f64 8 8 4 reg64 (1 1 2) "f64.f64.f64.f64";
            [90 "sm_90"] f64 f64 f64 16 8 4 reg64 (2 1 4) "f64.f64.f64.f64";
            [90 "sm_90"] f64 f64 f64 16 8 8 reg64 (4 2 4) "f64.f64.f64.f64";
            [90 "sm_90"] f64 f64 f64 16 8 16 reg64 (8 4 4) "f64.f64.f64.f64";
            [75 "sm_75"] i8 i8 i32 8 8 16 reg32 (1 1 2) "s32.s8.s8.s32";
            [75 "sm_75"] i8 u8 i32 8 8 16 reg32 (1 1 2) "s32.s8.u8.s32";
            [75 "sm_75"] u8 i8 i32 8 8 16 reg32 (1 1 2) "s32.u8.s8.s32";
            [75 "sm_75"] u8 u8 i32 8 8 16 reg32 (1 1 2) "s32.u8.u8.s32";
            [80 "sm_80"] i8 i8 i32 16 8 16 reg32 (2 1 4) "s32.s8.s8.s32";
            [80 "sm_80"] i8 u8 i32 16 8 16 reg32 (2 1 4) "s32.s8.u8.s32";
            [80 "sm_80"] u8 i8 i32 16 8 16 reg32 (2 1 4) "s32.u8.s8.s32";
            [80 "sm_80"] u8 u8 i32 16 8 16 reg32 (2 1 4) "s32.u8.u8.s32";
            [80 "sm_80"] i8 i8 i32 16 8 32 reg32 (4 2 4) "s32.s8.s8.s32";
            [80 "sm_80"] i8 u8 i32 16 8 32 reg32 (4 2 4) "s32.s8.u8.s32";
            [80 "sm_80"] u8 i8 i32 16 8 32 reg32 (4 2 4) "s32.u8.s8.s32";
            [80 "sm_80"] u8 u8 i32 16 8 32 reg32 (4 2 4) "s32.u8.u8.s32";
            [89 "sm_89"] e4m3 e4m3 f32 16 8 32 reg32 (4 2 4) "f32.e4m3.e4m3.f32";
            [89 "sm_89"] e4m3 e5m2 f32 16 8 32 reg32 (4 2 4) "f32.e4m3.e5m2.f32";
            [89 "sm_89"] e5m2 e4m3 f32 16 8 32 reg32 (4 2 4) "f32.e5m2.e4m3.f32";
            [89 "sm_89"] e5m2 e5m2 f32 16 8 32 reg32 (4 2 4) "f32.e5m2.e5m2.f32";
        }
    };
}

/// Calls `$define!` with a row for each product of a warpgroup: the types of the sums and of the elements of A and B,
/// and the types of the instruction.
macro_rules! for_each_wgmma {
    ($define:ident) => {
        $define! {
            f32 f16 f16 "f32.f16.f16";
            f16 f16 f16 "f16.f16.f16";
            f32 bf16 bf16 "f32.bf16.bf16";
            f32 tf32 tf32 "f32.tf32.tf32";
            f32 e4m3 e4m3 "f32.e4m3.e4m3";
            f32 e4m3 e5m2 "f32.e4m3.e5m2";
            f32 e5m2 e4m3 "f32.e5m2.e4m3";
            f32 e5m2 e5m2 "f32.e5m2.e5m2";
            f16 e4m3 e4m3 "f16.e4m3.e4m3";
            f16 e4m3 e5m2 "f16.e4m3.e5m2";
            f16 e5m2 e4m3 "f16.e5m2.e4m3";
            f16 e5m2 e5m2 "f16.e5m2.e5m2";
            i32 i8 i8 "s32.s8.s8";
            i32 i8 u8 "s32.s8.u8";
            i32 u8 i8 "s32.u8.s8";
            i32 u8 u8 "s32.u8.u8";
        }
    };
}
pub(crate) use {for_each_product, for_each_wgmma};
