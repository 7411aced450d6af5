//! Reads and writes macrocell files (`.mc`). Such a file is a quadtree of squares, in which equal squares are stored
//! once.
//!
//! ```text
//! [M2] (golly 4.2)
//! #R B3/S23
//! .*$..*$***$
//! 4 0 0 0 1
//! ```
//!
//! Each line is a node of the tree. Nodes are numbered from 1. A node is a square of 8×8 cells (`.`, `*` and `$`; for
//! rules with two states), a square of 2×2 cells (`1` and four states), or an inner node. An inner node has five
//! numbers: the base-2 logarithm of its side length, and the numbers of its four quarters (north-west, north-east,
//! south-west, south-east). An empty quarter has the number 0.
//!
//! The last node is the root of the tree. The upper left cell of the root's south-east quarter is at (0, 1). `#R` sets
//! the rule, `#G` the generation, and `#N` the name. Other lines that begin with `#` are comments.

use std::ops::Range;

use super::Accept;
use super::error::{FormatError, check_memory};
use life::board::{Board, Run};
use life::pattern::{ParseError, Pattern};
use node::{Extent, Kind, Node};

mod node;
mod write;

pub use write::write;

/// The first bytes of a macrocell file.
const HEADER: &str = "[M2]";

/// Reads a pattern from a macrocell file.
///
/// The tree needs at most 80 times the memory of the text. Before the function allocates memory for the cells, it
/// computes the cells' bounding box and the memory that the cells need. The cells need either one bit for each cell of
/// the box, or 24 bytes for each run of live cells in an 8×8 square. The list of runs is slower than the bits. The tree
/// and the cells together never need more than `limit` bytes.
///
/// # Errors
/// [`FormatError::Refused`] for a text that does not begin with `[M2]`. [`FormatError::Malformed`] for a line that is
/// not a valid node, and for an invalid generation. [`FormatError::TooLarge`] if `limit` is too small.
pub fn parse(text: &str, limit: u64) -> Result<Pattern, FormatError> {
    parse_if(text, limit, &mut |_| true).map(Option::unwrap_or_default)
}

/// Reads a pattern like [`parse`], or returns `None` if `accept` returns false. The function calls `accept` with the
/// pattern before it allocates memory for the cells.
///
/// # Errors
/// Fails in the same cases as [`parse`].
pub fn parse_if(text: &str, limit: u64, accept: Accept<'_>) -> Result<Option<Pattern>, FormatError> {
    let whole = text.trim_start_matches('\u{feff}');
    let text = whole.trim_start();
    let first = 1 + whole[..whole.len() - text.len()].matches('\n').count();
    if !text.starts_with(HEADER) {
        refuse!("it is not a macrocell file: the first line must begin with `[M2]`");
    }
    let length = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).count();
    let tree = (length as u64).saturating_mul(size_of::<Node>() as u64);
    check_memory(tree, limit)?;
    let mut nodes = Vec::with_capacity(length);
    let (mut rule, mut name, mut generation) = (None, None, 0);
    for (line, number) in text.lines().map(str::trim_end).zip(first..) {
        let error = |message: String| ParseError { line: number, column: 1, message };
        match line.as_bytes() {
            [] => {}
            _ if line.starts_with(HEADER) => {}
            [b'#', b'R', ..] => rule = Some(line[2..].trim().to_owned()).filter(|rule| !rule.is_empty()),
            [b'#', b'N', ..] => name = super::text::printable(&line[2..]),
            [b'#', b'G', ..] => {
                let digits = line[2..].trim();
                let message = || {
                    error(format!(
                        "the generation must be a number below 2⁶⁴, but `{}` was given",
                        super::text::shorten(digits)
                    ))
                };
                generation = digits.parse().map_err(|_| message())?;
            }
            [b'#', ..] => {}
            _ => {
                let node = node::parse(line, &nodes).map_err(error)?;
                nodes.push(node);
            }
        }
    }
    let mut outline = Pattern::default();
    (outline.rule, outline.name, outline.generation) = (rule, name, generation);
    let extent = nodes.last().and_then(|root| Some((root, root.extent.clone()?)));
    if let Some((root, Extent { columns, rows })) = &extent {
        let side = |range: &Range<u128>| usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
        (outline.width, outline.height) = (side(columns), side(rows));
        let half = 1u128 << (root.level - 1);
        let place = |from: u128, corner: u128| i64::try_from(from.wrapping_sub(corner) as i128).unwrap_or(0);
        outline.origin = (place(columns.start, half), place(rows.start, half - 1));
    }
    if !accept(&outline) {
        return Ok(None);
    }
    let Some((root, corner)) = extent.map(|(root, extent)| (root, (extent.columns.start, extent.rows.start))) else {
        return Ok(Some(outline));
    };
    let mut pattern = expand(&nodes, root, corner, (outline.width, outline.height), tree, limit)?;
    (pattern.rule, pattern.name) = (outline.rule, outline.name);
    (pattern.generation, pattern.origin) = (outline.generation, outline.origin);
    Ok(Some(pattern))
}

