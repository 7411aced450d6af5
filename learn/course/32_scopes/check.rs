//! Checks `scopes.rs`.

mod scopes;

use learn::{Case, CaseResult, Exercise, LaunchConfig, Run};

fn main() -> std::process::ExitCode {
    exercise().main()
}

pub fn exercise() -> Exercise {
    Exercise::new(Case::new("scopes", case).check_sizes(&[1, 33, 200]).explain_size(1 << 12))
}

/// The number of threads per block.
const THREADS: usize = 64;

/// Counts the even elements of `run.n()`.
fn case(run: &Run) -> CaseResult {
    let input: Vec<u32> = (0..run.n() as u32).map(|i| i.wrapping_mul(2_654_435_769) >> 16).collect();
    let blocks = run.n().div_ceil(THREADS);
    let x = run.device().upload(&input)?;
    let (mut of_block, mut of_grid) = (run.device().zeroed(blocks)?, run.device().zeroed(1)?);
    let config = LaunchConfig::new(blocks as u32, THREADS as u32);
    run.measure(4 * run.n(), || {
        run.device().launch(config, scopes::count_even(x.view(), of_block.view_mut(), of_grid.view_mut()))
    })?;
    let count = |part: &[u32]| part.iter().filter(|&&x| x % 2 == 0).count() as u32;
    run.expect("of_block", &of_block, || input.chunks(THREADS).map(count).collect())?;
    run.expect("of_grid", &of_grid, || vec![count(&input)])
}
