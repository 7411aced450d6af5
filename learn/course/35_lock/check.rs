//! Checks `lock.rs`.

mod lock;

use learn::{Case, CaseResult, Exercise, LaunchConfig, Run};

fn main() -> std::process::ExitCode {
    exercise().main()
}

pub fn exercise() -> Exercise {
    Exercise::new(Case::new("lock", case).check_sizes(&[2, 3]).explain_size(4).bench_size(64)).thorough()
}

/// Finds the largest of `2·run.n()` elements, in blocks of one thread.
fn case(run: &Run) -> CaseResult {
    let device = run.device();
    let input: Vec<u32> = (0..2 * run.n() as u32).map(|i| 14 - i * 3 % 5).collect();
    let (x, mut best, mut lock) = (device.upload(&input)?, device.zeroed(2)?, device.zeroed(1)?);
    let config = LaunchConfig::new(2 * run.n() as u32, 1);
    run.measure(4 * (input.len() + 3), || {
        best.fill_zero()?;
        device.launch(config, lock::largest(x.view(), best.view_mut(), lock.view_mut()))
    })?;
    run.expect("lock", &lock, || vec![0])?;
    if !run.is_checked() {
        return Ok(());
    }
    let found: Vec<u32> = best.download()?;
    match input.iter().max() {
        Some(largest) if found[0] != *largest => {
            let text = format!("best[0] is {} instead of {largest}: a thread has not compared its element", found[0]);
            run.wrong_element("best", &best, 0, text)
        }
        _ if input.get(found[1] as usize) != Some(&found[0]) => {
            let text = format!("best[1] is {}, but x[{}] is not {}", found[1], found[1], found[0]);
            run.wrong_element("best", &best, 1, text)
        }
        _ => Ok(()),
    }
}
