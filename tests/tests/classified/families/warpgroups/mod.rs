//! Products of a warpgroup, and its registers. The verdicts follow from the PTX manual ("Asynchronous Warpgroup Level
//! Matrix Instructions").

use cuda_std::tensor::wgmma::{Accumulator, InFlight, ROWS};
use cuda_std::tensor::{Factor, SharedTile, Swizzle32};
use cuda_std::{GlobalMut, Shared, barrier, bf16, device, thread};
use launch::LaunchConfig;

use super::Verdict::{self, Faulty};
use super::{By, Case, Kind};

mod loads;
mod operands;
mod pipeline;
mod registers;
mod remedies;
mod sums;
mod warps;

/// The kernels of all files.
pub(super) const CASES: [&[Case]; 5] = [loads::CASES, operands::CASES, registers::CASES, sums::CASES, warps::CASES];

/// A matrix of 64 × 16 elements.
type Left = SharedTile<bf16, 64, 16, Swizzle32>;
/// A matrix of 8 × 16 elements.
type Right = SharedTile<bf16, 8, 16, Swizzle32>;

/// The number of elements of both matrices.
const STAGE: usize = Left::LEN + Right::LEN;
/// The number of sums.
const SUMS: usize = 512;

/// The array in which the matrices are.
const SHARED: &str = "dynamic shared memory";

/// The verdict of a write that a product reads without a proxy fence.
const UNFENCED: Verdict = Faulty(Kind::WithoutProxyFence, SHARED, By::Every);
/// The verdict of a wrong use of the instructions of a warpgroup.
const MISUSE: Verdict = Faulty(Kind::Warpgroup, "", By::Every);

/// Returns the launch of one block with shared memory for two stages.
fn block(threads: u32) -> LaunchConfig {
    LaunchConfig::new(1, threads).shared_bytes(2 * 2 * STAGE as u32)
}

/// Returns the matrices of the stage that begins at element `first`.
#[device]
pub(super) fn tiles(stage: Shared<bf16>, first: usize) -> (Left, Right) {
    (Left::at(stage, first), Right::at(stage, Left::end_of(first)))
}

/// Fills both matrices with ones, by 128 threads.
#[device]
#[track_caller]
pub(super) fn fill(left: Left, right: Right) {
    let i = thread::index_in_block() as usize % 128;
    let mut column = 0;
    while column < 8 {
        left.store(i / 2, i % 2 * 8 + column, bf16::ONE);
        column += 1;
    }
    right.store(i / 16, i % 16, bf16::ONE);
}

/// Fills both matrices, and makes the stores known to products.
#[device]
pub(super) fn filled(left: Left, right: Right) {
    fill(left, right);
    barrier::fence_proxy_async();
    thread::sync_threads();
}

#[device]
pub(super) fn zero() -> InFlight<f32, 8> {
    Accumulator::zeroed().begin()
}

#[device]
#[track_caller]
pub(super) fn multiply(sums: InFlight<f32, 8>, left: Left, right: Right) -> InFlight<f32, 8> {
    sums.multiply_add(left.rows::<ROWS>(0), right.rows::<8>(0))
}

/// Begins a product by the single instruction.
#[device]
#[track_caller]
pub(super) fn issue(sums: InFlight<f32, 8>, left: Left, right: Right) -> InFlight<f32, 8> {
    let (a, b) = (left.rows::<ROWS>(0).descriptor(0), right.rows::<8>(0).descriptor(0));
    // SAFETY: the simulator checks the order of the instructions.
    unsafe { sums.issue::<bf16, bf16, false, false>(true, a, b) }
}

/// Writes the sums to `y` from row `first` on.
#[device]
pub(super) fn write(sums: Accumulator<f32, 8>, y: GlobalMut<u32>, first: usize) {
    sums.for_each(|row, column, sum| y.store(8 * (first + row) + column, sum as u32));
}
