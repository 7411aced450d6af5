//! The plain CPU answer: one byte per cell, eight neighbours, nothing clever.

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
    let mut next = Vec::with_capacity(cells.len());
    for y in 0..height {
        let rows = [(y + height - 1) % height, y, (y + 1) % height];
        for x in 0..width {
            let columns = [(x + width - 1) % width, x, (x + 1) % width];
            let alive = cells[y * width + x];
            let mut square = 0;
            for row in rows {
                for column in columns {
                    square += cells[row * width + column];
                }
            }
            let neighbours = square - alive;
            next.push(u8::from(neighbours == 3 || alive == 1 && neighbours == 2));
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
