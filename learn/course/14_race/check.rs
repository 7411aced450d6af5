//! Checks `race.rs`.

mod race;

use learn::{Case, CaseResult, Exercise, LaunchConfig, Run};
use race::BLOCK;

fn main() -> std::process::ExitCode {
    exercise().main()
}

pub fn exercise() -> Exercise {
    let case = Case::new("race", case).check_sizes(&[1, 3]).explain_size(64).bench_size(1 << 19);
    Exercise::new(case).moves(1.0).no_bank_conflicts().barriers(1)
}

/// Reverses the elements of `run.n()` blocks.
fn case(run: &Run) -> CaseResult {
    let input: Vec<u32> = (0..(run.n() * BLOCK) as u32).collect();
    let x = run.device().upload(&input)?;
    let mut y = run.device().alloc(input.len())?;
    let config = LaunchConfig::new(run.n() as u32, BLOCK as u32);
    run.measure(8 * input.len(), || run.device().launch(config, race::reverse(x.view(), y.view_mut())))?;
    run.expect("y", &y, || input.chunks(BLOCK).flat_map(|group| group.iter().rev().copied()).collect())
}
