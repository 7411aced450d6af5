//! Checks `branch.rs`.

mod branch;

use branch::BLOCK;
use learn::{Case, CaseResult, Exercise, LaunchConfig, Run};

fn main() -> std::process::ExitCode {
    exercise().main()
}

pub fn exercise() -> Exercise {
    let case = Case::new("branch", case).check_sizes(&[1, 31, 128, 257]).explain_size(1 << 14);
    Exercise::new(case).moves(1.1).no_bank_conflicts().barriers(1)
}

/// Adds pairs of `run.n()` elements.
fn case(run: &Run) -> CaseResult {
    let input: Vec<u32> = (0..run.n() as u32).map(|i| i.wrapping_mul(i) + 1).collect();
    let x = run.device().upload(&input)?;
    let mut y = run.device().alloc(input.len())?;
    let config = LaunchConfig::new(run.n().div_ceil(BLOCK).max(1) as u32, BLOCK as u32);
    run.measure(8 * input.len(), || run.device().launch(config, branch::add_next(x.view(), y.view_mut())))?;
    run.expect("y", &y, || {
        let of_group = |group: &[u32]| -> Vec<u32> {
            (0..group.len()).map(|i| group[i] + group.get(i + 1).copied().unwrap_or(0)).collect()
        };
        input.chunks(BLOCK).flat_map(of_group).collect()
    })
}
