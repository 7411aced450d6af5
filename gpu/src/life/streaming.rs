//! Streaming: a warp walks down a strip of rows, and each generation is a stage of a pipeline in its registers.
//!
//! What it changes: a row that comes in at the top of the pipeline leaves it `DEPTH` generations later. A stage keeps the
//! last row and two rows' sums, so no row is loaded or added twice. Warps are independent: no barrier is needed. The board
//! is [`Interleaved`]: a lane holds four words, so that a word costs half a shuffle and half a shift. Rows come by asynchronous copies
//! into a ring in shared memory, [`ROWS`] at a time and as many ahead; there the margins of all these rows are filled at once.
//!
//! Limited by logic: eight three-input operations per word and generation. At the top of a strip it takes rows from the
//! strip above, which are computed twice; there a stage begins with the first row that its result depends on.
//!
//! A launch takes as long as it needs to begin and to end in vain: so the next one's warps take the places of those that have ended,
//! and wait there with all that can be computed without the board.
//!
//! Where a torus continues across the board's edges in whole vectors, [`life_streaming_torus()`] loads the margins from the
//! opposite side; elsewhere [`life_edges()`](super::life_edges()) has to write them first. Where all beyond an edge is dead,
//! [`life_streaming_plane()`] keeps it so in all generations of a launch.

use cuda_std::bits::{funnel_shift_left, lop3};
use cuda_std::{AsyncCopies, Global, GlobalMut, Shared, grid, kernel, shared_array, thread, unroll, warp};

use super::interleaved::logic::{Conway, Given, Lane, Logic, Rows, Sums, WORDS, Words};
use super::interleaved::{Dead, Interleaved, MARGIN, ROWS_ABOVE, Surface, TILE_WORDS};
use super::tuning::{DEEPEST, STREAMING_ROWS as ROWS};

/// Lanes that hold columns of a margin: the first two and the last two.
const MARGIN_LANES: usize = 4;

/// Vectors of a row in memory.
const VECTORS_PER_ROW: usize = warp::SIZE as usize;

/// Vectors of a row in the ring: the row's, and what goes into its margins.
const VECTORS: usize = VECTORS_PER_ROW + MARGIN_LANES;

/// Vectors of half of the ring.
const HALF: usize = ROWS * VECTORS;

/// Strips have a multiple of so many rows.
pub const ROWS_TOGETHER: usize = 2;

/// One pipeline stage: takes in the row below `rows` and returns the next generation of the row that `rows` holds.
#[inline(always)]
fn advance<R: Logic>(rows: &mut Rows, below: Words, lane: Lane, is_odd: bool) -> Words {
    let beside = lane.beside(below);
    let sums = Sums::new(below, beside);
    let next = R::next(rows, &sums, is_odd);
    *rows = Rows { above: rows.sums, row: below, beside, sums };
    next
}

/// One lane's share of putting the margins into [`ROWS`] rows: one vector of one row.
struct Margin {
    /// Where the vector is in memory, from this tile's first on, for the first of these rows.
    from: isize,
    /// The lane's row among them.
    row: i32,
    /// Where the copied vector is in the half of the ring, and where it goes to.
    copied: usize,
    to: usize,
    /// The bits that are taken, and how far up.
    mask: u32,
    up: u32,
}

impl Margin {
    /// That of lane `lane`, below [`ROWS`] × [`MARGIN_LANES`], for tile `tile`. Beyond the board's edges it takes the cells of the
    /// torus if `IS_ENDLESS`, where they are [whole vectors](Interleaved::has_whole_margins), and else leaves what is there.
    #[inline(always)]
    fn new<const IS_ENDLESS: bool>(lane: usize, tile: u32, board: &Interleaved) -> Self {
        let (row, which) = (lane / MARGIN_LANES, lane % MARGIN_LANES);
        let (copied, in_ring) = (row * VECTORS + VECTORS_PER_ROW + which, row * VECTORS);
        let vector = |column: u32| ((column / WORDS as u32) as usize % VECTORS_PER_ROW, column / TILE_WORDS);
        let (is_left, words) = (which < 2, (which % 2 * WORDS) as u32);
        let is_edge = if is_left { tile == 0 } else { tile + 1 == board.tiles() };
        // The last columns of the tile before, or the first of the one after.
        let (other, column, to) = if is_left {
            let other = if is_edge { board.tiles() - 1 } else { tile - 1 };
            (other, board.end_of(other) - MARGIN + words, words)
        } else {
            (if is_edge { 0 } else { tile + 1 }, MARGIN + words, board.end_of(tile) + words)
        };
        let ((from, from_bit), (to, to_bit)) = (vector(column), vector(to));
        let pitch = board.pitch() as isize * VECTORS_PER_ROW as isize;
        let is_taken = IS_ENDLESS || !is_edge;
        let other = if is_taken { other as isize - tile as isize } else { 0 };
        Self {
            from: other * pitch + (row * VECTORS_PER_ROW + from) as isize,
            row: row as i32,
            copied,
            to: in_ring + to,
            mask: if is_taken { board.lowest_bits() << to_bit } else { 0 },
            up: to_bit.wrapping_sub(from_bit),
        }
    }

