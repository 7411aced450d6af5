//! Checks `columns.rs`.

mod columns;

use columns::{BLOCK, DIGITS, ITEMS};
use learn::{Case, CaseResult, Exercise, LaunchConfig, Run};

fn main() -> std::process::ExitCode {
    exercise().main()
}

pub fn exercise() -> Exercise {
    let case = Case::new("columns", case).check_sizes(&[1, 3]).explain_size(16).bench_size(1 << 14);
    Exercise::new(case).moves(1.0).no_bank_conflicts()
}

/// Counts the digits of the elements of `run.n()` blocks.
fn case(run: &Run) -> CaseResult {
    let input: Vec<u32> = (0..(run.n() * BLOCK * ITEMS) as u32).map(|i| i.wrapping_mul(0x9e37_79b9) >> 29).collect();
    let x = run.device().upload(&input)?;
    let mut y = run.device().alloc(run.n() * BLOCK * DIGITS)?;
    let useful = 4 * (input.len() + y.len());
    let config = LaunchConfig::new(run.n() as u32, BLOCK as u32);
    run.measure(useful, || run.device().launch(config, columns::count(x.view(), y.view_mut())))?;
    run.expect("y", &y, || {
        let mut counts = vec![0; run.n() * BLOCK * DIGITS];
        for (i, &digit) in input.iter().enumerate() {
            counts[(i / (BLOCK * ITEMS) * DIGITS + digit as usize) * BLOCK + i % BLOCK] += 1;
        }
        counts
    })
}
