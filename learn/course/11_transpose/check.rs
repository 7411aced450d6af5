//! Checks `transpose.rs`.

mod transpose;

use learn::{Case, CaseResult, Exercise, LaunchConfig, Run};
use transpose::TILE;

fn main() -> std::process::ExitCode {
    exercise().main()
}

pub fn exercise() -> Exercise {
    let case = Case::new("transpose", case).check_sizes(&[32, 12]).explain_size(32).bench_size(1 << 12);
    Exercise::new(case).moves(1.1)
}

/// Transposes a matrix of `run.n()` columns and twice as many rows.
fn case(run: &Run) -> CaseResult {
    let (width, height) = (run.n(), 2 * run.n());
    let input: Vec<u32> = (0..(width * height) as u32).map(|i| i + 1).collect();
    let x = run.device().upload(&input)?;
    let mut y = run.device().alloc(input.len())?;
    let blocks = (width.div_ceil(TILE) as u32, height.div_ceil(TILE) as u32);
    let config = LaunchConfig::new(blocks, (TILE as u32, TILE as u32));
    run.measure(8 * input.len(), || {
        run.device().launch(config, transpose::transpose(width, height, x.view(), y.view_mut()))
    })?;
    run.expect("y", &y, || (0..width).flat_map(|c| input[c..].iter().step_by(width).copied()).collect())
}