    /// Puts it into the row, in the half of the ring that begins at `half`.
    ///
    /// # Safety
    /// `half` must be 0 or [`HALF`], in a ring of twice that.
    #[inline(always)]
    unsafe fn put(&self, ring: Shared<Words>, half: usize) {
        // SAFETY: both places are in a half, as `new` chose them.
        let (mut row, copied) =
            unsafe { (ring.load_unchecked(half + self.to), ring.load_unchecked(half + self.copied)) };
        for k in 0..WORDS {
            // The mask chooses.
            row[k] = lop3::<0xb8>(row[k], self.mask, funnel_shift_left(copied[k], copied[k], self.up));
        }
        // SAFETY: as above.
        unsafe { ring.store_unchecked(half + self.to, row) };
    }
}

/// A warp's strip of rows.
struct Strip {
    /// Vectors of memory before the tile's.
    tile_start: usize,
    /// The first row, and how many there are.
    first: u32,
    height: u32,
    /// Rows of a fold, and bits of a word that it has.
    rows: u32,
    bits: u32,
    margin: Margin,
    has_margin: bool,
    ring: Shared<Words>,
}

impl Strip {
    /// Strip `strip` of `strips` of tile `tile`. The array is twice [`HALF`].
    #[inline(always)]
    fn new<const IS_ENDLESS: bool>(
        board: &Interleaved,
        tile: u32,
        (strip, strips): (u32, u32),
        ring: Shared<Words>,
    ) -> Self {
        let units = u64::from(board.rows().div_ceil(ROWS_TOGETHER as u32));
        let start = |strip: u32| (u64::from(strip) * units / u64::from(strips)) as u32 * ROWS_TOGETHER as u32;
        let (first, lane) = (start(strip), warp::lane_id() as usize);
        Self {
            tile_start: tile as usize * board.pitch() as usize * VECTORS_PER_ROW,
            first,
            height: start(strip + 1) - first,
            rows: board.rows(),
            bits: board.bits(),
            margin: Margin::new::<IS_ENDLESS>(lane % (ROWS * MARGIN_LANES), tile, board),
            has_margin: lane < ROWS * MARGIN_LANES,
            ring,
        }
    }

    /// Begins to copy [`ROWS`] rows from row `row` on into the half of the ring that begins at `half`.
    ///
    /// # Safety
    /// They are in the memory of `cells`, or within a fold's height of it if `IS_ENDLESS`. `half` is 0 or [`HALF`].
    #[inline(always)]
    unsafe fn copy<const IS_ENDLESS: bool>(&self, copies: &mut AsyncCopies, cells: Global<u32>, row: i32, half: usize) {
        let lane = warp::lane_id() as usize;
        let at = |row: i32| self.tile_start + (row + ROWS_ABOVE as i32) as usize * VECTORS_PER_ROW;
        let from = at(row);
        if IS_ENDLESS && (row < 0 || row + ROWS as i32 > self.rows as i32) {
            unroll!(I in ROWS => {
                let from = at(self.in_fold(row + I as i32));
                // SAFETY: a row of a fold.
                unsafe { copies.copy_unchecked(cells, from + lane, self.ring, half + I * VECTORS + lane) };
            });
            if self.has_margin {
                let row = row + self.margin.row;
                let from = from as isize + (self.in_fold(row) - row) as isize * VECTORS_PER_ROW as isize;
                // SAFETY: likewise, of a tile that there is.
                unsafe {
                    let from = from.wrapping_add(self.margin.from) as usize;
                    copies.copy_unchecked(cells, from, self.ring, half + self.margin.copied);
                }
            }
            return;
        }
        unroll!(I in ROWS => {
            // SAFETY: the caller vouches for the rows; the ring has two halves.
            unsafe {
                let slot = half + I * VECTORS + lane;
                copies.copy_unchecked(cells, from + I * VECTORS_PER_ROW + lane, self.ring, slot);
            }
        });
        if self.has_margin {
            // SAFETY: as above, of a tile that there is.
            unsafe {
                let from = from.wrapping_add_signed(self.margin.from);
                copies.copy_unchecked(cells, from, self.ring, half + self.margin.copied);
            }
        }
    }

    /// The row of a fold that row `row` is, as the torus goes on beyond its first and last one.
    #[inline(always)]
    fn in_fold(&self, row: i32) -> i32 {
        let rows = self.rows as i32;
        if row < 0 {
            row + rows
        } else if row < rows {
            row
        } else {
            row - rows
        }
    }

