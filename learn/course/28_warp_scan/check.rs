//! Checks `warp_scan.rs`.

mod warp_scan;

use learn::{Case, CaseResult, Exercise, LaunchConfig, Run};
use warp_scan::BLOCK;

fn main() -> std::process::ExitCode {
    exercise().main()
}

pub fn exercise() -> Exercise {
    let case = Case::new("warp_scan", case).check_sizes(&[1, 3]).explain_size(64).bench_size(1 << 17);
    Exercise::new(case).moves(1.0).barriers(0)
}

/// Scans the elements of `run.n()` blocks, in groups of a warp.
fn case(run: &Run) -> CaseResult {
    let input: Vec<u32> = (1..=(run.n() * BLOCK) as u32).collect();
    let x = run.device().upload(&input)?;
    let mut y = run.device().alloc(input.len())?;
    let config = LaunchConfig::new(run.n() as u32, BLOCK as u32);
    run.measure(8 * input.len(), || run.device().launch(config, warp_scan::scan(x.view(), y.view_mut())))?;
    run.expect("y", &y, || (0..input.len()).map(|i| input[i - i % 32..=i].iter().sum()).collect())
}
