//! Advancing a simulation by as much as fits a time, and measuring its speed.

use std::time::{Duration, Instant};

use life::{Board, Rule};

use crate::backend::Backend;
use crate::first_board::Source;
use crate::simulation::{Advance, GrowingBoard};

/// A board that is being advanced, and the time that it has computed.
pub struct Run {
    life: GrowingBoard,
    /// The generation that it began with.
    begun_at: u64,
    /// Generations that were computed.
    advanced: u64,
    computing: Duration,
    pace: Pace,
}

impl Run {
    /// Puts what `source` gives, the cells of generation `generation`, where `backend` is, and makes sure that loading
    /// the kernel does not count as computing.
    ///
    /// # Errors
    /// When the device has no room for the board, or fails, and those of `source`.
    pub fn begin(backend: &Backend, source: &Source, generation: u64) -> anyhow::Result<Self> {
        let mut life = GrowingBoard::read(backend, source)?;
        GrowingBoard::warm_up(backend, source.size())?;
        life.advance(0)?;
        let pace = Pace::new(life.generations_at_once());
        Ok(Self { life, begun_at: generation, advanced: 0, computing: Duration::ZERO, pace })
    }

    /// Advances by at most `most` generations for about `budget`, by one at least unless `most` is 0. Gives the number
    /// of generations that it did.
    ///
    /// # Errors
    /// When the device fails.
    pub fn advance(&mut self, most: u64, budget: Duration) -> anyhow::Result<u64> {
        let begun = Instant::now();
        let mut done = 0;
        while done < most {
            let left = budget.saturating_sub(begun.elapsed());
            let is_enough = done > 0 && !self.pace.fits(left);
            let batch = self.life.ranks().first(if is_enough { 0 } else { self.pace.batch(most - done, left) })?;
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

    /// Runs one generation, and gives how many cells it has brought to life and how many have died in it.
    ///
    /// # Errors
    /// When the device fails.
    pub fn advance_counting(&mut self) -> anyhow::Result<(u64, u64)> {
        let begun = Instant::now();
        let changes = self.life.advance_counting();
        self.computing += begun.elapsed();
        self.advanced += 1;
        changes
    }

    /// The generation that the board is at.
    pub fn generation(&self) -> u64 {
        self.begun_at + self.life.generation()
    }

    /// Goes back to what it was at an earlier generation.
    pub fn go_back(&mut self, life: GrowingBoard) {
        self.life = life;
    }

    /// Goes on from `board`, the cells of generation `generation`, no earlier than the first; `added` columns and rows
    /// were added to the left and above.
    ///
    /// # Errors
    /// As [`begin`](Self::begin). Then it is as it was.
    pub fn put(&mut self, board: &Board, generation: u64, added: (usize, usize)) -> anyhow::Result<()> {
        self.life.replace(board, generation.saturating_sub(self.begun_at), added)
    }

    /// Goes on by another rule, on the same board.
    ///
    /// # Errors
    /// As [`begin`](Self::begin). Then it is as it was.
    pub fn change_rule(&mut self, rule: Rule) -> anyhow::Result<()> {
        self.life.change_rule(rule)?;
        self.pace = Pace::new(self.life.generations_at_once());
        Ok(())
    }

    /// Returns the board that advances.
    pub fn life(&self) -> &GrowingBoard {
        &self.life
    }

    /// Returns the board that advances, to count or hash it where it is.
    pub fn life_mut(&mut self) -> &mut GrowingBoard {
        &mut self.life
    }

    /// Generations computed so far, also those that it has gone back behind.
    pub fn advanced(&self) -> u64 {
        self.advanced
    }

    /// Time spent on generations alone.
    pub fn computing(&self) -> Duration {
        self.computing
    }
}

/// Chooses how many generations go to the device at once.
///
/// One launch for many generations costs less than many launches, but nobody can stop it: a batch may grow by a factor
/// of [`Pace::GROWTH`] over the one before and is to take no longer than the time that is left.
#[derive(Debug)]
struct Pace {
    /// Generations that together take about as long as one, if so many are asked for.
    at_once: u64,
    last_batch: u64,
    seconds_per_generation: Option<f64>,
}

impl Pace {
    const GROWTH: u64 = 8;

    fn new(at_once: u64) -> Self {
        Self { at_once, last_batch: 0, seconds_per_generation: None }
    }

    /// True if the smallest batch is likely to fit `left`.
    fn fits(&self, left: Duration) -> bool {
        self.seconds_per_generation.is_some_and(|seconds| seconds * self.at_once as f64 <= left.as_secs_f64())
    }

    /// The next batch: at least 1 and at most `most`, which is not 0.
    fn batch(&self, most: u64, left: Duration) -> u64 {
        let Some(seconds) = self.seconds_per_generation else { return self.at_once.min(most) };
        let affordable = whole((left.as_secs_f64() / seconds) as u64);
        affordable.min(self.last_batch.saturating_mul(Self::GROWTH)).max(self.at_once).min(most)
    }

    /// `batch` generations took so long.
    fn record(&mut self, batch: u64, took: Duration) {
        // A batch cut short by its caller says less than a longer one before it, but its successor may grow again.
        self.last_batch = batch;
        self.seconds_per_generation = Some(took.as_secs_f64().max(1e-9) / batch as f64);
    }
}

/// As many of `generations` as kernels run without a rest, if there are some: 24 at a time, or 6.
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
            // A launch of 10 µs and 1 µs per generation.
            pace.record(batch, Duration::from_micros(10 + batch));
        }
        assert_eq!(batches[..4], [1, 8, 64, 512]);
        assert!((99_000..=100_000).contains(&batches[7]), "{batches:?}");
    }

    /// A rest of a few generations takes a launch that moves as much memory as one of six.
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

    /// One generation of a board that fills a GPU's memory takes as long as the six of a launch.
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
