//! The census of soups on a device. The device leaves a few soups to the processor's cores.
//!
//! # Design
//!
//! The soups run in batches. While the device runs a batch, the cores run the soups that the device left of the
//! previous batch, and make the soups of the next one. The device counts groups of cells that no other cells affect.
//! The host divides each kind of group into objects once, in the same way as the ash of a soup that ran on a core.

use std::collections::{BTreeSet, HashMap};
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use std::{ops::Range, thread};

use gpu::life::Unfinished;
use launch::Device;
use life::SoupCensus;
use life::soup_census::{SoupResults, SoupRows, Spaceship};
use rayon::prelude::*;

use super::cluster::Columns;
use super::{Kinds, Occurrences, PATHOLOGICAL, PlaneResults, PlaneSoups, Worker, soup, take_groups};
use crate::objects::{CellSet, Counts, identify_under, phases};
use program::report::progress::Progress;
use program::signals::StopRequests;

/// The minimum and the maximum number of soups of a batch.
const BATCH: (u64, u64) = (1 << 16, 1 << 19);

/// Life's standard spaceships, as rows of cells.
const SPACESHIPS: [&[&str]; 4] = [
    &[".O.", "..O", "OOO"],
    &[".O..O", "O....", "O...O", "OOOO."],
    &["...O..", ".O...O", "O.....", "O....O", "OOOOO."],
    &["...OO..", ".O....O", "O......", "O.....O", "OOOOOO."],
];

/// Returns the cells of a pattern.
fn cells_of(rows: &[&str]) -> CellSet {
    let row = |(y, row): (i32, &&str)| -> Vec<(i32, i32)> {
        (0..).zip(row.bytes()).filter(|cell| cell.1 == b'O').map(|(x, _)| (x, y)).collect()
    };
    CellSet::new((0..).zip(rows).flat_map(row).collect()).0
}

/// Returns those of Life's standard spaceships that are the same under `rule`, in all phases and orientations.
fn spaceships(rule: Counts) -> Vec<Spaceship> {
    let mut all = BTreeSet::new();
    for rows in SPACESHIPS {
        let cells = cells_of(rows);
        let (Some((now, moved)), of_rule) = (phases(Counts::LIFE, &cells), phases(rule, &cells)) else { continue };
        if of_rule.is_none_or(|(phases, _)| phases != now) {
            continue;
        }
        for (orientation, (phase, _)) in
            (0..8).flat_map(|orientation| now.iter().map(move |phase| (orientation, phase)))
        {
            let turn = |(x, y): (i32, i32)| {
                let (x, y) = (if orientation & 1 == 1 { -x } else { x }, if orientation & 2 == 2 { -y } else { y });
                if orientation & 4 == 4 { (y, x) } else { (x, y) }
            };
            let turned = CellSet::new(phase.cells().iter().copied().map(turn).collect()).0;
            let mut rows = [0; 8];
            turned.cells().iter().for_each(|&(x, y)| rows[y as usize] |= 1 << x);
            all.insert(Spaceship { rows, velocity: turn(moved) });
        }
    }
    all.into_iter().collect()
}

/// Returns the apgcodes of the objects in a group of cells that no other cells affect.
fn codes(rule: Counts, cells: &CellSet) -> Vec<String> {
    let unknown = || vec![PATHOLOGICAL.to_owned()];
    let Some((phases, moved)) = phases(rule, cells) else { return unknown() };
    if moved != (0, 0) {
        return identify_under(rule, cells).unwrap_or_else(unknown);
    }
    let all =
        phases.iter().flat_map(|(cells, at)| cells.cells().iter().map(move |cell| (cell.0 + at.0, cell.1 + at.1)));
    let all: Vec<_> = all.collect();
    let side = |of: fn(&(i32, i32)) -> i32| {
        let (first, last) = (all.iter().map(of).min().unwrap_or(0), all.iter().map(of).max().unwrap_or(0));
        (first, (last - first + 1) as usize)
    };
    let ((left, width), (top, height)) = (side(|cell| cell.0), side(|cell| cell.1));
    let (mut now, mut ever) = (Columns::new(width, height), Columns::new(width, height));
    all.iter().for_each(|(x, y)| ever.set((x - left) as usize, (y - top) as usize));
    cells.cells().iter().for_each(|(x, y)| now.set((x - left) as usize, (y - top) as usize));
    let mut codes = Vec::new();
    take_groups(rule, &now, &mut ever, |cells, _| codes.extend(identify_under(rule, &cells).unwrap_or_else(unknown)));
    codes
}

