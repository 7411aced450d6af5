//! Checks `events.rs`.

mod events;

use cuda_std::{Global, GlobalMut, kernel, thread};
use learn::{Case, CaseResult, Exercise, LaunchConfig, Run};

fn main() -> std::process::ExitCode {
    exercise().main()
}

pub fn exercise() -> Exercise {
    Exercise::new(Case::new("events", case).check_sizes(&[1, 100]).explain_size(1 << 12))
}

/// Computes `x[i]² + 2·x[i]` for `run.n()` elements.
fn case(run: &Run) -> CaseResult {
    let (device, n) = (run.device(), run.n());
    let input: Vec<u32> = (1..=n as u32).collect();
    let x = device.upload(&input)?;
    let (mut squares, mut doubles, mut y) = (device.alloc(n)?, device.alloc(n)?, device.alloc(n)?);
    let config = LaunchConfig::new(n.div_ceil(64) as u32, 64);
    run.measure(32 * n, || {
        let written = [&mut squares, &mut doubles, &mut y].map(|buffer| buffer.view_mut());
        events::run(device, x.view(), written, config)
    })?;
    run.expect("y", &y, || input.iter().map(|x| x * x + 2 * x).collect())
}

/// `y[i] = x[i]²` for every `i`; any grid.
#[kernel]
pub fn square(x: Global<u32>, y: GlobalMut<u32>) {
    for i in thread::grid_stride(y.len()) {
        y.store(i, x.load(i) * x.load(i));
    }
}

/// `y[i] = 2·x[i]` for every `i`; any grid.
#[kernel]
pub fn double(x: Global<u32>, y: GlobalMut<u32>) {
    for i in thread::grid_stride(y.len()) {
        y.store(i, 2 * x.load(i));
    }
}

/// `y[i] = a[i] + b[i]` for every `i`; any grid.
#[kernel]
pub fn add(a: GlobalMut<u32>, b: GlobalMut<u32>, y: GlobalMut<u32>) {
    for i in thread::grid_stride(y.len()) {
        y.store(i, a.load(i) + b.load(i));
    }
}
