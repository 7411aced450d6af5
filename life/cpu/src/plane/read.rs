//! Reads and counts the cells of a plane.

use std::ops::Range;

use super::tiles::{Cells, HALO, row};
use super::{LONG, Plane, Run, TILE};
use crate::layout::{low_bits, put_bits};
use crate::{OutOfMemory, ages, filled};

/// A rectangle of the plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The first column.
    pub x: i64,
    /// The first row.
    pub y: i64,
    /// The number of columns.
    pub width: u64,
    /// The number of rows.
    pub height: u64,
}

impl Bounds {
    /// Returns the columns of a tile that are in the rectangle. The tile begins at column `left`.
    pub(super) fn columns(&self, left: i64) -> Range<usize> {
        common(left, self.x, self.width)
    }

    /// Returns the rows of a tile that are in the rectangle. The tile begins at row `top`.
    pub(super) fn rows(&self, top: i64) -> Range<usize> {
        common(top, self.y, self.height)
    }

    /// Returns the column after the last one.
    pub fn right(&self) -> i64 {
        end(self.x, self.width)
    }

    /// Returns the row after the last one.
    pub fn bottom(&self) -> i64 {
        end(self.y, self.height)
    }
}

fn end(begin: i64, length: u64) -> i64 {
    begin.saturating_add(i64::try_from(length).unwrap_or(i64::MAX))
}

/// Returns the part of a tile's side that begins at `tile` that is also in `begin..begin + length`.
fn common(tile: i64, begin: i64, length: u64) -> Range<usize> {
    let within = |at: i64| at.saturating_sub(tile).clamp(0, TILE) as usize;
    within(begin)..within(end(begin, length))
}

/// A tile of the plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    /// The first column of the tile, a multiple of [`TILE`].
    pub x: i64,
    /// The first row of the tile, a multiple of [`TILE`].
    pub y: i64,
    /// The number of cells that are not dead.
    pub population: u32,
    /// True if the tile has changed during the last step of up to eight generations.
    pub has_changed: bool,
}

impl Plane {
    /// Returns the number of cells that are not dead.
    pub fn population(&self) -> u64 {
        self.tiles.used().map(|tile| u64::from(population(self.tiles.cells(tile)))).sum()
    }

    /// Returns the state of a cell.
    pub fn state(&self, x: i64, y: i64) -> u8 {
        let position = (i32::try_from(x.div_euclid(TILE)), i32::try_from(y.div_euclid(TILE)));
        let (Ok(column), Ok(line)) = position else { return 0 };
        let cells = self.tiles.cells(self.tiles.find((column, line)));
        let bit = |cells: &Cells| (row(cells, y.rem_euclid(TILE) as usize) >> x.rem_euclid(TILE) & 1) as u16;
        let left = cells[1..].iter().enumerate().fold(0, |left, (plane, cells)| left | bit(cells) << plane);
        if left > 0 { (self.rule.states - left) as u8 } else { bit(&cells[0]) as u8 }
    }

    /// Returns the smallest rectangle that contains all cells that are not dead. Returns `None` if all cells are dead.
    pub fn bounds(&self) -> Option<Bounds> {
        let mut all: Option<[i64; 4]> = None;
        for tile in self.tiles.used() {
            let ((left, top), cells) = (self.corner(tile), not_dead(self.tiles.cells(tile)));
            let mut columns = 0;
            let mut rows = 0u64;
            for y in 0..TILE as usize {
                let word = row(&cells, y);
                columns |= word;
                rows |= u64::from(word != 0) << y;
            }
            if rows != 0 {
                let last = |bits: u64| i64::from(u64::BITS - bits.leading_zeros());
                let first = |bits: u64| i64::from(bits.trailing_zeros());
                let here = [left + first(columns), top + first(rows), left + last(columns), top + last(rows)];
                all = Some(all.map_or(here, |[left, top, right, bottom]| {
                    [left.min(here[0]), top.min(here[1]), right.max(here[2]), bottom.max(here[3])]
                }));
            }
        }
        all.map(|[x, y, right, bottom]| Bounds { x, y, width: (right - x) as u64, height: (bottom - y) as u64 })
    }

