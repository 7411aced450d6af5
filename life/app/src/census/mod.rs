//! The option `--census`. With this option, the program runs a board or many soups until they are periodic. Then it
//! counts the remaining objects by their apgcodes (canonical names).

use std::collections::HashMap;
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use launch::Device;
use life::{Board, CpuSimulation};
use serde::Serialize;

use crate::objects::name_of;
use count::{ObjectCache, Tally};
use program::report::progress::Progress;
use program::report::{self, Seconds, grouped};
use program::signals::StopRequests;

use plane::{Kinds, PlaneResults, PlaneSoups, Worker};

mod count;
pub mod plane;

/// The number of generations between two tests for a period. This number is a multiple of the common periods.
const INTERVAL: u64 = 120;

/// The maximum number of generations that a soup runs.
const MAX_GENERATIONS: u64 = 10_000_000;

/// The maximum number of kinds of objects that are printed.
const MAX_PRINTED: usize = 50;

/// A kind of object, with the number of objects of this kind.
#[derive(Serialize, Debug)]
pub struct Kind {
    code: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'static str>,
    count: u64,
}

/// The result of a census: the objects that were found.
#[derive(Serialize, Debug)]
pub struct Census {
    #[serde(skip_serializing_if = "Option::is_none")]
    soups: Option<Source>,
    objects: u64,
    /// The kinds of objects, the most common first.
    kinds: Vec<Kind>,
}

/// The soups of a census, and the results of running them.
#[derive(Serialize, Debug)]
#[serde(untagged)]
enum Source {
    Torus(Soups),
    Plane(PlaneResults),
}

/// The soups of a census on a torus, which have consecutive seeds, and the results of running them.
#[derive(Serialize, Default, Debug)]
pub struct Soups {
    /// The number of soups.
    pub soups: u64,
    /// The number of columns of each soup.
    pub width: usize,
    /// The number of rows of each soup.
    pub height: usize,
    /// The fraction of cells that are alive at the start of each soup.
    pub density: f64,
    /// The first seed.
    pub first_seed: u64,
    /// The total number of generations of all soups (a result).
    pub generations: u64,
    /// The number of soups that did not become periodic, or `None` if all soups became periodic (a result).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_settled: Option<u64>,
    /// The time in seconds (a result).
    pub seconds: f64,
}

impl Census {
    /// Counts the objects of `board`, whose period is `period`.
    ///
    /// # Errors
    /// If memory is too small.
    pub fn of_board(board: &Board, period: u64) -> anyhow::Result<Self> {
        let mut tally = Tally::new();
        count::count(board, period, &mut ObjectCache::default(), &mut tally)?;
        Ok(Self::of(tally, None))
    }

    /// Makes a census of objects that are counted already: their apgcodes and numbers.
    pub fn of_objects(objects: impl IntoIterator<Item = (String, u64)>) -> Self {
        let mut tally = Tally::new();
        objects.into_iter().for_each(|(code, count)| *tally.entry(code).or_default() += count);
        Self::of(tally, None)
    }

    /// Runs each soup on one core until the soup is periodic, and returns the census of all soups. If a signal
    /// interrupts the census, the result has the soups that were finished before, and the number of the signal.
    ///
    /// # Errors
    /// If memory is too small.
    pub fn of_soups(soups: Soups, stop: &StopRequests) -> anyhow::Result<(Self, Option<i32>)> {
        let begun = Instant::now();
        let cells = soups.width as f64 * soups.height as f64;
        let run = |(known, tally, results): &mut (ObjectCache, Tally, Soups), number: u64| {
            let seed = soups.first_seed.wrapping_add(number);
            let soup = Board::random(soups.width, soups.height, soups.density, seed)?;
            let (board, period, generations) = settle(&soup)?;
            match period {
                Some(period) => count::count(&board, period, known, tally)?,
                None => *results.not_settled.get_or_insert(0) += 1,
            }
            results.soups += 1;
            results.generations += generations;
            Ok(generations as f64 * cells)
        };
        let workers = on_all_cores(soups.soups, stop, "cell updates", Default::default, run)?;
        let (mut tally, mut all) = (Tally::new(), Soups { soups: 0, ..soups });
        for (_, part, results) in workers {
            part.into_iter().for_each(|(code, count)| *tally.entry(code).or_default() += count);
            all.soups += results.soups;
            all.generations += results.generations;
            all.not_settled = all.not_settled.or(results.not_settled.map(|_| 0));
            all.not_settled = all.not_settled.map(|all| all + results.not_settled.unwrap_or(0));
        }
        all.seconds = begun.elapsed().as_secs_f64();
        Ok((Self::of(tally, Some(Source::Torus(all))), stop.received()))
    }

