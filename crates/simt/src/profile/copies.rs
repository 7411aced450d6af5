//! Counts the bulk copies of a launch by source site, and the bytes that are in flight.

use std::collections::{BTreeMap, HashMap};

use super::footprint::Footprint;
use super::request::SECTOR;
use super::site::AccessKind;
use super::tally::Tally;
use crate::bulk::{Kind, Operation, Outside};
use crate::source::SourceLocation;

/// The direction of a bulk copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum BulkDirection {
    /// From global memory to shared memory.
    Load,
    /// From shared memory to global memory.
    Store,
    /// From shared memory to global memory, where the elements are combined with those that are there.
    Reduce,
    /// From shared memory to that of another block of the cluster.
    Send,
}

/// The bulk copies of one source site that access the same array.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BulkProfile {
    /// The source site of the copies.
    pub location: SourceLocation,
    /// The direction of the copies.
    pub direction: BulkDirection,
    /// True if a tensor map describes the bytes in global memory.
    pub has_map: bool,
    /// The name of the kernel's parameter that the copies access in global memory, if it is known.
    pub array: Option<&'static str>,
    /// The number of copies. Each is one instruction of one thread.
    pub copies: u64,
    /// The number of bytes of global memory that the copies read or wrote, without those out of the bounds of a tensor.
    /// For [`BulkDirection::Send`], the number of bytes that were sent.
    pub bytes: u64,
    /// The number of blocks to whose shared memory a copy wrote, summed over the copies: more than `copies` if copies
    /// are multicast.
    pub targets: u64,
    /// The number of bytes that were written to shared memory, in all blocks.
    pub delivered_bytes: u64,
    /// The number of 32-byte sectors of global memory that each copy touched, summed over the copies.
    pub sectors: u64,
    /// The minimum number of sectors that could hold the bytes of each copy, summed over the copies.
    pub ideal_sectors: u64,
}

/// The bytes of bulk loads that a block had in flight at a time: issued, and not yet waited for by a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BytesInFlight {
    /// The most bytes of global memory that the loads of a block had in flight.
    pub bytes: u64,
    /// The number of phases of barriers at which these bytes arrived: the stages of a pipeline.
    pub stages: u64,
}

/// The position of a block, and the address of a barrier in its shared memory.
pub(crate) type BarrierOfBlock = (u64, usize);

/// A bulk load that no thread has waited for.
struct Load {
    /// The position of the block that issued the load.
    issuer: u64,
    barrier: BarrierOfBlock,
    /// The number of phases of the barrier that had ended when the load was issued.
    phase: u64,
    bytes: u64,
}

/// The file, line and column of a source site, the direction, whether there is a map, and the name of the array.
type Key = (&'static str, u32, u32, BulkDirection, bool, Option<&'static str>);

/// The bulk copies of a launch.
#[derive(Default)]
pub(super) struct Copies {
    sites: BTreeMap<Key, BulkProfile>,
    loads: Vec<Load>,
    /// The number of phases that have ended, of the barriers of the blocks that have not.
    phases: HashMap<BarrierOfBlock, u64>,
    most: BytesInFlight,
}

impl Copies {
    /// Counts a copy that the block at the position `issuer` begins, and adds its sectors to the footprint of the
    /// launch. The bytes of a load arrive at `barrier`.
    pub(super) fn count(
        &mut self,
        operation: &Operation,
        issuer: u64,
        barrier: Option<BarrierOfBlock>,
        tally: &mut Tally,
    ) {
        let direction = match operation.kind {
            Kind::Load => BulkDirection::Load,
            Kind::Store(None) => BulkDirection::Store,
            Kind::Store(Some(_)) => BulkDirection::Reduce,
            Kind::Send => BulkDirection::Send,
        };
        let (mut touched, mut bytes, mut first) = (Footprint::default(), 0, None);
        operation.outside.pieces(0, &mut |piece| {
            if piece.valid > 0 {
                first = first.or(Some(piece.outside as u64));
                bytes += piece.valid as u64;
                if direction != BulkDirection::Send {
                    touched.add_bytes(piece.outside as u64, piece.valid as u64);
                }
            }
        });
        let kind = match direction {
            BulkDirection::Load => Some(AccessKind::Load),
            BulkDirection::Store => Some(AccessKind::Store),
            BulkDirection::Reduce => Some(AccessKind::Atomic),
            BulkDirection::Send => None,
        };
        let array = kind.zip(first).and_then(|(kind, address)| tally.name_at(kind, address));
        if let Some(kind) = kind {
            tally.touch(kind, &touched);
        }
        let has_map = matches!(operation.outside, Outside::Tile(..));
        let (at, targets) = (operation.at, operation.targets.len() as u64);
        let site = self.sites.entry((at.file(), at.line(), at.column(), direction, has_map, array));
        let site = site.or_insert_with(|| BulkProfile {
            location: at.into(),
            direction,
            has_map,
            array,
            copies: 0,
            bytes: 0,
            targets: 0,
            delivered_bytes: 0,
            sectors: 0,
            ideal_sectors: 0,
        });
        site.copies += 1;
        site.bytes += bytes;
        site.targets += targets;
        site.delivered_bytes += targets * operation.outside.bytes() as u64;
        site.sectors += touched.len();
        site.ideal_sectors += kind.map_or(0, |_| bytes.div_ceil(SECTOR));
        if let Some(barrier) = barrier.filter(|_| direction == BulkDirection::Load) {
            let phase = self.phases.get(&barrier).copied().unwrap_or(0);
            self.loads.push(Load { issuer, barrier, phase, bytes });
            self.note_most(issuer);
        }
    }

    /// Compares the loads of a block that are in flight with the most so far.
    fn note_most(&mut self, issuer: u64) {
        let own = || self.loads.iter().filter(|load| load.issuer == issuer);
        let bytes = own().map(|load| load.bytes).sum();
        if bytes > self.most.bytes {
            let mut stages: Vec<_> = own().map(|load| (load.barrier, load.phase)).collect();
            stages.sort_unstable();
            stages.dedup();
            self.most = BytesInFlight { bytes, stages: stages.len() as u64 };
        }
    }

    /// Notes that a phase of `barrier` ends.
    pub(super) fn end_phase(&mut self, barrier: BarrierOfBlock) {
        *self.phases.entry(barrier).or_default() += 1;
    }

    /// Notes that a thread has waited for the end of the last phase of `barrier`.
    pub(super) fn wait(&mut self, barrier: BarrierOfBlock) {
        let ended = self.phases.get(&barrier).copied().unwrap_or(0);
        self.loads.retain(|load| load.barrier != barrier || load.phase >= ended);
    }

    /// Forgets the barriers of a block that has ended.
    pub(super) fn end_block(&mut self, position: u64) {
        self.loads.retain(|load| load.issuer != position && load.barrier.0 != position);
        self.phases.retain(|(block, _), _| *block != position);
    }

    pub(super) fn into_profiles(self) -> (Vec<BulkProfile>, BytesInFlight) {
        (self.sites.into_values().collect(), self.most)
    }
}
