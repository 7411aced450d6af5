//! Compares the kernel for vectors, which multiplies one row or one column, with the reference.

use cuda_std::bf16;
use gridstride::matmul::{Layout, Matmul, MatmulOptions, MatmulRung, Matrix, MatrixMut, Plan};
use tests::{devices_and_turns, gpu, simulated};
use workbench::matmul::trial::{TYPES, Trial, Types};

use super::matmul::{run, runs};

/// The types for which the kernel for vectors is built.
fn vector_types() -> impl Iterator<Item = &'static Types> {
    TYPES.iter().filter(|types| ["f16", "bf16", "f32"].contains(&types.name))
}

/// Returns a trial with one row of C if `is_row` is true, and otherwise with one column. The lines of the matrix begin
/// at multiples of 16 bytes.
fn vector_trial(is_row: bool, lines: usize, k: usize) -> Trial {
    let gap = k.next_multiple_of(16) - k;
    let sizes = if is_row { [1, lines, k] } else { [lines, 1, k] };
    Trial { is_transposed: [false, true, false], gaps: [gap, gap, 0], ..Trial::new(sizes) }
}

/// Tests the kernel for vectors with lines that end within a vector, a warp and a block, and with every epilogue.
#[test]
fn the_kernel_for_vectors_conforms() {
    for (device, turns) in devices_and_turns(1 << 16) {
        for (of_type, types) in vector_types().enumerate() {
            let mut trials = Vec::new();
            for (number, k) in [1, 7, 8, 31, 257, 1000, 4096 + 8].into_iter().enumerate() {
                for lines in [1, 3, 257] {
                    let trial = vector_trial((number + lines) % 2 == 0, lines, k);
                    let gaps = [trial.gaps[0], trial.gaps[1], 3];
                    let epilogue = Trial { gaps, factors: [2, -1], has_bias: true, has_relu: true, ..trial };
                    let batch = Trial { batch: 3, is_b_shared: lines == 3, starts: [0, 0, 2], ..epilogue };
                    let of_c = Trial { is_transposed: [false, true, true], ..epilogue };
                    trials.extend([trial, epilogue, batch, of_c]);
                }
            }
            for (_, trial) in trials.iter().enumerate().filter(|(number, _)| runs(&device, of_type + number)) {
                if turns.takes(trial.batch * trial.sizes.iter().product::<usize>()) {
                    run(types, trial, &device);
                }
            }
        }
    }
}

#[test]
fn products_with_one_row_or_column_run_the_kernel_for_vectors() {
    let device = simulated(0);
    let rows = Layout::row_major;
    let is_vector = |options: MatmulOptions| Plan::new::<bf16, bf16>(&device, &options).unwrap().is_vector();
    for (a, b, expected) in [
        (rows(1, 64), rows(3, 64).t(), true),
        (rows(1, 63), rows(3, 63).leading_dimension(64).t(), true),
        (rows(3, 64), rows(64, 1), true),
        (rows(3, 64), rows(1, 64).t(), true),
        (rows(64, 1).t(), rows(1, 64).t(), true),
        (rows(1, 64).batch(2, 64), rows(3, 64).batch(2, 0).t(), true),
        (rows(1, 64).batch(2, 65), rows(3, 64).batch(2, 0).t(), false),
        (rows(1, 63), rows(3, 63).t(), false),
        (rows(1, 64), rows(64, 3), false),
        (rows(64, 3).t(), rows(64, 1), false),
        (rows(2, 64), rows(2, 64).t(), false),
        (rows(1, 0), rows(3, 0).t(), false),
    ] {
        let options = MatmulOptions::new(a, b);
        assert_eq!(is_vector(options), expected, "{a} by {b}");
        assert!(!is_vector(MatmulOptions { unaligned: true, ..options }));
        assert!(!is_vector(MatmulOptions { rung: Some(MatmulRung::RegisterBlocks), ..options }));
    }
}

/// Tests the activation after sums without rounding errors, which are those of another kernel.
#[test]
fn vectors_have_the_activations_of_matrices() {
    for device in [simulated(1)].into_iter().chain(gpu()) {
        let [m, n, k] = [1, 45, 40];
        let small =
            |len: usize, step: usize| (0..len).map(|i| (i * step % 7) as f32 / 8.0 - 0.375).collect::<Vec<f32>>();
        let (a, b) = (device.upload(&small(k, 3)).unwrap(), device.upload(&small(n * k, 5)).unwrap());
        let results = [None, Some(MatmulRung::RegisterBlocks)].map(|rung| {
            let options =
                MatmulOptions { rung, ..MatmulOptions::new(Layout::row_major(m, k), Layout::row_major(n, k).t()) };
            let mut product = Matmul::<f32>::with_options(&device, &options).unwrap().gelu();
            assert_eq!(product.plan().is_vector(), rung.is_none());
            let mut c = device.alloc(n).unwrap();
            let (a, b) = (Matrix::row_major(&a, m, k).unwrap(), Matrix::row_major(&b, n, k).unwrap().t());
            product.run(&device, a, b, MatrixMut::row_major(&mut c, m, n).unwrap()).unwrap();
            c.download().unwrap()
        });
        assert_eq!(results[0], results[1]);
    }
}
