//! Compares the figures of a kernel with a baseline: another kernel, or an earlier version of the kernel.
//!
//! # Design
//!
//! A baseline is the JSON of an explanation, read from a file or made in memory. A comparison thus reads the same
//! values of both sides. Lines are matched by their text and order, because an edit moves the lines below it.

mod lines;
mod snapshot;
#[cfg(test)]
mod tests;
mod text;

use std::fs;
use std::path::Path;

use serde::Serialize;
use thiserror::Error;

use self::snapshot::{KernelSnapshot, RungSnapshot, Snapshot};
use crate::explanation::Explanation;

pub use self::lines::{Line, LineChange};
pub(crate) use self::text::marked;

/// An explanation with which another one is compared.
#[derive(Clone, Debug)]
pub struct Baseline {
    /// The name of the kernel, or the path of the file.
    name: String,
    is_file: bool,
    snapshot: Snapshot,
}

/// The error of a comparison.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum BaselineError {
    /// The file cannot be read, or is not the JSON of an explanation.
    #[error("cannot read the baseline {0}")]
    Unreadable(String),
    /// The baseline and the explanation are of different kernels, problems or GPUs.
    #[error("cannot compare with the baseline {0}")]
    Mismatch(String),
}

/// The differences between an explanation and its baseline.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Comparison {
    /// The name of the baseline's kernel, or the path of its file.
    pub baseline: String,
    /// The compared rungs.
    pub rungs: Vec<RungComparison>,
}

/// The differences between a rung and its baseline.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RungComparison {
    /// The name of the baseline's rung.
    pub before: String,
    /// The name of the rung.
    pub after: String,
    /// A sentence that says what differs; `None` if all counts are equal.
    pub summary: Option<String>,
    /// The counts of all kernels, without those that are 0 on both sides.
    pub totals: Vec<Change>,
    /// The kernels, with the lines that differ.
    pub kernels: Vec<KernelComparison>,
}

/// The lines that differ between two kernels.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct KernelComparison {
    /// The name in the PTX of the baseline's kernel; `None` if the baseline has no such kernel.
    pub before: Option<String>,
    /// The kernel's name in the PTX; `None` if only the baseline has the kernel.
    pub after: Option<String>,
    /// The lines that differ, in the order of the source.
    pub lines: Vec<LineChange>,
}

/// A count before and after.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Change {
    /// The name of the count.
    pub what: &'static str,
    /// The count of the baseline.
    pub before: u64,
    /// The new count.
    pub after: u64,
}

