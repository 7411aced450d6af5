//! Checks `tile.rs`.

mod tile;

use learn::{Case, CaseResult, Exercise, LaunchConfig, Run};
use tile::BLOCK;

fn main() -> std::process::ExitCode {
    exercise().main()
}

pub fn exercise() -> Exercise {
    let case = Case::new("tile", case).check_sizes(&[1, 33, 128, 300]).explain_size(1 << 14);
    Exercise::new(case).moves(1.1).no_bank_conflicts().barriers(1)
}

/// Sums the neighbours of `run.n()` elements.
fn case(run: &Run) -> CaseResult {
    let input: Vec<u32> = (0..run.n() as u32).map(|i| i.wrapping_mul(i) + 5).collect();
    let x = run.device().upload(&input)?;
    let mut y = run.device().alloc(run.n())?;
    let config = LaunchConfig::new(run.n().div_ceil(BLOCK) as u32, BLOCK as u32);
    run.measure(8 * run.n(), || run.device().launch(config, tile::sum3(x.view(), y.view_mut())))?;
    run.expect("y", &y, || {
        let at = |i: usize| input.get(i).copied().unwrap_or(0);
        (0..run.n()).map(|i| at(i.wrapping_sub(1)) + at(i) + at(i + 1)).collect()
    })
}
