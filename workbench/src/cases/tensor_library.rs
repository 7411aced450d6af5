//! The cases of the kernels in [`gpu::tensor_library`], which use each instruction of tensor cores once. The functions
//! compare the results of any device with those of the host.

use cuda_std::tensor::mma::Product;
use cuda_std::tensor::{Tile, tf32};
use cuda_std::{bf16, e4m3, e5m2, f16};
use gpu::tensor_library as kernels;
use launch::{Device, Element, Kernel, LaunchConfig};

use crate::case::{Case, CaseError, bits, equal};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |kernel: &'static [&'static str; 1], what: &str, work: fn(&Device) -> Result<(), CaseError>| {
        cases.push(Case::new("tensor_library", kernel[0], kernel, what, move |stage| work(&stage.device)));
    };
    add(&["multiply"], "2 blocks of a warp, every product", products);
    add(&["move_matrices"], "a warp: 1, 2 and 4 matrices, also transposed", moves);
    add(&["multiply_tiles"], "a warp, rows and columns", tiles);
    add(&["multiply_whole_tiles"], "a warp: i8, e4m3 and tf32", whole_tiles);
    add(&["matmul_warp"], "a product of 64 x 48 and 48 x 32 elements", |device| matmul(device, false));
    add(&["matmul_shared"], "a product of 64 x 48 and 48 x 32 elements", |device| matmul(device, true));
    add(&["round_fp8"], "2 blocks of 64 threads, 512 numbers", |device| conversions(device, 512));
    cases
}

/// An element type that represents small whole numbers, of which the unsigned type has the magnitudes.
pub trait Small: Element + PartialEq + std::fmt::Debug {
    /// Returns the element with this value.
    fn small(number: i32) -> Self;
    /// Returns the element's value.
    fn whole(self) -> i32;
}

macro_rules! small {
    ($($type:ident |$number:ident| $small:expr, |$x:ident| $whole:expr;)*) => {$(
        impl Small for $type {
            fn small($number: i32) -> Self {
                $small
            }

            fn whole(self) -> i32 {
                let $x = self;
                $whole
            }
        }
    )*};
}

small! {
    f16 |n| Self::from_f32(n as f32), |x| x.to_f32() as i32;
    bf16 |n| Self::from_f32(n as f32), |x| x.to_f32() as i32;
    tf32 |n| Self::from_f32(n as f32), |x| x.to_f32() as i32;
    e4m3 |n| Self::from_f32(n as f32), |x| x.to_f32() as i32;
    e5m2 |n| Self::from_f32(n as f32), |x| x.to_f32() as i32;
    f32 |n| n as Self, |x| x as i32;
    f64 |n| n.into(), |x| x as i32;
    i8 |n| n as Self, |x| x.into();
    u8 |n| n.unsigned_abs() as Self, |x| x.into();
    i32 |n| n, |x| x;
}

/// Returns `n` whole numbers from −3 to 3.
pub(super) fn random<T: Small>(n: usize, seed: usize) -> Vec<T> {
    (0..n).map(|i| T::small((bits(i + 7919 * seed) % 7) as i32 - 3)).collect()
}

/// Returns the product of `a`, which has one row of `k` elements after the other, and `b`, which has one column after
/// the other, plus `c`.
pub(super) fn expected<T: Small, U: Small, V: Small>(k: usize, a: &[T], b: &[U], c: &[V]) -> Vec<V> {
    let dot =
        |(row, column): (&[T], &[U])| -> i32 { row.iter().zip(column).map(|(&a, &b)| a.whole() * b.whole()).sum() };
    let products = a.chunks(k).flat_map(|row| b.chunks(k).map(move |column| (row, column)));
    products.zip(c).map(|(factors, &c)| V::small(dot(factors) + c.whole())).collect()
}

