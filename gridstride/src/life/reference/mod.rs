//! The plain CPU answer: one byte per cell, the squares of nine added up column by column.

use super::board::Board;

/// One generation of B3/S23 on a torus of `width` × `height` cells, row-major, each 0 or 1.
///
/// The neighbours of a cell are the cells at the eight offsets around it, columns modulo the width and rows modulo the
/// height. On a torus one or two cells wide or high some offsets lead to the same cell, or to the cell itself: such a
/// neighbour counts as often as it is met.
///
/// # Panics
/// When there are not `width * height` cells.
pub fn step(cells: &[u8], width: usize, height: usize) -> Vec<u8> {
    assert_eq!(cells.len(), width * height, "cells of a {width}x{height} torus");
    let mut next = vec![0; cells.len()];
    for y in 0..height {
        let [above, row, below] = [(y + height - 1) % height, y, (y + 1) % height].map(|y| &cells[y * width..][..width]);
        let in_column = |x: usize| above[x] + row[x] + below[x];
        let (mut west, mut centre) = (in_column(width - 1), in_column(0));
        for x in 0..width {
            let east = in_column(if x + 1 < width { x + 1 } else { 0 });
            let neighbours = west + centre + east - row[x];
            next[y * width + x] = u8::from(neighbours == 3 || row[x] == 1 && neighbours == 2);
            (west, centre) = (centre, east);
        }
    }
    next
}

/// `board` after this many generations.
pub fn advance(board: &Board, generations: u64) -> Board {
    let (width, height) = (board.width(), board.height());
    let mut cells = vec![0; width * height];
    for (x, y) in board.cells() {
        cells[y * width + x] = 1;
    }
    for _ in 0..generations {
        cells = step(&cells, width, height);
    }
    let mut result = board.clone();
    for y in 0..height {
        for x in 0..width {
            result.set(x, y, cells[y * width + x] == 1);
        }
    }
    result
}