    /// Waits for the copies of the rows from `row` on, and puts margins into them.
    ///
    /// # Safety
    /// As for [`copy`](Self::copy).
    #[inline(always)]
    unsafe fn arrive<const IS_ENDLESS: bool>(&self, copies: &mut AsyncCopies, row: i32, half: usize) {
        copies.wait::<1>();
        // The lanes' copies, and then the margins.
        warp::sync_warp(warp::FULL_MASK);
        if self.has_margin {
            // SAFETY: one of the two halves.
            unsafe { self.margin.put(self.ring, half) };
        }
        warp::sync_warp(warp::FULL_MASK);
        if IS_ENDLESS && (row < 0 || row + ROWS as i32 > self.rows as i32) {
            // Rows of the torus beyond a fold's are of the fold before it or after it.
            let lane = warp::lane_id() as usize;
            unroll!(I in ROWS => {
                let row = row + I as i32;
                let up = if row < 0 { self.bits } else if row < self.rows as i32 { 0 } else { 32 - self.bits };
                // SAFETY: a lane's own vectors of the ring.
                unsafe {
                    let words = self.ring.load_unchecked(half + I * VECTORS + lane);
                    let words = words.map(|word: u32| funnel_shift_left(word, word, up));
                    self.ring.store_unchecked(half + I * VECTORS + lane, words);
                }
            });
        }
    }

    /// `next` = the strip `DEPTH` generations of rule `R` after `cells`.
    ///
    /// # Safety
    /// Both are whole boards. Unless `IS_ENDLESS`, margins have been written.
    #[inline(always)]
    unsafe fn pass<const DEPTH: usize, const IS_ENDLESS: bool, const HAS_DEAD: bool, R: Logic>(
        &self,
        cells: Global<u32>,
        next: GlobalMut<u32>,
        beside: Lane,
        dead: &Dead,
    ) {
        // Rows before the first that leaves the pipeline are whole rounds.
        const { assert!(DEPTH <= DEEPEST && 2 * DEPTH <= DEPTH.div_ceil(3) * ROWS) };
        let (filling, lane) = (DEPTH.div_ceil(3) * ROWS, warp::lane_id() as usize);
        let mut copies = AsyncCopies::new();
        let mut row = self.first as i32 + DEPTH as i32 - filling as i32;
        let last = (self.first + self.height) as i32 + DEPTH as i32;
        grid::wait_for_dependencies();
        // SAFETY: there are rows above the first and below the last, or the torus goes on: so it is of all copies.
        unsafe { self.copy::<IS_ENDLESS>(&mut copies, cells, row, 0) };
        copies.commit();
        // SAFETY: as above.
        unsafe { self.copy::<IS_ENDLESS>(&mut copies, cells, row + ROWS as i32, HALF) };
        copies.commit();

        let mut stages = [Rows::default(); DEPTH];
        // Which folds have the rows that the stages have: of the last one that came in, and those before.
        let mut folds = [u32::MAX; DEPTH];
        let mut half = 0;
        unroll!(ROUND in DEPTH.div_ceil(3) => {
            // SAFETY: one of the two halves.
            unsafe { self.arrive::<IS_ENDLESS>(&mut copies, row, half) };
            unroll!(I in ROWS => {
                // SAFETY: in one of the halves.
                let mut words = unsafe { self.ring.load_unchecked(half + I * VECTORS + lane) };
                let entering = if HAS_DEAD { dead.folds(row + I as i32) } else { u32::MAX };
                unroll!(STAGE in DEPTH => {
                    // Nothing that leaves the pipeline depends on what a stage would make of rows before this one.
                    if ROUND * ROWS + I + 2 * DEPTH >= filling + 2 * STAGE {
                        words = advance::<R>(&mut stages[STAGE], words, beside, STAGE % 2 == 1);
                        if HAS_DEAD {
                            words = dead.kept(words, folds[STAGE]);
                        }
                    }
                });
                folds = Dead::after(folds, entering);
            });
            row += ROWS as i32;
            if row + (ROWS as i32) < last {
                // SAFETY: as above.
                unsafe { self.copy::<IS_ENDLESS>(&mut copies, cells, row + ROWS as i32, half) };
            }
            copies.commit();
            half = HALF - half;
        });
        let mut out = self.tile_start + (self.first + ROWS_ABOVE) as usize * VECTORS_PER_ROW + lane;
        let mut left = self.height as usize;
        'rows: while left > 0 {
            // SAFETY: one of the two halves.
            unsafe { self.arrive::<IS_ENDLESS>(&mut copies, row, half) };
            unroll!(I in ROWS => {
                // An end after each row would keep the compiler from interleaving the rows' instructions.
                if I > 0 && I.is_multiple_of(ROWS_TOGETHER) && I == left {
                    break 'rows;
                }
                // SAFETY: in one of the halves.
                let mut words = unsafe { self.ring.load_unchecked(half + I * VECTORS + lane) };
                let entering = if HAS_DEAD { dead.folds(row + I as i32) } else { u32::MAX };
                unroll!(STAGE in DEPTH => {
                    words = advance::<R>(&mut stages[STAGE], words, beside, STAGE % 2 == 1);
                    // What lies beyond the edges of the next board is written before it is read.
                    if HAS_DEAD && STAGE + 1 < DEPTH {
                        words = dead.kept(words, folds[STAGE]);
                    }
                });
                folds = Dead::after(folds, entering);
                // SAFETY: a row of the strip, or one below the last.
                unsafe { next.store_vec_unchecked(out + I * VECTORS_PER_ROW, words) };
            });
            left = left.saturating_sub(ROWS);
            out += ROWS * VECTORS_PER_ROW;
            row += ROWS as i32;
            if row + (ROWS as i32) < last {
                // SAFETY: as above.
                unsafe { self.copy::<IS_ENDLESS>(&mut copies, cells, row + ROWS as i32, half) };
            }
            copies.commit();
            half = HALF - half;
        }
        copies.wait::<0>();
    }
}