/// Returns the cells below `root` as a pattern. `corner` is the first column and row of their box, and `width` and
/// `height` are its sides. The tree needs `tree` bytes. Tree and cells together must fit `limit` bytes.
fn expand(
    nodes: &[Node],
    root: &Node,
    corner: (u128, u128),
    (width, height): (usize, usize),
    tree: u64,
    limit: u64,
) -> Result<Pattern, FormatError> {
    let packed = (width.div_ceil(32) as u64).saturating_mul(4).saturating_mul(height as u64);
    let listed = root.runs.saturating_mul(size_of::<Run>() as u64);
    let others = root.others.saturating_mul(3 * size_of::<(Run, u8)>() as u64);
    // The packed board is preferred, because sorting a list takes longer than filling a board of many times the list's
    // size.
    let beside = tree.saturating_add(others);
    let is_packed = packed <= listed || packed <= listed.saturating_mul(16) && beside.saturating_add(packed) <= limit;
    let needed = beside.saturating_add(if is_packed { packed } else { listed });
    let needed = if width == usize::MAX || height == usize::MAX { u64::MAX } else { needed };
    check_memory(needed, limit)?;
    // Neither number saturated, because both are within the limit.
    let board = is_packed.then(|| Board::new(width, height));
    let board = board.transpose().map_err(|_| FormatError::TooLarge { needed, free: limit })?;
    let runs = Vec::with_capacity(if is_packed { 0 } else { root.runs as usize });
    let mut cells = Expanded { nodes, board, runs, others: Vec::new() };
    // The positions are sums that end at 0 or more, so intermediate wrapping does not matter.
    cells.visit(root, corner.0.wrapping_neg(), corner.1.wrapping_neg());
    let mut pattern = match cells.board {
        Some(board) => Pattern::from_board(board),
        None => Pattern::from_runs(cells.runs),
    };
    (pattern.width, pattern.height) = (width, height);
    for (run, state) in cells.others {
        pattern.push_state(run, state);
    }
    Ok(pattern)
}

/// The cells of a tree, collected while its nodes are visited.
struct Expanded<'a> {
    nodes: &'a [Node],
    board: Option<Board>,
    runs: Vec<Run>,
    others: Vec<(Run, u8)>,
}

impl Expanded<'_> {
    /// Adds the cells of `node`. The upper left corner of `node` is at (`x`, `y`) relative to the box. Negative
    /// positions wrap.
    fn visit(&mut self, node: &Node, x: u128, y: u128) {
        if node.extent.is_none() {
            return;
        }
        match node.kind {
            Kind::Square(quarters) => {
                let half = 1 << (node.level - 1);
                for (quarter, (right, down)) in quarters.into_iter().zip([(0, 0), (half, 0), (0, half), (half, half)]) {
                    let nodes = self.nodes;
                    if let Some(quarter) = (quarter as usize).checked_sub(1).and_then(|index| nodes.get(index)) {
                        self.visit(quarter, x.wrapping_add(right), y.wrapping_add(down));
                    }
                }
            }
            Kind::Leaf(rows) => {
                for (row, bits) in rows.to_be_bytes().into_iter().enumerate() {
                    for (column, length) in node::runs(bits) {
                        self.push(x.wrapping_add(column as u128), y.wrapping_add(row as u128), length, 1);
                    }
                }
            }
            Kind::Cells(states) => {
                for (index, state) in states.into_iter().enumerate().filter(|&(_, state)| state > 0) {
                    let (column, row) = (index as u128 % 2, index as u128 / 2);
                    self.push(x.wrapping_add(column), y.wrapping_add(row), 1, state);
                }
            }
        }
    }

    /// Adds a run of cells, which must be inside the box.
    fn push(&mut self, x: u128, y: u128, length: usize, state: u8) {
        let run = Run { x: x as usize, y: y as usize, length };
        match &mut self.board {
            _ if state > 1 => self.others.push((run, state)),
            Some(board) => board.fill_run(run),
            None => self.runs.push(run),
        }
    }
}

#[cfg(test)]
mod tests;
