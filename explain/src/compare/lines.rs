//! Matches the source lines of two kernels, and compares their counts.

use std::collections::BTreeMap;

use serde::Serialize;
use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::snapshot::KernelSnapshot;
use super::{Change, changes};
use crate::sites::{Kind, Memory};

/// The number of counts of a line.
const COUNTS: usize = 8;

/// The names of a line's counts.
const NAMES: [&str; COUNTS] = [
    "requests to global memory",
    "sectors",
    "requests to shared memory",
    "wavefronts",
    "bank conflicts",
    "atomic updates",
    "warps at a branch",
    "split warps",
];

/// A source line.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Line {
    /// The path of the file.
    pub file: String,
    /// The number of the line, from 1.
    pub line: u32,
    /// The text without leading and trailing white space; empty if the source is not known.
    pub source: String,
    #[serde(skip)]
    counts: [u64; COUNTS],
}

impl Line {
    /// Returns the file's name and the line, such as `naive.rs:31`.
    pub fn short(&self) -> String {
        format!("{}:{}", self.file.rsplit('/').next().unwrap_or_default(), self.line)
    }

    /// Returns what the line does: which memories it accesses, if it updates atomically, and if it branches.
    fn kinds(&self) -> [bool; 4] {
        let [global, _, shared, _, _, updates, branches, _] = self.counts;
        [global, shared, updates, branches].map(|count| count > 0)
    }
}

/// A line that differs between two kernels.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct LineChange {
    /// The line of the baseline; `None` if only the new kernel has it.
    pub before: Option<Line>,
    /// The line of the new kernel; `None` if only the baseline has it.
    pub after: Option<Line>,
    /// The counts that differ. For a line that only one kernel has, those that are not 0.
    pub counts: Vec<Change>,
}

impl LineChange {
    /// Returns the change from `before` to `after`, or `None` if neither the text nor the counts differ.
    fn of(before: Option<&Line>, after: Option<&Line>) -> Option<Self> {
        let counts = |line: Option<&Line>| line.map_or([0; COUNTS], |line| line.counts);
        let counts = changes(NAMES.into_iter().zip(counts(before)), NAMES.into_iter().zip(counts(after)));
        let same_text = before.zip(after).is_some_and(|(before, after)| before.source == after.source);
        let is_same = same_text && counts.is_empty();
        (!is_same).then(|| Self { before: before.cloned(), after: after.cloned(), counts })
    }
}

/// Returns the lines that differ between two kernels, in the order of the source. Lines of the same text are matched in
/// their order; their numbers do not matter. Between two matched lines, lines that do the same are matched.
pub(super) fn compare(before: Option<&KernelSnapshot>, after: Option<&KernelSnapshot>) -> Vec<LineChange> {
    let lines = |kernel: Option<&KernelSnapshot>| kernel.map_or_else(Vec::new, lines);
    let (before, after) = (lines(before), lines(after));
    let mut found = Vec::new();
    for operation in diff(&before, &after, |line| line.source.clone()) {
        let (old, new) = (&before[operation.old_range()], &after[operation.new_range()]);
        match operation {
            DiffOp::Replace { .. } => diff(old, new, Line::kinds)
                .into_iter()
                .for_each(|inner| pairs(&old[inner.old_range()], &new[inner.new_range()], inner, &mut found)),
            operation => pairs(old, new, operation, &mut found),
        }
    }
    found
}

/// Returns the differences between the keys of two sequences of lines.
fn diff<K: Eq + std::hash::Hash + Ord>(before: &[Line], after: &[Line], key: impl Fn(&Line) -> K) -> Vec<DiffOp> {
    let keys = |lines: &[Line]| lines.iter().map(&key).collect::<Vec<K>>();
    capture_diff_slices(Algorithm::Myers, &keys(before), &keys(after))
}

/// Adds the changes of lines that are matched if `operation` says that they are equal, and otherwise are not.
fn pairs(before: &[Line], after: &[Line], operation: DiffOp, found: &mut Vec<LineChange>) {
    if let DiffOp::Equal { .. } = operation {
        found.extend(before.iter().zip(after).filter_map(|(old, new)| LineChange::of(Some(old), Some(new))));
        return;
    }
    found.extend(before.iter().filter_map(|line| LineChange::of(Some(line), None)));
    found.extend(after.iter().filter_map(|line| LineChange::of(None, Some(line))));
}

/// Returns the lines of a kernel: those of its function that are code, and the other lines that have counts.
fn lines(kernel: &KernelSnapshot) -> Vec<Line> {
    let mut counts: BTreeMap<(&str, u32), (&str, [u64; COUNTS])> = BTreeMap::new();
    for site in &kernel.sites {
        let place = &site.place;
        let entry = counts.entry((place.file.as_str(), place.line)).or_default();
        entry.0 = place.source.as_deref().unwrap_or_default();
        let traffic = &site.traffic;
        let added = match site.memory {
            Memory::Global => [traffic.requests, traffic.sectors, 0, 0, 0],
            Memory::Shared => [0, 0, traffic.requests, traffic.wavefronts, traffic.bank_conflicts],
        };
        let updates = if site.kind == Kind::Atomic { traffic.lanes } else { 0 };
        entry.1.iter_mut().zip(added.into_iter().chain([updates])).for_each(|(sum, added)| *sum += added);
    }
    for branch in &kernel.branches {
        let entry = counts.entry((branch.place.file.as_str(), branch.place.line)).or_default();
        entry.0 = branch.place.source.as_deref().unwrap_or_default();
        entry.1[COUNTS - 2] += branch.executions;
        entry.1[COUNTS - 1] += branch.divergent;
    }
    let mut lines = Vec::new();
    for (number, text) in (kernel.line..).zip(&kernel.listing) {
        let (_, counts) = counts.remove(&(kernel.file.as_str(), number)).unwrap_or_default();
        let text = text.trim();
        if !text.is_empty() && !text.starts_with("//") {
            lines.push(Line { file: kernel.file.clone(), line: number, source: text.to_owned(), counts });
        }
    }
    let other = |((file, line), (source, counts)): ((&str, u32), (&str, [u64; COUNTS]))| Line {
        file: file.to_owned(),
        line,
        source: source.to_owned(),
        counts,
    };
    lines.extend(counts.into_iter().map(other));
    lines
}