    /// Returns the runs of cells that are not dead, from the top row to the bottom row, and from left to right in each
    /// row.
    pub fn runs(&self) -> impl Iterator<Item = Run> + '_ {
        let mut order: Vec<u32> = self.tiles.used().collect();
        order.sort_unstable_by_key(|&tile| {
            let (x, y) = self.tiles.get(tile).position;
            (y, x)
        });
        let line = |tile: u32| self.tiles.get(tile).position.1;
        let lines: Vec<Vec<u32>> = order.chunk_by(|&a, &b| line(a) == line(b)).map(<[u32]>::to_vec).collect();
        lines.into_iter().flat_map(|line| self.runs_of_line(&line))
    }

    /// Returns the runs of tiles in one row of tiles.
    fn runs_of_line(&self, line: &[u32]) -> Vec<Run> {
        let tiles: Vec<_> = line.iter().map(|&tile| (self.corner(tile), not_dead(self.tiles.cells(tile)))).collect();
        let mut runs: Vec<Run> = Vec::new();
        for y in 0..TILE as usize {
            for ((left, top), cells) in &tiles {
                let mut word = row(cells, y);
                while word != 0 {
                    let begin = word.trailing_zeros();
                    let length = (word >> begin).trailing_ones();
                    word &= !(low_bits(length as usize) << begin);
                    let run = Run { x: left + i64::from(begin), y: top + y as i64, length: length.into() };
                    match runs.last_mut() {
                        Some(last) if last.y == run.y && last.x + last.length as i64 == run.x => {
                            last.length += run.length;
                        }
                        _ => runs.push(run),
                    }
                }
            }
        }
        runs
    }

    /// Returns the positions of all cells that are not dead, in the order of [`runs`](Self::runs).
    pub fn cells(&self) -> impl Iterator<Item = (i64, i64)> + '_ {
        self.runs().flat_map(|Run { x, y, length }| (x..x + length as i64).map(move |x| (x, y)))
    }

    /// Returns the tiles that contain cells that are not dead, in any order.
    pub fn tiles(&self) -> impl Iterator<Item = Tile> + '_ {
        let set = usize::from(self.was_long) * LONG;
        self.tiles.used().filter_map(move |tile| {
            let ((x, y), population) = (self.corner(tile), population(self.tiles.cells(tile)));
            let has_changed = self.tiles.get(tile).changed[set] != 0;
            (population > 0).then_some(Tile { x, y, population, has_changed })
        })
    }

    /// Returns the squares of 8 × 8 cells in which a cell is not dead, in any order: the column and the row of the
    /// upper left cell, which are multiples of 8, and a byte for each row. The lowest bit of a byte is the leftmost
    /// cell.
    pub fn squares(&self) -> impl Iterator<Item = (i64, i64, [u8; 8])> + '_ {
        self.tiles.used().flat_map(|tile| {
            let ((left, top), cells) = (self.corner(tile), not_dead(self.tiles.cells(tile)));
            (0..36).filter_map(move |square| {
                let (column, line) = (8 * (square % 6), 8 * (square / 6));
                let rows = std::array::from_fn(|y| (row(&cells, line + y) >> column) as u8);
                (rows != [0; 8]).then_some((left + column as i64, top + line as i64, rows))
            })
        })
    }

    /// Returns the words and the ages of a rectangle, in the layout of [`FirstBoard`](crate::FirstBoard).
    ///
    /// # Errors
    /// [`OutOfMemory`] if the host has too little memory.
    pub fn window(
        &self,
        x: i64,
        y: i64,
        width: usize,
        height: usize,
    ) -> Result<(Vec<u32>, Vec<Vec<u32>>), OutOfMemory> {
        let row_words = width.div_ceil(32);
        let len = row_words.saturating_mul(height);
        let dead = |_| filled(len, 0, width, height);
        let mut all = (0..self.tiles.planes).map(dead).collect::<Result<Vec<Vec<u32>>, _>>()?;
        let area = Bounds { x, y, width: width as u64, height: height as u64 };
        for tile in self.tiles_in(area) {
            let (left, top) = self.corner(tile);
            let (columns, rows) = (area.columns(left), area.rows(top));
            for (words, cells) in all.iter_mut().zip(self.tiles.cells(tile)) {
                for line in rows.clone() {
                    let bits = row(cells, line) >> columns.start & low_bits(columns.len());
                    let begin = (top + line as i64 - y) as usize * row_words;
                    put_bits(&mut words[begin..begin + row_words], (left - x + columns.start as i64) as usize, bits);
                }
            }
        }
        ages::generations_left_to_ages(self.rule.states, &mut all);
        let words = all.remove(0);
        Ok((words, all))
    }

    /// Returns the number of bytes that the tiles need.
    pub fn bytes(&self) -> u64 {
        self.tiles.len() as u64 * (self.tiles.planes * size_of::<Cells>()) as u64
    }

    /// Returns the tiles that have cells in common with a rectangle.
    pub(super) fn tiles_in(&self, area: Bounds) -> Vec<u32> {
        let of = |tile: u32| {
            let (left, top) = self.corner(tile);
            !area.columns(left).is_empty() && !area.rows(top).is_empty()
        };
        let in_tiles = |begin: i64, end: i64| begin.div_euclid(TILE)..=(end - 1).div_euclid(TILE);
        let (columns, rows) = (in_tiles(area.x, area.right()), in_tiles(area.y, area.bottom()));
        let side = |range: &std::ops::RangeInclusive<i64>| range.end().abs_diff(*range.start()).saturating_add(1);
        if side(&columns).saturating_mul(side(&rows)) > self.tiles.len() as u64 {
            return self.tiles.used().filter(|&tile| of(tile)).collect();
        }
        let positions = rows.flat_map(|y| columns.clone().map(move |x| (x, y)));
        let found = positions.map(|(x, y)| match (i32::try_from(x), i32::try_from(y)) {
            (Ok(x), Ok(y)) => self.tiles.find((x, y)),
            _ => 0,
        });
        found.filter(|&tile| tile != 0 && of(tile)).collect()
    }

    /// Returns the position of the first cell of a tile.
    pub(super) fn corner(&self, tile: u32) -> (i64, i64) {
        let (x, y) = self.tiles.get(tile).position;
        (i64::from(x) * TILE, i64::from(y) * TILE)
    }
}

/// Returns the cells that are not dead. `planes` are the bit planes of a tile.
pub fn not_dead(planes: &[Cells]) -> Cells {
    let mut all = planes[0];
    for plane in &planes[1..] {
        for (all, block) in all.iter_mut().zip(plane) {
            all.0.iter_mut().zip(block.0).for_each(|(all, word)| *all |= word);
        }
    }
    all
}

fn population(planes: &[Cells]) -> u32 {
    not_dead(planes).iter().map(|block| block.0.iter().map(|word| word.count_ones()).sum::<u32>()).sum()
}

const _: () = assert!(TILE as usize + 2 * HALO == 64);
