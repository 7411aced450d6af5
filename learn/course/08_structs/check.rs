//! Checks `structs.rs`.

mod structs;

use learn::{Case, CaseResult, Exercise, LaunchConfig, Run};
use structs::{FIELDS, W, Z, at};

fn main() -> std::process::ExitCode {
    exercise().main()
}

pub fn exercise() -> Exercise {
    let case = Case::new("structs", case).check_sizes(&[31, 33, 257]).explain_size(1 << 15).bench_size(1 << 24);
    Exercise::new(case).moves(1.1)
}

/// Moves `run.n()` particles, in blocks of 64 threads.
fn case(run: &Run) -> CaseResult {
    let n = run.n();
    let number = |i: usize, field: usize| (10 * i + field) as f32;
    let mut particles = run.device().upload(&placed(n, number))?;
    let config = LaunchConfig::new(n.div_ceil(64) as u32, 64);
    run.measure(12 * n, || run.device().launch(config, structs::step(0.5, particles.view_mut())))?;
    let after = |i, field| number(i, field) + if field == Z { 0.5 * number(i, W) } else { 0.0 };
    run.expect("particles", &particles, || placed(n, after))
}

/// Returns the buffer that has `number(i, field)` at the place of each number. A place beyond its end is left out: the
/// kernel reports it.
fn placed(n: usize, number: impl Fn(usize, usize) -> f32) -> Vec<f32> {
    let mut places = vec![-1.0; n * FIELDS];
    for (i, field) in (0..n).flat_map(|i| (0..FIELDS).map(move |field| (i, field))) {
        if let Some(place) = places.get_mut(at(i, field, n)) {
            *place = number(i, field);
        }
    }
    places
}