/// Returns the live cells of rows whose bit *x* is the cell in column *x*.
fn cells_in(rows: impl Iterator<Item = u32>) -> CellSet {
    let row = |(y, bits): (i32, u32)| (0..32).filter(move |x| bits >> x & 1 == 1).map(move |x| (x, y));
    CellSet::new((0..).zip(rows).flat_map(row).collect()).0
}

/// Returns the reason why a device left a soup to the cores.
fn phrase(reason: Unfinished) -> &'static str {
    match reason {
        Unfinished::Long => "more than 8,000 generations",
        Unfinished::Wide => "wider than the window",
        Unfinished::Near => "cells near a spaceship that leaves",
        Unfinished::Meeting => "spaceships that might meet",
        Unfinished::Large => "a large group of objects",
        Unfinished::Many => "more than 256 objects",
    }
}

/// The objects found by the device.
struct DeviceObjects {
    rule: Counts,
    known: HashMap<CellSet, Vec<String>>,
    kinds: Kinds,
}

impl DeviceObjects {
    /// Adds the objects of a batch whose first soup has number `first`.
    fn add(&mut self, results: &SoupResults, first: u64) {
        let small = results.objects.iter().map(|object| {
            let cells = cells_in(object.rows.iter().map(|&row| row.into()));
            (cells, object.count, object.first)
        });
        let large = results.large.iter().map(|object| (cells_in(object.rows.into_iter()), 1, object.soup));
        for (cells, count, soup) in small.chain(large) {
            let codes = self.known.entry(cells).or_insert_with_key(|cells| codes(self.rule, cells));
            let found = Occurrences { count: count.into(), soups: vec![first + u64::from(soup)] };
            codes.iter().for_each(|code| self.kinds.entry(code.clone()).or_default().merge(&found));
        }
    }
}

/// Returns the soups of a range of numbers.
fn make(soups: &PlaneSoups, numbers: Range<u64>) -> Vec<SoupRows> {
    let rows = |number| soup::rows(soups.symmetry, &format!("{}{number}", soups.root)).unwrap_or([0; _]);
    numbers.into_par_iter().map(rows).collect()
}

/// Runs soups on `device` and on the processor's cores, and adds their objects to `kinds` and the results to `results`.
/// After a signal, the objects are those of the soups with the lowest numbers. The soups listed for a kind of object
/// are the first ones of each batch.
///
/// # Errors
/// If the device or the host has too little memory, or the device fails.
pub fn count(
    soups: &PlaneSoups,
    device: &Device,
    stop: &StopRequests,
    kinds: &mut Kinds,
    results: &mut PlaneResults,
) -> anyhow::Result<()> {
    let rule = soups.counts;
    let mut census = SoupCensus::new(device, rule.birth, rule.survival, &spaceships(rule))?;
    let mut objects = DeviceObjects { rule, known: HashMap::new(), kinds: Kinds::new() };
    let workers: Vec<_> = (0..rayon::current_num_threads()).map(|_| Mutex::new(Worker::new(soups))).collect();
    let failed = Mutex::new(None);
    let run = |number: u64| {
        let worker = &workers[rayon::current_thread_index().unwrap_or(0)];
        let result = worker.lock().unwrap_or_else(PoisonError::into_inner).run(number);
        if let Err(error) = result {
            failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }
    };
    let size = (soups.soups / 8).clamp(BATCH.0, BATCH.1);
    let range = |first: u64| first..first.saturating_add(size).min(soups.soups);
    let (mut progress, begun) = (Progress::new(soups.soups, "soups"), Instant::now());
    let mut numbers = range(0);
    let mut batch = make(soups, numbers.clone());
    // The cores run the soups that are left while the device goes on with later batches. A soup that grows for ever
    // takes a core seconds.
    rayon::in_place_scope(|cores| -> anyhow::Result<()> {
        while !batch.is_empty() {
            let next = if stop.received().is_some() { numbers.end..numbers.end } else { range(numbers.end) };
            let (found, made) = thread::scope(|scope| {
                let made = scope.spawn(|| make(soups, next.clone()));
                let begun = Instant::now();
                let found = census.run(&batch);
                *results.device_seconds.get_or_insert_default() += begun.elapsed().as_secs_f64();
                (found, made.join().unwrap_or_else(|panic| resume_unwind(panic)))
            });
            let found = found?;
            objects.add(&found, numbers.start);
            for &soup in &found.unfinished {
                let (run, number) = (&run, numbers.start + u64::from(soup));
                cores.spawn(move |_| run(number));
            }
            results.soups += (batch.len() - found.unfinished.len()) as u64;
            results.generations += found.generations;
            let reasons = results.not_on_device.get_or_insert_default();
            for (reason, count) in Unfinished::ALL.into_iter().zip(found.reasons).filter(|(_, count)| *count > 0) {
                *reasons.entry(phrase(reason)).or_default() += u64::from(count);
            }
            progress.set(numbers.end, numbers.end as f64 / begun.elapsed().as_secs_f64(), "soups");
            (batch, numbers) = (made, next);
        }
        Ok(())
    })?;
    if let Some(error) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error.into());
    }
    for worker in workers {
        worker.into_inner().unwrap_or_else(PoisonError::into_inner).finish(kinds, results);
    }
    objects.kinds.iter().for_each(|(code, found)| kinds.entry(code.clone()).or_default().merge(found));
    Ok(())
}

