//! The bulk copies of a kernel (`cp.async.bulk`), per line and in sum, and the latency that those in flight hide.

use std::fmt;

use serde::{Deserialize, Serialize};
use simt::{BulkDirection, BulkProfile, BytesInFlight};
use units::{Bytes, Seconds, grouped, short_percent};

use crate::gpus::Gpu;
use crate::sites::{SECTOR, SourceSite, Traffic, add_fields, share};
use crate::sources::Sources;

/// The counts of bulk copies.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct BulkTraffic {
    /// The number of copies. Each is one instruction of one thread.
    pub copies: u64,
    /// The number of bytes of global memory that the copies read or wrote, or the number of bytes that were sent. A
    /// copy to several blocks reads its bytes once.
    pub bytes: u64,
    /// The number of blocks to whose shared memory a copy wrote, summed over the copies.
    pub targets: u64,
    /// The number of bytes that were written to shared memory, in all blocks.
    pub delivered_bytes: u64,
    /// The number of sectors of global memory that each copy touched, summed over the copies.
    pub sectors: u64,
    /// The minimum number of sectors that could hold the bytes of each copy, summed over the copies.
    pub ideal_sectors: u64,
}

impl BulkTraffic {
    fn of(copies: &BulkProfile) -> Self {
        let BulkProfile { copies, bytes, targets, delivered_bytes, sectors, ideal_sectors, .. } = *copies;
        Self { copies, bytes, targets, delivered_bytes, sectors, ideal_sectors }
    }

    /// Adds the counts of `other` to `self`.
    pub fn add(&mut self, other: &Self) {
        add_fields!(self, other: copies bytes targets delivered_bytes sectors ideal_sectors);
    }

    /// Returns the copies as requests to global memory, of which each copy is one.
    pub(crate) fn requests(&self) -> Traffic {
        let Self { copies, sectors, ideal_sectors, .. } = *self;
        Traffic { requests: copies, sectors, ideal_sectors, ..Traffic::default() }
    }
}

/// The bulk copies of a kernel by direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct BulkTotals {
    /// The copies from global to shared memory.
    pub load: BulkTraffic,
    /// The copies from shared to global memory, also those that combine elements.
    pub store: BulkTraffic,
    /// The copies from shared memory to that of another block.
    pub send: BulkTraffic,
}

impl BulkTotals {
    pub(crate) fn of(copies: &[BulkProfile]) -> Self {
        let mut totals = Self::default();
        for site in copies {
            let traffic = match site.direction {
                BulkDirection::Load => &mut totals.load,
                BulkDirection::Send => &mut totals.send,
                _ => &mut totals.store,
            };
            traffic.add(&BulkTraffic::of(site));
        }
        totals
    }

    /// Returns true if there are no bulk copies.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds the counts of `other` to `self`.
    pub fn add(&mut self, other: &Self) {
        self.load.add(&other.load);
        self.store.add(&other.store);
        self.send.add(&other.send);
    }

    /// Returns the sum of the copies of all directions.
    pub fn all(&self) -> BulkTraffic {
        let mut all = self.load;
        all.add(&self.store);
        all.add(&self.send);
        all
    }

    /// Returns a line about the copies, if there are any.
    pub(crate) fn line(&self) -> Option<String> {
        let of = |what: &str, BulkTraffic { copies, bytes, .. }: BulkTraffic| {
            let plural = if copies == 1 { "" } else { "s" };
            (copies > 0).then(|| format!("{} {what}{plural} of {}", grouped(copies), Bytes(bytes)))
        };
        let delivered = |load: String| match self.load.targets > self.load.copies {
            true => format!("{load}, which deliver {} to shared memory", Bytes(self.load.delivered_bytes)),
            false => load,
        };
        let parts = [of("load", self.load).map(delivered), of("store", self.store), of("send", self.send)];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| format!("bulk copies: {}", parts.join("; ")))
    }
}

/// A position in a kernel's source that begins bulk copies, with their figures.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct BulkSite {
    /// The position in the source.
    #[serde(flatten)]
    pub place: SourceSite,
    /// The direction of the copies: `load`, `store`, `reduce` or `send`.
    pub direction: &'static str,
    /// True if a tensor map describes the bytes in global memory.
    pub has_map: bool,
    /// The name that the accessed array has in the kernel, if it is known.
    pub array: Option<&'static str>,
    /// The counts of the copies.
    #[serde(flatten)]
    pub traffic: BulkTraffic,
    /// The minimum time that the GPU's memory needs for the copies, in seconds.
    pub seconds: f64,
}

