//! Checks `life.rs`.

mod life;

use learn::{Case, CaseResult, Exercise, LaunchConfig, Run};

/// The number of columns of the board.
const WIDTH: usize = 8;

fn main() -> std::process::ExitCode {
    exercise().main()
}

pub fn exercise() -> Exercise {
    Exercise::new(Case::new("life", case).check_sizes(&[3, 6]).explain_size(12).bench_size(12))
}

/// Computes a generation of a board of `run.n()` rows.
fn case(run: &Run) -> CaseResult {
    let cells: Vec<u32> = (0..WIDTH * run.n()).map(|i| u32::from(i * i % 11 < 4)).collect();
    let board = run.device().upload(&cells)?;
    let mut next = run.device().alloc(cells.len())?;
    let config = LaunchConfig::new(1, (WIDTH as u32, run.n() as u32));
    run.measure(8 * cells.len(), || run.device().launch(config, life::life(board.view(), next.view_mut())))?;
    if !run.is_checked() {
        return Ok(());
    }
    for (i, state) in next.download()?.into_iter().enumerate() {
        if let Err(text) = check_cell(&cells, run.n(), i % WIDTH, i / WIDTH, state) {
            return run.wrong_element("next", &next, i, text);
        }
    }
    Ok(())
}

/// Compares the next state of a cell with the expected one. The error names the cell's live neighbours.
fn check_cell(cells: &[u32], height: usize, x: usize, y: usize, found: u32) -> Result<(), String> {
    let around =
        (0..9).filter(|i| *i != 4).map(|i| ((x + WIDTH - 1 + i % 3) % WIDTH, (y + height - 1 + i / 3) % height));
    let live: Vec<_> = around.filter(|(x, y)| cells[y * WIDTH + x] == 1).collect();
    let alive = cells[y * WIDTH + x];
    let expected = u32::from(live.len() == 3 || (live.len() == 2 && alive == 1));
    if found == expected {
        return Ok(());
    }
    Err(format!(
        "the cell in column {x} of row {y} is {found} instead of {expected}: it was {alive}, and it had {} live \
        neighbours. Their columns and rows are {live:?}",
        live.len()
    ))
}
