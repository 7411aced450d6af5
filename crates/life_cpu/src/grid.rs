//! A board in vectors, and its way from generation to generation.

use rayon::prelude::*;

use crate::layout::{Layout, Place, Row};
use crate::vector::Block;
use crate::{DEEP, OutOfMemory};

/// Bytes of the rows of a band: two such bands and the sums of two rows are to stay in a core's cache.
const BAND_BYTES: usize = 256 << 10;

/// A cell of a margin, and the cell whose copy it is.
struct Copied {
    to: Place,
    from_strip: usize,
    from: Place,
}

/// A board whose vectors have `N` words.
pub struct Grid<const N: usize> {
    width: usize,
    height: usize,
    layout: Layout<N>,
    /// Strip by strip, each row by row.
    now: Vec<Block<N>>,
    next: Vec<Block<N>>,
    /// Of each strip the margins' cells.
    margins: Vec<Vec<Copied>>,
}

/// What a band of rows is computed in.
#[derive(Default)]
pub struct Scratch<const N: usize> {
    pub now: Vec<Block<N>>,
    pub next: Vec<Block<N>>,
    pub sums: Vec<[Block<N>; 2]>,
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
    pub fn new(width: usize, height: usize, words: &[u32]) -> Result<Self, OutOfMemory> {
        let layout = Layout::of(width);
        let row_words = width.div_ceil(32);
        let too_large = |blocks: usize| OutOfMemory { width, height, bytes: blocks.saturating_mul(8 * N) };
        let blocks = layout.strips.saturating_mul(layout.vectors).saturating_mul(height);
        let dead = || {
            let mut all = Vec::new();
            all.try_reserve_exact(blocks).map_err(|_| too_large(blocks))?;
            all.resize(blocks, Block::DEAD);
            Ok(all)
        };
        let (mut now, next) = (dead()?, dead()?);
        if height > 0 && layout.vectors > 0 {
            for (strip, rows) in now.chunks_exact_mut(height * layout.vectors).enumerate() {
                let columns = layout.columns(strip);
                rows.par_chunks_exact_mut(layout.vectors).enumerate().for_each(|(y, row)| {
                    let words = words.get(y * row_words..).unwrap_or_default();
                    layout.spread(Row(&words[..row_words.min(words.len())]), columns.clone(), row);
                });
            }
        }
        let margins = (0..layout.strips).map(|strip| margin(&layout, strip)).collect();
        Ok(Self { width, height, layout, now, next, margins })
    }

    pub fn words(&self) -> Result<Vec<u32>, OutOfMemory> {
        let row_words = self.width.div_ceil(32);
        let len = row_words * self.height;
        let mut words = Vec::new();
        words.try_reserve_exact(len).map_err(|_| OutOfMemory {
            width: self.width,
            height: self.height,
            bytes: 4 * len,
        })?;
        words.resize(len, 0);
        if len > 0 {
            words.par_chunks_exact_mut(row_words).enumerate().for_each(|(y, words)| {
                for strip in 0..self.layout.strips {
                    self.layout.gather(self.row(strip, y), self.layout.columns(strip), words);
                }
            });
        }
        Ok(words)
    }

    pub fn population(&self) -> u64 {
        self.count(|strip, y, layout, columns| layout.population(self.row(strip, y), columns))
    }

    /// Cells that live now and not in the board before, and those the other way round.
    pub fn changes(&self) -> (u64, u64) {
        let and_not = |of: &[Block<N>], but: &[Block<N>], strip, y| -> Vec<_> {
            let blocks = self.row_of(of, strip, y).iter().zip(self.row_of(but, strip, y));
            blocks.map(|(of, but)| Block(std::array::from_fn(|i| of.0[i] & !but.0[i]))).collect()
        };
        let (now, before) = (&self.now, &self.next);
        (
            self.count(|strip, y, layout, columns| layout.population(&and_not(now, before, strip, y), columns)),
            self.count(|strip, y, layout, columns| layout.population(&and_not(before, now, strip, y), columns)),
        )
    }

