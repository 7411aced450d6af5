//! Checks `neighbours.rs`.

mod neighbours;

use learn::{Case, CaseResult, Exercise, LaunchConfig, Run};
use neighbours::BLOCK;

fn main() -> std::process::ExitCode {
    exercise().main()
}

pub fn exercise() -> Exercise {
    let case = Case::new("neighbours", case).check_sizes(&[1, 3]).explain_size(64).bench_size(1 << 18);
    Exercise::new(case)
}

/// Adds up the elements of `run.n()` blocks.
fn case(run: &Run) -> CaseResult {
    let input: Vec<u32> = (0..(run.n() * BLOCK) as u32).map(|i| (7 * i + 1) % 1009).collect();
    let x = run.device().upload(&input)?;
    let mut y = run.device().alloc(run.n())?;
    let config = LaunchConfig::new(run.n() as u32, BLOCK as u32);
    let useful = 4 * (input.len() + run.n());
    run.measure(useful, || run.device().launch(config, neighbours::sum(x.view(), y.view_mut())))?;
    let neighbour = input.chunks(BLOCK).map(|block| block[0] + BLOCK.ilog2() * block[1]).collect();
    let mistakes = [("each step has added the element 1 above: add the one `stride` above", neighbour)];
    run.expect_or_explain("y", &y, || input.chunks(BLOCK).map(|block| block.iter().sum()).collect(), &mistakes)
}
