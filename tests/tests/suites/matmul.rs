//! Compares every rung of the matrix product with the reference, for every type and layout, on every device.

use std::env;

use cuda_std::{GpuFloat, Ladder, bf16, f16};
use gridstride::error::AlgorithmError;
use gridstride::matmul::{
    Layout, Matmul, MatmulElement, MatmulExt, MatmulOptions, MatmulRung, Matrix, MatrixMut, Output,
};
use gridstride::numbers::Number;
use launch::{Device, Error, TensorElement};
use rand::Rng;
use simt::Simulator;
use tests::{all_devices, devices_and_turns, gpu, random, simulated};
use workbench::matmul::reference::Product;
use workbench::matmul::trial::{Integral, TYPES, Trial, Types};

/// *m*, *n* and *k*: empty, single elements, near the sides of tiles, and primes.
const SIZES: [[usize; 3]; 13] = [
    [0, 3, 2],
    [3, 0, 2],
    [3, 2, 0],
    [1, 1, 1],
    [1, 70, 33],
    [65, 1, 17],
    [16, 16, 16],
    [17, 31, 64],
    [33, 65, 15],
    [64, 64, 32],
    [129, 40, 70],
    [37, 131, 97],
    [20, 33, 256],
];

/// The types that a rung takes.
pub(super) fn types(rung: MatmulRung) -> impl Iterator<Item = &'static Types> {
    TYPES.iter().filter(move |types| types.is_built(rung))
}

pub(super) fn run(types: &Types, trial: &Trial, device: &Device) {
    if let Err(error) = (types.run)(trial, device) {
        panic!("{} on {}: {error}", types.name, device.name());
    }
}

/// Returns true if the device runs the input number `number`. A GPU runs all inputs of all types, and the types share
/// the inputs in the simulator.
pub(super) fn runs(device: &Device, number: usize) -> bool {
    !device.is_simulated() || number.is_multiple_of(4)
}

fn conforms(rung: MatmulRung) {
    for (device, turns) in devices_and_turns(1 << 16) {
        for (of_type, types) in types(rung).enumerate() {
            let shared = SIZES.into_iter().enumerate().filter(|(number, _)| runs(&device, of_type + number));
            for (number, sizes) in shared {
                // Each size has another one of the layouts.
                let is_transposed = [number & 1 > 0, number & 2 > 0, number % 5 == 4];
                let trial = Trial { is_transposed, rung: Some(rung), ..Trial::new(sizes) };
                if turns.takes(sizes.iter().map(|size| size.max(&1)).product()) {
                    run(types, &trial, &device);
                }
            }
        }
    }
}