#[cfg(test)]
mod tests {
    use launch::DeviceChoice;
    use life::Rule;

    use super::*;

    /// Returns the objects of soups by device and by the cores alone.
    fn both(symmetry: &str, rule: &str, numbers: &[u64]) -> [HashMap<String, u64>; 2] {
        let rule: Rule = rule.parse().unwrap();
        let (birth, survival) = rule.totalistic().unwrap();
        let counts = Counts { birth, survival };
        let symmetry = symmetry.parse().unwrap();
        let soups = PlaneSoups { soups: numbers.len() as u64, root: "k_".to_owned(), symmetry, rule, counts };
        let device = Device::open(DeviceChoice::Sim, workbench::MODULES).unwrap();
        let mut census = SoupCensus::new(&device, birth, survival, &spaceships(counts)).unwrap();
        let rows: Vec<_> = numbers.iter().flat_map(|&number| make(&soups, number..number + 1)).collect();
        let found = census.run(&rows).unwrap();
        assert!(found.unfinished.is_empty(), "{found:?}");
        let mut objects = DeviceObjects { rule: counts, known: HashMap::new(), kinds: Kinds::new() };
        objects.add(&found, 0);
        let (mut worker, mut kinds) = (Worker::new(&soups), Kinds::new());
        numbers.iter().for_each(|&number| worker.run(number).unwrap());
        worker.finish(&mut kinds, &mut PlaneResults::default());
        [objects.kinds, kinds].map(|kinds| kinds.into_iter().map(|(code, found)| (code, found.count)).collect())
    }

    #[test]
    fn a_device_counts_the_same_objects_as_the_cores() {
        for (symmetry, rule, numbers) in [
            // The window of the last soup moves while spaceships are near it.
            ("C1", "B3/S23", &[260, 300, 60, 590, 250, 440, 664][..]),
            ("D8_4", "B3/S23", &[170, 130, 70]),
            ("C1", "B36/S23", &[200, 30]),
        ] {
            let [device, cores] = both(symmetry, rule, numbers);
            assert!(device.len() > 1, "{device:?}");
            assert_eq!(device, cores, "{symmetry}, {rule}");
        }
    }

    #[test]
    fn groups_are_divided_into_objects() {
        let codes_of = |rows: &[&str]| {
            let mut codes = codes(Counts::LIFE, &cells_of(rows));
            codes.sort();
            codes
        };
        assert_eq!(codes_of(&["OO.OO", "OO.OO"]), ["xs4_33", "xs4_33"]);
        // A block beside a blinker, which comes near to it in one of its phases.
        assert_eq!(codes_of(&["OO...O", "OO...O", ".....O"]), ["xp2_7", "xs4_33"]);
        assert_eq!(codes_of(&[".O.", "..O", "OOO"]), ["xq4_153"]);
        assert_eq!(codes_of(&["OO"]), [PATHOLOGICAL]);
    }

    #[test]
    fn spaceships_of_a_rule_are_found_in_all_phases() {
        // Four phases of each spaceship, in the orientations in which they differ.
        assert_eq!(spaceships(Counts::LIFE).len(), 64);
        let glider = Spaceship { rows: [0b010, 0b100, 0b111, 0, 0, 0, 0, 0], velocity: (1, 1) };
        assert!(spaceships(Counts::LIFE).contains(&glider));
        assert!(spaceships(Counts { birth: 1 << 2, survival: 0 }).is_empty());
    }
}
