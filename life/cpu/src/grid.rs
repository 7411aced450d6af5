//! A board stored in vectors, and the passes that advance the board. A pass advances all cells by up to 16 generations.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;

use crate::layout::{Layout, MarginCell};
use crate::rule::{Logic, Rule};
use crate::topology::{self, Topology};
use crate::vector::Block;
use crate::{FirstBoard, GENERATIONS_PER_PASS, OutOfMemory, ages, filled};

/// The maximum size of a band in bytes. Two copies of a band and the sums of two rows must fit a core's cache.
const BAND_BYTES: usize = 256 << 10;

/// Odd numbers that make the keys of a hash. Half of the bits of each number are set.
const KEYS: [u64; 4] = [0x9e37_79b9_7f4a_7c15, 0xd1b5_4a32_d192_ed03, 0xa076_1d64_78bd_642f, 0xe703_7ed1_a0b4_28db];

/// A board whose vectors have `N` words.
pub struct Grid<const N: usize> {
    pub height: usize,
    pub layout: Layout<N>,
    /// The number of bits per cell. The first bit is set if the cell is alive. The other bits count the generations
    /// until a dying cell is dead.
    pub planes: usize,
    /// The number of the present generation. Even and odd generations may have different rules.
    pub generation: u64,
    pub dynamics: Dynamics<N>,
    logic: [Logic; 2],
    /// The maximum number of generations per pass.
    pub depth: usize,
    /// The vectors of all bit planes, ordered by strip, then by row, by bit plane and by index.
    pub now: Vec<Block<N>>,
    next: Vec<Block<N>>,
    /// A row of each strip with a set bit for each column that the strip owns.
    own_columns: Vec<Vec<Block<N>>>,
    /// The margin cells of each strip.
    pub margins: Vec<Vec<[MarginCell; 2]>>,
    /// The small board that computes the corners, if the topology needs it.
    pub corners: Option<Box<Grid<N>>>,
    /// Buffers of earlier passes that later passes reuse.
    scratch: Mutex<Vec<Scratch<N>>>,
}

/// The type of functions that advance a band of rows.
type Advance<const N: usize> = unsafe fn(BandPass<'_, N>);

/// The rule and topology of a board, and the function that advances a band of rows on this processor.
#[derive(Clone, Copy)]
pub struct Dynamics<const N: usize> {
    pub rule: Rule,
    pub topology: Topology,
    advance: Advance<N>,
}

impl<const N: usize> Dynamics<N> {
    /// # Safety
    /// The processor must have the instructions for which `advance` is compiled.
    pub unsafe fn new(rule: Rule, topology: Topology, advance: Advance<N>) -> Self {
        Self { rule, topology, advance }
    }
}

/// The buffers that a core needs to advance a band of rows.
#[derive(Default)]
pub struct Scratch<const N: usize> {
    pub now: Vec<Block<N>>,
    pub next: Vec<Block<N>>,
    pub sums: Vec<[Block<N>; 2]>,
}

/// A pass over a band of rows: its input, the number of generations, and its output.
pub struct BandPass<'a, const N: usize> {
    pub grid: &'a Grid<N>,
    pub strip: usize,
    pub first_row: usize,
    pub generations: usize,
    /// The rows of the band after the pass.
    pub out: &'a mut [Block<N>],
    pub scratch: &'a mut Scratch<N>,
}

impl<const N: usize> Grid<N> {
    pub fn new(first: &FirstBoard<'_>, dynamics: Dynamics<N>) -> Result<Self, OutOfMemory> {
        let &FirstBoard { width, height, words, ages, generation } = first;
        let Dynamics { rule, topology, .. } = dynamics;
        let layout = Layout::of(width, topology::is_ring(topology));
        let planes = 1 + ages::planes(rule.states);
        let blocks = layout.strips.saturating_mul(layout.vectors).saturating_mul(planes).saturating_mul(height);
        let all = vec![u32::MAX; width.div_ceil(32)];
        let own_columns = (0..layout.strips).map(|strip| {
            let mut row = vec![Block::DEAD; layout.vectors];
            layout.spread(&all, layout.columns(strip), &mut row);
            row
        });
        let own_columns = own_columns.collect();
        let mut grid = Self {
            height,
            planes,
            own_columns,
            generation,
            dynamics,
            logic: rule.phases.map(|table| Logic::of(&table)),
            depth: topology::depth(&rule, topology),
            now: filled(blocks, Block::DEAD, width, height)?,
            next: filled(blocks, Block::DEAD, width, height)?,
            margins: (0..layout.strips).map(|strip| layout.margin_cells(strip)).collect(),
            layout,
            corners: None,
            scratch: Mutex::default(),
        };
        grid.spread(0..height, words, ages);
        Ok(grid)
    }

