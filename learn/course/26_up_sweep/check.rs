//! Checks `up_sweep.rs`.

mod up_sweep;

use learn::{Case, CaseResult, Exercise, LaunchConfig, Run};
use up_sweep::{SIZE, THREADS};

fn main() -> std::process::ExitCode {
    exercise().main()
}

pub fn exercise() -> Exercise {
    let case = Case::new("up_sweep", case).check_sizes(&[1, 2]).explain_size(32).bench_size(1 << 15);
    Exercise::new(case).moves(1.0).barriers(9)
}

/// Sums the elements of `run.n()` blocks in trees.
fn case(run: &Run) -> CaseResult {
    let input: Vec<u32> = (1..=(run.n() * SIZE) as u32).collect();
    let x = run.device().upload(&input)?;
    let mut y = run.device().alloc(input.len())?;
    let config = LaunchConfig::new(run.n() as u32, THREADS as u32);
    run.measure(8 * input.len(), || run.device().launch(config, up_sweep::up_sweep(x.view(), y.view_mut())))?;
    run.expect("y", &y, || {
        // The lowest bit that is set in i + 1 is the number of elements in the sum.
        let width = |i: usize| 1 << (i + 1).trailing_zeros();
        let sum = |i: usize| input[i + 1 - width(i % SIZE)..=i].iter().sum();
        (0..input.len()).map(sum).collect()
    })
}
