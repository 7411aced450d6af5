//! Checks `fewer.rs`.

mod fewer;

use fewer::BLOCK;
use learn::{Case, CaseResult, Exercise, LaunchConfig, Run};

fn main() -> std::process::ExitCode {
    exercise().main()
}

pub fn exercise() -> Exercise {
    let case = Case::new("fewer", case).check_sizes(&[1, 3]).explain_size(64).bench_size(1 << 19);
    Exercise::new(case).moves(1.0).no_bank_conflicts().barriers(2)
}

/// Smooths `run.n()` rings.
fn case(run: &Run) -> CaseResult {
    let input: Vec<u32> = (0..(run.n() * BLOCK) as u32).map(|i| i.wrapping_mul(i) + 1).collect();
    let x = run.device().upload(&input)?;
    let mut y = run.device().alloc(input.len())?;
    let config = LaunchConfig::new(run.n() as u32, BLOCK as u32);
    run.measure(8 * input.len(), || run.device().launch(config, fewer::smooth(x.view(), y.view_mut())))?;
    let smoothed = |ring: &[u32]| -> Vec<u32> {
        (0..BLOCK).map(|i| ring[(i + BLOCK - 1) % BLOCK] + ring[(i + 1) % BLOCK]).collect()
    };
    run.expect("y", &y, || input.chunks(BLOCK).flat_map(|ring| smoothed(&smoothed(ring))).collect())
}
