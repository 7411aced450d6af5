//! The tiles of a board, and the loop over its generations.

use std::mem;

use super::flags::Shape;
use super::step::step;
use crate::rule::{Life, Logic, Rule};
use crate::vector::{Block, Vector};
use crate::{OutOfMemory, filled};

/// The rim is checked in each generation that is a multiple of this number.
const RIM_INTERVAL: u64 = 8;

/// The minimum number of generations between two copies of the board that later generations are compared with.
const MIN_MARK_INTERVAL: u64 = 256;

/// The reason why a board is not advanced further.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// The requested generation is reached.
    Reached,
    /// The present generation equals the one two generations later.
    Quiet,
    /// The present generation equals the one after this period.
    Repeats(u64),
    /// Tiles of the rim are active. This is checked every 8 generations.
    Rim,
}

/// The type of functions that advance a board of tiles.
type Advance<const N: usize> = unsafe fn(Generations<'_, N>) -> Stop;

/// A board of tiles, whose vectors have `N` words.
pub struct Tiles<const N: usize> {
    shape: Shape,
    /// Even generations are in the first board, odd ones in the second.
    boards: [Vec<Block<N>>; 2],
    generation: u64,
    computed: u64,
    /// The flags of the tiles to compute in the next generation.
    active: Vec<u64>,
    next: Vec<u64>,
    /// The flags of the tiles to compute in the next `forced_for` generations, because their cells were replaced.
    forced: Vec<u64>,
    forced_for: u32,
    rim: Vec<u64>,
    mark: Mark<N>,
    logic: [Logic; 2],
    is_alternating: bool,
    advance: Advance<N>,
}

/// A copy of the board at an earlier generation.
struct Mark<const N: usize> {
    generation: u64,
    /// The copy is replaced in this generation.
    until: u64,
    active: Vec<u64>,
    board: Vec<Block<N>>,
}

/// A run of a board until a generation.
pub struct Generations<'a, const N: usize> {
    tiles: &'a mut Tiles<N>,
    until: u64,
}

impl<const N: usize> Tiles<N> {
    /// # Safety
    /// The processor must have the instructions for which `advance` is compiled.
    pub unsafe fn new(
        (width, height): (usize, usize),
        rim: usize,
        rule: &Rule,
        advance: Advance<N>,
    ) -> Result<Self, OutOfMemory> {
        let shape = Shape { columns: width.div_ceil(64).max(1), rows: height.div_ceil(512).max(1) * (512 / N) };
        let board = || filled(shape.tiles(), Block::DEAD, width, height);
        let flags = || filled(shape.flag_words(), 0, width, height);
        let mut tiles = Self {
            shape,
            boards: [board()?, board()?],
            generation: 0,
            computed: 0,
            active: flags()?,
            next: flags()?,
            forced: flags()?,
            forced_for: 0,
            rim: flags()?,
            mark: Mark { generation: 0, until: 0, active: flags()?, board: board()? },
            logic: rule.phases.map(|table| Logic::of(&table)),
            is_alternating: rule.phases[0] != rule.phases[1],
            advance,
        };
        let rim = rim.div_ceil(N).min(shape.rows);
        for column in 0..shape.columns {
            let is_outer = column == 0 || column + 1 == shape.columns;
            for row in (0..shape.rows).filter(|&row| is_outer || row < rim || row + rim >= shape.rows) {
                shape.raise(&mut tiles.rim, column, row);
            }
        }
        tiles.clear();
        Ok(tiles)
    }

    pub fn size(&self) -> (usize, usize) {
        (64 * self.shape.columns, N * self.shape.rows)
    }

    pub fn generation(&self) -> u64 {
        self.generation
    }

    pub fn computed(&self) -> u64 {
        self.computed
    }

    pub fn clear(&mut self) {
        self.boards.iter_mut().for_each(|board| board.fill(Block::DEAD));
        [&mut self.active, &mut self.forced].into_iter().for_each(|flags| flags.fill(0));
        (self.generation, self.computed, self.forced_for) = (0, 0, 0);
        (self.mark.generation, self.mark.until) = (0, MIN_MARK_INTERVAL);
        // No board has these active tiles.
        self.mark.active.fill(u64::MAX);
    }

    pub fn put(&mut self, cells: impl IntoIterator<Item = (usize, usize)>, is_alive: bool) {
        let (width, height) = self.size();
        let board = &mut self.boards[(self.generation & 1) as usize];
        for (x, y) in cells.into_iter().filter(|&(x, y)| x < width && y < height) {
            let (column, row) = (x / 64, y / N);
            let word = &mut board[self.shape.tile(column, row)].0[y % N];
            let bit = 1 << (x % 64);
            *word = if is_alive { *word | bit } else { *word & !bit };
            for column in column.saturating_sub(1)..(column + 2).min(self.shape.columns) {
                for row in row.saturating_sub(1)..(row + 2).min(self.shape.rows) {
                    self.shape.raise(&mut self.forced, column, row);
                }
            }
            self.forced_for = 2;
        }
    }

