//! The cases of the kernels in [`gpu::warpgroup_library`] with products of a warpgroup. The functions compare the results of
//! any device with those of the host.

use cuda_std::tensor::wgmma::{ROWS, Sums, WgmmaInstruction};
use cuda_std::tensor::{PanelLayout, Plain16, Swizzle32, Swizzle64, Swizzle128, Tile, tf32};
use cuda_std::{Global, GlobalMut, bf16, bf16x2, e4m3, e5m2, f16};
use gpu::warpgroup_library as kernels;
use launch::{Device, Kernel, LaunchConfig, Swizzle};
use simt::tensor::Format;
use simt::tensor::arithmetic::{Product, Sum, Unit};

use super::tensor_library::{Small, expected, random, transposed};
use crate::case::{Case, CaseError, bits, equal};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |kernel: &'static [&'static str; 1], what: &str, work: fn(&Device) -> Result<(), CaseError>| {
        cases.push(Case::new("warpgroup_library", kernel[0], kernel, what, move |stage| work(&stage.device)));
    };
    add(&["multiply_shared"], "a block of a warpgroup, every type and layout", products);
    add(&["multiply_transposed"], "a block of a warpgroup, every layout", transposed_products);
    add(&["multiply_fragments"], "a block of a warpgroup, A of every type in registers", fragments);
    add(&["multiply_groups"], "a block of a warpgroup, 3 steps", groups);
    add(&["multiply_double"], "a block of a warpgroup, 2 halves", double);
    add(&["multiply_warpgroups"], "a block of 2 warpgroups", warpgroups);
    add(&["move_registers"], "a block of 2 warpgroups", registers);
    add(&["matmul_pipelined"], "a cluster, a product of 256 x 320 and 320 x 256 elements", |device| {
        pipelined(device, [256, 256, 320], 1)
    });
    cases
}

/// Returns the launch of a warpgroup with shared memory for `bytes` bytes.
fn warpgroup(bytes: usize) -> LaunchConfig {
    LaunchConfig::new(1, 128).shared_bytes(bytes as u32)
}

fn product<T, U, V, L, const N: usize, const K: usize>(device: &Device) -> Result<(), CaseError>
where
    T: Small,
    U: Small,
    V: Small + Sums<N> + WgmmaInstruction<T, U, N>,
    L: PanelLayout,
    kernels::multiply_shared<T, U, V, L, N, K>: Kernel,
{
    let (a, b) = (random::<T>(ROWS * K, 1), random::<U>(N * K, 2));
    let (da, db, mut d) = (device.upload(&a)?, device.upload(&b)?, device.alloc(ROWS * N / 2)?);
    let call = kernels::multiply_shared::<T, U, V, L, N, K>(da.view(), db.view(), d.view_mut());
    device.launch(warpgroup(size_of_val(&a[..]) + size_of_val(&b[..])), call)?;
    let name = <kernels::multiply_shared<T, U, V, L, N, K> as Kernel>::INFO.name;
    equal(name, d.download()?.as_flattened(), &expected(K, &a, &b, &vec![V::small(0); ROWS * N]))
}

macro_rules! columns {
    ($device:ident $($n:literal)*) => {
        $(product::<bf16, bf16, f32, Swizzle32, $n, 16>($device)?;)*
    };
}

macro_rules! pairs {
    ($device:ident $a:ident $b:ident, $sum:ident $layout:ident $n:literal $k:literal) => {
        product::<$a, $a, $sum, $layout, $n, $k>($device)?;
        product::<$a, $b, $sum, $layout, $n, $k>($device)?;
        product::<$b, $a, $sum, $layout, $n, $k>($device)?;
        product::<$b, $b, $sum, $layout, $n, $k>($device)?;
    };
}