/// Returns the counts that differ. Both sides have the same names in the same order.
fn changes(
    before: impl Iterator<Item = (&'static str, u64)>,
    after: impl Iterator<Item = (&'static str, u64)>,
) -> Vec<Change> {
    let both = before.zip(after).map(|((what, before), (_, after))| Change { what, before, after });
    both.filter(|change| change.before != change.after).collect()
}

impl Baseline {
    /// Reads the JSON of an explanation from a file.
    ///
    /// # Errors
    /// [`BaselineError::Unreadable`] if the file cannot be read, or has something else.
    pub fn read(path: &Path) -> Result<Self, BaselineError> {
        let name = path.display().to_string();
        let unreadable = |why: String| BaselineError::Unreadable(format!("'{name}': {why}"));
        let json = fs::read(path).map_err(|error| unreadable(error.to_string()))?;
        let snapshot = Snapshot::parse(&json).map_err(unreadable)?;
        Ok(Self { name, is_file: true, snapshot })
    }

    /// Returns `explanation` as a baseline.
    ///
    /// # Errors
    /// [`BaselineError::Unreadable`] if a figure is not a number that JSON can have.
    pub fn of(explanation: &Explanation) -> Result<Self, BaselineError> {
        let name = explanation.subject.clone();
        let unreadable = |why: String| BaselineError::Unreadable(format!("'{name}': {why}"));
        let snapshot = Snapshot::of(explanation).map_err(unreadable)?;
        Ok(Self { name, is_file: false, snapshot })
    }

    /// Returns the path if `text`, the value of `--baseline`, names a file and not a kernel: if it ends in `.json`.
    pub fn path(text: &str) -> Option<&Path> {
        let path = Path::new(text);
        path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json")).then_some(path)
    }

    fn mismatch(&self, why: &str) -> BaselineError {
        BaselineError::Mismatch(format!("'{}': {why}", self.name))
    }

    /// Returns the rung of the baseline with which `rung`, one of `count`, is compared.
    fn rung(&self, rung: &RungSnapshot, count: usize) -> Result<&RungSnapshot, BaselineError> {
        let names: Vec<String> = self.snapshot.rungs.iter().map(RungSnapshot::name).collect();
        let before = match &self.snapshot.rungs[..] {
            [only] if !self.is_file && count == 1 => only,
            _ if !self.is_file => {
                let more = if count > 1 { "a name of several rungs" } else { "one that has several rungs" };
                return Err(self.mismatch(&format!(
                    "one kernel is compared with one other, not {more}: name a rung, such as '{}'",
                    if count > 1 { rung.name() } else { names.join("' or '") }
                )));
            }
            rungs => rungs.iter().find(|there| there.name() == rung.name()).ok_or_else(|| {
                self.mismatch(&format!(
                    "it has the profile of {}, not of {}: to compare two kernels, use the kernel's name with \
                     --baseline",
                    names.join(", "),
                    rung.name()
                ))
            })?,
        };
        let is_same_problem = match before.name() == rung.name() {
            true => before.problem == rung.problem,
            false => before.problem.elements == rung.problem.elements,
        };
        if !is_same_problem {
            return Err(self.mismatch(&format!(
                "it computed {} ({} elements), and {} computes {} ({} elements): set the same size, type and operator",
                before.problem,
                before.problem.elements,
                rung.name(),
                rung.problem,
                rung.problem.elements
            )));
        }
        Ok(before)
    }
}

impl Explanation {
    /// Compares the explanation with `baseline`, and keeps the result as its [`comparison`](Self::comparison). A
    /// baseline from a file must have each rung of the explanation. Otherwise both must have one rung.
    ///
    /// # Errors
    /// [`BaselineError::Mismatch`] if the baseline has other rungs, another problem, or another GPU.
    pub fn compare(&mut self, baseline: &Baseline) -> Result<(), BaselineError> {
        let Baseline { name, snapshot, .. } = baseline;
        if snapshot.gpu.name != self.gpu.name {
            let gpu = &snapshot.gpu.name;
            return Err(baseline.mismatch(&format!("its GPU is {gpu}, not {}: set --gpu", self.gpu.name)));
        }
        let unreadable = |why| BaselineError::Unreadable(format!("'{name}': {why}"));
        let now = Snapshot::of(self).map_err(unreadable)?;
        let count = now.rungs.len();
        let rungs = now.rungs.iter().map(|rung| Ok(RungComparison::of(baseline.rung(rung, count)?, rung)));
        let rungs = rungs.collect::<Result<Vec<_>, BaselineError>>()?;
        self.comparison = Some(Comparison { baseline: name.clone(), rungs });
        Ok(())
    }
}

impl RungComparison {
    fn of(before: &RungSnapshot, after: &RungSnapshot) -> Self {
        let totals: Vec<Change> = totals(before)
            .into_iter()
            .zip(totals(after))
            .map(|((what, before), (_, after))| Change { what, before, after })
            .filter(|change| change.before > 0 || change.after > 0)
            .collect();
        let differs = totals.iter().any(|change| change.before != change.after);
        let summary = differs.then(|| after.summary.change_from(&before.summary, "see the counts"));
        let kernels = pairs(&before.kernels, &after.kernels);
        let compared = kernels.into_iter().map(|(before, after)| KernelComparison {
            before: before.map(|kernel| kernel.entry.clone()),
            after: after.map(|kernel| kernel.entry.clone()),
            lines: lines::compare(before, after),
        });
        Self { before: before.name(), after: after.name(), summary, totals, kernels: compared.collect() }
    }
}

/// A kernel of the baseline and the kernel with which it is compared, of which one may be missing.
type Pair<'a> = (Option<&'a KernelSnapshot>, Option<&'a KernelSnapshot>);

/// Returns pairs of kernels: those of the same name, and of the others the first with the first and so on.
fn pairs<'a>(before: &'a [KernelSnapshot], after: &'a [KernelSnapshot]) -> Vec<Pair<'a>> {
    let named = |kernel: &KernelSnapshot, kernels: &'a [KernelSnapshot]| {
        let of_entry = kernels.iter().find(|there| there.entry == kernel.entry);
        of_entry.or_else(|| kernels.iter().find(|there| there.family == kernel.family))
    };
    let mut others = before.iter().filter(|kernel| named(kernel, after).is_none());
    let mut pairs: Vec<Pair> =
        after.iter().map(|kernel| (named(kernel, before).or_else(|| others.next()), Some(kernel))).collect();
    pairs.extend(others.map(|kernel| (Some(kernel), None)));
    pairs
}

/// Returns the counts of a rung, summed over its kernels. Registers and shared memory are those of the kernel that
/// takes most.
fn totals(rung: &RungSnapshot) -> Vec<(&'static str, u64)> {
    let mut sum = crate::figures::Totals::default();
    rung.kernels.iter().for_each(|kernel| sum.add(&kernel.totals));
    let (global, shared, bulk) = (sum.all_global(), sum.shared.all(), sum.bulk.all());
    let launches = rung.kernels.iter().flat_map(|kernel| &kernel.launches);
    let most = |figure: fn(&crate::occupancy::Resources) -> u32| {
        rung.kernels.iter().filter_map(|kernel| kernel.resources.as_ref()).map(figure).max().map_or(0, u64::from)
    };
    vec![
        ("launches", launches.map(|launches| launches.launches).sum()),
        ("requests to global memory", global.requests),
        ("sectors", global.sectors),
        ("sectors read, each once", sum.sectors_read),
        ("sectors written, each once", sum.sectors_written),
        ("requests to shared memory", shared.requests),
        ("wavefronts", shared.wavefronts),
        ("bank conflicts", shared.bank_conflicts),
        ("bulk copies", bulk.copies),
        ("bytes of bulk copies", bulk.bytes),
        ("products by warps", sum.products.executions),
        ("operations of tensor cores", sum.products.operations()),
        ("atomic updates", sum.global.atomic.lanes + sum.shared.atomic.lanes),
        ("barriers", sum.barriers),
        ("warp operations", sum.warp_operations),
        ("fences", sum.fences),
        ("warps at branches", sum.branches),
        ("split warps", sum.divergent_branches),
        ("registers per thread", most(|resources| resources.registers)),
        ("shared bytes per block", most(|resources| resources.static_shared_bytes)),
    ]
}
