//! Checks `padding.rs`.

mod padding;

use learn::{Case, CaseResult, Exercise, LaunchConfig, Run};
use padding::TILE;

fn main() -> std::process::ExitCode {
    exercise().main()
}

pub fn exercise() -> Exercise {
    let case = Case::new("padding", case).check_sizes(&[1]).explain_size(1).bench_size(1 << 7);
    Exercise::new(case).moves(1.1).no_bank_conflicts()
}

/// Transposes a matrix of `run.n()` tiles across and one more down.
fn case(run: &Run) -> CaseResult {
    let (width, height) = (run.n() * TILE, (run.n() + 1) * TILE);
    let input: Vec<u32> = (0..(width * height) as u32).map(|i| i + 1).collect();
    let x = run.device().upload(&input)?;
    let mut y = run.device().alloc(input.len())?;
    let blocks = (run.n() as u32, run.n() as u32 + 1);
    let config = LaunchConfig::new(blocks, (TILE as u32, TILE as u32));
    run.measure(8 * input.len(), || {
        run.device().launch(config, padding::transpose(width, height, x.view(), y.view_mut()))
    })?;
    run.expect("y", &y, || (0..width).flat_map(|c| input[c..].iter().step_by(width).copied()).collect())
}
