//! Changes the cells of a plane.

use super::tiles::{HALO, row_mut};
use super::visit::bands;
use super::{Bounds, LIMIT, Plane, PlaneError, Run, TILE, read};
use crate::layout::{bits_of, low_bits};
use crate::rule::{Logic, Rule};
use crate::{FirstBoard, ages};

/// Adjacent cells of one row of one tile.
#[derive(Clone, Copy)]
struct Segment {
    row: usize,
    column: usize,
    count: usize,
}

/// Checks that a plane has the cell at (`x`, `y`).
///
/// # Errors
/// [`PlaneError::TooFar`] if the cell is outside the plane.
pub fn check_position(x: i64, y: i64) -> Result<(), PlaneError> {
    let is_inside = x.unsigned_abs().max(y.unsigned_abs()) <= LIMIT as u64;
    if is_inside { Ok(()) } else { Err(PlaneError::TooFar { x, y }) }
}

impl Plane {
    /// Sets the state of a cell. A state that the rule does not have makes the cell dead.
    ///
    /// # Errors
    /// [`PlaneError`] if the cell is outside the plane, or the host has too little memory.
    pub fn set_state(&mut self, x: i64, y: i64, state: u8) -> Result<(), PlaneError> {
        let state = if u16::from(state) < self.rule.states { u16::from(state) } else { 0 };
        let left = if state > 1 { self.rule.states - state } else { 0 };
        let bits = u16::from(state == 1) | left << 1;
        self.put_bits(x, y, 1, |plane, _| u64::from(bits >> plane & 1))
    }

    /// Makes the cells of a run alive (state 1).
    ///
    /// # Errors
    /// Fails in the same cases as [`set_state`](Self::set_state).
    pub fn set_run(&mut self, run: Run) -> Result<(), PlaneError> {
        let Run { x, y, length } = run;
        self.put_bits(x, y, length, |plane, _| if plane == 0 { u64::MAX } else { 0 })
    }

    /// Replaces the cells of a rectangle by a board. The upper left cell of `board` is placed at (`x`, `y`). The
    /// generation of `board` is ignored.
    ///
    /// # Errors
    /// Fails in the same cases as [`set_state`](Self::set_state).
    pub fn put(&mut self, x: i64, y: i64, board: &FirstBoard<'_>) -> Result<(), PlaneError> {
        let row_words = board.width.div_ceil(32);
        for row in 0..board.height {
            let of_row = |words: &[u32]| {
                let words = words.get(row * row_words..).unwrap_or_default();
                words[..row_words.min(words.len())].to_vec()
            };
            let mut bits = vec![of_row(board.words)];
            bits.extend(board.ages.iter().map(|age| of_row(age)));
            ages::ages_to_generations_left(self.rule.states, &mut bits);
            self.put_bits(x, y.saturating_add(row as i64), board.width as u64, |plane, column| {
                bits_of(&bits[plane], column, 48)
            })?;
        }
        Ok(())
    }

    /// Makes all cells of a rectangle dead.
    pub fn clear(&mut self, area: Bounds) {
        for tile in self.tiles_in(area) {
            self.begin_edit(tile);
            let (left, top) = self.corner(tile);
            let (columns, rows) = (area.columns(left), area.rows(top));
            let mask = low_bits(columns.len()) << (HALO + columns.start);
            for cells in self.tiles.cells_mut(tile) {
                rows.clone().for_each(|row| *row_mut(cells, row) &= !mask);
            }
        }
    }

    /// Continues with another rule. Cells in states that the new rule does not have become dead.
    ///
    /// # Errors
    /// [`PlaneError::OutOfMemory`] if the host has too little memory. The plane is unchanged then.
    pub fn change_rule(&mut self, rule: &Rule) -> Result<(), PlaneError> {
        if rule.states == self.rule.states {
            self.finish_edits()?;
            (self.rule, self.logic) = (*rule, rule.phases.map(|table| Logic::of(&table)));
            self.wake_all();
            return Ok(());
        }
        let mut other = Self::with(self.instructions, rule, self.generation);
        other.tiles.limit_like(&self.tiles);
        for run in self.runs() {
            for x in run.x..run.x + run.length as i64 {
                other.set_state(x, run.y, self.state(x, run.y))?;
            }
        }
        *self = other;
        Ok(())
    }

    /// Replaces `length` cells of row `y` from column `x` on. `bits` receives the number of a bit plane and an offset
    /// from `x`, and returns the bits of at least 48 cells from that offset on. Further bits are ignored.
    fn put_bits(&mut self, x: i64, y: i64, length: u64, bits: impl Fn(usize, usize) -> u64) -> Result<(), PlaneError> {
        let end = i64::try_from(length).unwrap_or(i64::MAX).saturating_add(x);
        if length == 0 {
            return Ok(());
        }
        for (x, y) in [(x, y), (end - 1, y)] {
            check_position(x, y)?;
        }
        let mut from = x;
        while from < end {
            let (column, row) = (from.rem_euclid(TILE) as usize, y.rem_euclid(TILE) as usize);
            let count = (TILE as usize - column).min((end - from) as usize);
            let offset = (from - x) as usize;
            let position = (from.div_euclid(TILE) as i32, y.div_euclid(TILE) as i32);
            let planes = self.tiles.planes;
            let mut tile = self.tiles.find(position);
            if tile == 0 && (0..planes).any(|plane| bits(plane, offset) & low_bits(count) != 0) {
                tile = self.tiles.make(position)?;
            }
            if tile != 0 {
                self.begin_edit(tile);
                let segment = Segment { row, column, count };
                self.put_segment(tile, segment, |plane| bits(plane, offset));
            }
            from += count as i64;
        }
        Ok(())
    }

    fn put_segment(&mut self, tile: u32, segment: Segment, bits: impl Fn(usize) -> u64) {
        let Segment { row, column, count } = segment;
        let mask = low_bits(count);
        for (plane, cells) in self.tiles.cells_mut(tile).iter_mut().enumerate() {
            let word = row_mut(cells, row);
            *word = *word & !(mask << (HALO + column)) | (bits(plane) & mask) << (HALO + column);
        }
    }

    /// Marks the cells that a tile has before an edit as changed.
    fn begin_edit(&mut self, tile: u32) {
        self.tiles.get_mut(tile).is_summed = false;
        if self.tiles.get(tile).is_edited {
            return;
        }
        let bands = bands(&read::not_dead(self.tiles.cells(tile)));
        self.tiles.get_mut(tile).is_edited = true;
        self.edited.push(tile);
        if bands != 0 {
            self.mark_changed(tile, bands);
        }
    }
}
