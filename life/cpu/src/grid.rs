//! A board in vectors, and its way from generation to generation.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;

use crate::corners::Corners;
use crate::layout::{Layout, Row};
use crate::margins::{self, Pair};
use crate::rule::{Logic, Rule};
use crate::topology::Topology;
use crate::vector::Block;
use crate::{DEEP, OutOfMemory, ages};

/// Bytes of the rows of a band: two such bands and the sums of two rows are to stay in a core's cache.
const BAND_BYTES: usize = 256 << 10;

/// A board whose vectors have `N` words.
pub struct Grid<const N: usize> {
    pub height: usize,
    pub layout: Layout<N>,
    pub topology: Topology,
    /// Bits of a cell: whether it is alive, and for more than two states the generations that it has left until it is
    /// dead.
    pub planes: usize,
    /// Generations so far, which is odd or even.
    pub generation: u64,
    pub like: Like,
    logic: [Logic; 2],
    /// Generations that it is advanced by at once, at most.
    depth: usize,
    /// Strip by strip, each row by row, each plane by plane.
    now: Vec<Block<N>>,
    next: Vec<Block<N>>,
    /// Of each strip.
    pub margins: Vec<Vec<Pair>>,
    corners: Option<Corners<N>>,
    /// What earlier passes have computed in, for the next ones.
    scratch: Mutex<Vec<Scratch<N>>>,
}

/// What boards are alike in.
#[derive(Clone, Copy)]
pub struct Like {
    pub rule: Rule,
    pub topology: Topology,
}

/// What a band of rows is computed in.
#[derive(Default)]
pub struct Scratch<const N: usize> {
    pub now: Vec<Block<N>>,
    pub next: Vec<Block<N>>,
    pub sums: Vec<[Block<N>; 2]>,
}

/// Scratch that goes back to its grid when dropped.
struct Lent<'a, const N: usize>(Scratch<N>, &'a Grid<N>);

impl<const N: usize> Drop for Lent<'_, N> {
    fn drop(&mut self) {
        self.1.scratch().push(std::mem::take(&mut self.0));
    }
}

type Compute<const N: usize> = unsafe fn(&Grid<N>, usize, usize, &mut [Block<N>], usize, &mut Scratch<N>);

/// A function that advances a band of rows, of which is known that the processor can run it.
#[derive(Clone, Copy)]
pub struct Tile<const N: usize>(Compute<N>);

impl<const N: usize> Tile<N> {
    /// # Safety
    /// The processor has the instructions of `compute`.
    pub unsafe fn new(compute: Compute<N>) -> Self {
        Self(compute)
    }
}

impl<const N: usize> Grid<N> {
    pub fn new(
        width: usize,
        height: usize,
        words: &[u32],
        ages: &[Vec<u32>],
        like: &Like,
    ) -> Result<Self, OutOfMemory> {
        let Like { rule, topology } = *like;
        let layout = Layout::of(width, margins::is_ring(topology));
        let planes = 1 + ages::planes(rule.states);
        let too_large = |blocks: usize| OutOfMemory { width, height, bytes: blocks.saturating_mul(8 * N) };
        let blocks = layout.strips.saturating_mul(layout.vectors).saturating_mul(planes).saturating_mul(height);
        let dead = || {
            let mut all = Vec::new();
            all.try_reserve_exact(blocks).map_err(|_| too_large(blocks))?;
            all.resize(blocks, Block::DEAD);
            Ok(all)
        };
        let (now, next) = (dead()?, dead()?);
        let margins = (0..layout.strips).map(|strip| margins::of_strip(&layout, strip)).collect();
        let logic = rule.phases.map(|table| Logic::of(&table));
        let (generation, corners, depth) = (0, None, margins::depth(&rule, topology));
        let mut grid = Self {
            height,
            layout,
            topology,
            planes,
            generation,
            like: *like,
            logic,
            depth,
            now,
            next,
            margins,
            corners,
            scratch: Mutex::default(),
        };
        grid.spread(0..height, words, ages);
        Ok(grid)
    }

    /// Mends corners from now on, where the topology needs it.
    pub fn with_corners(mut self) -> Result<Self, OutOfMemory> {
        if margins::is_singular(self.topology) && self.depth > 1 {
            self.corners = Corners::of(&self)?;
            self.depth = if self.corners.is_some() { DEEP } else { 1 };
        }
        Ok(self)
    }

