//! Checks `matmul.rs`.

mod matmul;

use learn::{Case, CaseResult, Exercise, LaunchConfig, Run};
use matmul::TILE;

fn main() -> std::process::ExitCode {
    exercise().main()
}

pub fn exercise() -> Exercise {
    let case = Case::new("matmul", case).check_sizes(&[8, 16]).explain_size(32).bench_size(1 << 10);
    Exercise::new(case).moves(3.0).no_bank_conflicts()
}

/// Multiplies matrices of `run.n()` rows and columns.
fn case(run: &Run) -> CaseResult {
    let (device, n) = (run.device(), run.n());
    // The sums are small integers, which are exact in any order.
    let a: Vec<f32> = (0..n * n).map(|i| (i % 7 + i / n % 3) as f32 + 1.0).collect();
    let b: Vec<f32> = (0..n * n).map(|i| (i % 5 + i / n % 11) as f32 + 1.0).collect();
    let (of_a, of_b) = (device.upload(&a)?, device.upload(&b)?);
    let mut c = device.alloc(n * n)?;
    let (blocks, threads) = ((n / TILE) as u32, TILE as u32);
    let config = LaunchConfig::new((blocks, blocks), (threads, threads));
    run.measure(12 * n * n, || device.launch(config, matmul::product(of_a.view(), of_b.view(), c.view_mut(), n)))?;
    run.expect("c", &c, || (0..n * n).map(|at| (0..n).map(|i| a[at / n * n + i] * b[i * n + at % n]).sum()).collect())
}