/// Multiplies small whole numbers of every type, in every layout and every number of columns.
///
/// # Errors
/// If a launch fails or a result differs from the host's.
pub fn products(device: &Device) -> Result<(), CaseError> {
    columns! {
        device
        8 16 24 32 40 48 56 64 72 80 88 96 104 112 120 128
        136 144 152 160 168 176 184 192 200 208 216 224 232 240 248 256
    }
    product::<bf16, bf16, f32, Plain16, 64, 64>(device)?;
    product::<bf16, bf16, f32, Swizzle64, 64, 64>(device)?;
    product::<bf16, bf16, f32, Swizzle128, 64, 64>(device)?;
    product::<f16, f16, f16, Swizzle128, 40, 64>(device)?;
    product::<f16, f16, f32, Swizzle128, 40, 64>(device)?;
    product::<tf32, tf32, f32, Swizzle128, 24, 32>(device)?;
    pairs! { device e4m3 e5m2, f16 Swizzle128 24 128 }
    pairs! { device e4m3 e5m2, f32 Swizzle128 24 128 }
    pairs! { device i8 u8, i32 Swizzle64 48 64 }
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
    let (da, db) = (device.upload(&transposed(&a, K))?, device.upload(&transposed(&b, K))?);
    let mut d = device.alloc::<[f32; 2]>(ROWS * N / 2)?;
    let call = kernels::multiply_transposed::<T, L, N, K>(da.view(), db.view(), d.view_mut());
    device.launch(warpgroup(size_of_val(&a[..]) + size_of_val(&b[..])), call)?;
    let name = <kernels::multiply_transposed<T, L, N, K> as Kernel>::INFO.name;
    equal(name, d.download()?.as_flattened(), &expected(K, &a, &b, &vec![0.0; ROWS * N]))
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

/// Multiplies floats of many magnitudes, and compares the sums with those of [`simt::tensor::arithmetic`], bit for bit.
///
/// # Errors
/// If a launch fails or a result differs.
pub fn rounded_products(device: &Device) -> Result<(), CaseError> {
    const K: usize = 128;
    let elements = |n: usize, seed: usize| -> Vec<e4m3> {
        (0..n).map(|i| e4m3::from_bits(bits(i + 7919 * seed) as u8)).filter(|x| !x.to_f32().is_nan()).collect()
    };
    let (mut a, mut b) = (elements(3 * ROWS * K, 5), elements(3 * 24 * K, 6));
    a.truncate(ROWS * K);
    b.truncate(24 * K);
    let (da, db, mut d) = (device.upload(&a)?, device.upload(&b)?, device.alloc::<[f32; 2]>(ROWS * 24 / 2)?);
    let call = kernels::multiply_shared::<e4m3, e4m3, f32, Swizzle128, 24, K>(da.view(), db.view(), d.view_mut());
    device.launch(warpgroup(a.len() + b.len()), call)?;
    let format = Format::E4m3;
    let step = Product { unit: Unit::Wgmma, a: format, b: format, sum: Sum::F32, k: 32 };
    let mut sums = vec![0.0; ROWS * 24];
    for k in (0..K).step_by(32) {
        let part = |x: &[e4m3]| x.chunks(K).flat_map(|row| &row[k..k + 32]).map(|x| x.to_f32()).collect::<Vec<f32>>();
        step.multiply_add(&part(&a), &part(&b), &mut sums);
    }
    let bits = |x: &[f32]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    equal("rounded sums", &bits(d.download()?.as_flattened()), &bits(&sums))
}

fn fragments_of<T, V, const STEP: usize, const K: usize>(device: &Device) -> Result<(), CaseError>
where
    T: Small + Tile<16, STEP, Registers = [u32; 4]>,
    V: Small + WgmmaInstruction<T, T, 64>,
    kernels::multiply_fragments<T, V, STEP, K>: Kernel,
{
    let (a, b) = (random::<T>(ROWS * K, 7), random::<T>(64 * K, 8));
    let (da, db, mut d) = (device.upload(&a)?, device.upload(&b)?, device.alloc(ROWS * 64 / 2)?);
    let call = kernels::multiply_fragments::<T, V, STEP, K>(da.view(), db.view(), d.view_mut());
    device.launch(warpgroup(size_of_val(&b[..])), call)?;
    let name = <kernels::multiply_fragments<T, V, STEP, K> as Kernel>::INFO.name;
    equal(name, d.download()?.as_flattened(), &expected(K, &a, &b, &[V::small(0); ROWS * 64]))
}

/// Multiplies matrices in registers of every type by matrices in shared memory.
///
/// # Errors
/// If a launch fails or a result differs from the host's.
pub fn fragments(device: &Device) -> Result<(), CaseError> {
    fragments_of::<bf16, f32, 16, 32>(device)?;
    fragments_of::<f16, f32, 16, 32>(device)?;
    fragments_of::<f16, f16, 16, 32>(device)?;
    fragments_of::<tf32, f32, 8, 16>(device)?;
    fragments_of::<e4m3, f32, 32, 64>(device)?;
    fragments_of::<e5m2, f32, 32, 64>(device)?;
    fragments_of::<i8, i32, 32, 64>(device)?;
    fragments_of::<u8, i32, 32, 64>(device)
}

/// Multiplies `rows` × `k` elements by `k` × 128, with the launch that `launch` makes of the buffers.
fn whole(
    device: &Device,
    rows: usize,
    k: usize,
    launch: impl FnOnce(Global<bf16>, Global<bf16>, GlobalMut<[f32; 2]>) -> Result<(), launch::Error>,
) -> Result<(), CaseError> {
    let (a, b) = (random::<bf16>(rows * k, 9), random::<bf16>(128 * k, 10));
    let (da, db, mut d) = (device.upload(&a)?, device.upload(&b)?, device.alloc::<[f32; 2]>(rows * 64)?);
    launch(da.view(), db.view(), d.view_mut())?;
    equal("d", d.download()?.as_flattened(), &expected(k, &a, &b, &vec![0.0; rows * 128]))
}

/// Multiplies in three steps, of which two are in flight.
///
/// # Errors
/// If a launch fails or a result differs from the host's.
pub fn groups(device: &Device) -> Result<(), CaseError> {
    let k = 3 * 64;
    whole(device, ROWS, k, |a, b, d| device.launch(warpgroup(4 * 2 * 192 * 64), kernels::multiply_groups(k, a, b, d)))
}

/// Multiplies in two halves, of which one is read while the other is in flight.
///
/// # Errors
/// If a launch fails or a result differs from the host's.
pub fn double(device: &Device) -> Result<(), CaseError> {
    whole(device, ROWS, 64, |a, b, d| device.launch(warpgroup(2 * 192 * 64), kernels::multiply_double(a, b, d)))
}

/// Multiplies by two warpgroups.
///
/// # Errors
/// If a launch fails or a result differs from the host's.
pub fn warpgroups(device: &Device) -> Result<(), CaseError> {
    let config = LaunchConfig::new(1, 256).shared_bytes(2 * 256 * 64);
    whole(device, 2 * ROWS, 64, |a, b, d| device.launch(config, kernels::multiply_warpgroups(a, b, d)))
}

/// Moves registers from a warpgroup to another one.
///
/// # Errors
/// If a launch fails or a result differs from the host's.
pub fn registers(device: &Device) -> Result<(), CaseError> {
    let x: Vec<u32> = (0..256).collect();
    let (dx, mut y) = (device.upload(&x)?, device.alloc::<u32>(256)?);
    device.launch(LaunchConfig::new(1, 256), kernels::move_registers(dx.view(), y.view_mut()))?;
    equal("y", &y.download()?, &x.iter().map(|x| 2 * x).collect::<Vec<_>>())
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
    // Each sum is at most 9 · 320 and is rounded to a `bf16`.
    let expected = expected::<bf16, bf16, f32>(k, &a, &b, &vec![0.0; m * n]);
    let expected: Vec<u16> = expected.into_iter().map(|sum| bf16::from_f32(sum).to_bits()).collect();
    let found: Vec<u16> = c.download()?.iter().flat_map(|pair| [pair.low().to_bits(), pair.high().to_bits()]).collect();
    equal("c", &found, &expected)
}
