//! Checks `life_bits.rs`.

mod life_bits;

use learn::{Case, CaseResult, Exercise, LaunchConfig, Run};

fn main() -> std::process::ExitCode {
    exercise().main()
}

pub fn exercise() -> Exercise {
    Exercise::new(Case::new("life_bits", case).check_sizes(&[3, 65]).explain_size(1 << 12))
}

/// Computes a generation of a board of `run.n()` rows, in blocks of 64 threads.
fn case(run: &Run) -> CaseResult {
    let rows: Vec<u32> =
        (1..=run.n() as u32).map(|i| i.wrapping_mul(0x9E37_79B9) ^ i.wrapping_mul(0x85EB_CA6B) >> 7).collect();
    let cells = run.device().upload(&rows)?;
    let mut next = run.device().alloc(rows.len())?;
    let config = LaunchConfig::new(run.n().div_ceil(64) as u32, 64);
    run.measure(8 * rows.len(), || run.device().launch(config, life_bits::life(cells.view(), next.view_mut())))?;
    if !run.is_checked() {
        return Ok(());
    }
    for (y, found) in next.download()?.into_iter().enumerate() {
        if let Err(text) = (0..32).try_for_each(|x| check_cell(&rows, x, y, found >> x & 1)) {
            return run.wrong_element("next", &next, y, text);
        }
    }
    Ok(())
}

/// Compares the next state of a cell with the expected one. The error names the cell's live neighbours.
fn check_cell(rows: &[u32], x: usize, y: usize, found: u32) -> Result<(), String> {
    let height = rows.len();
    let around = (0..9).filter(|i| *i != 4).map(|i| ((x + 31 + i % 3) % 32, (y + height - 1 + i / 3) % height));
    let live: Vec<_> = around.filter(|(x, y)| rows[*y] >> x & 1 == 1).collect();
    let alive = rows[y] >> x & 1;
    let expected = u32::from(live.len() == 3 || (live.len() == 2 && alive == 1));
    if found == expected {
        return Ok(());
    }
    Err(format!(
        "bit {x} of row {y} is {found} instead of {expected}: the cell was {alive} and had {} live neighbours. Their \
        bits and rows are {live:?}",
        live.len()
    ))
}
