//! The cases of the kernels in [`gpu::warpgroup_library`], which use each instruction of warpgroups once. The functions
//! compare the results of any device with those of the host.

use cuda_std::tensor::wgmma::{ROWS, Sums, WgmmaInstruction};
use cuda_std::tensor::{PanelLayout, Plain16, Swizzle32, Swizzle64, Swizzle128, Tile, tf32};
use cuda_std::{DeviceCopy, GlobalMut, bf16, bf16x2, e4m3, e5m2, f16};
use gpu::warpgroup_library as kernels;
use launch::{Call, Device, Element, Kernel, LaunchConfig, Swizzle};
use simt::tensor::Format;
use simt::tensor::arithmetic::{Product, Sum, Unit};

use super::tensor_library::{Small, expected, random, transposed};
use crate::case::{Case, CaseError, bits, equal};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |kernel: &'static [&'static str; 1], what: &str, work: fn(&Device) -> Result<(), CaseError>| {
        cases.push(Case::new("warpgroup_library", kernel[0], kernel, what, move |stage| work(&stage.device)));
    };
    add(&["multiply_shared"], "a warpgroup, every type and layout", products);
    add(&["multiply_transposed"], "a warpgroup, every layout", transposed_products);
    add(&["multiply_fragments"], "a warpgroup, A in registers, every type", products_of_fragments);
    add(&["multiply_groups"], "a warpgroup, 5 steps in three stages", groups);
    add(&["multiply_double"], "a warpgroup, two groups", double);
    add(&["multiply_warpgroups"], "two warpgroups", warpgroups);
    add(&["move_registers"], "two warpgroups", registers);
    add(&["matmul_pipelined"], "a cluster, a product of 256 x 320 and 320 x 256 elements", |device| {
        pipelined(device, [256, 256, 320], 1)
    });
    cases
}

/// Launches `call` on a block of `threads` threads, on `a` and `b`, with shared memory for `bytes` bytes. Returns `len`
/// sums.
fn launch<T, U, V>(
    device: &Device,
    (threads, bytes): (u32, usize),
    (a, b, len): (&[T], &[U], usize),
    call: impl for<'a> FnOnce(cuda_std::Global<'a, T>, cuda_std::Global<'a, U>, GlobalMut<'a, [V; 2]>) -> Call<'a>,
) -> Result<Vec<V>, CaseError>
where
    T: Element,
    U: Element,
    V: Element,
    [V; 2]: DeviceCopy,
{
    let (a, b, mut d) = (device.upload(a)?, device.upload(b)?, device.alloc::<[V; 2]>(len / 2)?);
    let config = LaunchConfig::new(1, threads).shared_bytes(bytes as u32);
    device.launch(config, call(a.view(), b.view(), d.view_mut()))?;
    Ok(d.download()?.into_flattened())
}

/// Returns the size in bytes of `n` elements of type `T`.
const fn size<T>(n: usize) -> usize {
    n * size_of::<T>()
}

fn product<T, U, V, L, const N: usize, const K: usize>(device: &Device) -> Result<(), CaseError>
where
    T: Small,
    U: Small,
    V: Small + Sums<N> + WgmmaInstruction<T, U, N>,
    [V; 2]: DeviceCopy,
    L: PanelLayout,
    kernels::multiply_shared<T, U, V, L, N, K>: Kernel,
{
    let (a, b) = (random::<T>(ROWS * K, 1), random::<U>(N * K, 2));
    let bytes = size::<T>(ROWS * K) + size::<U>(N * K);
    let d = launch(device, (128, bytes), (&a, &b, ROWS * N), |a, b, d| {
        kernels::multiply_shared::<T, U, V, L, N, K>(a, b, d)
    })?;
    let name = <kernels::multiply_shared<T, U, V, L, N, K> as Kernel>::INFO.name;
    equal(name, &d, &expected(K, &a, &b, &vec![V::small(0); ROWS * N]))
}

macro_rules! products {
    ($device:ident: $($a:ident $b:ident $sums:ident $layout:ident $k:literal [$($n:literal)*];)*) => {
        $($(product::<$a, $b, $sums, $layout, $n, $k>($device)?;)*)*
    };
}

