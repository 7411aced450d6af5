//! Fills the cells beyond the edges of a board with copies of other cells, as the topology of the board requires.

use crate::grid::Grid;
use crate::layout::{CellPosition, MarginCell, bits_of};
use crate::topology::{Edges, Topology, dead, is_ring};
use crate::vector::Block;

/// The content of a row above or below the board.
enum OuterRow {
    Dead,
    /// The row is a copy of the board's row with this number.
    Row(usize),
    /// The row is a copy of the board's row `row`, which is read from column `first` on with wrap-around. The row is
    /// read leftwards if `is_reversed` is true.
    Moved {
        row: usize,
        first: i64,
        is_reversed: bool,
    },
    /// Each cell of the row must be looked up separately.
    Cells,
}

impl<const N: usize> Grid<N> {
    /// Copies row `y` into `row` and fills `depth` columns of the margins of `row`. Row `y` may be beyond the edges of
    /// the board.
    pub fn copy_row(&self, strip: usize, y: isize, depth: usize, row: &mut [Block<N>]) {
        match self.beyond(y) {
            OuterRow::Dead => row.fill(Block::DEAD),
            OuterRow::Row(y) => {
                row.copy_from_slice(self.row(strip, y));
                self.copy_margins(strip, y as isize, depth, row);
            }
            OuterRow::Moved { row: from, first, is_reversed } => {
                row.fill(Block::DEAD);
                let columns = self.layout.columns(strip);
                for plane in 0..self.planes {
                    let mut words = vec![0; self.layout.width.div_ceil(32)];
                    self.gather_row(from, plane, &mut words);
                    let moved = moved(&words, self.layout.width, first, is_reversed);
                    self.layout.spread(&moved, columns.clone(), self.plane_mut(row, plane));
                }
                self.copy_margins(strip, y, depth, row);
            }
            OuterRow::Cells => {
                row.fill(Block::DEAD);
                let columns = self.layout.columns(strip);
                for (i, column) in columns.enumerate() {
                    self.copy_cell(self.layout.position_in(i as isize), column as isize, y, row);
                }
                self.copy_margins(strip, y, depth, row);
            }
        }
    }

    fn beyond(&self, y: isize) -> OuterRow {
        let height = self.height as isize;
        if (0..height).contains(&y) {
            return OuterRow::Row(y as usize);
        }
        let (around, row) = (y.div_euclid(height) as i64, y.rem_euclid(height) as usize);
        let is_reversed = around.rem_euclid(2) == 1;
        let last = self.layout.width as i64 - 1;
        match self.dynamics.topology {
            Topology::Plane | Topology::Tube(Edges::Vertical) => OuterRow::Dead,
            Topology::Torus { across: 0, .. }
            | Topology::Tube(Edges::Horizontal)
            | Topology::Klein { twisted: Edges::Vertical, .. } => OuterRow::Row(row),
            Topology::Torus { across, .. } => {
                OuterRow::Moved { row, first: around.wrapping_mul(across), is_reversed: false }
            }
            Topology::Klein { is_shifted, .. } if is_reversed => {
                OuterRow::Moved { row, first: last - i64::from(is_shifted), is_reversed }
            }
            Topology::CrossSurface if is_reversed => OuterRow::Moved { row, first: last, is_reversed },
            Topology::Klein { .. } | Topology::CrossSurface => OuterRow::Row(row),
            Topology::Sphere => OuterRow::Cells,
        }
    }

    /// Fills `depth` columns of the margins of `row`, which is a copy of row `y`. Row `y` may be beyond the edges of
    /// the board.
    fn copy_margins(&self, strip: usize, y: isize, depth: usize, row: &mut [Block<N>]) {
        let is_inside = (0..self.height as isize).contains(&y);
        let own_columns = 0..self.layout.width as isize;
        let own_rows = is_ring(self.dynamics.topology);
        for MarginCell { to, column, from_strip, from } in self.margins[strip].iter().take(depth).flatten() {
            if is_inside && (own_rows || own_columns.contains(column)) {
                let from_row = self.row(*from_strip, y as usize);
                for plane in 0..self.planes {
                    to.put(self.plane_mut(row, plane), from.get(self.plane(from_row, plane)));
                }
            } else {
                self.copy_cell(*to, *column, y, row);
            }
        }
    }

