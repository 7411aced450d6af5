//! Streaming: a warp processes a strip of rows from top to bottom. Its registers contain a pipeline with one stage per
//! generation.
//!
//! Each row enters the first stage and leaves the last stage `DEPTH` generations later. A stage keeps the last row and
//! the sums of two rows, so the warp loads and adds each row only once per generation. Warps are independent and need
//! no barrier. The board is [`Interleaved`]. A lane has four words of a row, so the warp needs half a shuffle and half
//! a shift per word. Asynchronous copies store the rows in a ring in shared memory, [`ROWS`] rows per copy, one copy in
//! advance. In the ring, the warp fills the margins of [`ROWS`] rows at once.
//!
//! The kernel is limited by its logic operations: eight with three inputs per word and generation. At the top of a
//! strip, the warp also computes rows of the strip above. A stage starts with the first of these rows that affects the
//! warp's own rows.
//!
//! At the start and the end of a launch, multiprocessors are idle. The warps of the next launch therefore start as soon
//! as warps of this launch end. The new warps do all work that does not need the board, and then wait for this launch.
//!
//! If the margins of a torus are whole vectors, [`life_streaming_torus()`] loads them from the opposite side of the
//! board. Otherwise [`life_edges()`](super::life_edges()) must write the margins first. If all cells beyond an edge are
//! dead, [`life_streaming_plane()`] keeps them dead in all generations of a launch.

use cuda_std::bits::{funnel_shift_left, lop3};
use cuda_std::{AsyncCopies, Global, GlobalMut, Shared, grid, kernel, shared_array, thread, unroll, warp};

use super::interleaved::logic::{Conway, Given, Lane, Logic, Rows, Sums, WORDS, Words};
use super::interleaved::{Dead, Interleaved, MARGIN, ROWS_ABOVE, Surface, TILE_WORDS};
use super::tuning::{DEEPEST, STREAMING_ROWS as ROWS};

/// The number of lanes that contain columns of a margin: the first two and the last two.
const MARGIN_LANES: usize = 4;

/// The number of vectors of a row in memory.
const VECTORS_PER_ROW: usize = warp::SIZE as usize;
/// The number of vectors of a row in the ring: the row's own vectors, and the sources of its margins.
const VECTORS: usize = VECTORS_PER_ROW + MARGIN_LANES;
/// The number of vectors in half of the ring.
const HALF: usize = ROWS * VECTORS;

/// The number that must divide the number of rows in a strip.
pub const ROWS_TOGETHER: usize = 2;

/// Executes one pipeline stage: takes the row below `rows.row`, and returns the next generation of `rows.row`.
#[inline(always)]
fn advance<R: Logic>(rows: &mut Rows, below: Words, lane: Lane, is_odd: bool) -> Words {
    let beside = lane.beside(below);
    let sums = Sums::new(below, beside);
    let next = R::next(rows, &sums, is_odd);
    *rows = Rows { above: rows.sums, row: below, beside, sums };
    next
}

/// The part of the margins of [`ROWS`] rows that one lane fills: one vector of one row.
struct Margin {
    /// The offset in vectors from the tile's first vector to the source of the margin, for the first of the rows.
    from: isize,
    /// The number of the lane's row among the [`ROWS`] rows.
    row: i32,
    /// The source of the margin: the position of a vector in a half of the ring.
    copied: usize,
    /// The destination of the margin: the position of a vector in a half of the ring.
    to: usize,
    /// A mask of the bits that are copied to the margin, at their positions after the rotation by `up`.
    mask: u32,
    /// The number of bits by which the words of the copied vector are rotated to the left.
    up: u32,
}

