//! Checks `coalescing.rs`.

mod coalescing;

use learn::{Case, CaseResult, Exercise, LaunchConfig, Run};

fn main() -> std::process::ExitCode {
    exercise().main()
}

pub fn exercise() -> Exercise {
    Exercise::new(Case::new("coalescing", case)).moves(1.1)
}

/// Scales `run.n()` elements, in blocks of 256 threads.
fn case(run: &Run) -> CaseResult {
    let input: Vec<f32> = (0..run.n()).map(|i| i as f32).collect();
    let x = run.device().upload(&input)?;
    let mut y = run.device().alloc(run.n())?;
    let config = LaunchConfig::new(run.n().div_ceil(256 * coalescing::ITEMS).max(1) as u32, 256);
    run.measure(8 * run.n(), || run.device().launch(config, coalescing::scale(2.0, x.view(), y.view_mut())))?;
    run.expect("y", &y, || input.iter().map(|x| 2.0 * x).collect())
}
