//! The run of a soup.

use cuda_std::{opaque, unroll, warp};

use super::super::interleaved::logic::{Logic, WORDS};
use super::window::{advance, is_near_edge};
use super::{CHUNK, LONG, Soup, TICK, Unfinished};

impl<const ACROSS: usize, const ROWS: usize> Soup<'_, ACROSS, ROWS> {
    /// Runs the soup until it is periodic, and finds the objects of its ash.
    #[inline(always)]
    pub(super) fn run<L: Logic>(&mut self, limit: u32) -> Result<(), Unfinished> {
        self.hashes.store(warp::lane_id() as usize, 0);
        // True if the last two hashes were equal. The copy was made in the generation of the last one.
        let mut is_kept = false;
        // The number of generations of the period that are still to be recorded; 0 until the period is known.
        let mut unrecorded = 0;
        loop {
            // The same loop runs and records, because the code of a generation is long.
            let mut left = opaque(if unrecorded == 0 { TICK } else { 1 });
            while left > 0 {
                advance::<L, ACROSS, ROWS>(&mut self.cells, &self.place);
                left -= 1;
            }
            let is_ash = unrecorded == 1;
            let has_look = if unrecorded > 0 {
                self.record();
                unrecorded -= 1;
                is_ash
            } else {
                self.generation += TICK;
                let is_zone = self.generation < self.near_until;
                is_near_edge::<ACROSS, ROWS>(&self.cells, &self.place, self.generation, is_zone)
            };
            if has_look {
                self.count_objects(is_ash)?;
            }
            if is_ash {
                return Ok(());
            }
            if unrecorded > 0 || !self.generation.is_multiple_of(CHUNK) {
                continue;
            }
            if let Some(period) = self.period(&mut is_kept) {
                self.other.store(&self.cells);
                unrecorded = period;
            } else if self.generation >= limit {
                return Err(Unfinished::Long);
            }
        }
    }

    /// Compares the window with its copy after [`CHUNK`] more generations. Returns the period, or a multiple of it.
    #[inline(always)]
    fn period(&mut self, is_kept: &mut bool) -> Option<u32> {
        let has_hash = self.generation.is_multiple_of(LONG);
        if *is_kept && !has_hash {
            return None;
        }
        if self.renew_copy() {
            return Some(if *is_kept { LONG } else { CHUNK });
        }
        *is_kept = has_hash && self.renew_hashes();
        None
    }

    /// Adds the live cells to the other window.
    #[inline(always)]
    fn record(&self) {
        unroll!(I in ROWS => {
            let mut words = self.other.row(I);
            unroll!(K in WORDS => {
                words[K] |= self.cells[I][K];
            });
            self.other.set_row(I, words);
        });
    }

    /// Replaces the copy by the window. Returns true if they were equal, and the soup developed freely in between.
    #[inline(always)]
    fn renew_copy(&mut self) -> bool {
        let mut differences = 0;
        unroll!(I in ROWS => {
            let old = self.copy.row(I);
            unroll!(K in WORDS => {
                differences |= old[K] ^ self.cells[I][K];
            });
            // Without `opaque`, all rows of the copy would be loaded before the first one is compared.
            differences = opaque(differences);
            self.copy.set_row(I, self.cells[I]);
        });
        let is_changed = core::mem::replace(&mut self.is_changed, false);
        !warp::any(warp::FULL_MASK, is_changed || differences != 0)
    }

    /// Replaces the hashes of the window. Returns true if they are the same as before.
    #[inline(always)]
    fn renew_hashes(&self) -> bool {
        let (lane, mut hash) = (warp::lane_id() as usize, 0_u32);
        unroll!(I in ROWS => {
            unroll!(K in WORDS => {
                hash = (hash ^ self.cells[I][K]).wrapping_mul(0x9e37_79b1);
            });
        });
        let before = self.hashes.load(lane);
        self.hashes.store(lane, hash);
        !warp::any(warp::FULL_MASK, hash != before)
    }
}
