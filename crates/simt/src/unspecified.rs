//! The values that shuffles return to lanes whose source lane takes no part: it is not in the mask, or has exited.
//!
//! # Design
//!
//! CUDA leaves such a value unspecified, and many correct kernels never use it: the upper half of a tree, for example.
//! Each schedule therefore gives other values. After a checked launch with such shuffles, the simulator restores the
//! memory and repeats the launch. In the repetition these lanes receive their own values. If the memory or the outcome
//! then differs, the kernel depends on an unspecified value, and the launch reports the shuffle.

use std::sync::{Mutex, PoisonError};

use crate::director::hash;
use crate::faults::whereabouts::Absence;
use crate::faults::{Fault, FaultKind};
use crate::geometry::Dim3;
use crate::order::scramble;
use crate::region::Region;
use crate::schedule::Schedule;
use crate::source::{Line, is_same_line};

/// The maximum number of bytes of writable memory of a launch that is repeated.
const MAX_BYTES: usize = 1 << 18;
/// The bit in which an unspecified value differs from the lane's own value, besides the lowest four. The change is
/// visible in floating-point numbers, and so small that sums of integers do not overflow.
const CHANGED: u64 = 1 << 20;
/// The maximum number of source lines that are recorded.
const MAX_LINES: usize = 16;

/// The shuffles that return a lane's own value instead of a pseudo-random one, if the source lane takes no part.
#[derive(Clone, Copy, Debug)]
pub(crate) enum OwnValues {
    Never,
    At(Line),
    Always,
}

/// The first shuffle at a line that has returned an unspecified value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sighting {
    pub(crate) at: Line,
    pub(crate) block: Dim3,
    pub(crate) thread: Dim3,
    pub(crate) mask: u32,
    pub(crate) source: u32,
    /// False if the block has no thread for the source lane.
    pub(crate) exists: bool,
    /// The last memory access or wait of the source lane, which has exited or is not in the mask.
    pub(crate) seen: Option<Line>,
    /// The last memory access or wait of the calling thread before the shuffle.
    pub(crate) before: Option<Line>,
}

impl Sighting {
    /// Returns the reason why the source lane takes no part. A lane in the mask has exited, because all others are
    /// waited for. If it came as far as the calling thread, or further, it has skipped the shuffle.
    fn absence(&self) -> Absence {
        let is_same = |seen| self.before.is_some_and(|before| is_same_line(before, seen));
        let is_below = |seen: Line| {
            seen.file() == self.at.file() && (seen.line(), seen.column()) > (self.at.line(), self.at.column())
        };
        match self.seen {
            _ if self.mask & 1_u32.unbounded_shl(self.source) == 0 => Absence::NotInMask,
            _ if !self.exists => Absence::NotInBlock,
            Some(seen) if is_same(seen) || is_below(seen) => Absence::Skipped(seen.into()),
            seen => Absence::Exited(seen.map(Into::into)),
        }
    }
}

/// Makes the unspecified values of a launch, and records the shuffles that return them.
pub(crate) struct Unspecified {
    key: u64,
    own: OwnValues,
    sightings: Mutex<Vec<Sighting>>,
}

impl Unspecified {
    pub(crate) fn new(schedule: Schedule, own: OwnValues) -> Self {
        Self { key: hash(&schedule), own, sightings: Mutex::default() }
    }

    /// Returns the value that the shuffle of `sighting` returns to a lane whose own value is `own`. `thread` is the
    /// number of the thread in the grid.
    #[cold]
    pub(crate) fn value(&self, sighting: Sighting, thread: u64, own: u64) -> u64 {
        let mut sightings = self.sightings.lock().unwrap_or_else(PoisonError::into_inner);
        if sightings.len() < MAX_LINES && !sightings.iter().any(|other| is_same_line(other.at, sighting.at)) {
            sightings.push(sighting);
        }
        let is_own = match self.own {
            OwnValues::Never => false,
            OwnValues::At(at) => is_same_line(at, sighting.at),
            OwnValues::Always => true,
        };
        if is_own { own } else { own ^ CHANGED ^ (1 + scramble(self.key ^ scramble(thread)) % 15) }
    }

