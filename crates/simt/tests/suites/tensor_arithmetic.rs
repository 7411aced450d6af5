//! The arithmetic of tensor cores: the results of an H100 for a sample of inputs, each with the same bits.
//!
//! `tests/data/tensor_arithmetic.bin` has a section for each of [`SECTIONS`], in little-endian. A section has
//! [`CASES`] cases of 72 bytes: a row of A and a column of B of 32 bytes each, then C as `f32` and as `f16` in 4 bytes.
//! For each instruction follow its results, of 4 bytes each. An instruction with a smaller K uses the first elements.
//! The last section has [`DOUBLES`] cases of 33 doubles (16 of A, 16 of B and C) and results of 8 bytes.
//! `docs/tensor-arithmetic.md` says how the inputs were chosen.

use simt::tensor::Format::{self, Bf16, E4m3, E5m2, F16, Tf32};
use simt::tensor::arithmetic::Sum::{self, F16 as HalfSum, F32 as SingleSum};
use simt::tensor::arithmetic::Unit::{self, Mma, Wgmma};
use simt::tensor::arithmetic::{Product, multiply_add_f64};

static RECORD: &[u8] = include_bytes!("../data/tensor_arithmetic.bin");

const CASES: usize = 160;
const DOUBLES: usize = 40;

/// The unit, the format of B, the type of the sums, K, and whether C is used or 0 (`scale-d` of `wgmma`).
type Instruction = (Unit, Format, Sum, usize, bool);

/// The format of A, and the instructions.
const SECTIONS: [(Format, &[Instruction]); 5] = [
    (
        F16,
        &[
            (Mma, F16, SingleSum, 16, true),
            (Mma, F16, SingleSum, 8, true),
            (Mma, F16, HalfSum, 16, true),
            (Mma, F16, HalfSum, 8, true),
            (Wgmma, F16, SingleSum, 16, true),
            (Wgmma, F16, SingleSum, 16, false),
            (Wgmma, F16, HalfSum, 16, true),
        ],
    ),
    (Bf16, &[(Mma, Bf16, SingleSum, 16, true), (Mma, Bf16, SingleSum, 8, true), (Wgmma, Bf16, SingleSum, 16, true)]),
    (Tf32, &[(Mma, Tf32, SingleSum, 8, true), (Mma, Tf32, SingleSum, 4, true), (Wgmma, Tf32, SingleSum, 8, true)]),
    (
        E4m3,
        &[
            (Mma, E4m3, SingleSum, 32, true),
            (Mma, E5m2, SingleSum, 32, true),
            (Mma, E4m3, SingleSum, 16, true),
            (Mma, E4m3, HalfSum, 32, true),
            (Mma, E4m3, HalfSum, 16, true),
            (Wgmma, E4m3, SingleSum, 32, true),
            (Wgmma, E4m3, SingleSum, 32, false),
            (Wgmma, E5m2, SingleSum, 32, true),
            (Wgmma, E4m3, HalfSum, 32, true),
        ],
    ),
    (
        E5m2,
        &[
            (Mma, E5m2, SingleSum, 32, true),
            (Mma, E5m2, SingleSum, 16, true),
            (Mma, E5m2, HalfSum, 32, true),
            (Wgmma, E5m2, SingleSum, 32, true),
            (Wgmma, E5m2, HalfSum, 32, true),
        ],
    ),
];

fn word(bytes: &[u8]) -> u32 {
    let mut word = [0; 4];
    word[..bytes.len()].copy_from_slice(bytes);
    u32::from_le_bytes(word)
}

fn doubles(bytes: &[u8]) -> Vec<f64> {
    bytes.chunks(8).map(|double| f64::from_le_bytes(double.try_into().unwrap())).collect()
}

/// Returns the first `k` elements of a row or column.
fn decode(bytes: &[u8], format: Format, k: usize) -> Vec<f32> {
    bytes.chunks(format.bits() as usize / 8).take(k).map(|bits| format.decode(word(bits))).collect()
}

/// Returns the value that the hardware wrote.
fn value(bits: u32, sum: Sum) -> f32 {
    match sum {
        SingleSum => f32::from_bits(bits),
        HalfSum => F16.decode(bits),
    }
}

/// Asserts that the values have the same bits, or are both NaN in `f16`, of whose NaNs an `f32` does not have the bits.
fn assert_same(ours: f32, recorded: u32, sum: Sum, what: &dyn std::fmt::Debug) {
    let hardware = value(recorded, sum);
    let are_same = ours.to_bits() == hardware.to_bits() || sum == HalfSum && ours.is_nan() && hardware.is_nan();
    assert!(are_same, "{what:?}: {ours:e} ({:#x}) instead of {hardware:e} ({recorded:#x})", ours.to_bits());
}

