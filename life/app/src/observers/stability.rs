//! The option `--until stable`, which searches for the first periodic generation of a run and for the period.
//!
//! The search compares hashes of boards ([`Schedule`]). If a hash occurred before, the period divides the number of
//! generations between the two occurrences. The period is the smallest divisor after which the board is the same, cell
//! by cell. Then a bisection finds the first periodic generation. The bisection advances two boards that are one period
//! apart, from the beginning of the run on. A generation is periodic if the two boards have the same cells. No result
//! depends only on a hash.
//!
//! In a universe in which the board grows, two boards are considered the same if all cells have moved by the same
//! distance. A spaceship is therefore periodic.
//!
//! The generations whose hashes are compared depend only on their numbers. The speed of the machine therefore does not
//! influence whether a run finds a period before its last generation. All ranks compute the same hashes and make the
//! same decisions. The run returns to the generation at which a board first occurred again.

use std::fmt;
use std::ops::ControlFlow;

use life::Rule;
use serde::Serialize;

use super::Observer;
use super::kept_hashes::KeptHashes;
use super::schedule::Schedule;
use crate::backend::Backend;
use crate::divisors::divisors;
use crate::fate::{Fate, Outcome, Watch};
use crate::objects::Counts;
use crate::simulation::{GrowingBoard, Snapshot};
use crate::timed_run::TimedRun;
use program::report::grouped;

/// The number of kept hashes that a search always has. With a hash per 120 generations, they go back 110 million
/// generations. This number and as many older hashes fill hash tables of 2²⁰ entries, of 36 MB in total. Hashes of
/// samples need 19 MB more.
const MAX_HASHES: usize = 7 << 17;

/// The period of a board, and the first generation that is periodic.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Stability {
    /// The first generation whose board occurs again later.
    pub since: u64,
    /// The period in generations, which is 1 for a still board.
    pub period: u64,
    /// The numbers of columns and rows by which all cells move in one period, or `None` if they do not move.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shift: Option<(i64, i64)>,
    /// True if all cells are dead.
    pub dead: bool,
    /// True if `since` is the first generation of the run. In that case the board may have been periodic before the
    /// run.
    #[serde(skip)]
    pub from_begin: bool,
}

impl fmt::Display for Stability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.period {
            _ if self.dead => write!(f, "dead")?,
            1 if self.shift.is_none() => write!(f, "still")?,
            period => write!(f, "periodic with period {}", grouped(period))?,
        }
        if let Some((x, y)) = self.shift {
            write!(f, ", shifted by ({x}, {y}),")?;
        }
        let before = if self.from_begin && self.since > 0 { " or before" } else { "" };
        write!(f, " from generation {}{before} on", grouped(self.since))
    }
}

/// An observer that searches for a period.
pub struct Search<'e> {
    backend: &'e Backend,
    /// A function that makes the first board of the run. This board is at generation `begun_at`.
    begin: Box<dyn Fn() -> anyhow::Result<GrowingBoard> + 'e>,
    begun_at: u64,
    /// The last generation of the run.
    last: u64,
    schedule: Schedule,
    seen: KeptHashes,
    /// The next generation whose hash is compared.
    next: u64,
    /// Looks at patterns on the unbounded plane. `None` if the board is bounded or the rule is not Life.
    watch: Option<Watch>,
    /// The period that was found, or `None` if none has been found yet.
    pub found: Option<Stability>,
    /// What the pattern becomes, if it is known but not periodic as a whole.
    pub outcome: Option<Outcome>,
}

