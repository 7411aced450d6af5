//! The lines of a kernel that access memory or branch, with their counts.

use serde::{Deserialize, Serialize};
use simt::{AccessKind, AccessProfile, BranchProfile, SourceLocation, Space};

use crate::gpus::Gpu;
use crate::sources::Sources;

/// Bytes of a sector, the smallest unit that global memory moves.
pub const SECTOR: u64 = 32;

/// A site of a kernel's source: file, line and column.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct SourceSite {
    /// The file, under the path that [`Sources`] shows.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
    /// The text of the line, if it is known.
    pub source: Option<String>,
}

impl SourceSite {
    fn new(location: &SourceLocation, sources: &Sources) -> Self {
        let SourceLocation { file, line, column } = location;
        let source = sources.line(file, *line).map(str::to_owned);
        Self { file: sources.path(file).unwrap_or(file).to_owned(), line: *line, column: *column, source }
    }

    /// Returns the file's name and the line: `naive.rs:31`.
    pub fn short(&self) -> String {
        format!("{}:{}", self.file.rsplit('/').next().unwrap_or_default(), self.line)
    }
}

/// A memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Memory {
    /// The device's global memory.
    Global,
    /// The shared memory of a block.
    Shared,
}

impl Memory {
    pub(crate) fn of(space: Space) -> Self {
        match space {
            Space::Global => Self::Global,
            Space::Shared => Self::Shared,
        }
    }
}

/// The kind of an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A read.
    Load,
    /// A write.
    Store,
    /// An atomic update.
    Atomic,
}

impl Kind {
    pub(crate) fn of(kind: AccessKind) -> Self {
        match kind {
            AccessKind::Load => Self::Load,
            AccessKind::Store => Self::Store,
            AccessKind::Atomic => Self::Atomic,
        }
    }

    /// Returns its name: `load`, `store` or `atomic`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Store => "store",
            Self::Atomic => "atomic",
        }
    }
}

/// Adds fields of `$other` to those of `$sum`.
macro_rules! add_fields {
    ($sum:ident, $other:ident: $($field:ident)*) => {
        $($sum.$field += $other.$field;)*
    };
}
pub(crate) use add_fields;

/// Requests, and the sectors and wavefronts that they took. A request is an instruction of a warp.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Traffic {
    /// Requests.
    pub requests: u64,
    /// Accesses of single lanes.
    pub lanes: u64,
    /// Global memory: the sectors that requests touched, counted per request.
    pub sectors: u64,
    /// Global memory: the fewest sectors that would hold the bytes of each request.
    pub ideal_sectors: u64,
    /// Shared memory: passes over the banks.
    pub wavefronts: u64,
    /// Shared memory: the passes without bank conflicts.
    pub ideal_wavefronts: u64,
    /// Shared memory: the passes that bank conflicts add.
    pub bank_conflicts: u64,
}

impl Traffic {
    /// Adds `other`.
    pub fn add(&mut self, other: &Self) {
        add_fields!(self, other: requests lanes sectors ideal_sectors wavefronts ideal_wavefronts bank_conflicts);
    }

    pub(crate) fn of(access: &AccessProfile) -> Self {
        let AccessProfile { requests, lanes, sectors, ideal_sectors, wavefronts, ideal_wavefronts, .. } = *access;
        let bank_conflicts = wavefronts.saturating_sub(ideal_wavefronts);
        Self { requests, lanes, sectors, ideal_sectors, wavefronts, ideal_wavefronts, bank_conflicts }
    }

    /// Returns ideal over actual sectors; `None` if no sector was moved.
    pub fn efficiency(&self) -> Option<f64> {
        share(self.ideal_sectors, self.sectors)
    }

    /// Returns the factor by which bank conflicts multiply the wavefronts; `None` if shared memory was not accessed.
    pub fn ways(&self) -> Option<f64> {
        share(self.wavefronts, self.ideal_wavefronts)
    }
}

/// Returns `part / whole`; `None` if `whole` is 0.
pub fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// A site that accesses memory.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct AccessSite {
    /// The site.
    #[serde(flatten)]
    pub place: SourceSite,
    /// The memory accessed.
    pub memory: Memory,
    /// The kind of access.
    pub kind: Kind,
    /// The names that the arrays have in the kernel.
    pub arrays: Vec<&'static str>,
    /// Bytes per access of a lane.
    pub bytes_per_lane: u32,
    /// Its counts.
    #[serde(flatten)]
    pub traffic: Traffic,
    /// Shared memory: the largest number of ways of a bank conflict.
    pub most_ways: u32,
    /// The distance in bytes between the addresses of neighbouring lanes, if most requests have one distance.
    pub stride: Option<i64>,
    /// Bytes moved; in global memory those of whole sectors.
    pub bytes_moved: u64,
    /// Ideal sectors or wavefronts over actual ones.
    pub efficiency: Option<f64>,
    /// The least seconds that the GPU's memory needs for it.
    pub seconds: f64,
    /// The meaning of the figures, in a sentence.
    pub meaning: String,
}