fn product<T, U, V, const M: usize, const N: usize, const K: usize>(device: &Device) -> Result<(), CaseError>
where
    T: Small + Product<U, V, M, N, K>,
    U: Small + Tile<K, N>,
    V: Small + Tile<M, N>,
    kernels::multiply<T, U, V, M, N, K>: Kernel,
{
    let (a, b, c) = (random::<T>(2 * M * K, 1), random::<U>(2 * N * K, 2), random::<V>(2 * M * N, 3));
    let (da, db, dc) = (device.upload(&a)?, device.upload(&b)?, device.upload(&c)?);
    let mut d = device.alloc(2 * M * N)?;
    let call = kernels::multiply::<T, U, V, M, N, K>(da.view(), db.view(), dc.view(), d.view_mut());
    device.launch(LaunchConfig::new(2, 32), call)?;
    let [first, second] =
        [0, 1].map(|i| expected(K, &a[i * M * K..][..M * K], &b[i * N * K..][..N * K], &c[i * M * N..][..M * N]));
    equal(<kernels::multiply<T, U, V, M, N, K> as Kernel>::INFO.name, &d.download()?, &[first, second].concat())
}

macro_rules! products {
    ($device:ident $($a:ident $b:ident $c:ident: $($m:literal $n:literal $k:literal)*;)*) => {
        $(products! { @ $device $a $b $c $([$m, $n, $k])* })*
    };
    (@ $device:ident $a:ident $b:ident $c:ident $([$($shape:literal),*])*) => {
        $(product::<$a, $b, $c, $($shape),*>($device)?;)*
    };
}

/// Runs every product of `mma.sync` on small whole numbers.
///
/// # Errors
/// If a launch fails or a result differs from the host's.
pub fn products(device: &Device) -> Result<(), CaseError> {
    products! {
        device
        f16 f16 f16: 16 8 8  16 8 16;
        f16 f16 f32: 16 8 8  16 8 16;
        bf16 bf16 f32: 16 8 8  16 8 16;
        tf32 tf32 f32: 16 8 4  16 8 8;
        f64 f64 f64: 8 8 4  16 8 4  16 8 8  16 8 16;
        i8 i8 i32: 8 8 16  16 8 16  16 8 32;
        i8 u8 i32: 8 8 16  16 8 16  16 8 32;
        u8 i8 i32: 8 8 16  16 8 16  16 8 32;
        u8 u8 i32: 8 8 16  16 8 16  16 8 32;
        e4m3 e4m3 f32: 16 8 32;
        e4m3 e5m2 f32: 16 8 32;
        e5m2 e4m3 f32: 16 8 32;
        e5m2 e5m2 f32: 16 8 32;
    }
    Ok(())
}

fn moves_of<const X: usize, const TRANS: u32>(device: &Device) -> Result<(), CaseError>
where
    kernels::move_matrices<X, TRANS>: Kernel,
{
    let x: Vec<u16> = (0..64 * X).map(|i| bits(i) as u16).collect();
    let (dx, mut registers, mut y) = (device.upload(&x)?, device.alloc::<u32>(32 * X)?, device.alloc::<u16>(x.len())?);
    let call = kernels::move_matrices::<X, TRANS>(dx.view(), registers.view_mut(), y.view_mut());
    device.launch(LaunchConfig::new(1, 32), call)?;
    let element = |matrix: usize, across: usize, along: usize| {
        let (row, column) = if TRANS == 0 { (across, along) } else { (along, across) };
        u32::from(x[64 * matrix + 8 * row + column])
    };
    let register = |i: usize| {
        let (lane, matrix) = (i / X, i % X);
        let [low, high] = [0, 1].map(|half| element(matrix, lane / 4, lane % 4 * 2 + half));
        low | high << 16
    };
    equal("registers", &registers.download()?, &(0..32 * X).map(register).collect::<Vec<_>>())?;
    equal("y", &y.download()?, &x)
}

/// Moves 1, 2 and 4 matrices by `ldmatrix` and `stmatrix`.
///
/// # Errors
/// If a launch fails or a result differs from the host's.
pub fn moves(device: &Device) -> Result<(), CaseError> {
    moves_of::<1, 0>(device)?;
    moves_of::<2, 0>(device)?;
    moves_of::<4, 0>(device)?;
    moves_of::<1, 1>(device)?;
    moves_of::<2, 1>(device)?;
    moves_of::<4, 1>(device)
}

/// Returns the matrix, which has one row of `n` elements after the other, with one column after the other.
pub(super) fn transposed<T: Copy>(matrix: &[T], n: usize) -> Vec<T> {
    (0..n).flat_map(|column| matrix.iter().copied().skip(column).step_by(n)).collect()
}