/// Streaming down strips of rows, a pipeline of `DEPTH` generations in registers.
///
/// `next` = the interleaved board `DEPTH` generations of rule `R` after `cells`, whose margins [`life_edges()`](super::life_edges()) has
/// written. Blocks of one warp: one for each tile along x and each strip of rows along y.
#[kernel(
    max_threads = 32,
    min_blocks = 8,
    instances(DEPTH = [1, 3, 6], R = [Conway]),
    instances(DEPTH = [1, 6], R = [Given]),
    wide(stores)
)]
pub fn life_streaming<const DEPTH: usize, R: Logic>(cells: Global<u32>, next: GlobalMut<u32>, board: Interleaved) {
    // SAFETY: both are whole boards, as is checked there.
    unsafe { stream::<DEPTH, false, R>(cells, next, &board) };
}

/// [`life_streaming()`] of six generations on a torus whose margins are [whole](Interleaved::has_whole_margins): they are taken from
/// where the torus goes on, so that nobody has to write them first.
#[kernel(max_threads = 32, min_blocks = 8, instances(R = [Conway, Given]), wide(stores))]
pub fn life_streaming_torus<R: Logic>(cells: Global<u32>, next: GlobalMut<u32>, board: Interleaved) {
    assert!(board.has_whole_margins());
    // SAFETY: both are whole boards, as is checked there.
    unsafe { stream::<DEEPEST, true, R>(cells, next, &board) };
}

/// [`life_streaming()`] of six generations on a board beyond some of whose edges all is dead, as `surface` says. Margins are written as
/// for that. Strips that reach no such edge are advanced as if they did: two pipelines in one kernel are more instructions than a
/// multiprocessor caches.
#[kernel(max_threads = 32, min_blocks = 8, instances(R = [Conway, Given]), wide(stores))]
pub fn life_streaming_plane<R: Logic>(cells: Global<u32>, next: GlobalMut<u32>, board: Interleaved, surface: Surface) {
    let strip = strip_of::<false>(&cells, &next, &board);
    let dead = Dead::new(&board, &surface, thread::block_idx_x(), warp::lane_id());
    let lane = Lane::new(warp::lane_id());
    // SAFETY: both are whole boards, as is checked above.
    unsafe { strip.pass::<DEEPEST, false, true, R>(cells, next, lane, &dead) };
}

/// This warp's strip of the board. Blocks of one warp: one for each tile along x and each strip of rows along y.
#[inline(always)]
fn strip_of<const IS_ENDLESS: bool>(cells: &Global<u32>, next: &GlobalMut<u32>, board: &Interleaved) -> Strip {
    grid::launch_dependents();
    let (tile, strip) = (thread::block_idx_x(), thread::block_idx_y());
    assert!(cells.len() == board.words() && next.len() == cells.len() && thread::block_dim_x() == warp::SIZE);
    assert!(tile < board.tiles());
    let ring = shared_array![Words; 2 * HALF];
    Strip::new::<IS_ENDLESS>(board, tile, (strip, thread::grid_dim_y()), ring)
}

/// Advances this warp's strip.
///
/// # Safety
/// As for [`Strip::pass`].
#[inline(always)]
unsafe fn stream<const DEPTH: usize, const IS_ENDLESS: bool, R: Logic>(
    cells: Global<u32>,
    next: GlobalMut<u32>,
    board: &Interleaved,
) {
    let strip = strip_of::<IS_ENDLESS>(&cells, &next, board);
    // SAFETY: as the caller vouches for.
    unsafe { strip.pass::<DEPTH, IS_ENDLESS, false, R>(cells, next, Lane::new(warp::lane_id()), &Dead::NOTHING) };
}
