//! Writes boards as macrocell files.

use std::collections::HashMap;
use std::io::{self, Write};

use super::super::metadata::Metadata;
use life::board::{Board, WORD_BITS};

/// Writes `board` with its rule, generation and position. The function needs memory for each distinct square of the
/// tree.
///
/// # Errors
/// If writing to `out` fails.
pub fn write(board: &Board, metadata: &Metadata, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    writeln!(out, "[M2] (gridstride {})", env!("CARGO_PKG_VERSION"))?;
    writeln!(out, "#R {}", metadata.rule)?;
    if metadata.generation > 0 {
        writeln!(out, "#G {}", metadata.generation)?;
    }
    // The first cell of the root's south-east quarter is at (0, 1). The board may extend beyond this cell in all
    // directions.
    let (left, top) = (i128::from(metadata.origin.0), i128::from(metadata.origin.1) - 1);
    let fits = |level: &u8| {
        let half = 1i128 << (level - 1);
        let within = |from: i128, length: usize| from >= -half && from + length as i128 <= half;
        within(left, board.width()) && within(top, board.height())
    };
    // A level is always found, because sides are below 2⁶⁴ and positions are within 2⁶⁴.
    let level = (4..=66).find(fits).unwrap_or(66);
    let half = 1i128 << (level - 1);
    let mut tree = Tree { board, out, squares: HashMap::new(), leaves: HashMap::new(), root: level };
    tree.square(level, -half - left, -half - top).map(drop)
}

/// A tree that is being written, with the board, the output, and the numbers of the nodes written so far.
struct Tree<'a, W: ?Sized> {
    board: &'a Board,
    out: &'a mut W,
    squares: HashMap<(u8, [usize; 4]), usize>,
    leaves: HashMap<u64, usize>,
    root: u8,
}

impl<W: Write + ?Sized> Tree<'_, W> {
    /// Writes the square of level `level` whose upper left corner is at (`x`, `y`). Returns the number of the square's
    /// node. The square may extend beyond the board.
    fn square(&mut self, level: u8, x: i128, y: i128) -> io::Result<usize> {
        let side = 1i128 << level;
        let outside = |from: i128, length: usize| from + side <= 0 || from >= length as i128;
        if outside(x, self.board.width()) || outside(y, self.board.height()) {
            return Ok(0);
        }
        if level == 3 {
            return self.leaf(x, y);
        }
        let half = side / 2;
        let mut quarters = [0; 4];
        for (quarter, (right, down)) in quarters.iter_mut().zip([(0, 0), (half, 0), (0, half), (half, half)]) {
            *quarter = self.square(level - 1, x + right, y + down)?;
        }
        if quarters == [0; 4] && level < self.root {
            return Ok(0);
        }
        let node = (level, quarters);
        if let Some(&number) = self.squares.get(&node) {
            return Ok(number);
        }
        let next = self.next();
        self.squares.insert(node, next);
        let [north_west, north_east, south_west, south_east] = quarters;
        writeln!(self.out, "{level} {north_west} {north_east} {south_west} {south_east}")?;
        Ok(next)
    }

    /// Writes the square of 8×8 cells whose upper left corner is at (`x`, `y`). Returns the number of the square's
    /// node.
    fn leaf(&mut self, x: i128, y: i128) -> io::Result<usize> {
        let rows = (0..8).map(|row| eight(self.board, x, y + row));
        let bits = rows.fold(0, |bits, row| bits << 8 | u64::from(row));
        if bits == 0 {
            return Ok(0);
        }
        if let Some(&number) = self.leaves.get(&bits) {
            return Ok(number);
        }
        let next = self.next();
        self.leaves.insert(bits, next);
        let mut line = String::with_capacity(73);
        for row in bits.to_be_bytes() {
            let cells = 8 - row.trailing_zeros().min(8);
            line.extend((0..cells).map(|column| if row << column & 0x80 == 0 { '.' } else { '*' }));
            line.push('$');
        }
        writeln!(self.out, "{line}")?;
        Ok(next)
    }

    /// Returns the number that the next written node will have.
    fn next(&self) -> usize {
        self.squares.len() + self.leaves.len() + 1
    }
}

/// Returns eight cells of row `y` of `board`, from column `x` on. The first cell is the highest bit. Cells outside the
/// board are dead.
fn eight(board: &Board, x: i128, y: i128) -> u8 {
    let Some(y) = usize::try_from(y).ok().filter(|&y| y < board.height()) else { return 0 };
    let row = board.row(y);
    let word = |index: i128| usize::try_from(index).ok().and_then(|index| row.get(index)).copied().map_or(0, u64::from);
    let index = x.div_euclid(WORD_BITS as i128);
    let pair = word(index) | word(index + 1) << WORD_BITS;
    ((pair >> x.rem_euclid(WORD_BITS as i128)) as u8).reverse_bits()
}
