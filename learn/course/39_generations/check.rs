//! Checks `generations.rs`.

mod generations;

use generations::{CELLS, WIDTH};
use learn::{Case, CaseResult, Exercise, LaunchConfig, Run};

fn main() -> std::process::ExitCode {
    exercise().main()
}

pub fn exercise() -> Exercise {
    let case = Case::new("generations", case).check_sizes(&[0, 1, 2, 5]).explain_size(10).bench_size(100);
    Exercise::new(case).moves(1.0)
}

/// Computes `run.n()` generations.
fn case(run: &Run) -> CaseResult {
    let first: Vec<u32> = (0..CELLS).map(|i| u32::from(i * i % 11 < 4)).collect();
    let mut boards = vec![first.clone()];
    for i in 0..run.n() {
        boards.push(next(&boards[i]));
    }
    let cells = run.device().upload(&first)?;
    let mut last = run.device().alloc(CELLS)?;
    let config = LaunchConfig::new(1, CELLS as u32);
    let generations = run.n() as u32;
    run.measure(8 * CELLS, || {
        run.device().launch(config, generations::life(cells.view(), generations, last.view_mut()))
    })?;
    let found = last.download()?;
    match boards.iter().rposition(|board| *board == found) {
        Some(i) if i < run.n() && run.is_checked() => {
            run.wrong_element("last", &last, 0, format!("`last` is generation {i} instead of generation {}", run.n()))
        }
        _ => run.expect("last", &last, || boards.remove(run.n())),
    }
}

/// Returns the next generation of a board.
fn next(cells: &[u32]) -> Vec<u32> {
    let sum = |i: usize| -> u32 {
        let rows = [i + CELLS - WIDTH, i, i + WIDTH].map(|i| i / WIDTH * WIDTH % CELLS);
        rows.iter().flat_map(|row| [WIDTH - 1, 0, 1].map(|x| cells[row + (i + x) % WIDTH])).sum()
    };
    (0..CELLS).map(|i| u32::from(sum(i) == 3 || (sum(i) == 4 && cells[i] == 1))).collect()
}
