//! Checks `down_sweep.rs`.

mod down_sweep;

use down_sweep::{SIZE, THREADS};
use learn::{Case, CaseResult, Exercise, LaunchConfig, Run};

fn main() -> std::process::ExitCode {
    exercise().main()
}

pub fn exercise() -> Exercise {
    let case = Case::new("down_sweep", case).check_sizes(&[1, 2]).explain_size(32).bench_size(1 << 15);
    Exercise::new(case).moves(1.0).barriers(8)
}

/// Sweeps down the trees of `run.n()` blocks.
fn case(run: &Run) -> CaseResult {
    let numbers: Vec<u32> = (1..=(run.n() * SIZE) as u32).collect();
    // The lowest bit that is set in i + 1 is the number of elements in the sum.
    let width = |i: usize| 1 << (i + 1).trailing_zeros();
    let input: Vec<u32> = (0..numbers.len()).map(|i| numbers[i + 1 - width(i % SIZE)..=i].iter().sum()).collect();
    let x = run.device().upload(&input)?;
    let mut y = run.device().alloc(input.len())?;
    let config = LaunchConfig::new(run.n() as u32, THREADS as u32);
    run.measure(8 * input.len(), || run.device().launch(config, down_sweep::down_sweep(x.view(), y.view_mut())))?;
    run.expect("y", &y, || (0..numbers.len()).map(|i| numbers[i - i % SIZE..=i].iter().sum()).collect())
}
