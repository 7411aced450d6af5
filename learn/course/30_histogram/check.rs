//! Checks `histogram.rs`.

mod histogram;

use histogram::{BINS, WIDTH};
use learn::{Case, CaseResult, Exercise, LaunchConfig, Run};

fn main() -> std::process::ExitCode {
    exercise().main()
}

pub fn exercise() -> Exercise {
    Exercise::new(Case::new("histogram", case).check_sizes(&[0, 1, 300]).explain_size(1 << 12))
}

/// Counts `run.n()` keys.
fn case(run: &Run) -> CaseResult {
    // Some keys are in no bin.
    let input: Vec<u32> = (0..run.n() as u32).map(|i| (i.wrapping_mul(2_654_435_769) >> 16) % 90).collect();
    let keys = run.device().upload(&input)?;
    let mut counts = run.device().zeroed(BINS)?;
    let config = LaunchConfig::new((run.n() as u32).div_ceil(256).clamp(1, 512), 128);
    run.measure(4 * run.n(), || run.device().launch(config, histogram::histogram(keys.view(), counts.view_mut())))?;
    run.expect("counts", &counts, || {
        (0..BINS as u32).map(|bin| input.iter().filter(|&&key| key / WIDTH == bin).count() as u32).collect()
    })
}