impl BulkSite {
    pub(crate) fn new(copies: &BulkProfile, sources: &Sources) -> Self {
        let direction = match copies.direction {
            BulkDirection::Load => "load",
            BulkDirection::Reduce => "reduce",
            BulkDirection::Send => "send",
            _ => "store",
        };
        Self {
            place: SourceSite::new(&copies.location, sources),
            direction,
            has_map: copies.has_map,
            array: copies.array,
            traffic: BulkTraffic::of(copies),
            seconds: 0.0,
        }
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        (self.direction, self.has_map, self.array) == (other.direction, other.has_map, other.array)
            && self.place == other.place
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.traffic.add(&other.traffic);
    }

    /// Computes the figures that depend on the summed counts and on `gpu`.
    pub(crate) fn finish(&mut self, gpu: &Gpu) {
        self.seconds = gpu.memory_seconds(self.traffic.sectors * SECTOR);
    }

    /// Returns a text that names the direction and the array, such as `bulk load x`.
    pub fn what(&self) -> String {
        self.array
            .map_or_else(|| format!("bulk {}", self.direction), |array| format!("bulk {} {array}", self.direction))
    }

    /// Returns the number of ideal sectors divided by the number of touched sectors; `None` if the copies touch no
    /// global memory.
    pub fn efficiency(&self) -> Option<f64> {
        share(self.traffic.ideal_sectors, self.traffic.sectors)
    }

    /// Returns a sentence that says what the figures mean.
    pub fn meaning(&self) -> String {
        let BulkTraffic { copies, bytes, targets, .. } = self.traffic;
        let blocks = targets as f64 / copies.max(1) as f64;
        let what = if self.has_map { "boxes of a tensor map" } else { "consecutive bytes" };
        let (each, rest) = (bytes / copies.max(1), bytes % copies.max(1));
        let each = format!("{} {}", Bytes(each), if rest == 0 { "each" } else { "on average" });
        if self.direction == "send" {
            return format!("{each}, from one block's shared memory to another's");
        }
        let delivered = match blocks > 1.0 {
            true => format!(", read once and delivered to {} blocks", units::number(blocks)),
            false => String::new(),
        };
        let used = match self.efficiency() {
            Some(efficiency) if efficiency < 0.995 => format!("{} of the bytes", short_percent(efficiency)),
            _ => "all bytes".into(),
        };
        format!("{what}, {each}{delivered}: {used} of the sectors that they touch are used")
    }
}

/// The latency that the bulk loads in flight hide.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Pipeline {
    /// The most bytes of bulk loads that a block had in flight at a time: issued, and not yet waited for.
    pub bytes: u64,
    /// The number of phases of barriers at which these bytes arrived.
    pub stages: u64,
    /// The number of blocks that a multiprocessor runs at once, or 1 if the kernel's resources are not known.
    pub blocks: u64,
    /// The time in seconds in which the memory moves the bytes in flight of all blocks of a multiprocessor, if each
    /// multiprocessor takes the same share of the memory's speed.
    pub seconds: f64,
}

impl Pipeline {
    /// Returns the pipeline of a kernel whose multiprocessors run `blocks` blocks at once; `None` if it has no bulk
    /// loads.
    pub(crate) fn of(BytesInFlight { bytes, stages, .. }: BytesInFlight, blocks: u64, gpu: &Gpu) -> Option<Self> {
        let seconds = gpu.memory_seconds(bytes * blocks * u64::from(gpu.multiprocessors));
        (bytes > 0).then_some(Self { bytes, stages, blocks, seconds })
    }
}

impl fmt::Display for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bytes, stages, blocks, seconds } = *self;
        let plural = |count: u64| if count == 1 { "" } else { "s" };
        write!(
            f,
            "{stages} stage{}: up to {} in flight in a block, which hide {} of latency at this GPU's bandwidth with \
             {blocks} block{} per SM",
            plural(stages),
            Bytes(bytes),
            Seconds(seconds),
            plural(blocks)
        )
    }
}
