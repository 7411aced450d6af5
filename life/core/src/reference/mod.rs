//! The reference implementation, which stores one byte per cell. To compute a cell, it looks up the nine cells of the
//! neighbourhood one by one.

use super::board::Board;
use super::{Rule, Topology};

/// Returns the next generation of B3/S23 on a torus of `width` × `height` cells. `cells` is row-major, and each cell is
/// 0 or 1.
///
/// The neighbours of a cell are the cells at the eight offsets around it, columns modulo the width and rows modulo the
/// height. On a torus that is one or two cells wide or high, several offsets can lead to the same neighbour, or to the
/// cell itself. That neighbour then counts several times, once per offset.
///
/// This function updates sums of neighbours column by column, which makes it faster than [`step_by`].
///
/// # Panics
/// If there are not `width * height` cells.
pub fn step(cells: &[u8], width: usize, height: usize) -> Vec<u8> {
    assert_eq!(cells.len(), width * height, "{} cells were given for a torus of {width}x{height}", cells.len());
    // The tests run this function unoptimised, where iterators and closures would be slow.
    let mut next = vec![0; cells.len()];
    for (y, next) in next.chunks_exact_mut(width.max(1)).enumerate() {
        let [above, row, below] =
            [(y + height - 1) % height, y, (y + 1) % height].map(|y| &cells[y * width..][..width]);
        let mut west = above[width - 1] + row[width - 1] + below[width - 1];
        let mut centre = above[0] + row[0] + below[0];
        let mut x = 0;
        while x < width {
            let after = if x + 1 < width { x + 1 } else { 0 };
            let east = above[after] + row[after] + below[after];
            let neighbours = west + centre + east - row[x];
            next[x] = (neighbours == 3 || row[x] == 1 && neighbours == 2) as u8;
            (west, centre) = (centre, east);
            x += 1;
        }
    }
    next
}

/// The offsets (x, y) of the nine cells of a neighbourhood. The first offset corresponds to the highest bit of a
/// neighbourhood's number.
const NINE: [(i64, i64); 9] = [(-1, -1), (0, -1), (1, -1), (-1, 0), (0, 0), (1, 0), (-1, 1), (0, 1), (1, 1)];

/// Returns the next generation of `rule` on a board of `width` × `height` cells. `cells` contains their states,
/// row-major.
///
/// # Panics
/// If there are not `width * height` cells.
pub fn step_by(rule: &Rule, topology: Topology, cells: &[u8], width: usize, height: usize) -> Vec<u8> {
    assert_eq!(cells.len(), width * height, "{} cells were given for a board of {width}x{height}", cells.len());
    let is_alive =
        |x: i64, y: i64| topology.source(width, height, x, y).is_some_and(|(x, y)| cells[y * width + x] == 1);
    // The tests run this function unoptimised, where iterator adapters would be slow.
    let mut next = Vec::with_capacity(cells.len());
    for y in 0..height as i64 {
        for x in 0..width as i64 {
            let mut neighbourhood = 0;
            for (dx, dy) in NINE {
                neighbourhood = neighbourhood << 1 | usize::from(is_alive(x + dx, y + dy));
            }
            next.push(rule.next(cells[next.len()], neighbourhood));
        }
    }
    next
}

/// Returns `board` after `generations` generations of B3/S23 on a torus.
pub fn advance(board: &Board, generations: u64) -> Board {
    let (width, height) = (board.width(), board.height());
    after(board, |mut cells| {
        for _ in 0..generations {
            cells = step(&cells, width, height);
        }
        cells
    })
}

/// Returns `board` after `generations` generations of a rule on a topology. `board` is generation `from`.
///
/// If the rule has births without neighbours (B0), the function alternates between the two rules of [`Rule::phases`].
pub fn advance_by(board: &Board, rule: &Rule, topology: Topology, from: u64, generations: u64) -> Board {
    let (width, height) = (board.width(), board.height());
    let phases = rule.phases();
    after(board, |mut cells| {
        for generation in from..from + generations {
            cells = step_by(&phases[(generation % 2) as usize], topology, &cells, width, height);
        }
        cells
    })
}

fn after(board: &Board, advance: impl FnOnce(Vec<u8>) -> Vec<u8>) -> Board {
    let (width, height) = (board.width(), board.height());
    let mut cells = vec![0; width * height];
    for (x, y) in board.cells() {
        cells[y * width + x] = board.state(x, y);
    }
    let cells = advance(cells);
    let mut result = board.clone();
    for (i, state) in cells.into_iter().enumerate() {
        result.set_state(i % width, i / width, state);
    }
    result
}

#[cfg(test)]
mod tests;
