//! Checks `last_block.rs`.

mod last_block;

use learn::{Case, CaseResult, Exercise, LaunchConfig, Run};

fn main() -> std::process::ExitCode {
    exercise().main()
}

pub fn exercise() -> Exercise {
    Exercise::new(Case::new("last_block", case).check_sizes(&[1, 100, 300]).explain_size(1 << 12))
}

/// Adds up `run.n()` elements.
fn case(run: &Run) -> CaseResult {
    let input: Vec<u32> = (1..=run.n() as u32).collect();
    let blocks = run.n().div_ceil(64).min(512);
    let x = run.device().upload(&input)?;
    let (mut sums, mut total) = (run.device().alloc(blocks)?, run.device().alloc(1)?);
    let mut tickets = run.device().alloc(1)?;
    let config = LaunchConfig::new(blocks as u32, 32);
    run.measure(4 * run.n(), || {
        tickets.fill_zero()?;
        let call = last_block::sum(x.view(), sums.view_mut(), tickets.view_mut(), total.view_mut());
        run.device().launch(config, call)
    })?;
    run.expect("total", &total, || vec![input.iter().fold(0, |sum: u32, x| sum.wrapping_add(*x))])
}