/// Multiplies tiles of shared memory by `ldmatrix` and `stmatrix`, with contiguous rows and contiguous columns.
///
/// # Errors
/// If a launch fails or a result differs from the host's.
pub fn tiles(device: &Device) -> Result<(), CaseError> {
    let (a, b) = (random::<bf16>(256, 4), random::<bf16>(128, 5));
    let expected = expected(16, &a, &b, &[bf16::ZERO; 128]);
    let mut c = device.alloc::<bf16>(128)?;
    let config = LaunchConfig::new(1, 32);
    // `b` has one column after the other.
    let (da, db) = (device.upload(&a)?, device.upload(&transposed(&b, 16))?);
    device.launch(config, kernels::multiply_tiles::<1>(da.view(), db.view(), c.view_mut()))?;
    equal("c by rows", &c.download()?, &expected)?;
    let (da, db) = (device.upload(&transposed(&a, 16))?, device.upload(&b)?);
    device.launch(config, kernels::multiply_tiles::<0>(da.view(), db.view(), c.view_mut()))?;
    equal("c by columns", &c.download()?, &expected)
}

fn whole_tile<T, V, const K: usize>(device: &Device) -> Result<(), CaseError>
where
    kernels::multiply_whole_tiles<T, V, K>: Kernel,
    T: Small + Product<T, V, 16, 8, K> + Tile<16, K, Registers = [u32; 4]> + Tile<K, 8, Registers = [u32; 2]>,
    V: Small + Tile<16, 8>,
{
    let (a, b) = (random::<T>(16 * K, 6), random::<T>(8 * K, 7));
    let (da, db, mut c) = (device.upload(&a)?, device.upload(&b)?, device.alloc::<V>(128)?);
    let call = kernels::multiply_whole_tiles::<T, V, K>(da.view(), db.view(), c.view_mut());
    device.launch(LaunchConfig::new(1, 32), call)?;
    equal("c", &c.download()?, &expected(K, &a, &b, &[V::small(0); 128]))
}

/// Multiplies tiles whose elements have 8 and 32 bits by `ldmatrix`.
///
/// # Errors
/// If a launch fails or a result differs from the host's.
pub fn whole_tiles(device: &Device) -> Result<(), CaseError> {
    whole_tile::<i8, i32, 32>(device)?;
    whole_tile::<e4m3, f32, 32>(device)?;
    whole_tile::<tf32, f32, 8>(device)
}

/// Multiplies a matrix of 64 × 48 elements by one of 48 × 32, by way of shared memory if `is_shared` is true.
///
/// # Errors
/// If a launch fails or a result differs from the host's.
pub fn matmul(device: &Device, is_shared: bool) -> Result<(), CaseError> {
    let (m, n, k) = (64, 32, 48);
    let (a, b) = (random::<bf16>(m * k, 8), random::<bf16>(n * k, 9));
    let (da, db, mut c) = (device.upload(&a)?, device.upload(&b)?, device.alloc::<f32>(m * n)?);
    let views = (da.view(), db.view(), c.view_mut());
    if is_shared {
        let call = kernels::matmul_shared(n, k, views.0, views.1, views.2);
        device.launch(LaunchConfig::new((n as u32 / 16, m as u32 / 32), 128), call)?;
    } else {
        let call = kernels::matmul_warp(n, k, views.0, views.1, views.2);
        device.launch(LaunchConfig::new((n as u32 / 8, m as u32 / 16), 32), call)?;
    }
    equal("c", &c.download()?, &expected(k, &a, &b, &vec![0.0; m * n]))
}

/// Returns the values of the 8-bit floats with `fraction` bits for the fraction, by their bits. The exponent of the
/// smallest normal number is `least`. Bits beyond `max` are left out.
fn values(fraction: u32, least: i32, max: u8) -> Vec<f64> {
    let value = |bits: u8| {
        let (exponent, rest) = (i32::from(bits >> fraction), f64::from(bits & ((1 << fraction) - 1)));
        let leading = if exponent == 0 { 0.0 } else { 1.0 };
        (leading + rest / f64::from(1 << fraction)) * 2_f64.powi(exponent.max(1) - 1 + least)
    };
    (0..=max).map(value).collect()
}

