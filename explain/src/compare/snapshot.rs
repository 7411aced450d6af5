//! What a comparison reads of an explanation, from its JSON.

use serde::Deserialize;

use crate::explanation::{Explanation, FORMAT};
use crate::figures::{Launches, Totals};
use crate::occupancy::Resources;
use crate::problem::Problem;
use crate::sites::{Kind, Memory, SourceSite, Traffic};
use crate::summary::Summary;

/// An explanation, as its JSON has it.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Snapshot {
    pub gpu: GpuName,
    pub rungs: Vec<RungSnapshot>,
}

/// The GPU of an explanation.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct GpuName {
    pub name: String,
}

/// A rung of an explanation.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct RungSnapshot {
    algorithm: String,
    rung: String,
    pub problem: Problem,
    pub summary: Summary,
    pub kernels: Vec<KernelSnapshot>,
}

/// A kernel of an explanation.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct KernelSnapshot {
    pub family: String,
    pub entry: String,
    pub file: String,
    pub line: u32,
    #[serde(default)]
    pub listing: Vec<String>,
    pub launches: Vec<Launches>,
    pub totals: Totals,
    pub resources: Option<Resources>,
    pub sites: Vec<SiteSnapshot>,
    pub branches: Vec<BranchSnapshot>,
}

/// A position that accesses memory.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct SiteSnapshot {
    #[serde(flatten)]
    pub place: SourceSite,
    pub memory: Memory,
    pub kind: Kind,
    #[serde(flatten)]
    pub traffic: Traffic,
}

/// A branch.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct BranchSnapshot {
    #[serde(flatten)]
    pub place: SourceSite,
    pub executions: u64,
    pub divergent: u64,
}

/// The part of an explanation's JSON that is read first.
#[derive(Deserialize)]
struct Head {
    format: Option<u32>,
}

impl Snapshot {
    /// Reads the JSON of an explanation.
    ///
    /// # Errors
    /// A text that says why `json` is not an explanation that this version can read.
    pub fn parse(json: &[u8]) -> Result<Self, String> {
        let no_explanation = |error: serde_json::Error| {
            format!("it is not the JSON of an explanation, which `explain KERNEL --json` prints: {error}")
        };
        match serde_json::from_slice(json).map_err(no_explanation)? {
            Head { format: Some(FORMAT) } => serde_json::from_slice(json).map_err(no_explanation),
            Head { format: Some(format) } => Err(format!(
                "it has the JSON format {format} of another version of this program, which reads format {FORMAT}: \
                 print it again with `explain KERNEL --json`"
            )),
            Head { format: None } => Err("it has no `format`, as the JSON of an explanation has: print one with \
                                          `explain KERNEL --json`"
                .into()),
        }
    }

    /// Returns what a comparison reads of `explanation`.
    pub fn of(explanation: &Explanation) -> Result<Self, String> {
        let json = serde_json::to_vec(explanation).map_err(|error| error.to_string())?;
        Self::parse(&json)
    }
}

impl RungSnapshot {
    /// Returns the full name, such as `transpose/padded`.
    pub fn name(&self) -> String {
        crate::explanation::full_name(&self.algorithm, &self.rung)
    }
}
