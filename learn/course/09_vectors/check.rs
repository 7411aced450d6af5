//! Checks `vectors.rs`.

mod vectors;

use learn::{Case, CaseResult, Exercise, LaunchConfig, Run};

fn main() -> std::process::ExitCode {
    exercise().main()
}

pub fn exercise() -> Exercise {
    let case = Case::new("vectors", case).check_sizes(&[0, 1, 31, 64, 257, 1023]).explain_size((1 << 16) + 3);
    Exercise::new(case).moves(1.1).requests(1.1)
}

/// Scales `run.n()` elements, in blocks of 64 threads.
fn case(run: &Run) -> CaseResult {
    let input: Vec<f32> = (0..run.n()).map(|i| 1.0 + i as f32).collect();
    let x = run.device().upload(&input)?;
    let mut y = run.device().alloc(run.n())?;
    let config = LaunchConfig::new(run.n().div_ceil(4 * 64).max(1) as u32, 64);
    run.measure(8 * run.n(), || run.device().launch(config, vectors::scale(2.0, x.view(), y.view_mut())))?;
    run.expect("y", &y, || input.iter().map(|x| 2.0 * x).collect())
}
