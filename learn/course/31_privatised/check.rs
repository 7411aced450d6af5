//! Checks `privatised.rs`.

mod privatised;

use learn::{Case, CaseResult, Exercise, LaunchConfig, Run};
use privatised::BINS;

fn main() -> std::process::ExitCode {
    exercise().main()
}

pub fn exercise() -> Exercise {
    let case = Case::new("privatised", case).check_sizes(&[0, 1, 200]).explain_size(1 << 14);
    Exercise::new(case).moves(1.2)
}

/// Counts `run.n()` keys, in blocks of 64 threads.
fn case(run: &Run) -> CaseResult {
    let input: Vec<u32> = (0..run.n() as u32).map(|i| (i.wrapping_mul(2_654_435_769) >> 16) % BINS as u32).collect();
    let keys = run.device().upload(&input)?;
    let mut counts = run.device().zeroed(BINS)?;
    let config = LaunchConfig::new(if run.is_timed() { 512 } else { 3 }, 64);
    run.measure(4 * run.n(), || run.device().launch(config, privatised::histogram(keys.view(), counts.view_mut())))?;
    run.expect("counts", &counts, || {
        (0..BINS as u32).map(|bin| input.iter().filter(|&&key| key == bin).count() as u32).collect()
    })
}
