//! A product of matrices of any size: a warp loads stages by tensor maps, and a warpgroup multiplies them.

use std::num::NonZeroUsize;
use std::time::Instant;

use cuda_std::barrier::{self, Barrier};
use cuda_std::bulk::TensorMap;
use cuda_std::tensor::wgmma::{Accumulator, ROWS};
use cuda_std::tensor::{SharedTile, Swizzle128};
use cuda_std::{GlobalMut, Shared, bf16, device, dynamic_shared, kernel, shared_array, thread};
use launch::{Device, LaunchConfig, Swizzle};
use simt::{Checks, Schedule, Simulator};

/// The number of columns of a block.
const COLUMNS: usize = 256;
/// The number of elements of a row of a stage.
const STEP: usize = 64;
/// The number of elements of a stage.
const STAGE: usize = (ROWS + COLUMNS) * STEP;

/// Loads the stages of a block, in turn.
#[device]
fn produce(k: usize, maps: (TensorMap<bf16, 2>, TensorMap<bf16, 2>), stages: Shared<bf16>, words: Shared<u64>) {
    let (row, column) = (thread::block_idx_y() as usize * ROWS, thread::block_idx_x() as usize * COLUMNS);
    for step in 0..k / STEP {
        let (full, empty) = (Barrier::at(words, step % 2), Barrier::at(words, 2 + step % 2));
        if step >= 2 {
            empty.await_parity((step / 2 - 1) % 2 == 1);
        }
        let stage = stages.part(step % 2 * STAGE, STAGE);
        let _ = full.arrive_and_expect(2 * STAGE as u32);
        maps.0.load([(STEP * step) as i32, row as i32], stage.part(0, ROWS * STEP), full);
        maps.1.load([(STEP * step) as i32, column as i32], stage.part(ROWS * STEP, COLUMNS * STEP), full);
    }
}

/// Writes `a`·`b`ᵀ to `d`, which has `n` columns. Launch blocks of 160 threads, with shared memory for two stages.
#[kernel]
fn multiply_by_stages(k: usize, n: usize, a: TensorMap<bf16, 2>, b: TensorMap<bf16, 2>, d: GlobalMut<f32>) {
    let (stages, words) = (dynamic_shared::<bf16>(), shared_array![u64; 4]);
    if thread::index_in_block() == 0 {
        for index in 0..4 {
            Barrier::at(words, index).init(1);
        }
        barrier::fence_init();
    }
    thread::sync_threads();
    if thread::index_in_block() >= 128 {
        if thread::index_in_block() == 128 {
            produce(k, (a, b), stages, words);
        }
        return;
    }
    let mut sums = Accumulator::<f32, COLUMNS>::zeroed().begin();
    for step in 0..k / STEP {
        let first = step % 2 * STAGE;
        let left = SharedTile::<bf16, ROWS, STEP, Swizzle128>::at(stages, first);
        let right = SharedTile::<bf16, COLUMNS, STEP, Swizzle128>::at(stages, first + ROWS * STEP);
        Barrier::at(words, step % 2).await_parity(step / 2 % 2 == 1);
        sums = sums.multiply_add(left.rows::<ROWS>(0), right.rows::<COLUMNS>(0)).wait::<0>();
        if thread::index_in_block() == 0 {
            let _ = Barrier::at(words, 2 + step % 2).arrive();
        }
    }
    let (row, column) = (thread::block_idx_y() as usize * ROWS, thread::block_idx_x() as usize * COLUMNS);
    sums.finish().for_each(|down, right, sum| d.store((row + down) * n + column + right, sum));
}

/// Multiplies matrices of small whole numbers of `m` × `k` and `n` × `k` elements, and checks some sums.
fn multiply(device: &Device, [m, n, k]: [usize; 3]) {
    let number = |i: usize, seed: usize| (i.wrapping_mul(0x9E37_79B9) >> 7 ^ seed) % 7;
    let matrix = |len, seed| -> Vec<bf16> { (0..len).map(|i| bf16::from_f32(number(i, seed) as f32 - 3.0)).collect() };
    let (a, b) = (matrix(m * k, 1), matrix(n * k, 2));
    let (da, db, mut d) = (device.upload(&a).unwrap(), device.upload(&b).unwrap(), device.alloc::<f32>(m * n).unwrap());
    let map = |matrix, rows, tile| {
        device.tensor_map(matrix, [k, rows]).tile([STEP, tile]).swizzle(Swizzle::Bytes128).build().unwrap()
    };
    let call = multiply_by_stages(k, n, map(da.view(), m, ROWS), map(db.view(), n, COLUMNS), d.view_mut());
    let grid = (n as u32 / COLUMNS as u32, m as u32 / ROWS as u32);
    let start = Instant::now();
    device.launch(LaunchConfig::new(grid, 160).shared_bytes(4 * STAGE as u32), call).unwrap();
    let d = d.download().unwrap();
    println!("{m} x {n} x {k}: {:?}", start.elapsed());
    for i in (0..m * n).step_by(m * n / 64 + 1) {
        let factors = a[i / n * k..][..k].iter().zip(&b[i % n * k..][..k]);
        assert_eq!(d[i], factors.map(|(a, b)| a.to_f32() * b.to_f32()).sum::<f32>(), "sum {i}");
    }
}

#[test]
fn a_pipeline_of_tensor_maps_is_free_of_alarms() {
    for schedule in Schedule::HOSTILE {
        let simulator = Simulator::new().with_workers(NonZeroUsize::MIN).with_checks(Checks::default());
        multiply(&Device::simulated(simulator.with_schedule(schedule)), [ROWS, COLUMNS, 4 * STEP]);
    }
}

/// Run with `--ignored --nocapture` on an idle machine: the first product has to take at most 2 s on two cores, and the
/// second one at most 10 s.
#[test]
#[ignore = "measures time"]
fn a_product_of_1024_by_1024_takes_its_time() {
    multiply(&Device::simulated(Simulator::new()), [1024; 3]);
    multiply(&Device::simulated(Simulator::new().with_checks(Checks::default())), [1024; 3]);
}
