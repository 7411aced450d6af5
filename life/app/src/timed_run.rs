//! Advances a board by as many generations as a time budget allows, and measures the speed.

use std::time::{Duration, Instant};

use life::{Board, Rule};

use crate::backend::Backend;
use crate::first_board::BoardSource;
use crate::simulation::{GrowingBoard, PlaneBoard};

/// A board that advances, together with the time spent on its generations.
pub struct TimedRun {
    /// The board that advances.
    pub life: GrowingBoard,
    /// The number of the first board's generation.
    pub begun_at: u64,
    /// The number of generations computed so far. If the run returned to an earlier generation, the discarded
    /// generations are included.
    pub advanced: u64,
    /// The time spent on computing generations.
    pub computing: Duration,
    pace: Pace,
}

impl TimedRun {
    /// Makes the board of `source` in the memory of `backend`. The board is at generation `generation`. This function
    /// also loads the kernel, so that the time to load it does not count as computing time.
    ///
    /// # Errors
    /// If the device fails or has too little memory for the board, or if `source` fails.
    pub fn begin(backend: &Backend, source: &BoardSource, generation: u64) -> anyhow::Result<Self> {
        let mut life = GrowingBoard::read(backend, source)?;
        GrowingBoard::warm_up(backend, source.size())?;
        life.advance(0)?;
        let pace = Pace::new(life.engine().generations_at_once());
        Ok(Self { life, begun_at: generation, advanced: 0, computing: Duration::ZERO, pace })
    }

    /// Advances the board for about the time `budget`, but by at most `limit` generations. At least one generation is
    /// run unless `limit` is 0. Returns the number of generations run.
    ///
    /// # Errors
    /// If the device fails.
    pub fn advance(&mut self, limit: u64, budget: Duration) -> anyhow::Result<u64> {
        let begun = Instant::now();
        let mut done = 0;
        while done < limit {
            let left = budget.saturating_sub(begun.elapsed());
            let is_enough = done > 0 && !self.pace.fits(left);
            let batch = self.life.ranks().first(if is_enough { 0 } else { self.pace.batch(limit - done, left) })?;
            if batch == 0 {
                break;
            }
            let batch_begun = Instant::now();
            self.life.advance(batch)?;
            let took = batch_begun.elapsed();
            self.pace.record(batch, took);
            self.computing += took;
            done += batch;
            self.advanced += batch;
        }
        Ok(done)
    }

    /// Runs one generation and returns its numbers of births and deaths.
    ///
    /// # Errors
    /// If the device fails.
    pub fn advance_counting(&mut self) -> anyhow::Result<(u64, u64)> {
        let begun = Instant::now();
        let changes = self.life.advance_counting();
        self.computing += begun.elapsed();
        self.advanced += 1;
        changes
    }

    /// Returns the present generation of the board.
    pub fn generation(&self) -> u64 {
        self.begun_at + self.life.generation()
    }

    /// Continues from `board`, which is at generation `generation`. `corner` is the position of its upper left cell
    /// relative to that of the first board. `whole` is the pattern of that generation on the plane, of which `board`
    /// replaces a rectangle, and `None` if the board is not on a plane. `generation` must not be before the generation
    /// of the first board.
    ///
    /// # Errors
    /// Fails in the same cases as [`begin`](Self::begin). After an error the board is unchanged.
    pub fn put(
        &mut self,
        board: &Board,
        generation: u64,
        corner: (i64, i64),
        whole: Option<&PlaneBoard>,
    ) -> anyhow::Result<()> {
        self.life.replace(board, generation.saturating_sub(self.begun_at), corner, whole)
    }

    /// Continues the run with another rule on the same board.
    ///
    /// # Errors
    /// Fails in the same cases as [`begin`](Self::begin). After an error the board is unchanged.
    pub fn change_rule(&mut self, rule: Rule) -> anyhow::Result<()> {
        self.life.change_rule(rule)?;
        self.pace = Pace::new(self.life.engine().generations_at_once());
        Ok(())
    }
}

/// The speed of a run. The speed determines the size of the next batch: the number of generations that the next call
/// runs on the device.
///
/// One launch for many generations costs less than many launches. But a launch cannot be interrupted. A batch is
/// therefore at most [`Pace::GROWTH`] times as large as the previous one, and should not take longer than the remaining
/// time.
#[derive(Debug)]
struct Pace {
    /// The number of generations that the board can advance in about the same time as a single generation.
    at_once: u64,
    last_batch: u64,
    seconds_per_generation: Option<f64>,
}

