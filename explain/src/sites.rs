//! The lines of a kernel that access memory or branch, with their counts.

use serde::{Deserialize, Serialize};
use simt::{AccessKind, AccessProfile, BranchProfile, SourceLocation, Space};

use crate::gpus::Gpu;
use crate::sources::Sources;

/// The number of bytes of a sector, the smallest unit that global memory moves.
pub const SECTOR: u64 = 32;

/// A position in a kernel's source: file, line and column.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SourceSite {
    /// The path of the file, as [`Sources`] shows it.
    pub file: String,
    /// The number of the line, from 1.
    pub line: u32,
    /// The number of the column, from 1.
    pub column: u32,
    /// The text of the line, if the source is known.
    pub source: Option<String>,
}

impl SourceSite {
    pub(crate) fn new(location: &SourceLocation, sources: &Sources) -> Self {
        let SourceLocation { file, line, column } = location;
        let source = sources.line(file, *line).map(str::to_owned);
        Self { file: sources.path(file).unwrap_or(file).to_owned(), line: *line, column: *column, source }
    }

    /// Returns the file's name and the line, such as `naive.rs:31`.
    pub fn short(&self) -> String {
        format!("{}:{}", self.file.rsplit('/').next().unwrap_or_default(), self.line)
    }
}

/// The memory that an access reads or writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
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

/// The kind of a memory access.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A read of memory.
    Load,
    /// A write to memory.
    Store,
    /// An atomic update of memory.
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

    /// Returns the name of the kind: `load`, `store` or `atomic`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Store => "store",
            Self::Atomic => "atomic",
        }
    }
}

/// Adds each named field of `$other` to the same field of `$sum`.
macro_rules! add_fields {
    ($sum:ident, $other:ident: $($field:ident)*) => {
        $($sum.$field += $other.$field;)*
    };
}
pub(crate) use add_fields;

/// The counts of memory requests, and of the sectors and wavefronts that they took. A request is one instruction of a
/// warp.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Traffic {
    /// The number of requests by warps.
    pub requests: u64,
    /// The number of accesses by single lanes.
    pub lanes: u64,
    /// In global memory, the number of sectors that each request touched, summed over all requests.
    pub sectors: u64,
    /// In global memory, the minimum number of sectors that could hold the bytes of each request, summed over all
    /// requests.
    pub ideal_sectors: u64,
    /// In shared memory, the number of wavefronts (passes over the banks) that the requests took.
    pub wavefronts: u64,
    /// In shared memory, the number of wavefronts that the requests would take without bank conflicts.
    pub ideal_wavefronts: u64,
    /// In shared memory, the number of additional wavefronts that bank conflicts caused.
    pub bank_conflicts: u64,
}

impl Traffic {
    /// Adds the counts of `other` to `self`.
    pub fn add(&mut self, other: &Self) {
        add_fields!(self, other: requests lanes sectors ideal_sectors wavefronts ideal_wavefronts bank_conflicts);
    }

    pub(crate) fn of(access: &AccessProfile) -> Self {
        let AccessProfile { requests, lanes, sectors, ideal_sectors, wavefronts, ideal_wavefronts, .. } = *access;
        let bank_conflicts = wavefronts.saturating_sub(ideal_wavefronts);
        Self { requests, lanes, sectors, ideal_sectors, wavefronts, ideal_wavefronts, bank_conflicts }
    }

    /// Returns the number of ideal sectors divided by the number of touched sectors; `None` if no sector was touched.
    pub fn efficiency(&self) -> Option<f64> {
        share(self.ideal_sectors, self.sectors)
    }

    /// Returns the factor by which bank conflicts multiply the number of wavefronts; `None` if no request accessed
    /// shared memory.
    pub fn ways(&self) -> Option<f64> {
        share(self.wavefronts, self.ideal_wavefronts)
    }
}

/// Returns `part / whole`, or `None` if `whole` is 0.
pub fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// A position in a kernel's source that accesses memory, with the figures of its accesses.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct AccessSite {
    /// The position in the source.
    #[serde(flatten)]
    pub place: SourceSite,
    /// The memory that the site accesses.
    pub memory: Memory,
    /// The kind of the site's accesses: load, store or atomic.
    pub kind: Kind,
    /// The names that the accessed arrays have in the kernel.
    pub arrays: Vec<&'static str>,
    /// The number of bytes that a lane accesses per request.
    pub bytes_per_lane: u32,
    /// The counts of the site's requests.
    #[serde(flatten)]
    pub traffic: Traffic,
    /// In shared memory, the n of the worst n-way bank conflict.
    pub most_ways: u32,
    /// The distance in bytes between the addresses of neighbouring lanes, if it is the same in most requests.
    pub stride: Option<i64>,
    /// The number of bytes moved. In global memory, whole sectors are counted.
    pub bytes_moved: u64,
    /// The number of ideal sectors or wavefronts divided by the actual number.
    pub efficiency: Option<f64>,
    /// The minimum time that the GPU's memory needs for the accesses, in seconds.
    pub seconds: f64,
    /// A sentence that says what the figures mean.
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

    /// Computes the figures that depend on the summed counts and on `gpu`.
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

    /// Returns the time that ideal accesses would save, in seconds.
    pub fn lost_seconds(&self) -> f64 {
        self.seconds * (1.0 - self.efficiency.unwrap_or(1.0))
    }

    /// Returns the number of sectors or wavefronts per request.
    pub fn per_request(&self) -> f64 {
        let passes = if self.memory == Memory::Global { self.traffic.sectors } else { self.traffic.wavefronts };
        share(passes, self.traffic.requests).unwrap_or(0.0)
    }

    /// Returns the ideal number of sectors or wavefronts per request.
    pub fn ideal_per_request(&self) -> f64 {
        let Traffic { ideal_sectors, ideal_wavefronts, requests, .. } = self.traffic;
        share(if self.memory == Memory::Global { ideal_sectors } else { ideal_wavefronts }, requests).unwrap_or(0.0)
    }

    /// Returns the average number of lanes that take part in a request.
    pub fn lanes_per_request(&self) -> f64 {
        share(self.traffic.lanes, self.traffic.requests).unwrap_or(0.0)
    }

    /// Returns a text that names the memory, the kind of access and the arrays, such as `global load x`.
    pub fn what(&self) -> String {
        let memory = if self.memory == Memory::Global { "global" } else { "shared" };
        let arrays = if self.arrays.is_empty() { String::new() } else { format!(" {}", self.arrays.join(", ")) };
        format!("{memory} {}{arrays}", self.kind.name())
    }
}

/// A branch of a kernel, with its figures.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct BranchSite {
    /// The position in the source.
    #[serde(flatten)]
    pub place: SourceSite,
    /// The number of times that a warp executed the branch.
    pub executions: u64,
    /// The number of times that a warp executed the branch and only some of its lanes took it.
    pub divergent: u64,
    /// The number of times that a lane executed the branch.
    pub lanes: u64,
    /// The number of times that a lane took the branch.
    pub taken: u64,
    /// `divergent` divided by `executions`.
    pub divergent_share: f64,
    /// A sentence that says what the figures mean.
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

    /// Computes the figures that depend on the summed counts.
    pub(crate) fn finish(&mut self) {
        self.divergent_share = share(self.divergent, self.executions).unwrap_or(0.0);
    }
}
