//! Sums of integers, computed on the host or by a rung of reduce.

use gpu::operator::Sum;
use gridstride::reduce::{Plan, ReduceRung, Reducer};
use launch::Device;

/// Returns `n` small integers, some of which are negative.
pub fn numbers(n: usize) -> Vec<i32> {
    (0..n as i32).map(|i| i * 37 % 101 - 50).collect()
}

/// Returns the sum of `x`.
pub fn total(x: &[i32]) -> i32 {
    x.iter().sum()
}

/// Returns the sum of `x`, which `rung` computes in blocks of `block` threads.
///
/// # Panics
/// If the launch fails or has a fault.
#[track_caller]
pub fn sum(device: &Device, rung: ReduceRung, x: &[i32], block: u32) -> i32 {
    let plan = Plan::with_block(rung, x.len(), 4, block);
    let mut reduction = Reducer::<i32, Sum>::with_plan(device, plan).unwrap();
    reduction.reduce(&device.upload(x).unwrap()).unwrap()
}