impl<'e> Search<'e> {
    /// Returns a search for a run on `backend`. The run begins at generation `begun_at` with the board that `begin`
    /// makes, and ends at generation `last`. If `at_each` is true, the search looks at every generation, so that the
    /// run stops as soon as a board occurs again. A recording needs this, because pictures of later generations cannot
    /// be removed from it.
    pub fn new(
        backend: &'e Backend,
        (begun_at, last): (u64, u64),
        at_each: bool,
        begin: impl Fn() -> anyhow::Result<GrowingBoard> + 'e,
    ) -> Self {
        let universe = backend.universe();
        let is_watched = universe.is_unbounded() && universe.rule == Rule::LIFE && backend.ranks().size() == 1;
        Self {
            backend,
            begin: Box::new(begin),
            begun_at,
            last,
            schedule: if at_each { Schedule::Each } else { Schedule::Sparse },
            seen: KeptHashes::new(MAX_HASHES),
            next: begun_at,
            watch: is_watched.then(|| Watch::new(Counts::LIFE)),
            found: None,
            outcome: None,
        }
    }

    /// Returns the period of `board`, which is at generation `at`, and the distance by which the cells move in a
    /// period. Only divisors of `multiple` are tried. Returns `None` if no divisor is a period.
    fn period(&self, board: &Snapshot, at: u64, multiple: u64) -> anyhow::Result<Option<(u64, (i64, i64))>> {
        let mut life = self.life_at(board, at)?;
        // If even and odd generations have different rules, only an even number can be a period.
        let [even, odd] = self.backend.universe().rule.phases();
        for divisor in divisors(multiple).into_iter().filter(|divisor| even == odd || divisor.is_multiple_of(2)) {
            life.advance(divisor - (life.generation() - (at - self.begun_at)))?;
            if let Some(shift) = life.moved_from(board)? {
                return Ok(Some((divisor, shift)));
            }
        }
        Ok(None)
    }

    /// Finds the first generation of the run whose board occurs again `period` generations later. Returns the number of
    /// that generation, and the board `period` generations later. The board of generation `repeats` must occur again
    /// after `period` generations.
    ///
    /// The two boards advance by at most 2 · `repeats` + `period` generations each.
    fn since(&self, repeats: u64, period: u64) -> anyhow::Result<(u64, GrowingBoard)> {
        let (mut before, mut after) = (self.begun_at, repeats);
        let mut early = (self.begin)()?;
        let mut early_before = early.snapshot()?;
        let mut late = self.life_at(&early_before, before)?;
        late.advance(period)?;
        let mut late_before = late.snapshot()?;
        if late.moved_from(&early_before)?.is_some() {
            after = before;
        }
        // The board of generation `before` does not occur again, and the board of generation `after` does. `early` is
        // at generation `before`, and `late` is one period later.
        while after - before > 1 {
            let middle = before + (after - before) / 2;
            early.advance(middle - before)?;
            late.advance(middle - before)?;
            let there = early.snapshot()?;
            if late.moved_from(&there)?.is_some() {
                after = middle;
                early = self.life_at(&early_before, before)?;
                late = self.life_at(&late_before, before + period)?;
            } else {
                (before, early_before, late_before) = (middle, there, late.snapshot()?);
            }
        }
        drop((early, early_before, late_before));
        if self.backend.universe().grows != [false; 2] {
            // The growth of a board depends on all generations since the beginning of the run.
            late = (self.begin)()?;
            before = self.begun_at;
            late.advance(period)?;
        }
        late.advance(after - before)?;
        Ok((after, late))
    }

    /// Returns a board that continues from the copy `board`, which is at generation `at` of the run.
    fn life_at(&self, board: &Snapshot, at: u64) -> anyhow::Result<GrowingBoard> {
        GrowingBoard::later(self.backend, board, at - self.begun_at)
    }

    /// Combines `hash`, the hash of the board of a generation, with all else that determines later generations. These
    /// are the rules of even and odd generations, if the two differ.
    fn key(&self, hash: u64, generation: u64) -> u64 {
        let [even, odd] = self.backend.universe().rule.phases();
        if even != odd && generation % 2 == 1 { !hash } else { hash }
    }