impl Margin {
    /// Returns the part of the margins that lane `lane` fills in tile `tile`. `lane` must be below [`ROWS`] ×
    /// [`MARGIN_LANES`]. If `IS_ENDLESS` is true, the margin beyond the board's edges comes from the opposite side of
    /// the torus, in [whole vectors](Interleaved::has_whole_margins). Otherwise the margin keeps its old values.
    #[inline(always)]
    fn new<const IS_ENDLESS: bool>(lane: usize, tile: u32, board: &Interleaved) -> Self {
        let (row, which) = (lane / MARGIN_LANES, lane % MARGIN_LANES);
        let (copied, in_ring) = (row * VECTORS + VECTORS_PER_ROW + which, row * VECTORS);
        let vector = |column: u32| ((column / WORDS as u32) as usize % VECTORS_PER_ROW, column / TILE_WORDS);
        let (is_left, words) = (which < 2, (which % 2 * WORDS) as u32);
        let is_edge = if is_left { tile == 0 } else { tile + 1 == board.tiles() };
        // The last columns of the previous tile, or the first of the next tile.
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

    /// Copies the margin into the row, in the half of the ring that starts at `half`.
    ///
    /// # Safety
    /// `half` must be 0 or [`HALF`], and the ring must have twice [`HALF`] vectors.
    #[inline(always)]
    unsafe fn put(&self, ring: Shared<Words>, half: usize) {
        // SAFETY: `new` chose both positions within a half of the ring.
        let (mut row, copied) =
            unsafe { (ring.load_unchecked(half + self.to), ring.load_unchecked(half + self.copied)) };
        for k in 0..WORDS {
            // Takes the copied bit where the mask is 1, and the bit of the row where it is 0.
            row[k] = lop3::<0xb8>(row[k], self.mask, funnel_shift_left(copied[k], copied[k], self.up));
        }
        // SAFETY: `new` chose the destination within a half of the ring.
        unsafe { ring.store_unchecked(half + self.to, row) };
    }
}

/// The strip of rows of a warp.
struct Strip {
    /// The number of vectors in the board's memory before the first vector of the tile.
    tile_start: usize,
    /// The first row of the strip.
    first: u32,
    /// The number of rows of the strip.
    height: u32,
    /// The number of rows of a fold.
    rows: u32,
    /// The number of bits of a word that a fold owns.
    bits: u32,
    margin: Margin,
    has_margin: bool,
    ring: Shared<Words>,
}

impl Strip {
    /// Returns strip `strip` of `strips` strips in tile `tile`. The shared array must have twice [`HALF`] vectors.
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

    /// Starts the copies of [`ROWS`] rows, from row `row` on, to the half of the ring that starts at `half`.
    ///
    /// # Safety
    /// The rows must be in the memory of `cells`, or within one fold's height of it if `IS_ENDLESS` is true. `half`
    /// must be 0 or [`HALF`].
    #[inline(always)]
    unsafe fn copy<const IS_ENDLESS: bool>(&self, copies: &mut AsyncCopies, cells: Global<u32>, row: i32, half: usize) {
        let lane = warp::lane_id() as usize;
        let at = |row: i32| self.tile_start + (row + ROWS_ABOVE as i32) as usize * VECTORS_PER_ROW;
        let from = at(row);
        if IS_ENDLESS && (row < 0 || row + ROWS as i32 > self.rows as i32) {
            unroll!(I in ROWS => {
                let from = at(self.in_fold(row + I as i32));
                // SAFETY: `in_fold` returns a row of a fold, and the half has room for all rows.
                unsafe { copies.copy_unchecked(cells, from + lane, self.ring, half + I * VECTORS + lane) };
            });
            if self.has_margin {
                let row = row + self.margin.row;
                let from = from as isize + (self.in_fold(row) - row) as isize * VECTORS_PER_ROW as isize;
                // SAFETY: `in_fold` returns a row of a fold, and the neighbouring tile exists.
                unsafe {
                    let from = from.wrapping_add(self.margin.from) as usize;
                    copies.copy_unchecked(cells, from, self.ring, half + self.margin.copied);
                }
            }
            return;
        }
        unroll!(I in ROWS => {
            // SAFETY: by this function's contract the rows are in `cells`, and `half` is one of the two halves.
            unsafe {
                let slot = half + I * VECTORS + lane;
                copies.copy_unchecked(cells, from + I * VECTORS_PER_ROW + lane, self.ring, slot);
            }
        });
        if self.has_margin {
            // SAFETY: by this function's contract the rows are in `cells`, and the neighbouring tile exists.
            unsafe {
                let from = from.wrapping_add_signed(self.margin.from);
                copies.copy_unchecked(cells, from, self.ring, half + self.margin.copied);
            }
        }
    }

    /// Returns the row of a fold that corresponds to `row`. A row above the first or below the last row wraps around.
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