    /// Runs soups on the plane: all of them on the cores, one per core, like [`of_soups`](Self::of_soups), or most of
    /// them on `device`. Also returns the census as a text in Catagolue's format.
    ///
    /// # Errors
    /// If memory is too small, or the device fails.
    pub fn of_plane_soups(
        soups: &PlaneSoups,
        device: Option<&Device>,
        stop: &StopRequests,
    ) -> anyhow::Result<(Self, String, Option<i32>)> {
        let begun = Instant::now();
        let run = |worker: &mut Worker<'_>, number: u64| {
            worker.run(number)?;
            Ok(1.0)
        };
        let mut kinds = Kinds::new();
        let mut results = PlaneResults {
            root: soups.root.clone(),
            symmetry: soups.symmetry.name(),
            rule: soups.rule.to_string(),
            ..PlaneResults::default()
        };
        if let Some(device) = device {
            plane::device::count(soups, device, stop, &mut kinds, &mut results)?;
        } else {
            let workers = on_all_cores(soups.soups, stop, "soups", || Worker::new(soups), run)?;
            workers.into_iter().for_each(|worker| worker.finish(&mut kinds, &mut results));
        }
        results.seconds = begun.elapsed().as_secs_f64();
        let haul = plane::haul::text(soups, results.soups, &kinds);
        let tally = kinds.into_iter().map(|(code, found)| (code, found.count)).collect();
        Ok((Self::of(tally, Some(Source::Plane(results))), haul, stop.received()))
    }

    /// Returns the number of soups whose objects were counted.
    pub fn soups(&self) -> u64 {
        match &self.soups {
            Some(Source::Torus(soups)) => soups.soups,
            Some(Source::Plane(results)) => results.soups,
            None => 0,
        }
    }

    fn of(tally: Tally, soups: Option<Source>) -> Self {
        let objects = tally.values().sum();
        let kind = |(code, count): (String, u64)| Kind { name: name_of(&code), code, count };
        let mut kinds: Vec<_> = tally.into_iter().map(kind).collect();
        kinds.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.code.cmp(&b.code)));
        Self { soups, objects, kinds }
    }
}

/// Calls `run` with each number below `count`, on all cores, until a signal is received. Each core has a value that
/// `begin` made, and the function returns these values. `run` returns the work that it did, in `unit`. If a signal ends
/// the calls, `run` has returned for all numbers below some number, and for no other one.
fn on_all_cores<W: Send>(
    count: u64,
    stop: &StopRequests,
    unit: &str,
    begin: impl Fn() -> W + Sync,
    run: impl Fn(&mut W, u64) -> anyhow::Result<f64> + Sync,
) -> anyhow::Result<Vec<W>> {
    let begun = Instant::now();
    let progress = Mutex::new((Progress::new(count, "soups"), 0.0));
    let (next, done) = (AtomicU64::new(0), AtomicU64::new(0));
    let work = |_: rayon::BroadcastContext<'_>| {
        let mut worker = begin();
        let mut work = 0.0;
        while stop.received().is_none() {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                break;
            }
            work += run(&mut worker, number)?;
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            if let Ok(mut progress) = progress.try_lock() {
                let (bar, all) = &mut *progress;
                *all += std::mem::take(&mut work);
                bar.set(done, *all / begun.elapsed().as_secs_f64(), unit);
            }
        }
        anyhow::Ok(worker)
    };
    rayon::broadcast(work).into_iter().collect()
}

