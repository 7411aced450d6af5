//! The cases of the kernels in [`gpu::tensor_library`] with products of a warpgroup. The functions compare the results of
//! any device with those of the host.

use cuda_std::tensor::wgmma::{ROWS, Sums, WgmmaInstruction};
use cuda_std::tensor::{PanelLayout, Plain16, Swizzle32, Swizzle64, Swizzle128, tf32};
use cuda_std::{bf16, e4m3, e5m2, f16};
use gpu::tensor_library as kernels;
use launch::{Device, Kernel, LaunchConfig};
use simt::tensor::Format;
use simt::tensor::arithmetic::{Product, Sum, Unit};

use super::tensor_library::{Small, expected, random, transposed};
use crate::case::{Case, CaseError, bits, equal};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |kernel: &'static [&'static str; 1], what: &str, work: fn(&Device) -> Result<(), CaseError>| {
        cases.push(Case::new("tensor_library", kernel[0], kernel, what, move |stage| work(&stage.device)));
    };
    add(&["multiply_shared"], "a block of a warpgroup, every type and layout", products);
    add(&["multiply_transposed"], "a block of a warpgroup, every layout", transposed_products);
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
    let (da, db, mut d) = (device.upload(&a)?, device.upload(&b)?, device.alloc(ROWS * N)?);
    let call = kernels::multiply_shared::<T, U, V, L, N, K>(da.view(), db.view(), d.view_mut());
    device.launch(warpgroup(size_of_val(&a[..]) + size_of_val(&b[..])), call)?;
    let name = <kernels::multiply_shared<T, U, V, L, N, K> as Kernel>::INFO.name;
    equal(name, &d.download()?, &expected(K, &a, &b, &vec![V::small(0); ROWS * N]))
}

/// Multiplies small whole numbers of every type, in every layout.
///
/// # Errors
/// If a launch fails or a result differs from the host's.
pub fn products(device: &Device) -> Result<(), CaseError> {
    product::<bf16, bf16, f32, Swizzle128, 8, 64>(device)?;
    product::<bf16, bf16, f32, Swizzle128, 256, 64>(device)?;
    product::<bf16, bf16, f32, Plain16, 64, 64>(device)?;
    product::<bf16, bf16, f32, Swizzle32, 64, 64>(device)?;
    product::<bf16, bf16, f32, Swizzle64, 64, 64>(device)?;
    product::<f16, f16, f16, Swizzle128, 24, 128>(device)?;
    product::<f16, f16, f32, Swizzle128, 24, 128>(device)?;
    product::<tf32, tf32, f32, Swizzle128, 64, 32>(device)?;
    product::<e4m3, e4m3, f32, Swizzle128, 32, 128>(device)?;
    product::<e4m3, e5m2, f32, Swizzle128, 32, 128>(device)?;
    product::<e5m2, e4m3, f32, Swizzle128, 32, 128>(device)?;
    product::<e5m2, e5m2, f32, Swizzle128, 32, 128>(device)?;
    product::<i8, i8, i32, Swizzle64, 48, 64>(device)?;
    product::<i8, u8, i32, Swizzle64, 48, 64>(device)?;
    product::<u8, i8, i32, Swizzle64, 48, 64>(device)?;
    product::<u8, u8, i32, Swizzle64, 48, 64>(device)
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
    let mut d = device.alloc::<f32>(ROWS * N)?;
    let call = kernels::multiply_transposed::<T, L, N, K>(da.view(), db.view(), d.view_mut());
    device.launch(warpgroup(size_of_val(&a[..]) + size_of_val(&b[..])), call)?;
    let name = <kernels::multiply_transposed<T, L, N, K> as Kernel>::INFO.name;
    equal(name, &d.download()?, &expected(K, &a, &b, &vec![0.0; ROWS * N]))
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
    let (mut a, mut b) = (elements(3 * ROWS * K, 5), elements(3 * 32 * K, 6));
    a.truncate(ROWS * K);
    b.truncate(32 * K);
    let (da, db, mut d) = (device.upload(&a)?, device.upload(&b)?, device.alloc::<f32>(ROWS * 32)?);
    let call = kernels::multiply_shared::<e4m3, e4m3, f32, Swizzle128, 32, K>(da.view(), db.view(), d.view_mut());
    device.launch(warpgroup(a.len() + b.len()), call)?;
    let format = Format::E4m3;
    let step = Product { unit: Unit::Wgmma, a: format, b: format, sum: Sum::F32, k: 32 };
    let mut sums = vec![0.0; ROWS * 32];
    for k in (0..K).step_by(32) {
        let part = |x: &[e4m3]| x.chunks(K).flat_map(|row| &row[k..k + 32]).map(|x| x.to_f32()).collect::<Vec<f32>>();
        step.multiply_add(&part(&a), &part(&b), &mut sums);
    }
    let bits = |x: Vec<f32>| x.into_iter().map(f32::to_bits).collect::<Vec<_>>();
    equal("rounded sums", &bits(d.download()?), &bits(sums))
}