impl Pace {
    const GROWTH: u64 = 8;

    fn new(at_once: u64) -> Self {
        Self { at_once, last_batch: 0, seconds_per_generation: None }
    }

    /// Returns true if the smallest batch will probably take no longer than `left`.
    fn fits(&self, left: Duration) -> bool {
        self.seconds_per_generation.is_some_and(|seconds| seconds * self.at_once as f64 <= left.as_secs_f64())
    }

    /// Returns the number of generations of the next batch: at least 1 and at most `limit`, which must not be 0.
    fn batch(&self, limit: u64, left: Duration) -> u64 {
        let Some(seconds) = self.seconds_per_generation else { return self.at_once.min(limit) };
        let affordable = whole((left.as_secs_f64() / seconds) as u64);
        affordable.min(self.last_batch.saturating_mul(Self::GROWTH)).max(self.at_once).min(limit)
    }

    /// Records that `batch` generations took the time `took`.
    fn record(&mut self, batch: u64, took: Duration) {
        // The next batch may grow from this one, even if `limit` made this batch smaller.
        self.last_batch = batch;
        self.seconds_per_generation = Some(took.as_secs_f64().max(1e-9) / batch as f64);
    }
}

/// Rounds `generations` down to a multiple of 24, or to 6, 12 or 18 if it is below 24, because a launch runs 24 or 6
/// generations. Numbers below 6 stay unchanged.
fn whole(generations: u64) -> u64 {
    let unit = [24, 6].into_iter().find(|&unit| generations >= unit).unwrap_or(1);
    generations - generations % unit
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUDGET: Duration = Duration::from_millis(100);

    #[test]
    fn batches_grow_until_they_fill_the_time() {
        let mut pace = Pace::new(1);
        let mut batches = Vec::new();
        for _ in 0..8 {
            let batch = pace.batch(u64::MAX, BUDGET);
            batches.push(batch);
            // In this test a launch costs 10 µs plus 1 µs per generation.
            pace.record(batch, Duration::from_micros(10 + batch));
        }
        assert_eq!(batches[..4], [1, 8, 64, 512]);
        assert!((99_000..=100_000).contains(&batches[7]), "{batches:?}");
    }

    /// Checks that batches consist of whole launches. A launch for fewer than six remaining generations transfers as
    /// many bytes as a launch for six.
    #[test]
    fn a_batch_leaves_kernels_no_rest() {
        let mut pace = Pace::new(1);
        for (affordable, batch) in [(2, 2), (9, 6), (23, 18), (25, 24), (1000, 984)] {
            pace.record(1 << 20, Duration::from_secs(1 << 20));
            assert_eq!(pace.batch(u64::MAX, Duration::from_millis(1000 * affordable + 500)), batch);
        }
    }

    #[test]
    fn a_slow_generation_is_done_one_at_a_time() {
        let mut pace = Pace::new(1);
        pace.record(1, Duration::from_secs(3));
        assert_eq!(pace.batch(1000, BUDGET), 1);
        assert!(!pace.fits(BUDGET));
        assert!(pace.fits(Duration::from_secs(4)));
    }

    /// Checks batches for a board that fills a GPU's memory. On such a board, a launch of one generation takes as long
    /// as a launch of six.
    #[test]
    fn a_slow_launch_is_done_whole() {
        let mut pace = Pace::new(6);
        assert_eq!((pace.batch(1000, BUDGET), pace.batch(4, BUDGET)), (6, 4));
        pace.record(6, Duration::from_secs(3));
        assert_eq!((pace.batch(1000, BUDGET), pace.batch(1000, Duration::from_secs(7))), (6, 12));
        assert!(!pace.fits(Duration::from_secs(2)) && pace.fits(Duration::from_secs(3)));
    }

    #[test]
    fn a_batch_never_exceeds_what_is_asked() {
        let mut pace = Pace::new(1);
        pace.record(1 << 40, Duration::ZERO);
        assert_eq!(pace.batch(7, BUDGET), 7);
        assert_eq!(pace.batch(1, Duration::ZERO), 1);
        pace.record(u64::MAX, Duration::from_nanos(1));
        assert_eq!(pace.batch(u64::MAX, Duration::from_secs(1 << 40)), whole(u64::MAX));
    }
}
