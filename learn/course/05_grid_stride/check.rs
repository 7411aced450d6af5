//! Checks `grid_stride.rs`.

mod grid_stride;

use learn::{Case, CaseResult, Exercise, LaunchConfig, Run};

/// The size of the measured launch, in whose figures one thread alone would be a waste of sectors.
const MEASURED: usize = 1 << 15;

fn main() -> std::process::ExitCode {
    exercise().main()
}

pub fn exercise() -> Exercise {
    let case = Case::new("grid_stride", case).check_sizes(&[0, 1, 31, 33, 257]).explain_size(MEASURED);
    Exercise::new(case.bench_size(1 << 22)).moves(1.1)
}

/// Scales `run.n()` elements by grids of different sizes.
fn case(run: &Run) -> CaseResult {
    let input: Vec<f32> = (0..run.n()).map(|i| 1.0 + i as f32).collect();
    let x = run.device().upload(&input)?;
    let enough = LaunchConfig::new(run.n().div_ceil(64) as u32 + 1, 64);
    let small = [LaunchConfig::new(1, 1), LaunchConfig::new(2, 32), enough];
    let measured = [LaunchConfig::new(16, 64)];
    for &config in if run.n() < MEASURED { &small[..] } else { &measured } {
        let mut y = run.device().alloc(run.n())?;
        run.measure(8 * run.n(), || run.device().launch(config, grid_stride::scale(2.0, x.view(), y.view_mut())))?;
        run.expect("y", &y, || input.iter().map(|x| 2.0 * x).collect())?;
    }
    Ok(())
}