#[test]
fn products_have_the_bits_of_an_h100() {
    let mut rest = RECORD;
    for (a_format, instructions) in SECTIONS {
        let cases = rest.split_off(..CASES * 72).unwrap();
        for &(unit, b_format, sum, k, has_c) in instructions {
            let product = Product { unit, a: a_format, b: b_format, sum, k };
            let results = rest.split_off(..CASES * 4).unwrap();
            // Eight cases are the diagonal of one product, so that each sum is computed beside other ones.
            for (cases, results) in cases.chunks(8 * 72).zip(results.chunks(8 * 4)) {
                let rows: Vec<f32> = cases.chunks(72).flat_map(|case| decode(&case[..32], a_format, k)).collect();
                let columns: Vec<f32> = cases.chunks(72).flat_map(|case| decode(&case[32..64], b_format, k)).collect();
                let mut sums = vec![0.0; 64];
                for (i, case) in cases.chunks(72).enumerate() {
                    let c = if sum == SingleSum { &case[64..68] } else { &case[68..] };
                    sums[9 * i] = if has_c { value(word(c), sum) } else { 0.0 };
                }
                let c = sums.clone();
                product.multiply_add(&rows, &columns, &mut sums);
                for (i, result) in results.chunks(4).enumerate() {
                    let what = (product, &rows[i * k..][..k], &columns[i * k..][..k], c[9 * i]);
                    assert_same(sums[9 * i], word(result), sum, &what);
                }
            }
        }
    }
    let cases = doubles(rest.split_off(..DOUBLES * 33 * 8).unwrap());
    for k in [4, 4, 8, 16] {
        let results = doubles(rest.split_off(..DOUBLES * 8).unwrap());
        for (case, result) in cases.chunks(33).zip(results) {
            let mut sum = [case[32]];
            multiply_add_f64(k, &case[..k], &case[16..16 + k], &mut sum);
            assert_eq!(sum[0].to_bits(), result.to_bits(), "f64, K = {k}: {case:?}");
        }
    }
    assert!(rest.is_empty());
}

/// Returns every type of factors with the largest K and the type of the sums of both units.
fn every_product() -> impl Iterator<Item = Product> {
    SECTIONS.into_iter().flat_map(|(a, instructions)| {
        instructions.iter().map(move |&(unit, b, sum, k, _)| Product { unit, a, b, sum, k })
    })
}

#[test]
fn small_whole_numbers_are_exact() {
    for product in every_product() {
        let number = |i: usize, step: usize| (i * step % 9) as f32 - 4.0;
        let a: Vec<f32> = (0..3 * product.k).map(|i| number(i, 5)).collect();
        let b: Vec<f32> = (0..11 * product.k).map(|i| number(i, 7)).collect();
        let mut sums: Vec<f32> = (0..33).map(|i| number(i, 4)).collect();
        let expected: Vec<f32> = (0..33)
            .map(|i| {
                let (row, column) = (&a[i / 11 * product.k..], &b[i % 11 * product.k..]);
                row.iter().zip(column).take(product.k).map(|(a, b)| a * b).sum::<f32>() + sums[i]
            })
            .collect();
        product.multiply_add(&a, &b, &mut sums);
        assert_eq!(sums, expected, "{product:?}");
    }
}

/// The vector instructions compute the usual exponents, and other code computes one sum at a time.
#[test]
fn a_power_of_two_scales_the_sum_beyond_the_usual_exponents() {
    let product = Product { unit: Wgmma, a: Bf16, b: Bf16, sum: SingleSum, k: 16 };
    let elements: Vec<f32> =
        (0..16).map(|i| Bf16.decode(0x3F80 + i * 37 % 128) * if i % 3 == 0 { -1.0 } else { 1.0 }).collect();
    let usual = product.dot(&elements, &elements, 0.3);
    for exponent in [-60, 60, 62] {
        let scaled: Vec<f32> = elements.iter().map(|element| element * 2.0_f32.powi(exponent)).collect();
        let scale = 2.0_f32.powi(2 * exponent);
        assert_eq!(product.dot(&scaled, &scaled, 0.3 * scale), usual * scale, "2^{exponent}");
    }
    let all = product.dot(&[2.0_f32.powi(100); 16], &[2.0_f32.powi(100); 16], 1.0);
    assert_eq!(all, f32::INFINITY);
}
