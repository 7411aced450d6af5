//! Checks `naive_scan.rs`.

mod naive_scan;

use learn::{Case, CaseResult, Exercise, LaunchConfig, Run};
use naive_scan::BLOCK;

fn main() -> std::process::ExitCode {
    exercise().main()
}

pub fn exercise() -> Exercise {
    let case = Case::new("naive_scan", case).check_sizes(&[1, 3]).explain_size(64).bench_size(1 << 16);
    Exercise::new(case).moves(1.0).no_bank_conflicts().barriers(14)
}

/// Scans the elements of `run.n()` blocks.
fn case(run: &Run) -> CaseResult {
    let input: Vec<u32> = (1..=(run.n() * BLOCK) as u32).collect();
    let x = run.device().upload(&input)?;
    let mut y = run.device().alloc(input.len())?;
    let config = LaunchConfig::new(run.n() as u32, BLOCK as u32);
    run.measure(8 * input.len(), || run.device().launch(config, naive_scan::scan(x.view(), y.view_mut())))?;
    run.expect("y", &y, || input.chunks(BLOCK).flat_map(prefix_sums).collect())
}

/// Returns the prefix sums of a group.
fn prefix_sums(group: &[u32]) -> impl Iterator<Item = u32> {
    group.iter().scan(0_u32, |sum, x| {
        *sum = sum.wrapping_add(*x);
        Some(*sum)
    })
}