    pub(crate) fn into_sightings(self) -> Vec<Sighting> {
        self.sightings.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A copy of the memory that a launch may write.
pub(crate) struct Snapshot<'a> {
    regions: Vec<&'a Region>,
    bytes: Vec<Vec<u8>>,
}

impl<'a> Snapshot<'a> {
    /// Copies the writable ones of `regions`. Returns `None` if they have too many bytes.
    pub(crate) fn new(regions: &'a [Region]) -> Option<Self> {
        let regions: Vec<&Region> = regions.iter().filter(|region| region.is_writable && region.bytes > 0).collect();
        let total = regions.iter().fold(0_usize, |total, region| total.saturating_add(region.bytes));
        if regions.is_empty() || total > MAX_BYTES {
            return None;
        }
        let bytes = regions.iter().map(|region| contents(region)).collect();
        Some(Self { regions, bytes })
    }

    /// Copies the present contents of the same memory.
    fn again(&self) -> Self {
        Self { regions: self.regions.clone(), bytes: self.regions.iter().map(|region| contents(region)).collect() }
    }

    /// Restores the memory and calls `run`. Then the memory is as before this call.
    pub(crate) fn repeat<R>(&self, run: impl FnOnce() -> R) -> R {
        let after = self.again();
        self.restore();
        let result = run();
        after.restore();
        result
    }

    fn restore(&self) {
        for (region, bytes) in self.regions.iter().zip(&self.bytes) {
            let start = std::ptr::with_exposed_provenance_mut::<u8>(region.start);
            // SAFETY: the launch may write the region, which has as many bytes, and the launch has ended.
            unsafe { start.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        }
    }

    /// Returns the array and the index of the first element that differs in `other`, a copy of the same memory.
    fn first_difference(&self, other: &Self) -> Option<(&'static str, usize)> {
        self.regions.iter().zip(&self.bytes).zip(&other.bytes).find_map(|((region, one), other)| {
            let byte = one.iter().zip(other).position(|(one, other)| one != other)?;
            Some((region.name, byte / region.element.max(1)))
        })
    }

    /// Returns the fault of a kernel whose results depend on unspecified values. `first` is the fault of the launch
    /// that has just ended, and `sightings` are its shuffles with unspecified values. `run` repeats the launch and
    /// returns its fault. Leaves the memory as it is now.
    pub(crate) fn find_dependence(
        &self,
        first: Option<&Fault>,
        sightings: &[Sighting],
        run: impl Fn(OwnValues) -> Option<Fault>,
    ) -> Option<FaultOfShuffle> {
        let after = self.again();
        let text = |fault: Option<&Fault>| fault.map(ToString::to_string);
        // Returns `None` if the repetition has the same outcome, otherwise the first element that differs, if any.
        let repeat = |own| {
            self.restore();
            let fault = run(own);
            let difference = after.first_difference(&self.again());
            (difference.is_some() || text(first) != text(fault.as_ref())).then_some(difference)
        };
        // A kernel that depends on a clock, or on memory that is no argument, may differ from launch to launch.
        let found = repeat(OwnValues::Always).filter(|_| repeat(OwnValues::Never).is_none()).map(|difference| {
            let one = |sighting: &&Sighting| sightings.len() == 1 || repeat(OwnValues::At(sighting.at)).is_some();
            (sightings.iter().find(one).or(sightings.first()).copied(), difference)
        });
        after.restore();
        let (sighting, element) = found?;
        Some(FaultOfShuffle { sighting: sighting?, element })
    }
}

/// A shuffle on whose unspecified value the results of a launch depend.
pub(crate) struct FaultOfShuffle {
    sighting: Sighting,
    /// The array and the index of an element that depends on the value.
    element: Option<(&'static str, usize)>,
}

impl FaultOfShuffle {
    pub(crate) fn into_fault(self, kernel: &'static str) -> Fault {
        let Sighting { at, block, thread, mask, source, .. } = self.sighting;
        let absence = self.sighting.absence();
        let kind = FaultKind::UnspecifiedShuffle { mask, source, absence, element: self.element };
        Fault { kernel, block: Some(block), thread: Some(thread), location: Some(at.into()), kind, older: None }
    }
}

fn contents(region: &Region) -> Vec<u8> {
    let mut bytes = vec![0; region.bytes];
    let start = std::ptr::with_exposed_provenance::<u8>(region.start);
    // SAFETY: the region is an argument of a launch, so it is valid for as many bytes, and no launch uses it now.
    // Simulated memory is filled when it is allocated.
    unsafe { start.copy_to_nonoverlapping(bytes.as_mut_ptr(), region.bytes) };
    bytes
}