    /// The sum of what `row` counts in each row of each strip; that has so many columns of its own.
    fn count(&self, row: impl Fn(usize, usize, &Layout<N>, usize) -> u64 + Sync) -> u64 {
        let strips = 0..self.layout.strips;
        let of_row = |strip, y| row(strip, y, &self.layout, self.layout.columns(strip).len());
        strips.map(|strip| (0..self.height).into_par_iter().map(|y| of_row(strip, y)).sum::<u64>()).sum()
    }

    /// Bytes of the boards of a torus of this size.
    pub fn bytes(width: usize, height: usize) -> u64 {
        let layout = Layout::<N>::of(width.max(1));
        let blocks = (layout.strips * layout.vectors) as u64;
        blocks.saturating_mul(2 * size_of::<Block<N>>() as u64).saturating_mul(height as u64)
    }

    /// Vectors of a row of a strip.
    pub fn vectors(&self) -> usize {
        self.layout.vectors
    }

    fn row(&self, strip: usize, y: usize) -> &[Block<N>] {
        self.row_of(&self.now, strip, y)
    }

    fn row_of<'c>(&self, cells: &'c [Block<N>], strip: usize, y: usize) -> &'c [Block<N>] {
        let begin = (strip * self.height + y) * self.layout.vectors;
        &cells[begin..begin + self.layout.vectors]
    }

    /// Copies row `y` of the torus, however far around, to `row`, with what is beside it in the margins.
    pub fn copy_row(&self, strip: usize, y: isize, row: &mut [Block<N>]) {
        let y = y.rem_euclid(self.height as isize) as usize;
        row.copy_from_slice(self.row(strip, y));
        for Copied { to, from_strip, from } in &self.margins[strip] {
            to.put(row, from.get(self.row(*from_strip, y)));
        }
    }

    pub fn advance(&mut self, generations: u64, tile: Tile<N>) {
        let mut left = if self.now.is_empty() { 0 } else { generations };
        while left > 0 {
            let now = left.min(DEEP as u64);
            self.pass(now as usize, tile);
            left -= now;
        }
    }

    /// At most [`DEEP`] generations.
    fn pass(&mut self, generations: usize, Tile(compute): Tile<N>) {
        let vectors = self.layout.vectors;
        let in_cache = BAND_BYTES / (vectors * size_of::<Block<N>>());
        // A band for each core, but of so many rows that those above and below, which are computed twice, are few.
        let band = self.height.div_ceil(rayon::current_num_threads()).min(in_cache).max(4 * DEEP).min(self.height);
        let mut next = std::mem::take(&mut self.next);
        let advance = |scratch: &mut Scratch<N>, (i, rows): (usize, &mut [Block<N>])| {
            let (strip, row) = self.layout.band(i, self.height, band);
            // SAFETY: `Tile` knows that the processor can.
            unsafe { compute(self, strip, row, rows, generations, scratch) }
        };
        let bands = next.chunks_exact_mut(self.height * vectors).flat_map(|strip| strip.chunks_mut(band * vectors));
        let mut bands: Vec<_> = bands.enumerate().collect();
        match &mut bands[..] {
            // Waking other cores takes longer than a small board.
            [_] => bands.into_iter().for_each(|band| advance(&mut Scratch::default(), band)),
            _ => bands.into_par_iter().for_each_init(Scratch::default, advance),
        }
        self.next = std::mem::replace(&mut self.now, next);
    }
}

/// The cells of the margins of `strip`: those left and right of it on the torus.
fn margin<const N: usize>(layout: &Layout<N>, strip: usize) -> Vec<Copied> {
    let columns = layout.columns(strip);
    let beside = (1..=layout.margin as isize).flat_map(|i| [columns.start as isize - i, columns.end as isize - 1 + i]);
    beside
        .map(|column| {
            let (from_strip, from) = layout.place(column.rem_euclid(layout.width as isize) as usize);
            Copied { to: layout.place_in(column - columns.start as isize), from_strip, from }
        })
        .collect()
}
