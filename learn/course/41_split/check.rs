//! Checks `split.rs`.

mod split;

use learn::{Case, CaseResult, Exercise, LaunchConfig, Run};
use split::BLOCK;

fn main() -> std::process::ExitCode {
    exercise().main()
}

pub fn exercise() -> Exercise {
    Exercise::new(Case::new("split", case).check_sizes(&[0, 4, 31]).explain_size(1).bench_size(1))
}

/// Sorts by bit number `run.n()`.
fn case(run: &Run) -> CaseResult {
    let input: Vec<u32> = (1..=BLOCK as u32).map(|i| i.wrapping_mul(0x9E37_79B9)).collect();
    let keys = run.device().upload(&input)?;
    let mut sorted = run.device().alloc(BLOCK)?;
    let (config, bit) = (LaunchConfig::new(1, BLOCK as u32), run.n() as u32);
    run.measure(8 * BLOCK, || run.device().launch(config, split::split(keys.view(), bit, sorted.view_mut())))?;
    let (zeros, ones): (Vec<u32>, Vec<u32>) = input.iter().partition(|key| *key >> bit & 1 == 0);
    let found = sorted.download()?;
    let (first, second) = found.split_at(zeros.len());
    for (digit, start, found, expected) in [(0, 0, first, &zeros), (1, zeros.len(), second, &ones)] {
        let in_order = |keys: &[u32]| {
            let mut keys = keys.to_vec();
            keys.sort();
            keys
        };
        if run.is_checked() && found != expected && in_order(found) == in_order(expected) {
            let text = format!("the sort is not stable: the keys with a {digit} are not in their old order");
            let wrong = found.iter().zip(expected).position(|(found, expected)| found != expected);
            return run.wrong_element("sorted", &sorted, start + wrong.unwrap_or(0), text);
        }
    }
    run.expect("sorted", &sorted, || [zeros, ones].concat())
}