    /// Waits for the copies of [`ROWS`] rows from `row` on, and fills in the margins of these rows.
    ///
    /// # Safety
    /// The caller must satisfy the contract of [`copy`](Self::copy).
    #[inline(always)]
    unsafe fn arrive<const IS_ENDLESS: bool>(&self, copies: &mut AsyncCopies, row: i32, half: usize) {
        copies.wait::<1>();
        // Makes the copies of all lanes visible before a lane fills margins from them.
        warp::sync_warp(warp::FULL_MASK);
        if self.has_margin {
            // SAFETY: by this function's contract, `half` is one of the two halves.
            unsafe { self.margin.put(self.ring, half) };
        }
        warp::sync_warp(warp::FULL_MASK);
        if IS_ENDLESS && (row < 0 || row + ROWS as i32 > self.rows as i32) {
            // Rows above or below the rows of a fold belong to the previous or the next fold.
            let lane = warp::lane_id() as usize;
            unroll!(I in ROWS => {
                let row = row + I as i32;
                let up = if row < 0 { self.bits } else if row < self.rows as i32 { 0 } else { 32 - self.bits };
                // SAFETY: the lane's own vectors of these rows are in the ring.
                unsafe {
                    let words = self.ring.load_unchecked(half + I * VECTORS + lane);
                    let words = words.map(|word: u32| funnel_shift_left(word, word, up));
                    self.ring.store_unchecked(half + I * VECTORS + lane, words);
                }
            });
        }
    }

