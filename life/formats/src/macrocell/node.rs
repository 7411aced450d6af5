//! A node of a macrocell's tree: a line of the file, and what is in it.

/// Levels beyond which a square is refused: its side is no `u128`.
const LEVELS: u8 = 127;

/// A square.
pub(super) struct Node {
    /// The logarithm of its side.
    pub(super) level: u8,
    pub(super) kind: Kind,
    /// Where its cells that are not dead lie; none if all are dead.
    pub(super) extent: Option<Extent>,
    /// Runs of live cells in its rows, where each leaf has its own; as many as a `u64` counts.
    pub(super) runs: u64,
    /// Cells of states above 1.
    pub(super) others: u64,
}

/// The content of a square.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// 8×8 cells, a byte for each row, the top and the left in the highest bits.
    Leaf(u64),
    /// 2×2 cells.
    Cells([u8; 4]),
    /// The numbers of its quarters.
    Square([u32; 4]),
}

/// Columns from `left` to before `right`, rows from `top` to before `bottom`.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    pub(super) left: u128,
    pub(super) top: u128,
    pub(super) right: u128,
    pub(super) bottom: u128,
}

impl Extent {
    fn with(self, other: Self) -> Self {
        Self {
            left: self.left.min(other.left),
            top: self.top.min(other.top),
            right: self.right.max(other.right),
            bottom: self.bottom.max(other.bottom),
        }
    }

    fn moved(self, right: u128, down: u128) -> Self {
        let Self { left, top, right: end, bottom } = self;
        Self { left: left + right, top: top + down, right: end + right, bottom: bottom + down }
    }
}

/// The runs of ones in a row of eight cells, as (first column, length).
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

/// The node in `line`, whose quarters are among `nodes`.
pub(super) fn parse(line: &str, nodes: &[Node]) -> Result<Node, String> {
    if line.starts_with(['.', '*', '$']) {
        return leaf(line);
    }
    let mut numbers = [0u32; 5];
    let mut words = line.split_whitespace();
    for number in &mut numbers {
        let word = words.next().and_then(|word| word.parse().ok());
        *number = word.ok_or("a node is five numbers, or a square of 8×8 cells of `.`, `*` and `$`")?;
    }
    let [level, quarters @ ..] = numbers;
    match level {
        1 => cells(quarters),
        2.. if level <= LEVELS.into() => square(level as u8, quarters, nodes),
        0 => Err("a square of side 1: there is none smaller than 2".to_owned()),
        _ => Err(format!("a square of side 2^{level}: the largest that is read is 2^{}", LEVELS)),
    }
}

/// A square of 8×8 cells.
fn leaf(line: &str) -> Result<Node, String> {
    let (mut bits, mut x, mut y) = (0u64, 0usize, 0usize);
    for cell in line.chars() {
        match cell {
            '$' => (x, y) = (0, y + 1),
            '.' | '*' if x > 7 || y > 7 => return Err("a square of 8×8 cells has one beyond them".to_owned()),
            '.' => x += 1,
            '*' => {
                bits |= 1 << (63 - (y * 8 + x));
                x += 1;
            }
            _ => return Err(format!("`{}` is none of `.`, `*` and `$`", cell.escape_debug())),
        }
    }
    let rows = bits.to_be_bytes();
    let columns = rows.into_iter().fold(0, |columns, row| columns | row);
    let extent = (bits != 0).then(|| Extent {
        left: columns.leading_zeros().into(),
        right: u128::from(8 - columns.trailing_zeros()),
        top: (bits.leading_zeros() / 8).into(),
        bottom: u128::from(8 - bits.trailing_zeros() / 8),
    });
    let runs = rows.into_iter().map(|row| runs(row).count() as u64).sum();
    Ok(Node { level: 3, kind: Kind::Leaf(bits), extent, runs, others: 0 })
}

/// A square of 2×2 cells.
fn cells(states: [u32; 4]) -> Result<Node, String> {
    let mut cells = [0; 4];
    for (cell, state) in cells.iter_mut().zip(states) {
        *cell = u8::try_from(state).map_err(|_| format!("a cell of state {state}: 255 is the last"))?;
    }
    let places = (0..4u8).filter(|&index| cells[usize::from(index)] > 0).map(|index| {
        let (left, top) = (u128::from(index % 2), u128::from(index / 2));
        Extent { left, top, right: left + 1, bottom: top + 1 }
    });
    let count = |alive: fn(&u8) -> bool| cells.iter().filter(|&cell| alive(cell)).count() as u64;
    let (runs, others) = (count(|&state| state == 1), count(|&state| state > 1));
    Ok(Node { level: 1, kind: Kind::Cells(cells), extent: places.reduce(Extent::with), runs, others })
}

/// A square of four quarters.
fn square(level: u8, quarters: [u32; 4], nodes: &[Node]) -> Result<Node, String> {
    let half = 1u128 << (level - 1);
    let mut node = Node { level, kind: Kind::Square(quarters), extent: None, runs: 0, others: 0 };
    for (number, (right, down)) in quarters.into_iter().zip([(0, 0), (half, 0), (0, half), (half, half)]) {
        if number == 0 {
            continue;
        }
        let Some(quarter) = nodes.get(number as usize - 1) else {
            return Err(format!("node {number} is a quarter of node {}: it must come before it", nodes.len() + 1));
        };
        if quarter.level + 1 != level {
            let (has, needs) = (quarter.level, level - 1);
            return Err(format!("node {number} is a square of side 2^{has}, and a quarter here has 2^{needs}"));
        }
        let extent = quarter.extent.map(|extent| extent.moved(right, down));
        node.extent = match (node.extent, extent) {
            (Some(one), Some(other)) => Some(one.with(other)),
            (one, other) => one.or(other),
        };
        node.runs = node.runs.saturating_add(quarter.runs);
        node.others = node.others.saturating_add(quarter.others);
    }
    Ok(node)
}
