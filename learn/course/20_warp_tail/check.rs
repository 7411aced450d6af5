//! Checks `warp_tail.rs`.

mod warp_tail;

use learn::{Case, CaseResult, Exercise, LaunchConfig, Run};
use warp_tail::BLOCK;

fn main() -> std::process::ExitCode {
    exercise().main()
}

pub fn exercise() -> Exercise {
    let case = Case::new("warp_tail", case).check_sizes(&[1, 3]).explain_size(64).bench_size(1 << 18);
    Exercise::new(case).barriers(1)
}

/// Adds up the elements of `run.n()` blocks.
fn case(run: &Run) -> CaseResult {
    let input: Vec<u32> = (0..(run.n() * BLOCK) as u32).map(|i| (7 * i + 1) % 1009).collect();
    let x = run.device().upload(&input)?;
    let mut y = run.device().alloc(run.n())?;
    let config = LaunchConfig::new(run.n() as u32, BLOCK as u32);
    let useful = 4 * (input.len() + run.n());
    run.measure(useful, || run.device().launch(config, warp_tail::sum(x.view(), y.view_mut())))?;
    run.expect("y", &y, || input.chunks(BLOCK).map(|block| block.iter().sum()).collect())
}
