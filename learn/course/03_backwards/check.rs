//! Checks `backwards.rs`.

mod backwards;

use learn::{Case, CaseResult, Exercise, LaunchConfig, Run};

fn main() -> std::process::ExitCode {
    exercise().main()
}

pub fn exercise() -> Exercise {
    Exercise::new(Case::new("backwards", case)).moves(1.1)
}

/// Reverses `run.n()` elements, in blocks of 64 threads.
fn case(run: &Run) -> CaseResult {
    let input: Vec<u32> = (0..run.n() as u32).map(|i| 10 * i + 7).collect();
    let x = run.device().upload(&input)?;
    let mut y = run.device().alloc(run.n())?;
    let config = LaunchConfig::new(run.n().div_ceil(64).max(1) as u32, 64);
    run.measure(8 * run.n(), || run.device().launch(config, backwards::reverse(x.view(), y.view_mut())))?;
    run.expect("y", &y, || input.iter().rev().copied().collect())
}