/// Runs a soup until it is periodic. Returns the last board, its period, and the number of generations. The period is
/// `None` if the soup did not become periodic.
fn settle(soup: &Board) -> anyhow::Result<(Board, Option<u64>, u64)> {
    let mut life = CpuSimulation::new(soup)?;
    let mut seen = HashMap::from([(soup.hash(), 0)]);
    let mut before = soup.clone();
    while life.generation() < MAX_GENERATIONS {
        life.advance(INTERVAL);
        let (board, now) = (life.board()?, life.generation());
        if let Some(since) = seen.insert(board.hash(), now) {
            let is_periodic = board == before || {
                let mut again = CpuSimulation::new(&board)?;
                again.advance(now - since);
                again.board()? == board
            };
            if is_periodic {
                let period = count::period_of(&board, now - since)?;
                return Ok((board, Some(period), now));
            }
        }
        before = board;
    }
    Ok((before, None, MAX_GENERATIONS))
}

impl fmt::Display for Census {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { soups, objects, kinds } = self;
        write!(f, "{} objects of {} kinds", grouped(*objects), grouped(kinds.len() as u64))?;
        if let Some(Source::Plane(results)) = soups {
            write!(f, "{results}")?;
        }
        if let Some(Source::Torus(soups)) = soups {
            let Soups { soups, width, height, first_seed, generations, not_settled, seconds, .. } = soups;
            let last = first_seed.wrapping_add(soups.saturating_sub(1));
            write!(f, " in {} soups of {width}x{height}, seeds {first_seed} to {last}", grouped(*soups))?;
            write!(f, ", {} generations, {}", grouped(*generations), Seconds(*seconds))?;
            if let Some(number) = not_settled {
                write!(f, "; {} did not settle", grouped(*number))?;
            }
        }
        writeln!(f)?;
        let row = |kind: &Kind| {
            let share = 100.0 * kind.count as f64 / *objects as f64;
            let name = kind.name.unwrap_or_default().to_owned();
            [kind.code.clone(), grouped(kind.count), format!("{share:.4} %"), name]
        };
        let rows: Vec<_> = kinds.iter().take(MAX_PRINTED).map(row).collect();
        if !rows.is_empty() {
            writeln!(f, "{}", report::table(["object", "count", "share", "name"], &rows))?;
        }
        match kinds.len().saturating_sub(MAX_PRINTED) {
            0 => Ok(()),
            more => writeln!(f, "and {} rarer kinds: --json lists them all", grouped(more as u64)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ash_of_soups_is_counted_whole() {
        let soups = Soups { soups: 6, width: 96, height: 64, density: 0.4, first_seed: 20, ..Soups::default() };
        let (census, signal) = Census::of_soups(soups, &StopRequests::watch().unwrap()).unwrap();
        assert_eq!(signal, None);
        let mut live = 0;
        let mut tally = Tally::new();
        for seed in 20..26 {
            let (board, period, _) = settle(&Board::random(96, 64, 0.4, seed).unwrap()).unwrap();
            count::count(&board, period.unwrap(), &mut ObjectCache::default(), &mut tally).unwrap();
            live += board.population();
        }
        assert_eq!(census.objects, tally.values().sum::<u64>());
        assert!(live > 0 && census.kinds[0].count >= census.kinds[1].count);
        let still_cells = |(code, count): (&String, &u64)| {
            let cells = code.strip_prefix("xs").and_then(|rest| rest.split('_').next()?.parse::<u64>().ok());
            cells.map_or(0, |cells| cells * count)
        };
        // The code of a still life contains the number of its cells. If an object were counted twice, the sum of cells
        // would be wrong.
        let still: u64 = tally.iter().map(still_cells).sum();
        let blinkers = 3 * tally.get("xp2_7").unwrap_or(&0);
        assert!(still + blinkers <= live && 10 * (still + blinkers) > 9 * live, "{still} + {blinkers} of {live}");
        assert!(!tally.contains_key(count::UNKNOWN), "{tally:?}");
    }

    #[test]
    fn what_is_printed_begins_with_the_commonest() {
        let tally = [("xs4_33", 5), ("xp2_7", 12), ("xs6_696", 3)].map(|(code, count)| (code.to_owned(), count));
        let census = Census::of(Tally::from(tally), None);
        let text = census.to_string();
        assert!(text.starts_with("20 objects of 3 kinds\n"), "{text}");
        let at = |part: &str| text.find(part).unwrap();
        assert!(at("xp2_7") < at("xs4_33") && at("blinker") < at("block") && text.contains("60.0000 %"), "{text}");
    }
}
