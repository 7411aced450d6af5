//! Sums the costs of all memory requests and branches of a launch by source site.

use super::footprint::Footprint;
use super::replay::Step;
use super::report::{AccessProfile, BranchProfile};
use super::request::Request;
use super::site::{self, AccessKind, Node, Sites};
use super::steps::AccessedArray;
use crate::lanes::bits;
use crate::region::{ArrayPosition, Region, Space};

/// The summed costs of one source site.
#[derive(Clone, Debug, Default)]
struct Sum {
    requests: u64,
    lanes: u64,
    sectors: u64,
    ideal_sectors: u64,
    wavefronts: u64,
    ideal_wavefronts: u64,
    max_ways: u32,
    remote: u64,
    stride: Stride,
    taken: u64,
    divergent: u64,
    names: Vec<&'static str>,
    /// The arrays that the site has accessed so far.
    arrays: Vec<ArrayPosition>,
    /// The number of the block for which `arrays` is valid.
    block: u64,
}

/// Finds the stride that most requests of a site have, by a majority vote.
#[derive(Clone, Copy, Debug, Default)]
struct Stride {
    candidate: Option<i64>,
    /// The lead of the candidate over all other strides in the vote.
    lead: u64,
}

impl Stride {
    /// Counts the stride of a request, by Boyer and Moore's majority vote.
    fn note(&mut self, stride: Option<i64>) {
        if self.lead == 0 {
            self.candidate = stride;
        }
        self.lead = if self.candidate == stride { self.lead + 1 } else { self.lead - 1 };
    }

    /// Returns the stride of at least three quarters of `requests`, if there is one.
    fn of_most(self, requests: u64) -> Option<i64> {
        self.candidate.filter(|_| 2 * self.lead >= requests)
    }
}

/// The summed costs of all source sites.
#[derive(Default)]
pub(super) struct Tally {
    /// The summed costs of each node's source site.
    sums: Vec<Sum>,
    regions: Vec<Region>,
    /// The sectors of global memory that the launch has read.
    read: Footprint,
    /// The sectors of global memory that the launch has written.
    written: Footprint,
}

impl Tally {
    pub(super) fn new(regions: &[Region]) -> Self {
        Self { regions: regions.to_vec(), ..Self::default() }
    }

    /// Returns the array that contains `address` in global memory.
    pub(super) fn array_at(&self, address: u64) -> Option<AccessedArray> {
        let region =
            self.regions.iter().find(|region| address.wrapping_sub(region.start as u64) < region.bytes as u64)?;
        Some(AccessedArray { name: region.name, start: region.start as u64, element: region.element })
    }

