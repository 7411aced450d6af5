//! Checks `saxpy.rs`.

mod saxpy;

use learn::{Case, CaseResult, Exercise, LaunchConfig, Run};

/// The factor: no short binary fraction, so that its products are rounded.
const A: f32 = 1.1;

fn main() -> std::process::ExitCode {
    exercise().main()
}

pub fn exercise() -> Exercise {
    let case = Case::new("saxpy", case).check_sizes(&[0, 1, 31, 33, 257]).explain_size(1 << 14).bench_size(1 << 24);
    Exercise::new(case).moves(1.1)
}

/// Computes saxpy of `run.n()` elements, in blocks of 64 threads. `y` is about −a·x, so the result is what the rounding
/// of the product loses.
fn case(run: &Run) -> CaseResult {
    let n = run.n();
    let vector: Vec<f32> = (0..n).map(|i| 1.3 + 0.1 * i as f32).collect();
    let before: Vec<f32> = vector.iter().map(|x| -(A * x)).collect();
    let (x, mut y) = (run.device().upload(&vector)?, run.device().upload(&before)?);
    let config = LaunchConfig::new(n.div_ceil(64).max(1) as u32, 64);
    run.measure(12 * n, || run.device().launch(config, saxpy::saxpy(A, x.view(), y.view_mut())))?;
    let result = |of: fn(f32, f32) -> f32| vector.iter().zip(&before).map(|(&x, &y)| of(x, y)).collect();
    let mistakes = [
        ("this is y before the kernel: was the result stored?", result(|_, y| y)),
        ("this is a·x + y with two roundings: fuse the two by `GpuFloat::mul_add`", result(|x, y| A * x + y)),
        ("this is y·a + x: `mul_add(p, q, r)` is p·q + r", result(|x, y| y.mul_add(A, x))),
        ("this is x·y + a: `mul_add(p, q, r)` is p·q + r", result(|x, y| x.mul_add(y, A))),
    ];
    run.expect_or_explain("y", &y, || result(|x, y| A.mul_add(x, y)), &mistakes)
}
