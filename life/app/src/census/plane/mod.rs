//! The census of soups on the plane: each soup is a small area of random cells, as in Catagolue.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use life::Rule;
use life_cpu::OutOfMemory;
use serde::Serialize;

use crate::objects::{CellSet, Counts, identify_under};
use cluster::{Columns, Reach};
use program::report::{Rate, Seconds, grouped};
use settle::Boards;

mod cluster;
pub mod device;
mod growth;
pub mod haul;
mod settle;
mod ships;
mod soup;

pub use soup::Symmetry;

/// The label of ash that is periodic as a whole, but not by itself.
const PATHOLOGICAL: &str = "PATHOLOGICAL";

/// The maximum number of soups that are listed for an object.
const MAX_SAMPLES: usize = 10;

/// The soups of a census: the names of soups are the root and a number from 0 on.
#[derive(Clone, Debug)]
pub struct PlaneSoups {
    /// The number of soups.
    pub soups: u64,
    /// The text with which the names of all soups begin.
    pub root: String,
    /// The symmetry of each soup.
    pub symmetry: Symmetry,
    /// The rule.
    pub rule: Rule,
    /// The births and survivals of the rule.
    pub counts: Counts,
}

/// The results of running soups on the plane.
#[derive(Serialize, Default, Clone, Debug)]
pub struct PlaneResults {
    /// The number of soups.
    pub soups: u64,
    /// The text with which the names of all soups begin.
    pub root: String,
    /// The symmetry of each soup, named as by Catagolue.
    pub symmetry: &'static str,
    /// The rule.
    pub rule: String,
    /// The total number of generations of all soups.
    pub generations: u64,
    /// The number of soups that needed a larger board than most.
    pub on_larger_boards: u64,
    /// The number of soups that the device left to the processor's cores, by reason, or `None` if there was no device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_on_device: Option<BTreeMap<&'static str, u64>>,
    /// The time in seconds during which the device ran soups.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_seconds: Option<f64>,
    /// The number of soups that did not settle, by reason.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub not_settled: BTreeMap<&'static str, u64>,
    /// The time in seconds.
    pub seconds: f64,
}

impl PlaneResults {
    /// Adds the results of other soups.
    pub fn add(&mut self, other: &Self) {
        self.soups += other.soups;
        self.generations += other.generations;
        self.on_larger_boards += other.on_larger_boards;
        other.not_settled.iter().for_each(|(reason, count)| *self.not_settled.entry(reason).or_default() += count);
    }
}

impl fmt::Display for PlaneResults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { soups, root, symmetry, rule, generations, not_on_device, seconds, .. } = self;
        let last = soups.saturating_sub(1);
        write!(f, " in {} soups {symmetry} of {rule}, named {root}0 to {root}{last}", grouped(*soups))?;
        write!(f, ", {} generations, {}", grouped(*generations), Seconds(*seconds))?;
        write!(f, ", {} soups/s", Rate(*soups as f64 / seconds))?;
        if let Some(reasons) = not_on_device {
            let number = reasons.values().sum::<u64>();
            let share = 100.0 * number as f64 / (*soups).max(1) as f64;
            write!(f, "; {} of them ({share:.2} %) on the processor's cores", grouped(number))?;
        }
        for (reason, count) in &self.not_settled {
            write!(f, "; {} did not settle: {reason}", grouped(*count))?;
        }
        Ok(())
    }
}

/// The number of objects of a kind, and the first soups in which they occurred.
#[derive(Default, Clone, PartialEq, Eq, Debug)]
pub struct Occurrences {
    /// The number of objects.
    pub count: u64,
    /// The numbers of the first soups, in ascending order, at most ten.
    pub soups: Vec<u64>,
}

impl Occurrences {
    fn add(&mut self, soup: u64) {
        self.count += 1;
        if self.soups.len() < MAX_SAMPLES && self.soups.last() != Some(&soup) {
            self.soups.push(soup);
        }
    }

    fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.soups.extend_from_slice(&other.soups);
        self.soups.sort_unstable();
        self.soups.dedup();
        self.soups.truncate(MAX_SAMPLES);
    }
}

