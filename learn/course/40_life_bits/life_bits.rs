//! Life in bits: 32 cells per word.
//!
//! A cell is one bit, so a word has 32 cells. Bitwise operators compute all of them at once, if the number of
//! neighbours is written in binary: `ones` has a word of its lowest digits, `twos` of the next ones, each with a bit
//! per cell.
//!
//! A full adder adds three digits of each of the 32 cells. `add(a, b, c)` returns the digit and the carry:
//!
//! ```text
//! a + b + c    0 0 0 = 00    1 0 0 = 01    1 1 0 = 10    1 1 1 = 11     (carry, digit)
//! ```
//!
//! The three cells above a cell are bits of `above`, `left(above)` and `right(above)`; these functions move all cells
//! by one column. Two cells beside it are bits of `left(row)` and `right(row)`, and three are below. Three sums give
//! three words of ones and three words of twos. The ones have a sum again, with a carry that counts as a two:
//!
//! ```text
//! neighbours = ones + 2 · (number of ones among four words of twos)
//! ```
//!
//! A cell is alive next if it has three neighbours, or if it is alive and has two: exactly one of the four words has
//! its bit, and `ones` has it too or the cell is alive.

use cuda_std::prelude::*;

/// Writes the next generation of `cells` to `next`. A row is one word of 32 cells, and the board is a torus. One thread
/// per row; the grid may have more threads than rows.
#[kernel]
pub fn life(cells: Global<u32>, next: GlobalMut<u32>) {
    let (y, height) = (thread::index_1d(), cells.len());
    if y < height {
        let (above, row, below) = (cells.load((y + height - 1) % height), cells.load(y), cells.load((y + 1) % height));
        // Your code begins here.
        let (ones, twos) = add(left(row), 0, right(row));
        let alive = twos & (ones | row);
        next.store(y, alive);
        // Your code ends here.
    }
}

/// Returns the cells to the left of those of `row`.
fn left(row: u32) -> u32 {
    row.rotate_left(1)
}

/// Returns the cells to the right of those of `row`.
fn right(row: u32) -> u32 {
    row.rotate_right(1)
}

/// Adds three digits of 32 columns. Returns the digits of the sums, and their carries.
fn add(a: u32, b: u32, c: u32) -> (u32, u32) {
    (a ^ b ^ c, (a & b) | (a & c) | (b & c))
}