/// Multiplies small whole numbers of every type, with every number of columns, in every layout.
///
/// # Errors
/// If a launch fails or a result differs from the host's.
pub fn products(device: &Device) -> Result<(), CaseError> {
    products! {
        device:
        bf16 bf16 f32 Swizzle32 16 [
            8 16 24 32 40 48 56 64 72 80 88 96 104 112 120 128
            136 144 152 160 168 176 184 192 200 208 216 224 232 240 248 256
        ];
        bf16 bf16 f32 Plain16 64 [64];
        bf16 bf16 f32 Swizzle64 64 [64];
        bf16 bf16 f32 Swizzle128 64 [64];
        f16 f16 f16 Swizzle128 64 [40];
        f16 f16 f32 Swizzle128 64 [40];
        tf32 tf32 f32 Swizzle128 32 [24];
        e4m3 e4m3 f32 Swizzle128 128 [24];
        e4m3 e5m2 f32 Swizzle128 128 [24];
        e5m2 e4m3 f32 Swizzle128 128 [24];
        e5m2 e5m2 f32 Swizzle128 128 [24];
        e4m3 e4m3 f16 Swizzle128 128 [24];
        e4m3 e5m2 f16 Swizzle128 128 [24];
        e5m2 e4m3 f16 Swizzle128 128 [24];
        e5m2 e5m2 f16 Swizzle128 128 [24];
        i8 i8 i32 Swizzle64 64 [48];
        i8 u8 i32 Swizzle64 64 [48];
        u8 i8 i32 Swizzle64 64 [48];
        u8 u8 i32 Swizzle64 64 [48];
    }
    Ok(())
}

fn transposed_product<T, L, const N: usize, const K: usize>(device: &Device) -> Result<(), CaseError>
where
    T: Small,
    f32: WgmmaInstruction<T, T, N>,
    L: PanelLayout,
    kernels::multiply_transposed<T, L, N, K>: Kernel,
{
    let (a, b) = (random::<T>(ROWS * K, 3), random::<T>(N * K, 4));
    let of_columns = (&transposed(&a, K)[..], &transposed(&b, K)[..], ROWS * N);
    let d = launch(device, (128, size::<T>((ROWS + N) * K)), of_columns, |a, b, d| {
        kernels::multiply_transposed::<T, L, N, K>(a, b, d)
    })?;
    let name = <kernels::multiply_transposed<T, L, N, K> as Kernel>::INFO.name;
    equal(name, &d, &expected(K, &a, &b, &vec![0.0; ROWS * N]))
}

/// Multiplies matrices whose columns are contiguous, in every layout.
///
/// # Errors
/// If a launch fails or a result differs from the host's.
pub fn transposed_products(device: &Device) -> Result<(), CaseError> {
    transposed_product::<bf16, Swizzle128, 128, 32>(device)?;
    transposed_product::<f16, Plain16, 64, 32>(device)?;
    transposed_product::<f16, Swizzle32, 64, 32>(device)?;
    transposed_product::<f16, Swizzle64, 64, 32>(device)
}

fn product_of_fragments<T, V, const STEP: usize, const K: usize>(device: &Device) -> Result<(), CaseError>
where
    T: Small + Tile<16, STEP, Registers = [u32; 4]>,
    V: Small + WgmmaInstruction<T, T, 64>,
    [V; 2]: DeviceCopy,
    kernels::multiply_fragments<T, V, STEP, K>: Kernel,
{
    let (a, b) = (random::<T>(ROWS * K, 5), random::<T>(64 * K, 6));
    let d = launch(device, (128, size::<T>(64 * K)), (&a, &b, ROWS * 64), |a, b, d| {
        kernels::multiply_fragments::<T, V, STEP, K>(a, b, d)
    })?;
    let name = <kernels::multiply_fragments<T, V, STEP, K> as Kernel>::INFO.name;
    equal(name, &d, &expected(K, &a, &b, &[V::small(0); ROWS * 64]))
}

/// Multiplies matrices of which the first is in registers.
///
/// # Errors
/// If a launch fails or a result differs from the host's.
pub fn products_of_fragments(device: &Device) -> Result<(), CaseError> {
    product_of_fragments::<bf16, f32, 16, 32>(device)?;
    product_of_fragments::<f16, f32, 16, 32>(device)?;
    product_of_fragments::<f16, f16, 16, 32>(device)?;
    product_of_fragments::<tf32, f32, 8, 16>(device)?;
    product_of_fragments::<e4m3, f32, 32, 64>(device)?;
    product_of_fragments::<e5m2, f32, 32, 64>(device)?;
    product_of_fragments::<i8, i32, 32, 64>(device)?;
    product_of_fragments::<u8, i32, 32, 64>(device)
}

/// Multiplies `rows` rows by 128 columns of `k` elements by a kernel with blocks of `threads` threads.
fn check_steps(
    device: &Device,
    (threads, bytes): (u32, usize),
    (rows, k): (usize, usize),
    call: impl for<'a> FnOnce(cuda_std::Global<'a, bf16>, cuda_std::Global<'a, bf16>, GlobalMut<'a, [f32; 2]>) -> Call<'a>,
) -> Result<(), CaseError> {
    let (a, b) = (random::<bf16>(rows * k, 7), random::<bf16>(128 * k, 8));
    let d = launch(device, (threads, bytes), (&a, &b, rows * 128), call)?;
    equal("d", &d, &expected(k, &a, &b, &vec![0.0; rows * 128]))
}

