//! Checks `reuse.rs`.

mod reuse;

use learn::{Case, CaseResult, Exercise, LaunchConfig, Run};
use reuse::BLOCK;

fn main() -> std::process::ExitCode {
    exercise().main()
}

pub fn exercise() -> Exercise {
    let case = Case::new("reuse", case).check_sizes(&[1, 2, 5]).explain_size(64).bench_size(1 << 12);
    Exercise::new(case).moves(1.0).no_bank_conflicts()
}

/// Reverses `run.n()` groups in two blocks.
fn case(run: &Run) -> CaseResult {
    let input: Vec<u32> = (0..(run.n() * BLOCK) as u32).map(|i| 3 * i + 1).collect();
    let x = run.device().upload(&input)?;
    let mut y = run.device().alloc(input.len())?;
    let config = LaunchConfig::new(2, BLOCK as u32);
    run.measure(8 * input.len(), || run.device().launch(config, reuse::reverse(x.view(), y.view_mut())))?;
    run.expect("y", &y, || input.chunks(BLOCK).flat_map(|group| group.iter().rev().copied()).collect())
}
