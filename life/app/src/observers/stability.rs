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

use serde::Serialize;

use super::Observer;
use super::divisors::divisors;
use super::kept_hashes::KeptHashes;
use super::schedule::Schedule;
use crate::backend::Backend;
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
    /// The period that was found, or `None` if none has been found yet.
    pub found: Option<Stability>,
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
        Self {
            backend,
            begin: Box::new(begin),
            begun_at,
            last,
            schedule: if at_each { Schedule::Each } else { Schedule::Sparse },
            seen: KeptHashes::new(MAX_HASHES),
            next: begun_at,
            found: None,
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

impl Observer for Search<'_> {
    fn due(&self) -> u64 {
        self.next.min(self.last)
    }

    fn on_generation(&mut self, run: &mut TimedRun) -> anyhow::Result<ControlFlow<()>> {
        let now = run.generation();
        self.next = self.schedule.after(now);
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
            None => Ok(ControlFlow::Continue(())),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use life::{Board, CpuSimulation, LifeRung, Pattern};

    use super::*;
    use crate::first_board::{BoardSource, PlacedPattern};
    use crate::observers::run_to_end;
    use crate::ranks::Ranks;
    use crate::universe::Universe;
    use life_formats::rle;
    use program::signals::StopRequests;

    fn search(board: &Board, kernel: Option<LifeRung>, last: u64) -> Option<Stability> {
        search_under(Universe::default(), board, kernel, last)
    }

    fn search_under(universe: Universe, board: &Board, kernel: Option<LifeRung>, last: u64) -> Option<Stability> {
        let size = (board.width(), board.height());
        let spec = if kernel.is_some() { "sim" } else { "cpu" };
        let (backend, _) = Backend::open(Ranks::alone(), &spec.parse().unwrap(), kernel, size, universe).unwrap();
        let mut run = TimedRun::begin(&backend, &BoardSource::Pattern(PlacedPattern::of(board.clone())), 0).unwrap();
        let mut search = Search::new(&backend, (0, last), false, || GrowingBoard::new(&backend, board));
        let stop = StopRequests::watch().unwrap();
        run_to_end(&mut run, last, &mut [&mut search], &stop).unwrap();
        if let Some(found) = search.found {
            let again = found.since + found.period;
            assert_eq!(run.generation(), again, "the run ends where a board occurs again");
            assert!(run.advanced < again + 10_000, "{found:?} is found only in generation {}", run.advanced);
        }
        search.found
    }

    /// Returns the first periodic generation and the period, found by comparing all boards with each other.
    fn plainly(board: &Board) -> (u64, u64) {
        let mut boards: HashMap<Vec<u32>, u64> = HashMap::new();
        let mut life = CpuSimulation::new(board).unwrap();
        for generation in 0.. {
            if let Some(since) = boards.insert(life.board().unwrap().into_words(), generation) {
                return (since, generation - since);
            }
            life.advance(1);
        }
        unreachable!("every board of a torus becomes periodic")
    }

    fn place(text: &str, width: usize, height: usize) -> Board {
        let mut board = Board::new(width, height).unwrap();
        let pattern: Pattern = rle::parse(text, 1 << 20).unwrap();
        board.place_centered(&pattern).unwrap();
        board
    }

    fn since_and_period(board: &Board) -> (u64, u64) {
        let found = search(board, None, u64::MAX).unwrap();
        (found.since, found.period)
    }

    #[test]
    fn known_patterns_have_their_periods() {
        let pulsar = "x = 13, y = 13\n2b3o3b3o2$o4bobo4bo$o4bobo4bo$o4bobo4bo$2b3o3b3o2$2b3o3b3o$o4bobo4bo$o4bobo4bo$o4bobo4bo2$2b3o3b3o!";
        assert_eq!(since_and_period(&place(pulsar, 40, 40)), (0, 3));
        let pentadecathlon = "x = 10, y = 3\n2bo4bo$2ob4ob2o$2bo4bo!";
        assert_eq!(since_and_period(&place(pentadecathlon, 40, 40)), (0, 15));
        for side in [7, 12, 50] {
            assert_eq!(since_and_period(&place("x = 3, y = 3\nbo$2bo$3o!", side, side)), (0, 4 * side as u64));
        }
        let block = search(&place("x = 2, y = 2\n2o$2o!", 9, 9), None, u64::MAX).unwrap();
        assert_eq!(block.to_string(), "still from generation 0 on");
        let lonely = search(&place("x = 2, y = 1\n2o!", 9, 9), None, u64::MAX).unwrap();
        assert_eq!((lonely.to_string(), lonely.period), ("dead from generation 1 on".to_owned(), 1));
    }

    #[test]
    fn long_lived_patterns_end_as_the_plain_search_finds() {
        // These patterns are the r-pentomino, the acorn, and a gun whose gliders hit the gun itself.
        let gun = "x = 36, y = 9\n24bo$22bobo$12b2o6b2o12b2o$11bo3bo4b2o12b2o$2o8bo5bo3b2o$2o8bo3bob2o4bobo$10bo5bo7bo$11bo3bo$12b2o!";
        for (text, width, height) in
            [("x = 3, y = 3\nb2o$2o$bo!", 60, 60), ("x = 7, y = 3\nbo$3bo$2o2b3o!", 50, 64), (gun, 64, 48)]
        {
            let board = place(text, width, height);
            assert_eq!(since_and_period(&board), plainly(&board), "{text}");
        }
    }

    #[test]
    fn soups_end_as_the_plain_search_finds_on_every_engine() {
        for seed in 0..20 {
            let side = 5 + seed as usize;
            let board = Board::random(side, side + 3, 0.4, seed).unwrap();
            let expected = plainly(&board);
            // The simulator is slow, so only the first seeds use it.
            let backends = if seed < 3 { &[None, Some(LifeRung::Temporal)][..] } else { &[None] };
            for &kernel in backends {
                let found = search(&board, kernel, u64::MAX).unwrap();
                assert_eq!((found.since, found.period), expected, "seed {seed}, {kernel:?}");
            }
        }
    }

    /// Checks gliders on tori whose sides have no common divisor. Their periods are far above the distances of hashes.
    #[test]
    fn long_periods_are_found() {
        for (width, height) in [(13, 17), (61, 67), (97, 101), (4001, 7)] {
            let found = search(&place("bo$2bo$3o!", width, height), None, u64::MAX).unwrap();
            assert_eq!((found.since, found.period), (0, 4 * width as u64 * height as u64), "{width}x{height}");
        }
        // The row of four cells becomes a beehive, which the glider passes.
        let board = place("x = 20, y = 3\n18bo$19bo$4o13b3o!", 93, 62);
        assert_eq!(since_and_period(&board), plainly(&board));
    }

    /// Checks that the result is the same if each generation is compared.
    #[test]
    fn a_run_goes_back_to_where_a_board_came_again() {
        let board = Board::random(9, 12, 0.4, 4).unwrap();
        let (since, period) = plainly(&board);
        for at_each in [false, true] {
            for last in [40_000, u64::MAX] {
                let (backend, _) =
                    Backend::open(Ranks::alone(), &"cpu".parse().unwrap(), None, (9, 12), Universe::default()).unwrap();
                let mut run =
                    TimedRun::begin(&backend, &BoardSource::Pattern(PlacedPattern::of(board.clone())), 0).unwrap();
                let mut search = Search::new(&backend, (0, last), at_each, || GrowingBoard::new(&backend, &board));
                let stop = StopRequests::watch().unwrap();
                run_to_end(&mut run, last, &mut [&mut search], &stop).unwrap();
                let found = search.found.map(|found| (found.since, found.period));
                assert_eq!(found, Some((since, period)), "each: {at_each}");
                assert_eq!(run.generation(), since + period, "each: {at_each}");
            }
        }
    }

    /// Checks spaceships on the unbounded plane and along a tube. Spaceships count as periodic although they move.
    #[test]
    fn what_moves_away_is_periodic() {
        let glider = "x = 3, y = 3\nbo$2bo$3o!";
        let ships = "x = 5, y = 13\nbo2bo$o$o3bo$4o6$bo2bo$o$o3bo$4o!";
        for (text, rule, period, shift) in [
            (glider, "B3/S23", 4, Some((1, 1))),
            (ships, "B3/S23", 4, Some((-2, 0))),
            (glider, "B3/S23:T0,40", 160, Some((40, 0))),
            (glider, "B3/S23:T40,0", 160, Some((0, 40))),
            ("x = 3, y = 1\n3o!", "B3/S23", 2, None),
        ] {
            let universe = Universe::of(rule.parse().unwrap()).0;
            let found = search_under(universe, &place(text, 40, 40), None, u64::MAX).unwrap();
            assert_eq!((found.since, found.period, found.shift), (0, period, shift), "{rule}: {text}");
        }
        let glider = search_under(Universe::of("Life".parse().unwrap()).0, &place(glider, 40, 40), None, 1000).unwrap();
        assert_eq!(glider.to_string(), "periodic with period 4, shifted by (1, 1), from generation 0 on");
        let json = serde_json::to_value(glider).unwrap();
        assert_eq!(json, serde_json::json!({"since": 0, "period": 4, "shift": [1, 1], "dead": false}));
    }

    /// Checks rules with B0. Such a rule runs as one rule in even generations and as another rule in odd generations,
    /// so only an even number of generations can be a period.
    #[test]
    fn even_and_odd_generations_are_told_apart() {
        for (text, sides) in [("B03/S23", 5..9), ("B0/S", 5..8), ("B014/S", 4..7)] {
            let rule = text.parse().unwrap();
            let universe = Universe { rule, ..Universe::default() };
            for side in sides {
                let board = Board::random(side, side, 0.4, side as u64).unwrap();
                let mut life = CpuSimulation::with(&board, &rule, universe.topology, 0).unwrap();
                let mut boards: HashMap<(Vec<u32>, u64), u64> = HashMap::new();
                let expected = (0_u64..).find_map(|generation| {
                    let since = boards.insert((life.board().unwrap().into_words(), generation % 2), generation);
                    life.advance(1);
                    since.map(|since| (since, generation - since))
                });
                // These rules differ in even and odd generations.
                let [even, odd] = rule.phases();
                assert!(even != odd, "{text}");
                let found = search_under(universe, &board, None, u64::MAX).unwrap();
                assert_eq!(Some((found.since, found.period)), expected, "{text}, {side}x{side}");
            }
        }
    }

    #[test]
    fn an_end_comes_before_it_is_stable() {
        assert_eq!(search(&Board::random(64, 64, 0.4, 3).unwrap(), None, 100), None);
    }
}