/// Multiplies by groups of products, two of which are in progress together.
///
/// # Errors
/// If a launch fails or a result differs from the host's.
pub fn groups(device: &Device) -> Result<(), CaseError> {
    let bytes = 3 * size::<bf16>((ROWS + 128) * 64);
    check_steps(device, (128, bytes), (ROWS, 320), |a, b, d| kernels::multiply_groups(320, a, b, d))
}

/// Multiplies by two groups with sums of their own.
///
/// # Errors
/// If a launch fails or a result differs from the host's.
pub fn double(device: &Device) -> Result<(), CaseError> {
    let bytes = size::<bf16>((ROWS + 128) * 64);
    check_steps(device, (128, bytes), (ROWS, 64), kernels::multiply_double)
}

/// Multiplies by two warpgroups.
///
/// # Errors
/// If a launch fails or a result differs from the host's.
pub fn warpgroups(device: &Device) -> Result<(), CaseError> {
    check_steps(device, (256, size::<bf16>(256 * 64)), (128, 64), kernels::multiply_warpgroups)
}

/// Moves registers between two warpgroups.
///
/// # Errors
/// If a launch fails or a result differs from the host's.
pub fn registers(device: &Device) -> Result<(), CaseError> {
    let x: Vec<u32> = (0..256).collect();
    let (dx, mut y) = (device.upload(&x)?, device.alloc::<u32>(256)?);
    device.launch(LaunchConfig::new(1, 256), kernels::move_registers(dx.view(), y.view_mut()))?;
    equal("y", &y.download()?, &x.iter().map(|x| 2 * x).collect::<Vec<u32>>())
}

/// Multiplies floats of many magnitudes, and compares the sums with those of [`simt::tensor::arithmetic`], bit for bit.
///
/// # Errors
/// If a launch fails or a result differs.
pub fn rounded_products(device: &Device) -> Result<(), CaseError> {
    const K: usize = 128;
    let elements = |n: usize, seed: usize| -> Vec<e4m3> {
        let all = (0..).map(|i| e4m3::from_bits(bits(i + 7919 * seed) as u8));
        all.filter(|x| !x.to_f32().is_nan()).take(n).collect()
    };
    let (a, b) = (elements(ROWS * K, 9), elements(24 * K, 10));
    let d: Vec<f32> = launch(device, (128, a.len() + b.len()), (&a, &b, ROWS * 24), |a, b, d| {
        kernels::multiply_shared::<e4m3, e4m3, f32, Swizzle128, 24, K>(a, b, d)
    })?;
    let format = Format::E4m3;
    let step = Product { unit: Unit::Wgmma, a: format, b: format, sum: Sum::F32, k: 32 };
    let mut sums = vec![0.0; ROWS * 24];
    for k in (0..K).step_by(32) {
        let part = |x: &[e4m3]| x.chunks(K).flat_map(|row| &row[k..k + 32]).map(|x| x.to_f32()).collect::<Vec<f32>>();
        step.multiply_add(&part(&a), &part(&b), &mut sums);
    }
    let bits = |x: Vec<f32>| x.into_iter().map(f32::to_bits).collect::<Vec<_>>();
    equal("rounded sums", &bits(d), &bits(sums))
}

/// Multiplies matrices of `sizes` = m, n and k elements by `clusters` clusters of two blocks.
///
/// # Errors
/// If a launch fails or a result differs from the host's.
pub fn pipelined(device: &Device, sizes: [usize; 3], clusters: u32) -> Result<(), CaseError> {
    let [m, n, k] = sizes;
    let (a, b) = (random::<bf16>(m * k, 11), random::<bf16>(n * k, 12));
    let (da, db, mut c) = (device.upload(&a)?, device.upload(&b)?, device.alloc::<bf16x2>(m * n / 2)?);
    let map_a = device.tensor_map(da.view(), [k, m]).tile([64, 128]).swizzle(Swizzle::Bytes128).build()?;
    let map_b = device.tensor_map(db.view(), [k, n]).tile([64, 128]).swizzle(Swizzle::Bytes128).build()?;
    let call = kernels::matmul_pipelined(sizes.map(|size| size as u32), map_a, map_b, c.view_mut());
    device.launch(LaunchConfig::new(2 * clusters, 384).shared_bytes(196_608), call)?;
    let sums = expected::<bf16, bf16, f32>(k, &a, &b, &vec![0.0; m * n]);
    let expected: Vec<u16> = sums.into_iter().map(|sum| bf16::from_f32(sum).to_bits()).collect();
    let found: Vec<u16> = c.download()?.iter().flat_map(|pair| [pair.low().to_bits(), pair.high().to_bits()]).collect();
    equal("c", &found, &expected)
}
