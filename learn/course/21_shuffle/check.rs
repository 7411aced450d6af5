//! Checks `shuffle.rs`.

mod shuffle;

use learn::{Case, CaseResult, Exercise, LaunchConfig, Run};

fn main() -> std::process::ExitCode {
    exercise().main()
}

pub fn exercise() -> Exercise {
    let case = Case::new("shuffle", case).check_sizes(&[1, 3]).explain_size(64).bench_size(1 << 20);
    Exercise::new(case).barriers(0)
}

/// Adds up the elements of the warps of `run.n()` blocks of 64 threads.
fn case(run: &Run) -> CaseResult {
    let input: Vec<u32> = (0..64 * run.n() as u32).map(|i| i % 1024 * (i % 1024) + 1).collect();
    let x = run.device().upload(&input)?;
    let mut y = run.device().alloc(2 * run.n())?;
    let config = LaunchConfig::new(run.n() as u32, 64);
    let useful = 4 * (input.len() + 2 * run.n());
    run.measure(useful, || run.device().launch(config, shuffle::sum(x.view(), y.view_mut())))?;
    let own = input.chunks(32).map(|warp| 32 * warp[0]).collect();
    let single = input.chunks(32).map(|warp| [0, 1, 2, 4, 8, 16].map(|lane| warp[lane]).iter().sum()).collect();
    let mistakes = [
        ("lane 0 has added only its own sum: there is no lane below it to take a value from", own),
        ("each step has added one value: pass the sum so far to the shuffle", single),
    ];
    run.expect_or_explain("y", &y, || input.chunks(32).map(|warp| warp.iter().sum()).collect(), &mistakes)
}