    /// Searches for a period of `board`, which is at generation `now`, among the divisors of `multiple`. If there is a
    /// period, `run` returns to the generation at which a board first occurred again.
    fn find(
        &mut self,
        run: &mut TimedRun,
        (board, now): (&Snapshot, u64),
        multiple: u64,
    ) -> anyhow::Result<ControlFlow<()>> {
        let Some((period, shift)) = self.period(board, now, multiple)? else { return Ok(ControlFlow::Continue(())) };
        let (since, life) = self.since(now, period)?;
        run.life = life;
        let dead = run.life.population()? == 0;
        let shift = Some(shift).filter(|&shift| shift != (0, 0));
        self.found = Some(Stability { since, period, shift, dead, from_begin: since == self.begun_at });
        Ok(ControlFlow::Break(()))
    }
}

impl Search<'_> {
    /// Looks at the pattern of generation `now`, if a look is due. If it is known what the pattern becomes, `run`
    /// returns to one period after the first generation from which on this is so.
    fn look(&mut self, run: &mut TimedRun, now: u64) -> anyhow::Result<ControlFlow<()>> {
        let is_due = self.schedule.is_kept(now);
        let Some(watch) = self.watch.as_mut().filter(|watch| is_due && watch.next <= now) else {
            return Ok(ControlFlow::Continue(()));
        };
        let Some(fate) = watch.look(&run.life.live_cells((0, 0))?, now) else { return Ok(ControlFlow::Continue(())) };
        let since = self.since_fate(&fate, now)?;
        run.life = (self.begin)()?;
        run.life.advance(since - self.begun_at)?;
        self.outcome = Some(fate.outcome(since, &run.life.live_cells((0, 0))?));
        run.life.advance(fate.period())?;
        if !fate.grows() {
            let (period, from_begin) = (fate.period(), since == self.begun_at);
            self.found = Some(Stability { since, period, shift: None, dead: false, from_begin });
        }
        Ok(ControlFlow::Break(()))
    }

    /// Finds the first generation of the run in which all parts of `fate` are there, by a bisection. They are there in
    /// generation `now`.
    fn since_fate(&self, fate: &Fate, now: u64) -> anyhow::Result<u64> {
        let (mut before, mut after) = (self.begun_at, now);
        let mut life = (self.begin)()?;
        let (mut board, mut added) = (life.snapshot()?, (0, 0));
        if fate.is_in(&life.live_cells(added)?, before) {
            after = before;
        }
        // The parts are there in generation `after`, and not in generation `before`, which `board` is a copy of. The
        // copy lacks `added` columns and rows that its board has grown by.
        while after - before > 1 {
            let middle = before + (after - before) / 2;
            life.advance(middle - before)?;
            if fate.is_in(&life.live_cells(added)?, middle) {
                after = middle;
                life = self.life_at(&board, before)?;
            } else {
                board = life.snapshot()?;
                added = (added.0 + life.added().0, added.1 + life.added().1);
                before = middle;
                life = self.life_at(&board, before)?;
            }
        }
        Ok(after)
    }
}

impl Observer for Search<'_> {
    fn due(&self) -> u64 {
        self.next.min(self.last)
    }

    fn on_generation(&mut self, run: &mut TimedRun) -> anyhow::Result<ControlFlow<()>> {
        let now = run.generation();
        self.next = self.schedule.after(now + run.life.generations_per_fingerprint());
        let is_kept = self.schedule.is_kept(now) || now == self.begun_at;
        let sample = run.life.sample()?;
        if !is_kept && sample.is_some_and(|sample| !self.seen.has_sample(sample)) {
            // This sample differs from the same sample of each board whose hash was kept, and so do the boards.
            return Ok(ControlFlow::Continue(()));
        }
        let hash = self.key(run.life.fingerprint()?, now);
        let before = self.seen.get(hash);
        if is_kept {
            self.seen.keep(hash, sample, now);
        }
        match before {
            Some(before) => {
                let board = run.life.snapshot()?;
                self.find(run, (&board, now), now - before)
            }
            None => self.look(run, now),
        }
    }
}

#[cfg(test)]
mod tests;
