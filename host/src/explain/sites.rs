//! The places of a kernel that access memory or branch, and what they did.

use serde::{Deserialize, Serialize};
use simt::{AccessKind, AccessProfile, BranchProfile, SourceLocation, Space};

use super::gpus::Gpu;
use super::sources;

/// Bytes of a sector, the least that global memory moves.
pub const SECTOR: u64 = 32;

/// A line of a kernel's source.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Place {
    /// The file, from the workspace's root.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
    /// Its text.
    pub source: Option<&'static str>,
}

impl Place {
    fn new(location: &SourceLocation) -> Self {
        let SourceLocation { file, line, column } = location;
        let name = sources::path(file).map_or_else(|| file.clone(), str::to_owned);
        Self { source: sources::line(file, *line), file: name, line: *line, column: *column }
    }

    /// The file's name and the line: `naive.rs:31`.
    pub fn short(&self) -> String {
        format!("{}:{}", self.file.rsplit('/').next().unwrap_or_default(), self.line)
    }
}

/// Which memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Memory {
    /// The device's.
    Global,
    /// The block's.
    Shared,
}

/// What is done there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Read.
    Load,
    /// Written.
    Store,
    /// Read and written at once.
    Atomic,
}

impl Kind {
    /// "load".
    pub const fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Store => "store",
            Self::Atomic => "atomic",
        }
    }
}

/// Requests, and what they came to. A request is an instruction of a warp.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Traffic {
    /// Requests.
    pub requests: u64,
    /// Accesses of lanes.
    pub lanes: u64,
    /// Global memory: sectors touched, counted for each request.
    pub sectors: u64,
    /// Global memory: the fewest that would hold the bytes of each request.
    pub ideal_sectors: u64,
    /// Shared memory: passes over the banks.
    pub wavefronts: u64,
    /// Shared memory: the passes that it would take without bank conflicts.
    pub ideal_wavefronts: u64,
    /// Shared memory: the passes that are too many.
    pub bank_conflicts: u64,
}

impl Traffic {
    /// Adds another's.
    pub fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.lanes += other.lanes;
        self.sectors += other.sectors;
        self.ideal_sectors += other.ideal_sectors;
        self.wavefronts += other.wavefronts;
        self.ideal_wavefronts += other.ideal_wavefronts;
        self.bank_conflicts += other.bank_conflicts;
    }

    fn of(access: &AccessProfile) -> Self {
        let AccessProfile { requests, lanes, sectors, ideal_sectors, wavefronts, ideal_wavefronts, .. } = *access;
        let bank_conflicts = wavefronts.saturating_sub(ideal_wavefronts);
        Self { requests, lanes, sectors, ideal_sectors, wavefronts, ideal_wavefronts, bank_conflicts }
    }

    /// The share of sectors that would do; `None` where nothing was moved.
    pub fn efficiency(&self) -> Option<f64> {
        share(self.ideal_sectors, self.sectors)
    }

    /// How often longer bank conflicts make it; `None` where shared memory was not accessed.
    pub fn ways(&self) -> Option<f64> {
        share(self.wavefronts, self.ideal_wavefronts)
    }
}

/// `part / whole`; `None` of nothing.
pub fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// A place that accesses memory.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Site {
    /// Where.
    #[serde(flatten)]
    pub place: Place,
    /// Which memory.
    pub memory: Memory,
    /// What is done there.
    pub kind: Kind,
    /// The arrays, by their names in the kernel.
    pub arrays: Vec<&'static str>,
    /// Bytes that a lane accesses at once.
    pub bytes_per_lane: u32,
    /// How much.
    #[serde(flatten)]
    pub traffic: Traffic,
    /// Shared memory: the most ways that a request was split.
    pub most_ways: u32,
    /// The bytes from a lane's address to the next lane's, where most requests have one distance throughout.
    pub stride: Option<i64>,
    /// Bytes moved: of global memory whole sectors.
    pub bytes_moved: u64,
    /// Ideal sectors or wavefronts over actual ones.
    pub efficiency: Option<f64>,
    /// The seconds that its traffic takes the GPU's memory at least.
    pub seconds: f64,
    /// What the figures mean.
    pub meaning: String,
}

impl Site {
    pub(super) fn new(access: &AccessProfile) -> Self {
        Self {
            place: Place::new(&access.location),
            memory: match access.space {
                Space::Global => Memory::Global,
                Space::Shared => Memory::Shared,
            },
            kind: match access.kind {
                AccessKind::Load => Kind::Load,
                AccessKind::Store => Kind::Store,
                AccessKind::Atomic => Kind::Atomic,
            },
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

    pub(super) fn is_same(&self, other: &Self) -> bool {
        (self.memory, self.kind, self.bytes_per_lane) == (other.memory, other.kind, other.bytes_per_lane)
            && self.place == other.place
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.traffic.add(&other.traffic);
        self.most_ways = self.most_ways.max(other.most_ways);
        self.stride = self.stride.filter(|_| self.stride == other.stride);
        for array in &other.arrays {
            if !self.arrays.contains(array) {
                self.arrays.push(array);
            }
        }
    }

    /// Works out what figures follow from the sums, on `gpu`.
    pub(super) fn finish(&mut self, gpu: &Gpu) {
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

    /// The seconds of it that better access would save.
    pub fn lost_seconds(&self) -> f64 {
        self.seconds * (1.0 - self.efficiency.unwrap_or(1.0))
    }

    /// Sectors or wavefronts of a request.
    pub fn per_request(&self) -> f64 {
        let passes = if self.memory == Memory::Global { self.traffic.sectors } else { self.traffic.wavefronts };
        share(passes, self.traffic.requests).unwrap_or(0.0)
    }

    /// What a request would need.
    pub fn ideal_per_request(&self) -> f64 {
        let Traffic { ideal_sectors, ideal_wavefronts, requests, .. } = self.traffic;
        share(if self.memory == Memory::Global { ideal_sectors } else { ideal_wavefronts }, requests).unwrap_or(0.0)
    }

    /// Lanes that take part in a request.
    pub fn lanes_per_request(&self) -> f64 {
        share(self.traffic.lanes, self.traffic.requests).unwrap_or(0.0)
    }

    /// `global load x`.
    pub fn what(&self) -> String {
        let memory = if self.memory == Memory::Global { "global" } else { "shared" };
        let arrays = if self.arrays.is_empty() { String::new() } else { format!(" {}", self.arrays.join(", ")) };
        format!("{memory} {}{arrays}", self.kind.name())
    }
}

/// A branch.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Branch {
    /// Where.
    #[serde(flatten)]
    pub place: Place,
    /// How often a warp came to it.
    pub executions: u64,
    /// How often its lanes went both ways.
    pub divergent: u64,
    /// How often lanes came to it.
    pub lanes: u64,
    /// How often lanes took it.
    pub taken: u64,
    /// The share of executions that were divergent.
    pub divergent_share: f64,
    /// What that means.
    pub meaning: String,
}

impl Branch {
    pub(super) fn new(branch: &BranchProfile) -> Self {
        let BranchProfile { location, executions, divergent, lanes, taken, .. } = branch;
        let (executions, divergent, lanes, taken) = (*executions, *divergent, *lanes, *taken);
        let place = Place::new(location);
        Self { place, executions, divergent, lanes, taken, divergent_share: 0.0, meaning: String::new() }
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.executions += other.executions;
        self.divergent += other.divergent;
        self.lanes += other.lanes;
        self.taken += other.taken;
    }

    /// Works out what figures follow from the sums.
    pub(super) fn finish(&mut self) {
        self.divergent_share = share(self.divergent, self.executions).unwrap_or(0.0);
    }
}