    pub fn advance(&mut self, until: u64) -> Stop {
        let advance = self.advance;
        // SAFETY: the caller of `new` guarantees that the processor has the instructions of `advance`.
        unsafe { advance(Generations { tiles: self, until }) }
    }

    pub fn cells(&self, words: &mut Vec<u64>) {
        words.clear();
        let board = &self.boards[(self.generation & 1) as usize];
        for column in 0..self.shape.columns {
            let first = self.shape.tile(column, 0);
            words.extend(board[first..first + self.shape.rows].iter().flat_map(|tile| tile.0));
        }
    }

    pub fn cells_ever_alive(&mut self, period: u64, words: &mut Vec<u64>) {
        self.cells(words);
        let all = (0..self.shape.columns).flat_map(|column| (0..self.shape.rows).map(move |row| (column, row)));
        self.add_cells((self.generation + 1) & 1, all, words);
        for _ in 2..period {
            let until = self.generation + 1;
            self.advance(until);
            // All other tiles equal the generation two steps before.
            self.add_cells(self.generation & 1, self.shape.set(&self.next), words);
        }
    }

    /// Adds the cells of some tiles of a board, 0 or 1, to `words`.
    fn add_cells(&self, board: u64, tiles: impl Iterator<Item = (usize, usize)>, words: &mut [u64]) {
        let board = &self.boards[board as usize];
        for (column, row) in tiles {
            let first = (column * self.shape.rows + row) * N;
            let tile = board[self.shape.tile(column, row)].0;
            words[first..first + N].iter_mut().zip(tile).for_each(|(word, cells)| *word |= cells);
        }
    }

    /// Returns true if the present board equals the marked one.
    fn is_marked_board(&self) -> bool {
        let board = &self.boards[(self.generation & 1) as usize];
        let is_same = |at: usize| board[at].0 == self.mark.board[at].0;
        // The active tiles are the most likely ones to differ.
        let mut active = self.shape.set(&self.active);
        active.all(|(column, row)| is_same(self.shape.tile(column, row))) && (0..board.len()).all(is_same)
    }

    #[cold]
    fn renew_mark(&mut self) {
        self.mark.generation = self.generation;
        self.mark.until = self.generation + MIN_MARK_INTERVAL.max(self.generation / 4);
        self.mark.active.copy_from_slice(&self.active);
        self.mark.board.copy_from_slice(&self.boards[(self.generation & 1) as usize]);
    }
}

impl<const N: usize> Generations<'_, N> {
    /// Advances the board with vectors of the type `V`.
    ///
    /// # Safety
    /// The processor must have the instructions of `V`.
    #[inline(always)]
    pub unsafe fn run<V: Vector<N>>(self) -> Stop {
        let Self { tiles, until } = self;
        while tiles.generation < until {
            if tiles.forced_for > 0 {
                tiles.forced_for -= 1;
                tiles.active.iter_mut().zip(&tiles.forced).for_each(|(active, forced)| *active |= forced);
                if tiles.forced_for == 0 {
                    tiles.forced.fill(0);
                }
            }
            tiles.next.fill(0);
            let phase = (tiles.generation & 1) as usize;
            let [even, odd] = &mut tiles.boards;
            let boards = if phase == 0 { (&even[..], &mut odd[..]) } else { (&odd[..], &mut even[..]) };
            let flags = (&tiles.active[..], &mut tiles.next[..]);
            // SAFETY: the caller guarantees the instructions of `V`.
            unsafe {
                match &tiles.logic[phase] {
                    Logic::Life => step::<V, _, N>(&Life, tiles.shape, flags, boards),
                    Logic::Counts(counts) => step::<V, _, N>(counts, tiles.shape, flags, boards),
                    Logic::Table(table) => step::<V, _, N>(&**table, tiles.shape, flags, boards),
                }
            }
            mem::swap(&mut tiles.active, &mut tiles.next);
            tiles.generation += 1;
            if let Some(stop) = tiles.reason_to_stop() {
                return stop;
            }
        }
        Stop::Reached
    }
}

impl<const N: usize> Tiles<N> {
    /// Returns the reason to stop in the present generation, if there is one.
    #[inline(always)]
    fn reason_to_stop(&mut self) -> Option<Stop> {
        let (mut active, mut computed, mut is_in_rim) = (0, 0, 0);
        for column in 0..self.shape.columns {
            for word in 0..self.shape.words() {
                let at = self.shape.flag_word(column, word);
                active |= self.active[at];
                computed += u64::from(self.next[at].count_ones());
                is_in_rim |= self.active[at] & self.rim[at];
            }
        }
        self.computed += computed;
        if active == 0 && self.forced_for == 0 {
            return Some(Stop::Quiet);
        }
        if is_in_rim != 0 && self.generation.is_multiple_of(RIM_INTERVAL) {
            return Some(Stop::Rim);
        }
        let since = self.generation - self.mark.generation;
        let is_same_phase = !self.is_alternating || since.is_multiple_of(2);
        if is_same_phase && self.active == self.mark.active && self.is_marked_board() {
            return Some(Stop::Repeats(since));
        }
        if self.generation >= self.mark.until {
            self.renew_mark();
        }
        None
    }
}
