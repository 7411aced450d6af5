//! Reads the nodes of a macrocell tree. Each node is one line of the file.

use std::ops::Range;

/// The highest level of a node. The side length of a larger square would not fit a `u128`.
const LEVELS: u8 = 127;

/// A node of the tree, which is a square of cells.
#[derive(Debug)]
pub(super) struct Node {
    /// The base-2 logarithm of the side length in cells.
    pub(super) level: u8,
    pub(super) kind: Kind,
    /// The bounding box of the cells that are not dead, or `None` if all cells are dead.
    pub(super) extent: Option<Extent>,
    /// The number of runs of live cells. A run never extends beyond one row of one leaf. The number saturates.
    pub(super) runs: u64,
    /// The number of cells in states above 1. The number saturates.
    pub(super) others: u64,
}

/// The content of a square.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// 8×8 cells, one byte per row. The highest bits are the top row and the left column.
    Leaf(u64),
    /// The states of 2×2 cells.
    Cells([u8; 4]),
    /// The numbers of the nodes that are the four quarters.
    Square([u32; 4]),
}

/// A box, given by its columns and rows.
#[derive(Clone, Debug)]
pub(super) struct Extent {
    pub(super) columns: Range<u128>,
    pub(super) rows: Range<u128>,
}

impl Extent {
    fn with(self, other: Self) -> Self {
        let join = |a: Range<u128>, b: Range<u128>| a.start.min(b.start)..a.end.max(b.end);
        Self { columns: join(self.columns, other.columns), rows: join(self.rows, other.rows) }
    }

    fn moved(&self, right: u128, down: u128) -> Self {
        let Self { columns, rows } = self;
        Self { columns: columns.start + right..columns.end + right, rows: rows.start + down..rows.end + down }
    }
}

/// Returns the runs of ones in a row of eight cells, as (first column, length).
pub(super) fn runs(bits: u8) -> impl Iterator<Item = (usize, usize)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = bits.checked_shl(at)?;
        if rest == 0 {
            return None;
        }
        let start = at + rest.leading_zeros();
        let length = (bits << start).leading_ones();
        at = start + length;
        Some((start as usize, length as usize))
    })
}

/// Reads the node in `line`. `nodes` must contain the nodes that are the four quarters of this node.
pub(super) fn parse(line: &str, nodes: &[Node]) -> Result<Node, String> {
    if line.starts_with(['.', '*', '$']) {
        return leaf(line);
    }
    let mut numbers = [0u32; 5];
    let mut words = line.split_whitespace();
    for number in &mut numbers {
        let word = words.next().and_then(|word| word.parse().ok());
        *number = word.ok_or("a node must be five numbers, or a square of 8×8 cells written with `.`, `*` and `$`")?;
    }
    let [level, quarters @ ..] = numbers;
    match level {
        1 => cells(quarters),
        2.. if level <= LEVELS.into() => square(level as u8, quarters, nodes),
        0 => Err("the level of a square must be at least 1, but 0 was given".to_owned()),
        _ => Err(format!("the level of a square must be at most {LEVELS}, but {level} was given")),
    }
}

/// Reads a square of 8×8 cells.
fn leaf(line: &str) -> Result<Node, String> {
    let (mut bits, mut x, mut y) = (0u64, 0usize, 0usize);
    for cell in line.chars() {
        match cell {
            '$' => (x, y) = (0, y + 1),
            '.' | '*' if x > 7 || y > 7 => {
                return Err("a line of cells must fit 8×8, but this one has more rows or columns".to_owned());
            }
            '.' => x += 1,
            '*' => {
                bits |= 1 << (63 - (y * 8 + x));
                x += 1;
            }
            _ => {
                return Err(format!(
                    "`{}` is not a cell: use `.` (dead), `*` (alive) or `$` (end of a row)",
                    cell.escape_debug()
                ));
            }
        }
    }
    let rows = bits.to_be_bytes();
    let columns = rows.into_iter().fold(0, |columns, row| columns | row);
    let extent = (bits != 0).then(|| Extent {
        columns: columns.leading_zeros().into()..(8 - columns.trailing_zeros()).into(),
        rows: (bits.leading_zeros() / 8).into()..(8 - bits.trailing_zeros() / 8).into(),
    });
    let runs = rows.into_iter().map(|row| runs(row).count() as u64).sum();
    Ok(Node { level: 3, kind: Kind::Leaf(bits), extent, runs, others: 0 })
}

/// Reads a square of 2×2 cells.
fn cells(states: [u32; 4]) -> Result<Node, String> {
    let mut cells = [0; 4];
    for (cell, state) in cells.iter_mut().zip(states) {
        *cell = u8::try_from(state)
            .map_err(|_| format!("the state of a cell must be at most 255, but {state} was given"))?;
    }
    let places = (0..4u8).filter(|&index| cells[usize::from(index)] > 0).map(|index| {
        let (left, top) = (u128::from(index % 2), u128::from(index / 2));
        Extent { columns: left..left + 1, rows: top..top + 1 }
    });
    let count = |alive: fn(&u8) -> bool| cells.iter().filter(|&cell| alive(cell)).count() as u64;
    let (runs, others) = (count(|&state| state == 1), count(|&state| state > 1));
    Ok(Node { level: 1, kind: Kind::Cells(cells), extent: places.reduce(Extent::with), runs, others })
}

/// Reads a square that consists of four other squares.
fn square(level: u8, quarters: [u32; 4], nodes: &[Node]) -> Result<Node, String> {
    let half = 1u128 << (level - 1);
    let mut node = Node { level, kind: Kind::Square(quarters), extent: None, runs: 0, others: 0 };
    for (number, (right, down)) in quarters.into_iter().zip([(0, 0), (half, 0), (0, half), (half, half)]) {
        if number == 0 {
            continue;
        }
        let Some(quarter) = nodes.get(number as usize - 1) else {
            return Err(format!(
                "node {number} is used as a quarter of node {}, but is not defined before it",
                nodes.len() + 1
            ));
        };
        if quarter.level + 1 != level {
            let (has, needs) = (quarter.level, level - 1);
            return Err(format!(
                "a quarter of this node must be of level {needs}, but node {number} is of level {has}"
            ));
        }
        let extent = quarter.extent.as_ref().map(|extent| extent.moved(right, down));
        node.extent = node.extent.take().into_iter().chain(extent).reduce(Extent::with);
        node.runs = node.runs.saturating_add(quarter.runs);
        node.others = node.others.saturating_add(quarter.others);
    }
    Ok(node)
}
