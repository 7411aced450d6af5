//! Checks `look_back.rs`.

mod look_back;

use learn::{Case, CaseResult, Exercise, LaunchConfig, Run};
use look_back::TILE;

fn main() -> std::process::ExitCode {
    exercise().main()
}

pub fn exercise() -> Exercise {
    Exercise::new(Case::new("look_back", case).check_sizes(&[1, 65, 300]).explain_size(256).bench_size(1 << 20))
        .thorough()
}

/// Scans `run.n()` elements.
fn case(run: &Run) -> CaseResult {
    let input: Vec<u32> = (1..=run.n() as u32).collect();
    let tiles = run.n().div_ceil(TILE);
    let x = run.device().upload(&input)?;
    let mut y = run.device().alloc(run.n())?;
    let (mut tickets, mut states) = (run.device().alloc(1)?, run.device().alloc(tiles)?);
    let config = LaunchConfig::new(tiles as u32, TILE as u32);
    run.measure(8 * run.n(), || {
        tickets.fill_zero()?;
        states.fill_zero()?;
        let call = look_back::scan(x.view(), y.view_mut(), tickets.view_mut(), states.view_mut());
        run.device().launch(config, call)
    })?;
    run.expect("y", &y, || {
        let mut sum = 0_u32;
        let prefix_sums = input.iter().map(|x| {
            sum = sum.wrapping_add(*x);
            sum
        });
        prefix_sums.collect()
    })
}