/// Returns the bits of the value of `values` nearest to `x`, the even ones of two equally near ones.
fn nearest(values: &[f64], x: f32) -> u8 {
    let distance = |bits: u8| ((f64::from(x).abs().min(1e9) - values[usize::from(bits)]).abs(), bits % 2);
    let all = 0..values.len() as u8;
    let best = all.min_by(|&a, &b| distance(a).partial_cmp(&distance(b)).unwrap_or(std::cmp::Ordering::Equal));
    if x.is_nan() { 0x7F } else { best.unwrap_or(0) | if x.is_sign_negative() { 0x80 } else { 0 } }
}

/// Returns the `tf32` nearest to `x`, the one with the larger magnitude of two equally near ones.
fn nearest_tf32(x: f32) -> f32 {
    if !x.is_normal() && x != 0.0 && x.is_finite() {
        let step = 2_f64.powi(-136);
        return ((f64::from(x) / step).round() * step) as f32;
    }
    let step = 2_f64.powi(x.abs().log2().floor().clamp(-126.0, 127.0) as i32 - 10);
    if x.is_finite() { ((f64::from(x) / step).round() * step) as f32 } else { x }
}

/// Rounds `n` numbers to 8-bit floats and `tf32`, and converts all 8-bit floats back.
///
/// # Errors
/// If a launch fails or a result differs from the host's.
pub fn conversions(device: &Device, n: usize) -> Result<(), CaseError> {
    let tables = [values(3, -6, 0x7E), values(2, -14, 0x7B)];
    // Every number of both formats, the midpoints above them, special values, and random ones of all magnitudes.
    let pairs = tables.iter().flat_map(|table| table.windows(2)).flat_map(|pair| [pair[0], (pair[0] + pair[1]) / 2.0]);
    let special =
        [0.0, f32::MAX, f32::INFINITY, f32::NAN, f32::from_bits(0x7F80_0001), 1e-42, 464.0, 465.0, 61440.0, 6e4];
    let known: Vec<f32> = special.into_iter().chain(pairs.map(|x| x as f32)).flat_map(|x| [x, -x]).collect();
    let random = |i: usize| match i % 2 {
        0 => f32::from_bits(bits(i) as u32),
        _ => f32::from_bits((bits(i) as u32 & 0x8FFF_FFFF) | 0x3800_0000),
    };
    let x: Vec<f32> =
        known.iter().copied().chain((0..).map(random)).take(n.max(known.len().next_multiple_of(4))).collect();
    let n = x.len();
    let (dx, mut words) = (device.upload(&x)?, device.alloc::<u32>(n / 2)?);
    let (mut single, mut wide) = (device.alloc::<f32>(n)?, device.alloc::<f32>(2 * n)?);
    let call = kernels::round_fp8(dx.view(), words.view_mut(), single.view_mut(), wide.view_mut());
    device.launch(LaunchConfig::new(2, 64), call)?;

    let rounded = tables.each_ref().map(|table| x.iter().map(|&x| nearest(table, x)).collect::<Vec<u8>>());
    let [narrow, wider] = &rounded;
    let word = |i: usize| u32::from_le_bytes([narrow[2 * i], narrow[2 * i + 1], wider[2 * i], wider[2 * i + 1]]);
    equal("words", &words.download()?, &(0..n / 2).map(word).collect::<Vec<_>>())?;
    // All NaNs are equal here.
    let seen = |x: Vec<f32>| x.into_iter().map(|x| if x.is_nan() { u32::MAX } else { x.to_bits() }).collect::<Vec<_>>();
    let value = |table: &[f64], bits: u8| {
        let magnitude = table.get(usize::from(bits & 0x7F)).map_or(f32::NAN, |&value| value as f32);
        if bits & 0x80 == 0 { magnitude } else { -magnitude }
    };
    let back = |i: usize| rounded[i].iter().map(|&bits| value(&tables[i], bits)).collect::<Vec<f32>>();
    equal("wide", &seen(wide.download()?), &seen([back(0), back(1)].concat()))?;
    equal("single", &seen(single.download()?), &seen(x.iter().map(|&x| nearest_tf32(x)).collect()))
}
