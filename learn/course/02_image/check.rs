//! Checks `image.rs`.

mod image;

use learn::{Case, CaseResult, Exercise, LaunchConfig, Run};

fn main() -> std::process::ExitCode {
    exercise().main()
}

pub fn exercise() -> Exercise {
    let case = Case::new("image", case).check_sizes(&[8, 31, 33, 70]).explain_size(256).bench_size(1 << 13);
    Exercise::new(case).moves(1.1)
}

/// Inverts an image of `run.n()` columns and about half as many rows, in blocks of 32 × 8 threads.
fn case(run: &Run) -> CaseResult {
    let (width, height) = (run.n(), run.n() / 2 + 1);
    let pixels: Vec<u32> = (0..(width * height) as u32).map(|i| i * 7 % 251).collect();
    let x = run.device().upload(&pixels)?;
    let mut y = run.device().alloc(pixels.len())?;
    let blocks = (width.div_ceil(32) as u32, height.div_ceil(8) as u32);
    let config = LaunchConfig::new(blocks, (32, 8));
    run.measure(8 * pixels.len(), || {
        run.device().launch(config, image::invert(width, height, x.view(), y.view_mut()))
    })?;
    run.expect("y", &y, || pixels.iter().map(|pixel| 255 - pixel).collect())
}