    /// Copies a cell to position `to` of `row`. The copied cell is the one that [`Topology::source`] returns for column
    /// `x` of row `y`.
    fn copy_cell(&self, to: CellPosition, x: isize, y: isize, row: &mut [Block<N>]) {
        let source = self.dynamics.topology.source(self.layout.width, self.height, x as i64, y as i64);
        for plane in 0..self.planes {
            let cell = source.map_or(0, |(x, y)| self.cell(x, y, plane));
            to.put(self.plane_mut(row, plane), cell);
        }
    }

    /// Makes the cells of `rows` dead that lie beyond the edges that the topology does not join. `rows` begins with row
    /// `first` of the board.
    pub fn keep_dead(&self, strip: usize, first: isize, rows: &mut [Block<N>]) {
        let [columns, beyond_rows] = dead(self.dynamics.topology);
        if !columns && !beyond_rows {
            return;
        }
        let own = self.layout.columns(strip);
        let ends = [(own.start == 0).then_some(-1), (own.end == self.layout.width).then_some(own.len() as isize)];
        let positions = ends.map(|end| end.map(|column| self.layout.position_in(column)));
        for (y, row) in (first..).zip(rows.chunks_exact_mut(self.stride())) {
            if beyond_rows && !(0..self.height as isize).contains(&y) {
                row.fill(Block::DEAD);
            } else if columns {
                positions.into_iter().flatten().for_each(|position| position.put(row, 0));
            }
        }
    }
}

/// Returns `width` cells of `words`, read from column `first` on with wrap-around. The cells are read leftwards if
/// `is_reversed` is true.
fn moved(words: &[u32], width: usize, first: i64, is_reversed: bool) -> Vec<u32> {
    let mut moved = vec![0; words.len()];
    let mut column = 0;
    while column < width {
        // Each iteration copies as many cells as are adjacent in the row and belong to the same word of the result.
        let max = (32 - column % 32).min(width - column);
        let step = if is_reversed { -(column as i64) } else { column as i64 };
        let from = (first + step).rem_euclid(width as i64) as usize;
        let (count, bits) = if is_reversed {
            let count = max.min(from + 1);
            (count, bits_of(words, from + 1 - count, count).reverse_bits() >> (64 - count))
        } else {
            let count = max.min(width - from);
            (count, bits_of(words, from, count))
        };
        moved[column / 32] |= (bits as u32) << (column % 32);
        column += count;
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_moved_and_reversed() {
        for width in [1_usize, 5, 31, 32, 33, 64, 100, 200] {
            let alive = |x: usize| x.is_multiple_of(3) || x % 7 == 2;
            let words: Vec<u32> = (0..width.div_ceil(32))
                .map(|word| {
                    (0..32)
                        .filter(|bit| 32 * word + bit < width && alive(32 * word + bit))
                        .fold(0, |w, bit| w | 1 << bit)
                })
                .collect();
            for (first, is_reversed) in
                [(0, false), (3, false), (-1, false), (0, true), (width as i64 - 1, true), (1, true)]
            {
                let moved = moved(&words, width, first, is_reversed);
                for x in 0..width {
                    let from = if is_reversed { first - x as i64 } else { first + x as i64 };
                    let expected = alive(from.rem_euclid(width as i64) as usize);
                    assert_eq!(moved[x / 32] >> (x % 32) & 1 == 1, expected, "{width} {first} {is_reversed} {x}");
                }
                assert!(width % 32 == 0 || moved[width / 32] >> (width % 32) == 0);
            }
        }
    }
}
