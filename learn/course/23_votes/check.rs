//! Checks `votes.rs`.

mod votes;

use learn::{Case, CaseResult, Exercise, LaunchConfig, Run};

fn main() -> std::process::ExitCode {
    exercise().main()
}

pub fn exercise() -> Exercise {
    let case = Case::new("votes", case).check_sizes(&[1, 33, 96, 127]).explain_size(1 << 12);
    Exercise::new(case).barriers(0)
}

/// Counts in `run.n()` elements, in blocks of 64 threads. There may be a warp without an element.
fn case(run: &Run) -> CaseResult {
    const LIMIT: u32 = 300;
    let input: Vec<u32> = (0..run.n() as u32).map(|i| (i % 1000 * 619 + 577) % 1000).collect();
    let x = run.device().upload(&input)?;
    let mut y = run.device().alloc(run.n().div_ceil(32))?;
    let config = LaunchConfig::new(run.n().div_ceil(64).max(1) as u32, 64);
    let useful = 4 * (input.len() + y.len());
    run.measure(useful, || run.device().launch(config, votes::count(LIMIT, x.view(), y.view_mut())))?;
    let count = |warp: &[u32]| warp.iter().filter(|&&x| x > LIMIT).count() as u32;
    let own = input.chunks(32).map(|warp| count(&warp[..1])).collect();
    let mistakes = [("only the lane that stores has voted: the mask must have all lanes of the warp", own)];
    run.expect_or_explain("y", &y, || input.chunks(32).map(count).collect(), &mistakes)
}