    /// Puts cells into the vectors of the rows from `first` on; of those beyond `words`, dead ones.
    pub fn spread(&mut self, rows: Range<usize>, words: &[u32], ages: &[Vec<u32>]) {
        let (stride, row_words) = (self.stride(), self.layout.width.div_ceil(32));
        if self.now.is_empty() || words.is_empty() {
            return;
        }
        let Self { now, layout, planes, like, .. } = self;
        for (strip, all_rows) in now.chunks_exact_mut(self.height * stride).enumerate() {
            let columns = layout.columns(strip);
            let rows = &mut all_rows[rows.start * stride..rows.end * stride];
            rows.par_chunks_exact_mut(stride).enumerate().for_each(|(y, row)| {
                let of_row = |words: &[u32]| {
                    let words = words.get(y * row_words..).unwrap_or_default();
                    words[..row_words.min(words.len())].to_vec()
                };
                let mut bits = vec![of_row(words)];
                bits.extend(ages.iter().map(|age| of_row(age)));
                ages::left_of(like.rule.states, &mut bits);
                for (words, row) in bits.iter().take(*planes).zip(row.chunks_exact_mut(layout.vectors)) {
                    layout.spread(Row(words), columns.clone(), row);
                }
            });
        }
    }

    /// Which cells of some rows are not dead, and their ages.
    pub fn words(&self, rows: Range<usize>) -> Result<(Vec<u32>, Vec<Vec<u32>>), OutOfMemory> {
        let row_words = self.layout.width.div_ceil(32);
        let (len, first) = (row_words * rows.len(), rows.start);
        let empty = || {
            let mut words = Vec::new();
            words.try_reserve_exact(len).map_err(|_| OutOfMemory {
                width: self.layout.width,
                height: rows.len(),
                bytes: 4 * len,
            })?;
            words.resize(len, 0);
            Ok(words)
        };
        let mut all = (0..self.planes).map(|_| empty()).collect::<Result<Vec<Vec<u32>>, _>>()?;
        if len > 0 {
            for (plane, words) in all.iter_mut().enumerate() {
                words.par_chunks_exact_mut(row_words).enumerate().for_each(|(y, words)| {
                    for strip in 0..self.layout.strips {
                        let row = self.plane(self.row(strip, first + y), plane);
                        self.layout.gather(row, self.layout.columns(strip), words);
                    }
                });
            }
        }
        ages::of_left(self.like.rule.states, &mut all);
        let words = all.remove(0);
        Ok((words, all))
    }

    /// The cells of row `y`, of one plane.
    pub fn row_words(&self, y: usize, plane: usize) -> Vec<u32> {
        let mut words = vec![0; self.layout.width.div_ceil(32)];
        for strip in 0..self.layout.strips {
            self.layout.gather(self.plane(self.row(strip, y), plane), self.layout.columns(strip), &mut words);
        }
        words
    }

    /// Cells of some rows that are not dead.
    pub fn population(&self, rows: Range<usize>) -> u64 {
        self.count(rows, |strip, y, columns| self.layout.population(&self.not_dead(&self.now, strip, y), columns))
    }

    /// Cells of some rows that are not dead now and were in the board before, and those the other way round.
    pub fn changes(&self, rows: Range<usize>) -> (u64, u64) {
        let changed = |of: &[Block<N>], but: &[Block<N>]| {
            self.count(rows.clone(), |strip, y, columns| {
                let (of, but) = (self.not_dead(of, strip, y), self.not_dead(but, strip, y));
                let pairs = of.iter().zip(&*but);
                let row: Vec<_> = pairs.map(|(of, but)| Block(std::array::from_fn(|i| of.0[i] & !but.0[i]))).collect();
                self.layout.population(&row, columns)
            })
        };
        (changed(&self.now, &self.next), changed(&self.next, &self.now))
    }

    /// The sum of what `row` counts in some rows of each strip; that has so many columns of its own.
    fn count(&self, rows: Range<usize>, row: impl Fn(usize, usize, usize) -> u64 + Sync) -> u64 {
        let strips = 0..self.layout.strips;
        let of_row = |strip, y| row(strip, y, self.layout.columns(strip).len());
        strips.map(|strip| rows.clone().into_par_iter().map(|y| of_row(strip, y)).sum::<u64>()).sum()
    }

    /// Bytes of the boards of this size.
    pub fn bytes(width: usize, height: usize, rule: &Rule, topology: Topology) -> u64 {
        let layout = Layout::<N>::of(width.max(1), margins::is_ring(topology));
        let blocks = (layout.strips * layout.vectors * (1 + ages::planes(rule.states))) as u64;
        blocks.saturating_mul(2 * size_of::<Block<N>>() as u64).saturating_mul(height as u64)
    }

    /// Vectors of a plane of a row of a strip.
    pub fn vectors(&self) -> usize {
        self.layout.vectors
    }

    /// Vectors from a strip's row to the next.
    pub fn stride(&self) -> usize {
        self.layout.vectors * self.planes
    }

    /// What advances the generation after this one and `later` more.
    pub fn logic(&self, later: usize) -> &Logic {
        &self.logic[(self.generation.wrapping_add(later as u64) % 2) as usize]
    }

    /// The generations that a live cell which does not survive has left.
    pub fn first_age(&self) -> u16 {
        self.like.rule.states - 2
    }

