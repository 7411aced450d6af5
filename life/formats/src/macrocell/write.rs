//! Writes boards as macrocell files.

use std::collections::HashMap;
use std::io::{self, Write};

use super::super::metadata::Metadata;
use life::board::{Board, WORD_BITS};
use life::plane::{self, Bounds, Plane};

/// Writes `board` with its rule, generation and position. The function needs memory for each distinct square of the
/// tree.
///
/// # Errors
/// If writing to `out` fails.
pub fn write(board: &Board, metadata: &Metadata, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let (left, top) = corner(metadata);
    let level = root_level((left, top), (board.width() as i128, board.height() as i128));
    let half = 1i128 << (level - 1);
    let mut nodes = Nodes::new(metadata, level, out)?;
    nodes.square_of_board(board, level, -half - left, -half - top).map(drop)
}

/// Writes the cells of `plane` with its rule, generation and position. The position of `metadata` is the position of
/// (0, 0). Cells of all states above 0 are written as live cells. The function needs 32 bytes for each square of 8×8
/// cells that has a live cell, memory for each distinct square of the tree, and a copy of the plane if its position is
/// no multiple of 8.
///
/// # Errors
/// If writing to `out` fails, or the host has too little memory for the copy.
pub fn write_plane(plane: &Plane, metadata: &Metadata, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let (left, top) = corner(metadata);
    let shift = [left, top].map(|at| at.rem_euclid(8) as i64);
    let copy;
    let mut aligned = plane;
    if shift != [0; 2] {
        let mut moved = Plane::new(plane.rule(), 0);
        for run in plane.runs() {
            let run = plane::Run { x: run.x + shift[0], y: run.y + shift[1], ..run };
            moved.set_run(run).map_err(io::Error::other)?;
        }
        copy = moved;
        aligned = &copy;
    }
    let (left, top) = (left - i128::from(shift[0]), top - i128::from(shift[1]));
    let bounds = aligned.bounds().unwrap_or(Bounds { x: 0, y: 0, width: 0, height: 0 });
    let size = (i128::from(bounds.width), i128::from(bounds.height));
    let level = root_level((left + i128::from(bounds.x), top + i128::from(bounds.y)), size);
    let half = 1i128 << (level - 1);
    let mut squares: Vec<(u128, u64)> = aligned
        .squares()
        .map(|(x, y, rows)| {
            let place = |at: i64, corner: i128| ((i128::from(at) + corner + half) / 8) as u64;
            (interleaved(place(x, left), place(y, top)), u64::from_be_bytes(rows.map(u8::reverse_bits)))
        })
        .collect();
    squares.sort_unstable();
    Nodes::new(metadata, level, out)?.square_of(level, &squares).map(drop)
}

/// Returns a number with the bits of `x` at even positions and the bits of `y` at odd positions. Squares in the order
/// of these numbers are in the order of the tree's quarters.
fn interleaved(x: u64, y: u64) -> u128 {
    let spread = |number: u64| (0..64).fold(0, |all, bit| all | u128::from(number >> bit & 1) << (2 * bit));
    spread(x) | spread(y) << 1
}

/// Returns the position in `metadata`, relative to the first cell of the south-east quarter of the root. That cell is
/// at (0, 1).
fn corner(metadata: &Metadata) -> (i128, i128) {
    (i128::from(metadata.origin.0), i128::from(metadata.origin.1) - 1)
}

/// Returns the level of the smallest root that contains a rectangle, which may extend in all directions from the
/// middle.
fn root_level((left, top): (i128, i128), (width, height): (i128, i128)) -> u8 {
    let fits = |level: &u8| {
        let half = 1i128 << (level - 1);
        let within = |from: i128, length: i128| from >= -half && from + length <= half;
        within(left, width) && within(top, height)
    };
    // A level is always found, because sides are below 2⁶⁴ and positions are within 2⁶⁴.
    (4..=66).find(fits).unwrap_or(66)
}

/// The nodes of a tree that is being written, with the output and the numbers of the nodes written so far.
struct Nodes<'a, W: ?Sized> {
    out: &'a mut W,
    squares: HashMap<(u8, [usize; 4]), usize>,
    leaves: HashMap<u64, usize>,
    root: u8,
}

impl<'a, W: Write + ?Sized> Nodes<'a, W> {
    /// Writes the lines before the nodes. `root` is the level of the root.
    fn new(metadata: &Metadata, root: u8, out: &'a mut W) -> io::Result<Self> {
        writeln!(out, "[M2] (gridstride {})", env!("CARGO_PKG_VERSION"))?;
        writeln!(out, "#R {}", metadata.rule)?;
        if metadata.generation > 0 {
            writeln!(out, "#G {}", metadata.generation)?;
        }
        Ok(Self { out, squares: HashMap::new(), leaves: HashMap::new(), root })
    }

    /// Writes the square of level `level` of `board` whose upper left corner is at (`x`, `y`). Returns the number of
    /// the square's node. The square may extend beyond the board.
    fn square_of_board(&mut self, board: &Board, level: u8, x: i128, y: i128) -> io::Result<usize> {
        let side = 1i128 << level;
        let outside = |from: i128, length: usize| from + side <= 0 || from >= length as i128;
        if outside(x, board.width()) || outside(y, board.height()) {
            return Ok(0);
        }
        if level == 3 {
            let rows = (0..8).map(|row| eight(board, x, y + row));
            return self.leaf(rows.fold(0, |bits, row| bits << 8 | u64::from(row)));
        }
        let half = side / 2;
        let mut quarters = [0; 4];
        for (quarter, (right, down)) in quarters.iter_mut().zip([(0, 0), (half, 0), (0, half), (half, half)]) {
            *quarter = self.square_of_board(board, level - 1, x + right, y + down)?;
        }
        self.square(level, quarters)
    }

    /// Writes a square of level `level` that consists of `leaves`, which are sorted. Each leaf has its interleaved
    /// position and its cells. Returns the number of the square's node.
    fn square_of(&mut self, level: u8, leaves: &[(u128, u64)]) -> io::Result<usize> {
        if level == 3 {
            return self.leaf(leaves.first().map_or(0, |leaf| leaf.1));
        }
        let mut quarters = [0; 4];
        let mut rest = leaves;
        for (i, quarter) in quarters.iter_mut().enumerate() {
            let own = rest.partition_point(|leaf| leaf.0 >> (2 * (level - 4)) & 3 <= i as u128);
            let (own, others) = rest.split_at(own);
            if !own.is_empty() {
                *quarter = self.square_of(level - 1, own)?;
            }
            rest = others;
        }
        self.square(level, quarters)
    }

    /// Writes a square of four quarters, unless it is dead or was written before. Returns the number of its node.
    fn square(&mut self, level: u8, quarters: [usize; 4]) -> io::Result<usize> {
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

    /// Writes a square of 8×8 cells, unless it is dead or was written before. Returns the number of its node.
    fn leaf(&mut self, bits: u64) -> io::Result<usize> {
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