impl AccessSite {
    pub(crate) fn new(access: &AccessProfile, sources: &Sources) -> Self {
        Self {
            place: SourceSite::new(&access.location, sources),
            memory: Memory::of(access.space),
            kind: Kind::of(access.kind),
            arrays: access.arrays.clone(),
            bytes_per_lane: access.bytes_per_lane,
            traffic: Traffic::of(access),
            most_ways: access.max_ways,
            stride: access.stride,
            bytes_moved: 0,
            efficiency: None,
            seconds: 0.0,
            meaning: String::new(),
        }
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        (self.memory, self.kind, self.bytes_per_lane) == (other.memory, other.kind, other.bytes_per_lane)
            && self.place == other.place
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.traffic.add(&other.traffic);
        self.most_ways = self.most_ways.max(other.most_ways);
        self.stride = self.stride.filter(|_| self.stride == other.stride);
        for array in &other.arrays {
            if !self.arrays.contains(array) {
                self.arrays.push(array);
            }
        }
    }

    /// Computes the figures that follow from the sums on `gpu`.
    pub(crate) fn finish(&mut self, gpu: &Gpu) {
        let Traffic { sectors, wavefronts, lanes, .. } = self.traffic;
        match self.memory {
            Memory::Global => {
                self.bytes_moved = sectors * SECTOR;
                self.efficiency = self.traffic.efficiency();
                self.seconds = gpu.memory_seconds(self.bytes_moved);
            }
            Memory::Shared => {
                self.bytes_moved = lanes * u64::from(self.bytes_per_lane);
                self.efficiency = share(self.traffic.ideal_wavefronts, wavefronts);
                self.seconds = gpu.shared_seconds(wavefronts);
            }
        }
    }

    /// Returns the seconds that ideal accesses would save.
    pub fn lost_seconds(&self) -> f64 {
        self.seconds * (1.0 - self.efficiency.unwrap_or(1.0))
    }

    /// Returns the sectors or wavefronts per request.
    pub fn per_request(&self) -> f64 {
        let passes = if self.memory == Memory::Global { self.traffic.sectors } else { self.traffic.wavefronts };
        share(passes, self.traffic.requests).unwrap_or(0.0)
    }

    /// Returns the fewest sectors or wavefronts per request.
    pub fn ideal_per_request(&self) -> f64 {
        let Traffic { ideal_sectors, ideal_wavefronts, requests, .. } = self.traffic;
        share(if self.memory == Memory::Global { ideal_sectors } else { ideal_wavefronts }, requests).unwrap_or(0.0)
    }

    /// Returns the lanes per request.
    pub fn lanes_per_request(&self) -> f64 {
        share(self.traffic.lanes, self.traffic.requests).unwrap_or(0.0)
    }

    /// Returns what is accessed: `global load x`.
    pub fn what(&self) -> String {
        let memory = if self.memory == Memory::Global { "global" } else { "shared" };
        let arrays = if self.arrays.is_empty() { String::new() } else { format!(" {}", self.arrays.join(", ")) };
        format!("{memory} {}{arrays}", self.kind.name())
    }
}

/// A branch.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct BranchSite {
    /// The site.
    #[serde(flatten)]
    pub place: SourceSite,
    /// Executions of the branch by warps.
    pub executions: u64,
    /// Executions that split the lanes of the warp.
    pub divergent: u64,
    /// Executions of the branch by single lanes.
    pub lanes: u64,
    /// Executions by lanes that took it.
    pub taken: u64,
    /// The share of executions that were divergent.
    pub divergent_share: f64,
    /// The meaning of the figures, in a sentence.
    pub meaning: String,
}

impl BranchSite {
    pub(crate) fn new(branch: &BranchProfile, sources: &Sources) -> Self {
        let BranchProfile { location, executions, divergent, lanes, taken, .. } = branch;
        let (executions, divergent, lanes, taken) = (*executions, *divergent, *lanes, *taken);
        Self { place: SourceSite::new(location, sources), executions, divergent, lanes, taken, ..Self::default() }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        add_fields!(self, other: executions divergent lanes taken);
    }

    /// Computes the figures that follow from the sums.
    pub(crate) fn finish(&mut self) {
        self.divergent_share = share(self.divergent, self.executions).unwrap_or(0.0);
    }
}
