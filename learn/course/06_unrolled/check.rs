//! Checks `unrolled.rs`.

mod unrolled;

use learn::{Case, CaseResult, Exercise, LaunchConfig, Run};

fn main() -> std::process::ExitCode {
    exercise().main()
}

pub fn exercise() -> Exercise {
    let case = Case::new("unrolled", case).check_sizes(&[0, 1, 127, 128, 300, 900]).explain_size(1 << 15);
    Exercise::new(case.bench_size(1 << 20)).moves(1.1)
}

/// Scales `run.n()` elements in three blocks of 32 threads, whose spans are 128 elements long.
fn case(run: &Run) -> CaseResult {
    let input: Vec<f32> = (0..run.n()).map(|i| 1.0 + i as f32).collect();
    let x = run.device().upload(&input)?;
    let mut y = run.device().alloc(run.n())?;
    let config = LaunchConfig::new(3, 32);
    run.measure(8 * run.n(), || run.device().launch(config, unrolled::scale(2.0, x.view(), y.view_mut())))?;
    run.expect("y", &y, || input.iter().map(|x| 2.0 * x).collect())
}
