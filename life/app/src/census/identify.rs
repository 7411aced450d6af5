//! Identifies the objects in a group of cells that is isolated from other cells.

use std::collections::HashMap;

use super::apgcode;
use super::cell_set::{AROUND, CellSet};

/// The maximum period of an object, in generations.
const MAX_GENERATIONS: usize = 600;

/// The maximum number of cells of a group in one generation. A group that grows beyond this number is not an object.
const MAX_CELLS: usize = 20_000;

/// The cells of a group in one generation, and the position of their upper left corner.
type Phase = (CellSet, (i32, i32));

/// Returns the apgcodes of the objects in `cells`. Returns `None` if `cells` never occurs again, neither at the same
/// position nor at another one.
///
/// Two cells belong to one object in three cases: if they touch, if the birth or survival of one of them depends on the
/// other, or if one of them keeps a neighbour of the other dead. Each object would develop in the same way if the other
/// objects were absent.
pub fn identify(cells: &CellSet) -> Option<Vec<String>> {
    let (phases, moved) = phases(cells)?;
    let parts = separate(&phases, moved);
    if parts.len() > 1 {
        // Each part has its own period.
        let codes: Option<Vec<_>> = parts.iter().map(identify).collect();
        if let Some(codes) = codes {
            return Some(codes.concat());
        }
    }
    let phases: Vec<CellSet> = phases.into_iter().map(|(cells, _)| cells).collect();
    Some(vec![apgcode::of(&phases, moved != (0, 0))])
}

/// Returns all generations of one period, and the distance by which the cells move in a period. Returns `None` if the
/// cells are not periodic.
fn phases(cells: &CellSet) -> Option<(Vec<Phase>, (i32, i32))> {
    let mut phases = vec![(cells.clone(), (0, 0))];
    while phases.len() <= MAX_GENERATIONS {
        let (now, at) = phases.last()?;
        let (next, by) = now.next();
        if next.cells().is_empty() || next.cells().len() > MAX_CELLS {
            return None;
        }
        let at = (at.0 + by.0, at.1 + by.1);
        if next == *cells {
            return Some((phases, at));
        }
        phases.push((next, at));
    }
    None
}

/// A union-find structure of disjoint sets of cells. Each set is represented by one of its cells.
struct DisjointSets(Vec<usize>);

impl DisjointSets {
    fn find(&mut self, cell: usize) -> usize {
        let mut root = cell;
        while self.0[root] != root {
            root = self.0[root];
        }
        self.0[cell] = root;
        root
    }

    /// Joins the sets of two cells. Returns true if these sets were different.
    fn join(&mut self, a: usize, b: usize) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        self.0[a] = b;
        a != b
    }
}

/// Divides the cells of the first generation into objects.
fn separate(phases: &[Phase], moved: (i32, i32)) -> Vec<CellSet> {
    let mut count = 0;
    let mut number = |(cells, _): &Phase| -> HashMap<(i32, i32), usize> {
        let first = count;
        count += cells.cells().len();
        cells.cells().iter().copied().zip(first..).collect()
    };
    let numbers: Vec<_> = phases.iter().map(&mut number).collect();
    let mut sets = DisjointSets((0..count).collect());
    // Returns the indices of the live neighbours of a cell.
    let around = |phase: usize, (x, y): (i32, i32)| -> Vec<usize> {
        AROUND.iter().filter_map(|(dx, dy)| numbers[phase].get(&(x + dx, y + dy)).copied()).collect()
    };
    // Dead cells with more than three live neighbours. Only three of these neighbours would make the cell alive.
    let mut kept_dead = Vec::new();
    for (phase, (cells, at)) in phases.iter().enumerate() {
        for &cell in cells.cells() {
            let number = numbers[phase][&cell];
            for neighbour in around(phase, cell) {
                sets.join(number, neighbour);
            }
        }
        // The index of the cell in the next phase.
        let (later, later_at) = match phases.get(phase + 1) {
            Some((_, later_at)) => (phase + 1, *later_at),
            None => (0, moved),
        };
        let next = |(x, y): (i32, i32)| numbers[later].get(&(x + at.0 - later_at.0, y + at.1 - later_at.1)).copied();
        for (cell, neighbours) in cells.neighbours().all() {
            let number = numbers[phase].get(&cell).copied();
            match next(cell) {
                Some(next) => {
                    for before in number.into_iter().chain(around(phase, cell)) {
                        sets.join(before, next);
                    }
                }
                None if number.is_none() && neighbours > 3 => kept_dead.push(around(phase, cell)),
                None => {}
            }
        }
    }
    // Joined sets may contain three neighbours of a cell that another set keeps dead. The search therefore repeats.
    loop {
        let mut joined = false;
        for around in &kept_dead {
            let mut roots: Vec<usize> = around.iter().map(|&cell| sets.find(cell)).collect();
            roots.sort_unstable();
            if roots.chunk_by(|a, b| a == b).any(|same| same.len() == 3) {
                for pair in roots.windows(2) {
                    joined |= sets.join(pair[0], pair[1]);
                }
            }
        }
        if !joined {
            break;
        }
    }
    let mut parts: HashMap<usize, Vec<(i32, i32)>> = HashMap::new();
    for (&cell, &number) in &numbers[0] {
        parts.entry(sets.find(number)).or_default().push(cell);
    }
    parts.into_values().map(|cells| CellSet::new(cells).0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(rows: &[&str]) -> Option<Vec<String>> {
        let live = |(y, row): (usize, &&str)| -> Vec<(i32, i32)> {
            row.bytes().enumerate().filter(|cell| cell.1 == b'O').map(|(x, _)| (x as i32, y as i32)).collect()
        };
        let mut codes = identify(&CellSet::new(rows.iter().enumerate().flat_map(live).collect()).0)?;
        codes.sort();
        Some(codes)
    }

    #[test]
    fn what_can_be_apart_is_counted_apart() {
        // In the bi-block, no dead cell has three neighbours that belong to the same block.
        assert_eq!(codes(&["OO.OO", "OO.OO"]).unwrap(), ["xs4_33", "xs4_33"]);
        // The pattern is a blinker and a block that do not touch.
        assert_eq!(codes(&["OO.....", "OO.....", "....OOO"]).unwrap(), ["xp2_7", "xs4_33"]);
        // A glider next to a block is not periodic.
        assert_eq!(codes(&["OO......O.", "OO.......O", ".......OOO"]), None);
    }

    #[test]
    fn what_needs_the_other_is_one_object() {
        // In the pattern block on table, the block's corner keeps a cell dead that the table's end would otherwise
        // bring to life.
        assert_eq!(codes(&["OO..", "OO..", "....", "OOOO", "O..O"]).unwrap(), ["xs10_32qr"]);
        // The two mirrored tables are one object.
        assert_eq!(codes(&["O..O", "OOOO", "....", "OOOO", "O..O"]).unwrap(), ["xs12_raar"]);
    }

    #[test]
    fn what_ends_or_does_not_is_no_object() {
        assert_eq!(codes(&["OO"]), None);
        assert_eq!(codes(&[".OO", "OO.", ".O."]), None);
    }
}