    /// Writes `words` and `ages` into `rows`. If `words` is too short, the remaining rows become dead.
    pub fn spread(&mut self, rows: Range<usize>, words: &[u32], ages: &[Vec<u32>]) {
        let (stride, row_words) = (self.stride(), self.layout.width.div_ceil(32));
        if self.now.is_empty() || words.is_empty() {
            return;
        }
        let Self { now, layout, planes, dynamics, .. } = self;
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
                ages::ages_to_generations_left(dynamics.rule.states, &mut bits);
                for (words, row) in bits.iter().take(*planes).zip(row.chunks_exact_mut(layout.vectors)) {
                    layout.spread(words, columns.clone(), row);
                }
            });
        }
    }

    /// Returns the words and the ages of `rows`, in the layout of [`FirstBoard`](crate::FirstBoard).
    pub fn words(&self, rows: Range<usize>) -> Result<(Vec<u32>, Vec<Vec<u32>>), OutOfMemory> {
        let row_words = self.layout.width.div_ceil(32);
        let (len, first) = (row_words * rows.len(), rows.start);
        let dead = |_| filled(len, 0, self.layout.width, rows.len());
        let mut all = (0..self.planes).map(dead).collect::<Result<Vec<Vec<u32>>, _>>()?;
        if len > 0 {
            for (plane, words) in all.iter_mut().enumerate() {
                words.par_chunks_exact_mut(row_words).enumerate().for_each(|(y, words)| {
                    self.gather_row(first + y, plane, words);
                });
            }
        }
        ages::generations_left_to_ages(self.dynamics.rule.states, &mut all);
        let words = all.remove(0);
        Ok((words, all))
    }

    /// Copies one bit plane of row `y` to `words`, which must be 0 on entry.
    pub fn gather_row(&self, y: usize, plane: usize, words: &mut [u32]) {
        for strip in 0..self.layout.strips {
            self.layout.gather(self.plane(self.row(strip, y), plane), self.layout.columns(strip), words);
        }
    }

    /// Returns the number of cells in `rows` that are not dead.
    pub fn population(&self, rows: Range<usize>) -> u64 {
        self.count(rows, |strip, y, columns| self.layout.population(&self.not_dead(&self.now, strip, y), columns))
    }

    /// Returns a hash of `rows`: the sum over the rows of numbers that depend on the row's number and cells.
    pub fn fingerprint(&self, rows: Range<usize>) -> u64 {
        let of_row = |strip: usize, y: usize| {
            // Each pair of words has two keys. The keys of consecutive pairs differ by constants, and the keys of rows
            // by the number of pairs of a row.
            let pairs = self.stride() * N / 2;
            let begin = ((strip * self.height + y) * pairs) as u64;
            let (mut first, mut second) =
                (begin.wrapping_mul(KEYS[0]) ^ KEYS[2], begin.wrapping_mul(KEYS[1]) ^ KEYS[3]);
            let mut sum = 0_u64;
            for plane in self.row(strip, y).chunks_exact(self.layout.vectors.max(1)) {
                for (block, own) in plane.iter().zip(&self.own_columns[strip]) {
                    for (words, own) in block.0.chunks_exact(2).zip(own.0.chunks_exact(2)) {
                        let product = u128::from(words[0] & own[0] ^ first) * u128::from(words[1] & own[1] ^ second);
                        sum = sum.wrapping_add(product as u64 ^ (product >> 64) as u64);
                        (first, second) = (first.wrapping_add(KEYS[0]), second.wrapping_add(KEYS[1]));
                    }
                }
            }
            sum
        };
        self.sum_rows(rows, of_row)
    }

    /// Returns the numbers of births and deaths in `rows` during the last pass.
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

    /// Calls `row` for all `rows` of every strip, and returns the sum of the results. The arguments of `row` are the
    /// strip, the row, and the number of columns that the strip owns.
    fn count(&self, rows: Range<usize>, row: impl Fn(usize, usize, usize) -> u64 + Sync) -> u64 {
        self.sum_rows(rows, |strip, y| row(strip, y, self.layout.columns(strip).len()))
    }

    /// Calls `row` with the strip and the row for all `rows` of every strip, and returns the sum of the results modulo
    /// 2⁶⁴.
    fn sum_rows(&self, rows: Range<usize>, row: impl Fn(usize, usize) -> u64 + Sync) -> u64 {
        let sum = |strip: usize| {
            let row = |y| row(strip, y);
            // Waking the other cores would take longer than the work for a small board.
            match rows.len() * self.stride() * size_of::<Block<N>>() {
                ..BAND_BYTES => rows.clone().map(row).fold(0, u64::wrapping_add),
                _ => rows.clone().into_par_iter().map(row).reduce(|| 0, u64::wrapping_add),
            }
        };
        (0..self.layout.strips).map(sum).fold(0, u64::wrapping_add)
    }

    /// Returns the number of bytes that a grid of this size needs for its two boards.
    pub fn bytes(width: usize, height: usize, rule: &Rule, topology: Topology) -> u64 {
        let layout = Layout::<N>::of(width.max(1), topology::is_ring(topology));
        let blocks = (layout.strips * layout.vectors * (1 + ages::planes(rule.states))) as u64;
        blocks.saturating_mul(2 * size_of::<Block<N>>() as u64).saturating_mul(height as u64)
    }

    /// Returns the distance in vectors between two consecutive rows of a strip.
    pub fn stride(&self) -> usize {
        self.layout.vectors * self.planes
    }

    /// Returns the logic that computes generation `later` + 1 from generation `later`. Both numbers are relative to the
    /// present generation.
    pub fn logic(&self, later: usize) -> &Logic {
        &self.logic[(self.generation.wrapping_add(later as u64) % 2) as usize]
    }

    pub fn row(&self, strip: usize, y: usize) -> &[Block<N>] {
        self.row_of(&self.now, strip, y)
    }

    fn row_of<'c>(&self, cells: &'c [Block<N>], strip: usize, y: usize) -> &'c [Block<N>] {
        let begin = (strip * self.height + y) * self.stride();
        &cells[begin..begin + self.stride()]
    }

    /// Returns a mask of the cells of a row that are not dead. Such a cell has a set bit in at least one bit plane.
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

    /// Returns one bit plane of a row.
    pub fn plane<'r>(&self, row: &'r [Block<N>], plane: usize) -> &'r [Block<N>] {
        &row[plane * self.layout.vectors..][..self.layout.vectors]
    }

    pub fn plane_mut<'r>(&self, row: &'r mut [Block<N>], plane: usize) -> &'r mut [Block<N>] {
        &mut row[plane * self.layout.vectors..][..self.layout.vectors]
    }

    /// Returns the bit of the cell in column `x` of row `y` in one bit plane.
    pub fn cell(&self, x: usize, y: usize, plane: usize) -> u64 {
        let (strip, position) = self.layout.position(x);
        position.get(self.plane(self.row(strip, y), plane))
    }

    pub fn put(&mut self, x: usize, y: usize, plane: usize, cell: u64) {
        let (strip, position) = self.layout.position(x);
        let begin = (strip * self.height + y) * self.stride() + plane * self.layout.vectors;
        position.put(&mut self.now[begin..begin + self.layout.vectors], cell);
    }

    fn scratch(&self) -> MutexGuard<'_, Vec<Scratch<N>>> {
        self.scratch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of rows of a band. There is one band per core, or more if such bands would exceed the cache.
    /// A band has a minimum height, because the rows above and below it are computed twice.
    pub fn band_rows(&self) -> usize {
        let in_cache = BAND_BYTES / (self.stride() * size_of::<Block<N>>());
        self.height.div_ceil(rayon::current_num_threads()).min(in_cache).max(4 * GENERATIONS_PER_PASS).min(self.height)
    }

    /// Advances the board by `generations` generations, at most [`GENERATIONS_PER_PASS`].
    pub fn pass(&mut self, generations: usize) {
        let (stride, band) = (self.stride(), self.band_rows());
        let mut next = std::mem::take(&mut self.next);
        let advance = |(i, out): (usize, &mut [Block<N>])| {
            let bands = self.height.div_ceil(band);
            let (strip, first_row) = (i / bands, i % bands * band);
            let mut scratch = self.scratch().pop().unwrap_or_default();
            let pass = BandPass { grid: self, strip, first_row, generations, out, scratch: &mut scratch };
            // SAFETY: the caller of `Dynamics::new` guaranteed that the processor has the instructions of `advance`.
            unsafe { (self.dynamics.advance)(pass) }
            self.scratch().push(scratch);
        };
        let bands = next.chunks_exact_mut(self.height * stride).flat_map(|strip| strip.chunks_mut(band * stride));
        let bands: Vec<_> = bands.enumerate().collect();
        match bands.len() {
            // If there is only one band, waking the other cores would take longer than the pass.
            1 => bands.into_iter().for_each(advance),
            _ => bands.into_par_iter().for_each(advance),
        }
        self.next = std::mem::replace(&mut self.now, next);
        self.generation = self.generation.wrapping_add(generations as u64);
    }
}
