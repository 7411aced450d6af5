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

use std::convert::Infallible;
use std::ops::Range;

use super::error::{FormatError, check_memory};
use life::board::{Board, Run};
use life::pattern::{ParseError, Pattern};
use life::plane::{self, Plane, PlaneError};
use node::{Extent, Kind, Node};

mod node;
mod write;

pub use write::{write, write_plane};

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
    Tree::parse(text, limit)?.pattern(limit)
}

/// The tree of a macrocell file. Equal squares are stored once, so a tree may be much smaller than its cells.
#[derive(Debug)]
pub struct Tree {
    nodes: Vec<Node>,
    rule: Option<String>,
    name: Option<String>,
    generation: u64,
}

impl Tree {
    /// Reads the tree of a macrocell file.
    ///
    /// # Errors
    /// Fails in the same cases as [`parse`](fn@parse). The cells need no memory.
    pub fn parse(text: &str, limit: u64) -> Result<Self, FormatError> {
        let whole = text.trim_start_matches('\u{feff}');
        let text = whole.trim_start();
        let first = 1 + whole[..whole.len() - text.len()].matches('\n').count();
        if !text.starts_with(HEADER) {
            refuse!("it is not a macrocell file: the first line must begin with `[M2]`");
        }
        let length = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).count();
        check_memory((length as u64).saturating_mul(size_of::<Node>() as u64), limit)?;
        let nodes = Vec::with_capacity(length);
        let mut tree = Self { nodes, rule: None, name: None, generation: 0 };
        for (line, number) in text.lines().map(str::trim_end).zip(first..) {
            tree.add(line).map_err(|message| ParseError { line: number, column: 1, message })?;
        }
        Ok(tree)
    }

    /// Adds a line of the file.
    fn add(&mut self, line: &str) -> Result<(), String> {
        match line.as_bytes() {
            [] => {}
            _ if line.starts_with(HEADER) => {}
            [b'#', b'R', ..] => self.rule = Some(line[2..].trim().to_owned()).filter(|rule| !rule.is_empty()),
            [b'#', b'N', ..] => self.name = super::text::printable(&line[2..]),
            [b'#', b'G', ..] => {
                let digits = line[2..].trim();
                self.generation = digits.parse().map_err(|_| {
                    let given = super::text::shorten(digits);
                    format!("the generation must be a number below 2⁶⁴, but `{given}` was given")
                })?;
            }
            [b'#', ..] => {}
            _ => {
                let node = node::parse(line, &self.nodes)?;
                self.nodes.push(node);
            }
        }
        Ok(())
    }

    /// Returns a pattern without cells. Its box, position, rule, name and generation are those of the tree.
    pub fn header(&self) -> Pattern {
        let mut pattern = Pattern::default();
        (pattern.rule, pattern.name, pattern.generation) = (self.rule.clone(), self.name.clone(), self.generation);
        if let Some((root, Extent { columns, rows })) = self.root() {
            let side = |range: &Range<u128>| usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
            (pattern.width, pattern.height) = (side(columns), side(rows));
            let half = 1u128 << (root.level - 1);
            let place = |from: u128, corner: u128| i64::try_from(from.wrapping_sub(corner) as i128).unwrap_or(0);
            pattern.origin = (place(columns.start, half), place(rows.start, half - 1));
        }
        pattern
    }

    /// Returns the root and its bounding box, or `None` if all cells are dead.
    fn root(&self) -> Option<(&Node, &Extent)> {
        self.nodes.last().and_then(|root| Some((root, root.extent.as_ref()?)))
    }

    /// Returns the number of states that the rule must have: one more than the highest state of a cell, at least 2.
    pub fn states(&self) -> u16 {
        let highest = |node: &Node| match node.kind {
            Kind::Cells(states) => states.into_iter().max().map_or(0, u16::from),
            _ => 0,
        };
        self.nodes.iter().map(highest).max().unwrap_or(0).max(1) + 1
    }

    /// Returns the number of cells in states above 1, or `u64::MAX` if there are more.
    pub fn marked(&self) -> u64 {
        self.nodes.last().map_or(0, |root| root.others)
    }

    /// Returns true if a square of the file has a cell in `state`.
    pub fn has_state(&self, state: u8) -> bool {
        self.nodes.iter().any(|node| matches!(node.kind, Kind::Cells(states) if states.contains(&state)))
    }

    /// Returns an upper bound of the number of cells that are not dead.
    pub fn max_population(&self) -> u64 {
        self.nodes.last().map_or(0, |root| root.runs.saturating_mul(8).saturating_add(root.others))
    }

    /// Returns a lower bound of the bytes that the cells need on a plane.
    pub fn min_plane_bytes(&self) -> u64 {
        // A tile of the plane has at most one run of a leaf for two of its cells.
        let runs_per_tile = (plane::TILE * plane::TILE / 2) as u64;
        self.nodes.last().map_or(0, |root| (root.runs / runs_per_tile).saturating_mul(plane::TILE_BYTES))
    }

    /// Returns the cells as a pattern.
    ///
    /// # Errors
    /// [`FormatError::TooLarge`] if the tree and the cells together need more than `limit` bytes.
    pub fn pattern(&self, limit: u64) -> Result<Pattern, FormatError> {
        let Some((root, Extent { columns, rows })) = self.root() else { return Ok(self.header()) };
        let tree = (self.nodes.len() as u64).saturating_mul(size_of::<Node>() as u64);
        let header = self.header();
        let (width, height) = (header.width, header.height);
        let packed = (width.div_ceil(32) as u64).saturating_mul(4).saturating_mul(height as u64);
        let listed = root.runs.saturating_mul(size_of::<Run>() as u64);
        let others = root.others.saturating_mul(3 * size_of::<(Run, u8)>() as u64);
        // The packed board is preferred, because sorting a list takes longer than filling a board of many times the
        // list's size.
        let beside = tree.saturating_add(others);
        let is_packed =
            packed <= listed || packed <= listed.saturating_mul(16) && beside.saturating_add(packed) <= limit;
        let needed = beside.saturating_add(if is_packed { packed } else { listed });
        let needed = if width == usize::MAX || height == usize::MAX { u64::MAX } else { needed };
        check_memory(needed, limit)?;
        // Neither number saturated, because both are within the limit.
        let board = is_packed.then(|| Board::new(width, height));
        let board = board.transpose().map_err(|_| FormatError::TooLarge { needed, free: limit })?;
        let runs = Vec::with_capacity(if is_packed { 0 } else { root.runs as usize });
        let mut cells = Expanded { board, runs, others: Vec::new() };
        self.each_run(root, (columns.start, rows.start), &mut |x, y, length, state| {
            cells.push(x, y, length, state);
            Ok::<_, Infallible>(())
        })
        .unwrap_or_else(|never| match never {});
        let mut pattern = match cells.board {
            Some(board) => Pattern::from_board(board),
            None => Pattern::from_runs(cells.runs),
        };
        (pattern.width, pattern.height) = (width, height);
        for (run, state) in cells.others {
            pattern.push_state(run, state);
        }
        let Pattern { rule, name, generation, origin, .. } = header;
        (pattern.rule, pattern.name, pattern.generation, pattern.origin) = (rule, name, generation, origin);
        Ok(pattern)
    }

    /// Puts the cells on a plane, without another copy of them. The upper left corner of the cells' bounding box is
    /// placed at `corner`. `state_of` returns the state of a cell on the plane for a state in the file.
    ///
    /// # Errors
    /// [`PlaneError`] if a cell would be outside the plane, or the host has too little memory.
    pub fn put_on(&self, plane: &mut Plane, corner: (i64, i64), state_of: impl Fn(u8) -> u8) -> Result<(), PlaneError> {
        let Some((root, Extent { columns, rows })) = self.root() else { return Ok(()) };
        let header = self.header();
        // The corners are set first, so that a pattern that is too large is refused at once.
        let far = |corner: i64, side: usize| corner.saturating_add(i64::try_from(side).unwrap_or(i64::MAX) - 1);
        let (right, bottom) = (far(corner.0, header.width), far(corner.1, header.height));
        plane::check_position(corner.0, corner.1)?;
        plane::check_position(right, bottom)?;
        self.each_run(root, (columns.start, rows.start), &mut |x, y, length, state| {
            let (x, y) = (corner.0 + x as i64, corner.1 + y as i64);
            match state_of(state) {
                1 => plane.set_run(plane::Run { x, y, length: length as u64 }),
                state => (x..).take(length).try_for_each(|x| plane.set_state(x, y, state)),
            }
        })
    }

    /// Calls `take` for all runs below `root`, with the position relative to `first`, the length and the state.
    fn each_run<E>(&self, root: &Node, first: (u128, u128), take: TakeRun<'_, E>) -> Result<(), E> {
        // The positions are sums that end at 0 or more, so intermediate wrapping does not matter.
        self.visit(root, first.0.wrapping_neg(), first.1.wrapping_neg(), take)
    }

    /// Calls `take` for the runs of `node`, whose upper left corner is at (`x`, `y`). Negative positions wrap.
    fn visit<E>(&self, node: &Node, x: u128, y: u128, take: TakeRun<'_, E>) -> Result<(), E> {
        if node.extent.is_none() {
            return Ok(());
        }
        match node.kind {
            Kind::Square(quarters) => {
                let half = 1 << (node.level - 1);
                for (quarter, (right, down)) in quarters.into_iter().zip([(0, 0), (half, 0), (0, half), (half, half)]) {
                    if let Some(quarter) = (quarter as usize).checked_sub(1).and_then(|index| self.nodes.get(index)) {
                        self.visit(quarter, x.wrapping_add(right), y.wrapping_add(down), take)?;
                    }
                }
            }
            Kind::Leaf(rows) => {
                for (row, bits) in rows.to_be_bytes().into_iter().enumerate() {
                    for (column, length) in node::runs(bits) {
                        take(x.wrapping_add(column as u128), y.wrapping_add(row as u128), length, 1)?;
                    }
                }
            }
            Kind::Cells(states) => {
                for (index, state) in states.into_iter().enumerate().filter(|&(_, state)| state > 0) {
                    let (column, row) = (index as u128 % 2, index as u128 / 2);
                    take(x.wrapping_add(column), y.wrapping_add(row), 1, state)?;
                }
            }
        }
        Ok(())
    }
}

/// A function that receives the column, the row, the length and the state of a run of cells.
type TakeRun<'a, E> = &'a mut dyn FnMut(u128, u128, usize, u8) -> Result<(), E>;

/// The cells of a tree, collected while its nodes are visited.
struct Expanded {
    board: Option<Board>,
    runs: Vec<Run>,
    others: Vec<(Run, u8)>,
}

impl Expanded {
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