macro_rules! suite {
    ($($test:ident: $rung:ident;)*) => {
        $(#[test] fn $test() { conforms(MatmulRung::$rung); })*

        #[test]
        fn every_rung_is_in_the_suite() {
            assert_eq!(MatmulRung::ALL, [$(MatmulRung::$rung),*]);
        }
    };
}

suite! {
    naive_conforms: Naive;
    tile_conforms: Tile;
    padded_conforms: Padded;
    register_blocks_conforms: RegisterBlocks;
    async_copies_conforms: AsyncCopies;
    mma_sync_conforms: MmaSync;
    wgmma_conforms: Wgmma;
    pipelined_conforms: Pipelined;
    clustered_conforms: Clustered;
    split_k_conforms: SplitK;
    cluster_split_conforms: ClusterSplit;
}

/// Tests that a product without summands, which the kernel of another rung computes, still has its epilogue.
#[test]
fn without_summands_the_epilogue_remains() {
    for device in all_devices() {
        for &rung in MatmulRung::ALL {
            for types in types(rung) {
                let trial = Trial { factors: [1, 2], has_bias: true, rung: Some(rung), ..Trial::new([2, 3, 0]) };
                run(types, &trial, &device);
            }
        }
    }
}

/// Tests that the default rung multiplies matrices of every type, layout, start and leading dimension.
#[test]
fn the_default_rung_takes_every_layout() {
    for (device, turns) in devices_and_turns(1 << 14) {
        for (of_type, types) in TYPES.iter().enumerate() {
            for layout in (0..8).filter(|layout| runs(&device, of_type + layout)) {
                let is_transposed = [layout & 1 > 0, layout & 2 > 0, layout & 4 > 0];
                let trial = Trial { is_transposed, ..Trial::new([19, 22, 35]) };
                let gaps = Trial { gaps: [1, 16, 3], factors: [-1, 2], has_bias: true, has_relu: true, ..trial };
                let batch = Trial { batch: 3, is_b_shared: layout % 3 == 0, starts: [1, 2, 3], ..gaps };
                for trial in [trial, gaps, batch] {
                    if turns.takes(trial.batch * 19 * 22 * 35) {
                        run(types, &trial, &device);
                    }
                }
            }
        }
    }
}

/// Returns a random trial. `largest` is the largest number of multiplications.
fn any_trial(random: &mut impl Rng, largest: usize) -> Trial {
    let mut below = |n: usize| (random.next_u64() % n as u64) as usize;
    let mut size = |most: usize| match below(4) {
        0 => below(4),
        1 => 1 + below(40),
        2 => (16 << below(4)) + below(3) - 1,
        _ => below(most.clamp(1, 300)),
    };
    let m = size(300);
    let n = size(largest / m.max(1));
    let k = size(largest / (m * n).max(1)).min(largest / (m * n).max(1));
    let mut flip = || below(2) > 0;
    let is_transposed = [flip(), flip(), flip()];
    let (is_b_shared, has_bias, has_relu) = (flip(), flip(), flip());
    let (has_gaps, has_starts) = (flip(), flip());
    Trial {
        is_transposed,
        gaps: std::array::from_fn(|_| if has_gaps { below(20) } else { 0 }),
        starts: std::array::from_fn(|_| if has_starts { below(20) } else { 0 }),
        batch: 1 + below(3),
        is_b_shared,
        factors: [below(5) as i8 - 2, below(5) as i8 - 2],
        has_bias,
        has_relu,
        ..Trial::new([m, n, k])
    }
}

/// Runs random trials of random rungs and types on a GPU if there is one, and on a simulated device: all of them, or
/// one of 20 if there is a GPU, which is much faster.
fn random_trials(seeds: std::ops::Range<u64>, largest: usize) {
    let gpu = gpu();
    let simulated = |seed: u64| (gpu.is_none() || seed.is_multiple_of(20)).then(|| simulated(seed));
    for seed in seeds {
        let mut random = random(seed);
        let mut trial = any_trial(&mut random, largest);
        let rung = MatmulRung::ALL[(random.next_u64() % MatmulRung::ALL.len() as u64) as usize];
        let types: &Types = &TYPES[(random.next_u64() % TYPES.len() as u64) as usize];
        trial.rung = (random.next_u64().is_multiple_of(2) && types.is_built(rung)).then_some(rung);
        for device in simulated(seed).iter().chain(&gpu) {
            if let Err(error) = (types.run)(&trial, device) {
                panic!("GRIDSTRIDE_RANDOM_SEED={seed}, {}, {}: {error}", types.name, device.name());
            }
        }
    }
}

#[test]
fn a_few_random_products_agree_with_the_reference() {
    random_trials(0..40, 1 << 18);
}

#[test]
#[ignore = "takes long: set GRIDSTRIDE_RANDOM_RUNS and GRIDSTRIDE_RANDOM_SEED"]
fn random_products_agree_with_the_reference() {
    let number = |name: &str, default: u64| match env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|error| panic!("{name}={text}: {error}")),
        Err(_) => default,
    };
    let first = number("GRIDSTRIDE_RANDOM_SEED", 1);
    random_trials(first..first + number("GRIDSTRIDE_RANDOM_RUNS", 300), 1 << 22);
}