    pub fn row(&self, strip: usize, y: usize) -> &[Block<N>] {
        self.row_of(&self.now, strip, y)
    }

    fn row_of<'c>(&self, cells: &'c [Block<N>], strip: usize, y: usize) -> &'c [Block<N>] {
        let begin = (strip * self.height + y) * self.stride();
        &cells[begin..begin + self.stride()]
    }

    /// The cells of a row that have a bit in any of its planes.
    fn not_dead<'c>(&self, cells: &'c [Block<N>], strip: usize, y: usize) -> Cow<'c, [Block<N>]> {
        let (alive, older) = self.row_of(cells, strip, y).split_at(self.layout.vectors);
        let mut all = Cow::Borrowed(alive);
        for plane in older.chunks_exact(self.layout.vectors.max(1)) {
            for (all, block) in all.to_mut().iter_mut().zip(plane) {
                all.0.iter_mut().zip(block.0).for_each(|(all, word)| *all |= word);
            }
        }
        all
    }

    /// One plane of a row.
    pub fn plane<'r>(&self, row: &'r [Block<N>], plane: usize) -> &'r [Block<N>] {
        &row[plane * self.layout.vectors..][..self.layout.vectors]
    }

    pub fn plane_mut<'r>(&self, row: &'r mut [Block<N>], plane: usize) -> &'r mut [Block<N>] {
        &mut row[plane * self.layout.vectors..][..self.layout.vectors]
    }

    /// A plane of the cell in column `x` of row `y`.
    pub fn cell(&self, x: usize, y: usize, plane: usize) -> u64 {
        let (strip, place) = self.layout.place(x);
        place.get(self.plane(self.row(strip, y), plane))
    }

    pub fn put(&mut self, x: usize, y: usize, plane: usize, cell: u64) {
        let (strip, place) = self.layout.place(x);
        let begin = (strip * self.height + y) * self.stride() + plane * self.layout.vectors;
        place.put(&mut self.now[begin..begin + self.layout.vectors], cell);
    }

    pub fn advance(&mut self, generations: u64, tile: Tile<N>) {
        if self.now.is_empty() {
            self.generation = self.generation.wrapping_add(generations);
            return;
        }
        if self.bands() == 1 {
            self.advance_in_passes(generations, tile);
        } else {
            // In one of the pool's threads, which share each pass: a thread outside of the pool would be woken after
            // each.
            rayon::scope(|_| self.advance_in_passes(generations, tile));
        }
    }

    fn advance_in_passes(&mut self, generations: u64, tile: Tile<N>) {
        let mut left = generations;
        while left > 0 {
            let now = left.min(self.depth as u64);
            // Whose place this is has no corners while it advances.
            let mut corners = self.corners.take();
            if let Some(corners) = &mut corners {
                corners.advance(self, now as usize, tile);
            }
            self.pass(now as usize, tile);
            if let Some(corners) = &corners {
                corners.mend(self);
            }
            self.corners = corners;
            left -= now;
        }
    }

    fn scratch(&self) -> MutexGuard<'_, Vec<Scratch<N>>> {
        self.scratch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Rows of a band: one for each core, but of so many rows that those above and below, which are computed twice, are
    /// few.
    fn band_rows(&self) -> usize {
        let in_cache = BAND_BYTES / (self.stride() * size_of::<Block<N>>());
        self.height.div_ceil(rayon::current_num_threads()).min(in_cache).max(4 * DEEP).min(self.height)
    }

    fn bands(&self) -> usize {
        self.margins.len() * self.height.div_ceil(self.band_rows())
    }

    /// At most [`DEEP`] generations.
    pub fn pass(&mut self, generations: usize, Tile(compute): Tile<N>) {
        let (stride, band) = (self.stride(), self.band_rows());
        let mut next = std::mem::take(&mut self.next);
        let advance = |scratch: &mut Scratch<N>, (i, rows): (usize, &mut [Block<N>])| {
            let (strip, row) = self.layout.band(i, self.height, band);
            // SAFETY: `Tile` knows that the processor can.
            unsafe { compute(self, strip, row, rows, generations, scratch) }
        };
        let bands = next.chunks_exact_mut(self.height * stride).flat_map(|strip| strip.chunks_mut(band * stride));
        let mut bands: Vec<_> = bands.enumerate().collect();
        let lend = || Lent(self.scratch().pop().unwrap_or_default(), self);
        match &mut bands[..] {
            // Waking other cores takes longer than a small board.
            [_] => bands.into_iter().for_each(|band| advance(&mut lend().0, band)),
            _ => bands.into_par_iter().for_each_init(lend, |scratch, band| advance(&mut scratch.0, band)),
        }
        self.next = std::mem::replace(&mut self.now, next);
        self.generation = self.generation.wrapping_add(generations as u64);
    }
}
