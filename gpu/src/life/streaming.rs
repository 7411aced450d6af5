//! Streaming: a warp walks down a strip of rows, and each generation is a stage of a pipeline in its registers.
//!
//! What it changes: a row that comes in at the top of the pipeline leaves it `DEPTH` generations later. A stage keeps the
//! last row and two rows' sums, so no row is loaded or added twice, and no barrier is needed: warps are alone. The board is
//! [`Interleaved`], where four words a lane need half a shuffle and half a shift a word. Rows come by asynchronous copies
//! into a ring in shared memory, [`ROWS`] at a time and as many ahead; there the margins of all of these rows are put in at once.
//!
//! Limited by logic: eight three-input operations a word and generation. At the top of a strip it takes rows from the
//! strip above, which are computed twice.

use cuda_std::bits::{funnel_shift_left, lop3};
use cuda_std::{AsyncCopies, Global, GlobalMut, Shared, kernel, shared_array, thread, unroll, warp};

use super::interleaved::logic::{Conway, Given, Lane, Logic, Rows, Sums, WORDS, Words};
use super::interleaved::{Interleaved, ROWS_ABOVE};
use super::tuning::STREAMING_ROWS as ROWS;

/// Lanes that hold columns of a margin: the first two and the last two.
const MARGIN_LANES: usize = 4;

/// Vectors of a row in the ring: the row's, and what goes into its margins.
const VECTORS: usize = warp::SIZE as usize + MARGIN_LANES;

/// Vectors of half of the ring.
const HALF: usize = ROWS * VECTORS;

/// A generation's stage has taken in the row of `rows`: takes in the one below and gives the first one's next generation.
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
    /// Where the tile beside it begins, from this tile's first vector on, and the vector there.
    from: isize,
    /// Where the copied vector is in the half of the ring, and where it goes to.
    copied: usize,
    to: usize,
    /// The bits that are taken, and how far up.
    mask: u32,
    up: u32,
}

impl Margin {
    /// That of lane `lane`, below [`ROWS`] × [`MARGIN_LANES`], for tile `tile`.
    #[inline(always)]
    fn new(lane: usize, tile: u32, board: &Interleaved) -> Self {
        let (row, which) = (lane / MARGIN_LANES, lane % MARGIN_LANES);
        let pitch = board.pitch() as isize * warp::SIZE as isize;
        let (row_before, bits) = (row as isize * warp::SIZE as isize, board.bits());
        let (copied, in_ring) = (row * VECTORS + warp::SIZE as usize + which, row * VECTORS);
        // Four vectors at the end of a tile are those of its margin and before it the next tile's, and so at its beginning.
        if which < 2 {
            let (is_first, from) = (tile == 0, which + warp::SIZE as usize - 4);
            let from = row_before + from as isize - if is_first { 0 } else { pitch };
            let mask = if is_first { 0 } else { board.lowest_bits() };
            Self { from, copied, to: in_ring + which, mask, up: 33 - bits }
        } else {
            let is_last = tile + 1 == board.tiles();
            let from = row_before + which as isize + if is_last { 0 } else { pitch };
            let mask = if is_last { 0 } else { board.lowest_bits() << (bits - 1) };
            Self { from, copied, to: in_ring + which + warp::SIZE as usize - MARGIN_LANES, mask, up: bits - 1 }
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

/// Streaming down strips of rows, a pipeline of `DEPTH` generations in registers.
///
/// `next` = the interleaved board `DEPTH` generations of rule `R` after `cells`, whose margins [`life_edges()`](super::life_edges()) has
/// written. Blocks of one warp: one for each tile along x and each strip of `strip` rows along y; `strip` is a multiple of
/// [`STREAMING_ROWS`](super::STREAMING_ROWS).
#[kernel(
    max_threads = 32,
    min_blocks = 8,
    instances(DEPTH = [1, 3, 6], R = [Conway]),
    instances(DEPTH = [1, 6], R = [Given]),
    wide(stores)
)]
pub fn life_streaming<const DEPTH: usize, R: Logic>(
    cells: Global<u32>,
    next: GlobalMut<u32>,
    board: Interleaved,
    strip: u32,
) {
    // Rows before the first that leaves the pipeline, in whole rounds.
    const { assert!(2 * DEPTH <= DEPTH.div_ceil(3) * ROWS && ROWS * MARGIN_LANES <= warp::SIZE as usize) };
    let filling = DEPTH.div_ceil(3) as u32;
    let (tile, start) = (thread::block_idx_x(), thread::block_idx_y() * strip);
    assert!(cells.len() == board.words() && next.len() == cells.len() && thread::block_dim_x() == warp::SIZE);
    assert!(strip.is_multiple_of(ROWS as u32) && tile < board.tiles());
    if start >= board.rows() {
        return;
    }
    let ring = shared_array![Words; 2 * HALF];
    let lane = warp::lane_id();
    let rounds = strip.min(board.rows() - start).div_ceil(ROWS as u32) + filling;
    let vectors = warp::SIZE as usize;
    let tile_start = tile as usize * board.pitch() as usize * vectors;
    let first_row = start as usize + ROWS_ABOVE as usize;
    let mut out = tile_start + first_row * vectors + lane as usize;
    let mut from = tile_start + (first_row + DEPTH - filling as usize * ROWS) * vectors;

    let margin = Margin::new(lane as usize % (ROWS * MARGIN_LANES), tile, &board);
    let has_margin = (lane as usize) < ROWS * MARGIN_LANES;
    let mut copies = AsyncCopies::new();
    let mut copy = |copies: &mut AsyncCopies, half: usize| {
        unroll!(I in ROWS => {
            // SAFETY: strips end at most `ROWS` rows after the last, and there are more below; the ring has two halves.
            unsafe {
                let slot = half + I * VECTORS + lane as usize;
                copies.copy_unchecked(cells, from + I * vectors + lane as usize, ring, slot);
            }
        });
        if has_margin {
            // SAFETY: as above, of a tile that there is.
            unsafe { copies.copy_unchecked(cells, from.wrapping_add_signed(margin.from), ring, half + margin.copied) };
        }
        from += ROWS * vectors;
    };
    copy(&mut copies, 0);
    copies.commit();
    copy(&mut copies, HALF);
    copies.commit();

    let beside = Lane::new(lane);
    let mut stages = [Rows::default(); DEPTH];
    let mut half = 0;
    for round in 0..rounds {
        copies.wait::<1>();
        // The lanes' copies, and then the margins.
        warp::sync_warp(warp::FULL_MASK);
        if has_margin {
            // SAFETY: one of the two halves.
            unsafe { margin.put(ring, half) };
        }
        warp::sync_warp(warp::FULL_MASK);
        unroll!(I in ROWS => {
            // SAFETY: in one of the halves.
            let mut row = unsafe { ring.load_unchecked(half + I * VECTORS + lane as usize) };
            unroll!(STAGE in DEPTH => { row = advance::<R>(&mut stages[STAGE], row, beside, STAGE % 2 == 1); });
            if round >= filling {
                // SAFETY: as for the copies: rows that are no strip's are below the last.
                unsafe { next.store_vec_unchecked(out + I * vectors, row) };
            }
        });
        if round >= filling {
            out += ROWS * vectors;
        }
        if round + 2 < rounds {
            copy(&mut copies, half);
        }
        copies.commit();
        half = HALF - half;
    }
}