    /// Returns the name of the array at `address` in global memory, which an access of the kind `kind` accesses.
    pub(super) fn name_at(&self, kind: AccessKind, address: u64) -> Option<&'static str> {
        global(&self.regions, kind, address)?.name
    }

    /// Adds sectors of global memory that accesses of the kind `kind` touch.
    pub(super) fn touch(&mut self, kind: AccessKind, sectors: &Footprint) {
        if kind != AccessKind::Store {
            self.read.add_all(sectors);
        }
        if kind != AccessKind::Load {
            self.written.add_all(sectors);
        }
    }

    /// Adds the costs of a step of a warp's lanes in block number `block`. `shared` returns the array that contains an
    /// address in shared memory.
    pub(super) fn count(
        &mut self,
        step: &Step<'_>,
        sites: &Sites,
        block: u64,
        shared: impl Fn(u64) -> Option<ArrayPosition>,
    ) {
        let Some(site) = sites.get(step.node) else { return };
        let index = step.node as usize;
        if self.sums.len() <= index {
            self.sums.resize(index + 1, Sum::default());
        }
        let sum = &mut self.sums[index];
        let lanes = u64::from(step.lanes.count_ones());
        match site.step {
            site::Step::Meeting(_) => return,
            site::Step::Branch => {
                let taken = bits(step.lanes).filter(|&lane| step.values[lane] != 0).count() as u64;
                sum.taken += taken;
                sum.divergent += u64::from(taken != 0 && taken != lanes);
            }
            site::Step::Access { space, kind, bytes } => {
                let request = Request { lanes: step.lanes, addresses: step.values, bytes: bytes.into() };
                sum.stride.note(request.stride());
                match space {
                    Space::Global => {
                        let sectors = request.sectors();
                        sum.sectors += sectors.touched;
                        sum.ideal_sectors += sectors.ideal;
                        if kind != AccessKind::Store {
                            self.read.add(&request);
                        }
                        if kind != AccessKind::Load {
                            self.written.add(&request);
                        }
                        if !self.regions.is_empty() {
                            sum.name(&request, |address| global(&self.regions, kind, address));
                        }
                    }
                    Space::Shared => {
                        let own = step.values.map(own_address);
                        sum.remote += u64::from(bits(step.lanes).any(|lane| own[lane] != step.values[lane]));
                        let wavefronts = request.wavefronts(kind == AccessKind::Atomic);
                        sum.wavefronts += wavefronts.count;
                        sum.ideal_wavefronts += wavefronts.ideal;
                        sum.max_ways = sum.max_ways.max(wavefronts.max_ways);
                        // Each block may lay out its shared memory differently.
                        if std::mem::replace(&mut sum.block, block) != block {
                            sum.arrays.clear();
                        }
                        // The arrays of the other blocks of a cluster are those of this block.
                        sum.name(&Request { addresses: &own, ..request }, shared);
                    }
                }
            }
        }
        sum.requests += 1;
        sum.lanes += lanes;
    }

    /// Returns the numbers of sectors of global memory that were read and that were written.
    pub(super) fn footprint(&self) -> (u64, u64) {
        (self.read.len(), self.written.len())
    }

    /// Returns the summed costs of all sites, in source order.
    pub(super) fn into_profiles(self, sites: &Sites) -> (Vec<AccessProfile>, Vec<BranchProfile>) {
        let (mut accesses, mut branches) = (Vec::new(), Vec::new());
        for (node, sum) in (0 as Node..).zip(self.sums) {
            let Some(site) = sites.get(node).filter(|_| sum.requests > 0) else { continue };
            let location = site.at.into();
            match site.step {
                site::Step::Meeting(_) => {}
                site::Step::Branch => branches.push(BranchProfile {
                    location,
                    executions: sum.requests,
                    divergent: sum.divergent,
                    lanes: sum.lanes,
                    taken: sum.taken,
                }),
                site::Step::Access { space, kind, bytes } => accesses.push(AccessProfile {
                    location,
                    space,
                    kind,
                    arrays: sum.names,
                    bytes_per_lane: bytes.into(),
                    requests: sum.requests,
                    lanes: sum.lanes,
                    sectors: sum.sectors,
                    ideal_sectors: sum.ideal_sectors,
                    wavefronts: sum.wavefronts,
                    ideal_wavefronts: sum.ideal_wavefronts,
                    max_ways: sum.max_ways,
                    remote_requests: sum.remote,
                    stride: sum.stride.of_most(sum.requests),
                }),
            }
        }
        accesses.sort_by(|a, b| {
            let key = |access: &AccessProfile| (access.location.line, access.location.column);
            let rest = |access: &AccessProfile| (access.space == Space::Shared, access.kind, access.bytes_per_lane);
            (&a.location.file, key(a), rest(a)).cmp(&(&b.location.file, key(b), rest(b)))
        });
        branches.sort_by(|a, b| {
            let key = |branch: &BranchProfile| (branch.location.line, branch.location.column);
            (&a.location.file, key(a)).cmp(&(&b.location.file, key(b)))
        });
        (accesses, branches)
    }
}

/// The position in an address of the number of the block that owns the memory, if another block accesses it. The number
/// leaves the address's bank as it is.
const OWNER_SHIFT: u32 = 24;

/// Returns the address of the first byte of the shared memory of the block at `position`, for the other blocks of its
/// cluster.
pub(super) fn remote_base(position: u64) -> usize {
    (position as usize + 1) << OWNER_SHIFT
}

/// Returns the address in its owner's shared memory of `address`.
pub(super) fn own_address(address: u64) -> u64 {
    address & ((1 << OWNER_SHIFT) - 1)
}

impl Sum {
    /// Records the names of the arrays that `request` accesses.
    fn name(&mut self, request: &Request<'_>, find: impl Fn(u64) -> Option<ArrayPosition>) {
        let (low, high) = request.range();
        if self.arrays.iter().any(|array| array.contains(low) && array.contains(high)) {
            return;
        }
        for address in bits(request.lanes).map(|lane| request.addresses[lane]) {
            if self.arrays.iter().any(|array| array.contains(address)) {
                continue;
            }
            let Some(array) = find(address) else { continue };
            self.arrays.push(array);
            self.names.extend(array.name.filter(|name| !self.names.contains(name)));
        }
    }
}

/// Returns the array at `address` in global memory. If arrays overlap, returns the first that permits the access.
fn global(regions: &[Region], kind: AccessKind, address: u64) -> Option<ArrayPosition> {
    let mut arrays = regions.iter().filter(|region| kind == AccessKind::Load || region.is_writable);
    arrays.find_map(|region| region.position_of(usize::try_from(address).ok()?))
}