    /// Advances the strip by `DEPTH` generations of rule `R`, from `cells` to `next`. The margins of `cells` must have
    /// been written, unless `IS_ENDLESS` is true.
    ///
    /// # Safety
    /// `cells` and `next` must be whole boards.
    #[inline(always)]
    unsafe fn pass<const DEPTH: usize, const IS_ENDLESS: bool, const HAS_DEAD: bool, R: Logic>(
        &self,
        cells: Global<u32>,
        next: GlobalMut<u32>,
        beside: Lane,
        dead: &Dead,
    ) {
        // The rows that enter before the first row leaves the pipeline form whole rounds.
        const { assert!(DEPTH <= DEEPEST && 2 * DEPTH <= DEPTH.div_ceil(3) * ROWS) };
        let (filling, lane) = (DEPTH.div_ceil(3) * ROWS, warp::lane_id() as usize);
        let mut copies = AsyncCopies::new();
        let mut row = self.first as i32 + DEPTH as i32 - filling as i32;
        let last = (self.first + self.height) as i32 + DEPTH as i32;
        grid::wait_for_dependencies();
        // SAFETY: the board has margin rows around the strip, or the torus wraps around.
        unsafe { self.copy::<IS_ENDLESS>(&mut copies, cells, row, 0) };
        copies.commit();
        // SAFETY: the board has margin rows around the strip, or the torus wraps around.
        unsafe { self.copy::<IS_ENDLESS>(&mut copies, cells, row + ROWS as i32, HALF) };
        copies.commit();

        let mut stages = [Rows::default(); DEPTH];
        // For each stage, a mask of the folds that contain its row. The row that entered last comes first.
        let mut folds = [u32::MAX; DEPTH];
        let mut half = 0;
        unroll!(ROUND in DEPTH.div_ceil(3) => {
            // SAFETY: `half` is 0 or `HALF`, and the rows are those of the oldest pending copy.
            unsafe { self.arrive::<IS_ENDLESS>(&mut copies, row, half) };
            unroll!(I in ROWS => {
                // SAFETY: the index is in one of the two halves.
                let mut words = unsafe { self.ring.load_unchecked(half + I * VECTORS + lane) };
                let entering = if HAS_DEAD { dead.folds(row + I as i32) } else { u32::MAX };
                unroll!(STAGE in DEPTH => {
                    // Skips earlier rows of this stage, because they do not affect a row of the strip.
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
                // SAFETY: the board has margin rows around the strip, or the torus wraps around.
                unsafe { self.copy::<IS_ENDLESS>(&mut copies, cells, row + ROWS as i32, half) };
            }
            copies.commit();
            half = HALF - half;
        });
        let mut out = self.tile_start + (self.first + ROWS_ABOVE) as usize * VECTORS_PER_ROW + lane;
        let mut left = self.height as usize;
        'rows: while left > 0 {
            // SAFETY: `half` is 0 or `HALF`, and the rows are those of the oldest pending copy.
            unsafe { self.arrive::<IS_ENDLESS>(&mut copies, row, half) };
            unroll!(I in ROWS => {
                // If the loop could end after each row, the compiler would not interleave instructions of two rows.
                if I > 0 && I.is_multiple_of(ROWS_TOGETHER) && I == left {
                    break 'rows;
                }
                // SAFETY: the index is in one of the two halves.
                let mut words = unsafe { self.ring.load_unchecked(half + I * VECTORS + lane) };
                let entering = if HAS_DEAD { dead.folds(row + I as i32) } else { u32::MAX };
                unroll!(STAGE in DEPTH => {
                    words = advance::<R>(&mut stages[STAGE], words, beside, STAGE % 2 == 1);
                    // The last stage needs no mask, because margins are written again before they are read.
                    if HAS_DEAD && STAGE + 1 < DEPTH {
                        words = dead.kept(words, folds[STAGE]);
                    }
                });
                folds = Dead::after(folds, entering);
                // SAFETY: the row is in the strip, or it is the row below the strip, which the board has.
                unsafe { next.store_vec_unchecked(out + I * VECTORS_PER_ROW, words) };
            });
            left = left.saturating_sub(ROWS);
            out += ROWS * VECTORS_PER_ROW;
            row += ROWS as i32;
            if row + (ROWS as i32) < last {
                // SAFETY: the board has margin rows around the strip, or the torus wraps around.
                unsafe { self.copy::<IS_ENDLESS>(&mut copies, cells, row + ROWS as i32, half) };
            }
            copies.commit();
            half = HALF - half;
        }
        copies.wait::<0>();
    }
}

/// Advances the interleaved board `cells` by `DEPTH` generations of rule `R` to `next`, in registers.
///
/// [`life_edges()`](super::life_edges()) must have written the margins of `cells`. Launch blocks of one warp: one block
/// per tile along x, and one block per strip of rows along y.
#[kernel(
    max_threads = 32,
    min_blocks = 8,
    instances(DEPTH = [1, 3, 6], R = [Conway]),
    instances(DEPTH = [1, 6], R = [Given]),
    wide(stores)
)]
pub fn life_streaming<const DEPTH: usize, R: Logic>(cells: Global<u32>, next: GlobalMut<u32>, board: Interleaved) {
    // SAFETY: `strip_of` checks that both are whole boards.
    unsafe { stream::<DEPTH, false, R>(cells, next, &board) };
}

/// Does the same as [`life_streaming()`] for a torus and six generations. The margins must be [whole
/// vectors](Interleaved::has_whole_margins). The kernel loads them from the opposite side: no kernel writes them first.
#[kernel(max_threads = 32, min_blocks = 8, instances(R = [Conway, Given]), wide(stores))]
pub fn life_streaming_torus<R: Logic>(cells: Global<u32>, next: GlobalMut<u32>, board: Interleaved) {
    assert!(board.has_whole_margins());
    // SAFETY: `strip_of` checks that both are whole boards.
    unsafe { stream::<DEEPEST, true, R>(cells, next, &board) };
}

/// Does the same as [`life_streaming()`] for a board with dead edges and six generations. `surface` says which edges
/// are dead. A kernel must have written the margins for this `surface`. Strips that do not touch a dead edge execute
/// the same code, because two pipelines in one kernel would exceed the instruction cache of a multiprocessor.
#[kernel(max_threads = 32, min_blocks = 8, instances(R = [Conway, Given]), wide(stores))]
pub fn life_streaming_plane<R: Logic>(cells: Global<u32>, next: GlobalMut<u32>, board: Interleaved, surface: Surface) {
    let strip = strip_of::<false>(&cells, &next, &board);
    let dead = Dead::new(&board, &surface, thread::block_idx_x(), warp::lane_id());
    let lane = Lane::new(warp::lane_id());
    // SAFETY: `strip_of` checks that both are whole boards.
    unsafe { strip.pass::<DEEPEST, false, true, R>(cells, next, lane, &dead) };
}

/// Returns this warp's strip of the board. The grid has one block of one warp per strip: tiles along x, strips along y.
#[inline(always)]
fn strip_of<const IS_ENDLESS: bool>(cells: &Global<u32>, next: &GlobalMut<u32>, board: &Interleaved) -> Strip {
    grid::launch_dependents();
    let (tile, strip) = (thread::block_idx_x(), thread::block_idx_y());
    assert!(cells.len() == board.words() && next.len() == cells.len() && thread::block_dim_x() == warp::SIZE);
    assert!(tile < board.tiles());
    let ring = shared_array! { mod Words; 2 * HALF };
    Strip::new::<IS_ENDLESS>(board, tile, (strip, thread::grid_dim_y()), ring)
}

/// Advances this warp's strip by `DEPTH` generations of rule `R`, on a board without dead edges.
///
/// # Safety
/// The caller must satisfy the contract of [`Strip::pass`].
#[inline(always)]
unsafe fn stream<const DEPTH: usize, const IS_ENDLESS: bool, R: Logic>(
    cells: Global<u32>,
    next: GlobalMut<u32>,
    board: &Interleaved,
) {
    let strip = strip_of::<IS_ENDLESS>(&cells, &next, board);
    // SAFETY: this function has the same contract as `pass`.
    unsafe { strip.pass::<DEPTH, IS_ENDLESS, false, R>(cells, next, Lane::new(warp::lane_id()), &Dead::NOTHING) };
}
