//! A hash of an interleaved board that is computed from its words as they lie in memory.

use cuda_std::{Global, GlobalMut, kernel, thread, warp};

use super::super::compare::add_to_total;
use super::super::soup::{STEP, mix};
use super::Interleaved;

/// Adds a hash of `rows` rows of an interleaved board, from row `first` on, to `total[0]`.
///
/// The hash is comparable only with hashes of the same rows of boards of the same layout. Different cells have the same
/// hash with a probability of about 2⁻⁶⁴. [`life_hash_words()`](crate::life::life_hash_words()) needs packed words, and
/// packing takes longer than this kernel. The board must start at a multiple of 16 bytes, as whole buffers do. Launch a
/// one-dimensional grid with up to 8 whole warps per block.
#[kernel(max_threads = 256, wide(loads))]
pub fn life_hash_interleaved(cells: Global<u32>, total: GlobalMut<u64>, board: Interleaved, first: usize, rows: usize) {
    assert!(thread::block_size().is_multiple_of(warp::SIZE) && cells.len() == board.words());
    let mut hash = 0_u64;
    // A warp processes the 32 vectors of a row together.
    for i in thread::grid_stride(cells.len() / 4) {
        let (tile, row, word) = board.place_of(4 * i);
        let folds = board.folds_of_rows(row, first, rows);
        if folds == 0 {
            continue;
        }
        let words = cells.load_vec::<4>(i);
        let own = |k: u32| u64::from(words[k as usize] & (board.own_columns(tile, word + k) * folds));
        for pair in 0..2 {
            let (bits, number) = (own(2 * pair) | own(2 * pair + 1) << 32, 2 * i as u64 + u64::from(pair));
            // A pair without live cells contributes 0.
            if bits != 0 {
                hash = hash.wrapping_add(mix(number.wrapping_mul(STEP).wrapping_add(bits)));
            }
        }
    }
    add_to_total(hash, total, 0);
}

impl Interleaved {
    /// Returns a word in which the lowest bit of each fold is set whose row `row` is one of the board's `rows` rows
    /// from row `first` on.
    #[inline(always)]
    fn folds_of_rows(&self, row: i32, first: usize, rows: usize) -> u32 {
        let mut folds = 0;
        for fold in 0..self.folds() {
            if row >= 0 && (row as u32) < self.rows_of(fold) {
                let y = (self.first_row(fold) + row as u32) as usize;
                if y >= first && y - first < rows {
                    folds |= 1 << (fold * self.bits());
                }
            }
        }
        folds
    }
}