/// The kinds of objects, by apgcode or label.
pub type Kinds = BTreeMap<String, Occurrences>;

/// A group of cells that was found in ash.
struct Group {
    /// The apgcodes of its objects.
    codes: Vec<String>,
    found: Occurrences,
}

/// The work of one core: it runs soups and counts their objects.
pub struct Worker<'a> {
    soups: &'a PlaneSoups,
    boards: Boards,
    groups: HashMap<CellSet, Group>,
    others: HashMap<String, Occurrences>,
    results: PlaneResults,
    now: Columns,
    ever: Columns,
}

/// Returns the cells that belong to the same cluster as a cell.
fn reach(rule: Counts) -> Reach {
    if rule.is_born(2) { Reach::SQUARE } else { Reach::ROUND }
}

/// Calls `found` with the cells in `now` of each cluster in `ever` and the position of their upper left corner, and
/// makes the cells of `ever` dead.
fn take_groups(rule: Counts, now: &Columns, ever: &mut Columns, mut found: impl FnMut(CellSet, (i32, i32))) {
    let mut cluster = Vec::new();
    for at in 0..ever.words.len() {
        while ever.words[at] != 0 {
            let (column, y) = (at / ever.height, at % ever.height);
            let x = 64 * column + ever.words[at].trailing_zeros() as usize;
            ever.take_cluster(x, y, reach(rule), &mut cluster);
            let live = cluster.iter().filter(|&&(x, y)| now.is_alive(x, y));
            let (cells, at) = CellSet::new(live.map(|&(x, y)| (x as i32, y as i32)).collect());
            if !cells.cells().is_empty() {
                found(cells, at);
            }
        }
    }
}

impl<'a> Worker<'a> {
    /// Makes a worker that has run no soup.
    pub fn new(soups: &'a PlaneSoups) -> Self {
        Self {
            soups,
            boards: Boards::new(soups.rule, soups.counts),
            groups: HashMap::new(),
            others: HashMap::new(),
            results: PlaneResults::default(),
            now: Columns::default(),
            ever: Columns::default(),
        }
    }

    /// Runs soup `number` and counts its objects.
    ///
    /// # Errors
    /// [`OutOfMemory`] if the host has too little memory for the board.
    pub fn run(&mut self, number: u64) -> Result<(), OutOfMemory> {
        let cells = soup::cells(self.soups.symmetry, &format!("{}{number}", self.soups.root));
        let settled = self.boards.settle(&cells)?;
        self.results.soups += 1;
        self.results.generations += settled.generation;
        self.results.on_larger_boards += u64::from(settled.board > 0);
        let mut other = |code: &str| match self.others.get_mut(code) {
            Some(found) => found.add(number),
            None => self.others.entry(code.to_owned()).or_default().add(number),
        };
        if let Err(reason) = settled.period {
            *self.results.not_settled.entry(reason.reason()).or_default() += 1;
            other(settled.growth.as_deref().unwrap_or(reason.label()));
            return Ok(());
        }
        self.boards.escaped.codes.iter().for_each(|code| other(code));
        self.boards.ash(&settled, &mut self.now, &mut self.ever);
        self.count_ash(number);
        Ok(())
    }

    /// Counts the objects of the ash of soup `number`.
    fn count_ash(&mut self, number: u64) {
        let rule = self.soups.counts;
        take_groups(rule, &self.now, &mut self.ever, |cells, _| {
            let group = self.groups.entry(cells).or_insert_with_key(|cells| {
                let codes = identify_under(rule, cells).unwrap_or_else(|| vec![PATHOLOGICAL.to_owned()]);
                Group { codes, found: Occurrences::default() }
            });
            group.found.add(number);
        });
    }

    /// Adds the objects to `kinds` and the results to `results`.
    pub fn finish(self, kinds: &mut Kinds, results: &mut PlaneResults) {
        for Group { codes, found } in self.groups.values() {
            codes.iter().for_each(|code| kinds.entry(code.clone()).or_default().merge(found));
        }
        for (code, found) in &self.others {
            kinds.entry(code.clone()).or_default().merge(found);
        }
        results.add(&self.results);
    }
}