/// Tests elements that are no integers: the error must be within the bound, and every run must have the same bits.
#[test]
fn floats_are_within_their_bounds_and_the_same_in_every_run() {
    fn check<T>(device: &Device, rung: MatmulRung, tf32: bool)
    where
        T: MatmulElement<Result: Number> + Number,
    {
        let [m, n, k] = [50, 41, 200];
        let options = MatmulOptions { tf32, rung: Some(rung), ..MatmulOptions::row_major([m, n, k]) };
        let Ok(mut product) = Matmul::<T>::with_options(device, &options) else { return };
        let elements = |len, vector| {
            let random = workbench::inputs::RandomVector::<T>::new(5, vector);
            (0..len).map(|index| random.element(index)).collect::<Vec<T>>()
        };
        let (a, b) = (elements(m * k, 0), elements(k * n, 1));
        let (da, db) = (device.upload(&a).unwrap(), device.upload(&b).unwrap());
        let mut run = || {
            let mut c = device.zeroed::<T::Result>(m * n).unwrap();
            let (a, b) = (Matrix::row_major(&da, m, k).unwrap(), Matrix::row_major(&db, k, n).unwrap());
            product.run(device.queue(), a, b, MatrixMut::row_major(&mut c, m, n).unwrap()).unwrap();
            c.download().unwrap()
        };
        let (first, second) = (run(), run());
        assert!(first == second, "{rung}");
        let epsilon = if size_of::<T>() == 8 { f64::EPSILON } else { f64::from(f32::EPSILON) };
        let layouts = [Layout::row_major(m, k), Layout::row_major(k, n)];
        let rounding = if tf32 { 1.0 / 512.0 } else { 0.0 };
        let deviation = Product { operands: [&a, &b], layouts, epsilon, rounding }.deviation(&first);
        assert_eq!(deviation.wrong, None, "{rung}, {}, {}", T::TYPE, device.name());
    }
    for device in [simulated(3)].into_iter().chain(gpu()) {
        for &rung in MatmulRung::ALL {
            check::<f32>(&device, rung, false);
            check::<f32>(&device, rung, true);
            check::<f64>(&device, rung, false);
            check::<f16>(&device, rung, false);
            check::<bf16>(&device, rung, false);
        }
    }
}

#[test]
fn the_activation_of_transformers_is_approximated() {
    /// Multiplies a column by a row of ones. `tolerance` is relative to the argument.
    fn check<T>(device: &Device, rung: Option<MatmulRung>, tolerance: f64)
    where
        T: MatmulElement<Result = T> + Output<T::Sum> + TensorElement + Integral,
        T::Sum: GpuFloat,
    {
        let x: Vec<T> = (-80..80).map(|i| T::of(f64::from(i) / 8.0)).collect();
        let n = 8;
        let (a, b) = (device.upload(&x).unwrap(), device.upload(&vec![T::of(1.0); n]).unwrap());
        let mut c = device.alloc(x.len() * n).unwrap();
        let options = MatmulOptions { rung, ..MatmulOptions::row_major([x.len(), n, 1]) };
        let mut product = Matmul::<T, T>::with_options(device, &options).unwrap().gelu();
        let (of_a, of_b) = (Matrix::row_major(&a, x.len(), 1).unwrap(), Matrix::row_major(&b, 1, n).unwrap());
        product.run(device, of_a, of_b, MatrixMut::row_major(&mut c, x.len(), n).unwrap()).unwrap();
        let found = c.download().unwrap();
        for (x, found) in x.iter().zip(found.chunks(n)) {
            let x = x.value();
            let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x.powi(3));
            let expected = 0.5 * x * (1.0 + inner.tanh());
            for found in found {
                let error = (found.value() - expected).abs();
                assert!(error <= tolerance * x.abs(), "{x}: {} instead of {expected}", found.value());
            }
        }
    }
    for device in all_devices() {
        check::<f64>(&device, None, 1e-15);
        check::<f32>(&device, None, 5e-7);
        check::<f16>(&device, Some(MatmulRung::MmaSync), 5e-4);
        check::<bf16>(&device, Some(MatmulRung::Clustered), 4e-3);
    }
}

#[test]
fn a_product_runs_in_a_graph_without_allocating() {
    for device in [simulated(0)].into_iter().chain(gpu()) {
        // Odd rows are packed for tensor cores.
        let sizes @ [m, n, k] = [5, 7, 9];
        let (a, b) = (device.upload(&vec![f16::from_f64(2.0); m * k]).unwrap(), vec![f16::from_f64(0.5); k * n]);
        let (b, mut c) = (device.upload(&b).unwrap(), device.zeroed::<f16>(m * n).unwrap());
        let mut product = Matmul::<f16>::new(&device, sizes).unwrap();
        let mut graph = device
            .record((&mut product, &a, &b, &mut c), |queue, (product, a, b, c)| {
                let (a, b) = (Matrix::row_major(a, m, k)?, Matrix::row_major(b, k, n)?);
                product.run(queue, a, b, MatrixMut::row_major(c, m, n)?)
            })
            .unwrap();
        graph.launch().unwrap();
        drop(graph);
        assert!(c.download().unwrap().iter().all(|value| value.to_f64() == 9.0));
    }
}

