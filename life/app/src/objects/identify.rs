//! Identifies the objects in a group of cells that is isolated from other cells.

use super::apgcode;
use super::cell_set::{CellSet, Counts, Phase};
use super::separate::separate;

/// The maximum period of an object, in generations.
const MAX_GENERATIONS: usize = 600;

/// The maximum number of cells of a group in one generation. A group that grows beyond this number is not an object.
const MAX_CELLS: usize = 20_000;

/// Returns the apgcodes of the objects in `cells` under B3/S23. Returns `None` if `cells` never occurs again, neither
/// at the same position nor at another one.
pub fn identify(cells: &CellSet) -> Option<Vec<String>> {
    identify_under(Counts::LIFE, cells)
}

/// Returns the apgcodes of the objects in `cells` like [`identify`], under `rule`. [`separate`] says which cells belong
/// to one object.
pub fn identify_under(rule: Counts, cells: &CellSet) -> Option<Vec<String>> {
    let (phases, moved) = phases(rule, cells)?;
    let parts = separate(rule, &phases, moved);
    if parts.len() > 1 {
        // Each part has its own period.
        let codes: Option<Vec<_>> = parts.iter().map(|part| identify_under(rule, part)).collect();
        if let Some(codes) = codes {
            return Some(codes.concat());
        }
    }
    let phases: Vec<CellSet> = phases.into_iter().map(|(cells, _)| cells).collect();
    Some(vec![apgcode::of(&phases, moved != (0, 0))])
}

/// Returns all generations of one period, and the distance by which the cells move in a period. Returns `None` if the
/// cells are not periodic.
pub fn phases(rule: Counts, cells: &CellSet) -> Option<(Vec<Phase>, (i32, i32))> {
    let mut phases = vec![(cells.clone(), (0, 0))];
    while phases.len() <= MAX_GENERATIONS {
        let (now, at) = phases.last()?;
        let (next, by) = now.next_under(rule);
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

    #[test]
    fn rules_have_their_own_objects() {
        let (dots, _) = CellSet::new(vec![(0, 0), (1, 1)]);
        assert_eq!(identify_under(Counts { birth: 0, survival: 1 << 1 }, &dots).unwrap(), ["xs2_12"]);
    }
}
