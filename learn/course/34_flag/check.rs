//! Checks `flag.rs`.

mod flag;

use learn::{Case, CaseResult, Exercise, LaunchConfig, Run};

fn main() -> std::process::ExitCode {
    exercise().main()
}

pub fn exercise() -> Exercise {
    Exercise::new(Case::new("flag", case).check_sizes(&[1, 3]).explain_size(4).bench_size(4)).thorough()
}

/// Passes a value to `run.n()` blocks.
fn case(run: &Run) -> CaseResult {
    let device = run.device();
    let (x, mut value, mut flag) = (device.upload(&[14_u32])?, device.zeroed(1)?, device.zeroed(1)?);
    let mut y = device.alloc(run.n())?;
    let config = LaunchConfig::new(run.n() as u32, 1);
    run.measure(4 * (run.n() + 2), || {
        flag.fill_zero()?;
        device.launch(config, flag::share(x.view(), value.view_mut(), flag.view_mut(), y.view_mut()))
    })?;
    run.expect("y", &y, || (0..run.n() as u32).map(|block| 42 + block).collect())
}