/// Tests that sums of small products are split where multiprocessors would be idle, and of large ones not.
#[test]
fn long_sums_of_small_products_are_split() {
    let device = Device::simulated(Simulator::new().with_multiprocessors(132));
    let bytes = |rung, sizes| {
        let options = MatmulOptions { rung: Some(rung), ..MatmulOptions::row_major(sizes) };
        Matmul::<f32>::with_options(&device, &options).unwrap().temporary_bytes()
    };
    assert_eq!(bytes(MatmulRung::AsyncCopies, [1024; 3]), 8 << 20);
    assert_eq!(bytes(MatmulRung::AsyncCopies, [2048; 3]), 0);
    assert_eq!(bytes(MatmulRung::AsyncCopies, [128, 128, 64]), 0);
}

#[test]
fn wrong_matrices_are_refused() {
    let device = simulated(0);
    let x = device.upload(&[1.0_f32; 64]).unwrap();
    let mut y = device.upload(&[1.0_f32; 64]).unwrap();
    let message = |result: Result<(), AlgorithmError>, parts: &[&str]| {
        let error = result.unwrap_err().to_string();
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    };
    message(device.matmul(&[1.0_f32; 5], &[1.0; 6], [2, 2, 3]).map(drop), &["3 x 2", "a has 5"]);
    message(device.matmul(&[1.0_f32; 6], &[1.0; 5], [2, 2, 3]).map(drop), &["2 x 3", "b has 5"]);
    message(Matrix::row_major(&x, 8, 9).map(drop), &["8 x 9", "needs 72", "has 64"]);
    let part = Layout::row_major(3, 4).leading_dimension(3);
    message(Matrix::new(x.view(), part).map(drop), &["leading dimension is 3", "at least 4"]);
    let batch = Layout::row_major(2, 2).batch(3, 3);
    message(MatrixMut::new(y.view_mut(), batch).map(drop), &["overlap", "at least 4"]);
    let options = MatmulOptions::new(Layout::row_major(2, 3), Layout::row_major(2, 3));
    message(Matmul::<f32>::with_options(&device, &options).map(drop), &["A is 2 x 3", "B is 2 x 3", "t()"]);
    let half = Matmul::<f16, f32>::with_options(
        &device,
        &MatmulOptions { rung: Some(MatmulRung::Naive), ..MatmulOptions::row_major([2, 2, 2]) },
    );
    message(half.map(drop), &["naive", "f16 to f32", "f64 to f64"]);

    let mut product = Matmul::<f32>::new(&device, [2, 2, 3]).unwrap();
    let (a, b) = (Matrix::row_major(&x, 2, 3).unwrap(), Matrix::row_major(&x, 3, 2).unwrap());
    let c = MatrixMut::row_major(&mut y, 2, 2).unwrap();
    message(product.run(&device, a.t(), b, c), &["2 x 3 as A", "3 x 2"]);
    message(
        product.run(&device, a, b, MatrixMut::row_major(&mut y, 3, 2).unwrap()),
        &["C must be a matrix of 2 x 2", "3 x 2"],
    );
    let late = Matrix::new(x.view().part(1, 6), Layout::row_major(2, 3)).unwrap();
    message(product.run(&device, late, b, MatrixMut::row_major(&mut y, 2, 2).unwrap()), &["16 bytes", "unaligned"]);
    let bias = device.upload(&[1.0_f32; 3]).unwrap();
    let c = MatrixMut::row_major(&mut y, 2, 2).unwrap();
    message(product.run_with_bias(&device, a, b, c, &bias), &["bias has 3", "2 columns"]);
}

#[test]
fn an_output_in_an_input_is_refused() {
    let device = simulated(0);
    let mut x = device.upload(&[1.0_f32; 64]).unwrap();
    let whole = x.view_mut();
    // SAFETY: no kernel runs, because the product refuses the views.
    let input = unsafe { cuda_std::Global::from_raw_parts(whole.as_ptr().cast_const(), 64, whole.device()) };
    let layout = Layout::row_major(4, 4);
    let a = Matrix::new(input.part(0, 16), layout).unwrap();
    let b = Matrix::new(input.part(16, 16), layout).unwrap();
    let mut product = Matmul::<f32>::new(&device, [4; 3]).unwrap();
    for start in [0, 15, 16, 31] {
        let c = MatrixMut::new(whole.part(start, 16), layout).unwrap();
        let error = product.run(&device, a, b, c).unwrap_err();
        assert!(matches!(error, AlgorithmError::Launch(Error::Overlap)), "{error}");
    }
    let c = MatrixMut::new(whole.part(32, 16), layout).unwrap();
    product.run(&device, a, b, c).unwrap();
}
