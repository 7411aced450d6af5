//! Checks `shuffle.rs`.

mod shuffle;

use learn::{Case, CaseResult, Exercise, LaunchConfig, Run};

fn main() -> std::process::ExitCode {
    exercise().main()
}

pub fn exercise() -> Exercise {
    let case = Case::new("shuffle", case).check_sizes(&[1, 3]).explain_size(64);
    Exercise::new(case).barriers(0)
}

/// Adds up the elements of the warps of `run.n()` blocks of 64 threads.
fn case(run: &Run) -> CaseResult {
    let input: Vec<u32> = (0..64 * run.n() as u32).map(|i| i * i + 1).collect();
    let x = run.device().upload(&input)?;
    let mut y = run.device().alloc(2 * run.n())?;
    let config = LaunchConfig::new(run.n() as u32, 64);
    let useful = 4 * (input.len() + 2 * run.n());
    run.measure(useful, || run.device().launch(config, shuffle::sum(x.view(), y.view_mut())))?;
    run.expect("y", &y, || input.chunks(32).map(|warp| warp.iter().sum()).collect())
}
