//! Teams: a team consists of the devices of all ranks (processes, as in MPI). Vectors are split over these devices.
//!
//! A [`Team`] consists of the devices of all ranks, in order: the devices of rank 0, then the devices of rank 1, and so
//! on. A rank is a process, as in MPI. Each device is a *member* of the team. Each member has a *segment* of a vector
//! in a [`Buffer`]. A rank passes a vector as a slice with one buffer per device of this rank. Segments may differ in
//! length and may be empty; [`Team::segment`] divides a vector evenly. All ranks must call the same functions in the
//! same order.
//!
//! ```
//! use gpu::operator::Sum;
//! use gridstride::reduce::ReduceRung;
//! use launch::Group;
//! use multi::ranks::alone;
//! use multi::reduce::SplitReduction;
//! use multi::team::Team;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (group, ranks) = (Group::open(&"sim:3".parse()?, gridstride::MODULES)?, alone());
//! let team = Team::new(&group, &ranks)?;
//! let x = team.upload(&(0..1000).collect::<Vec<i32>>())?;
//! let mut sum = SplitReduction::<i32, Sum>::new(&team, ReduceRung::GridStride, &x)?;
//! assert_eq!(sum.reduce(&x)?, 499_500);
//! # Ok(())
//! # }
//! ```
//!
//! # Concurrency
//!
//! A launch on a GPU returns before the kernel has finished. The host enqueues the work of all members before it waits
//! for a result, so all members run concurrently.
//!
//! # Speed
//!
//! Suppose that a device reads or writes one element per unit of time, and that n elements are split over p members. A
//! reduction takes n / p units of time and saxpy takes 3n / p, so both are p times as fast as on one device. The
//! exchange of one result per member takes microseconds.
//!
//! A [matrix product](crate::matmul) is p times as fast, too, if a member multiplies its rows by a panel of *B* in no
//! less time than the next panel takes to arrive.
//!
//! A scan on one device takes 2n units of time, because the scan reads and writes each element once. On several
//! devices, a member needs the total t of all elements before its segment. Here all members but the last reduce their
//! segments, and then all members scan. This takes n / p + 2n / p units of time and is 2p / 3 times as fast as one
//! device, which is 4/3 for two members. If all members scanned first and added the totals afterwards, this would take
//! 2n / p + 2n / p.
//!
//! No method is faster for contiguous segments that exceed a device's on-chip memory. For a proof, let the first of two
//! members have a elements and the second b = n − a. The second member can write no final result before it knows t.
//! From then on, it needs 2b units of time. To compute t, the first member must read its a elements. At that time it
//! may already have written the results of w elements. Thus t is known at time a + w at the earliest, and the first
//! member then needs another 2(a − w). The whole scan takes at least max(a + w + 2b, 3a − w). The minimum of this is 3n
//! / 2, for w = 0 and a = b, so uneven segments do not help. The last member waits while the others reduce. The last
//! member could scan its segment preliminarily in that time, but adding the total afterwards would take as much time as
//! this saves.
//!
//! If a program already knows the totals before the segments,
//! [`SplitScan::scan_from`](crate::scan::SplitScan::scan_from) runs all scans at the same time, p times as fast as one
//! device.
//!
//! A scan in several rounds is faster. [`RoundScan`](crate::scan::RoundScan) divides the vector into r rounds and
//! splits each round over all members. The last member never reduces, because the last element of its scan is the
//! total. While the last member scans a round, the others scan this round and reduce their segments of the next round.
//! An element thus takes 2 accesses in the last member and 3 accesses in the other members. A round is divided into
//! equal shares. The last member gets 3 shares and every other member gets 2, so that every member makes 6 accesses per
//! element of a share. A share has n / (r·(2p + 1)) elements, and the whole scan takes the time of 6r + 2 shares. For
//! many rounds this is (2p + 1) / 3 times as fast as one device. Two members with r rounds are 5r / (3r + 1) times as
//! fast as one device: 1.63 times for 16 rounds, and almost 5/3 times for many rounds.
//!
//! A scan that is p times as fast would have to keep tiles on the chip while it waits for tiles of other devices. This
//! needs tile states in memory that all devices can access. No kernel in this project does that.

use std::ops::Range;

use launch::{Buffer, Device, Element, Group};

use crate::error::MultiError;
use crate::ranks::{Communicator, FirstRanks};
use gridstride::host;

mod repeated;

pub use repeated::Repeated;

/// The devices of all ranks. Vectors are split over them.
pub struct Team<'r> {
    devices: Vec<Device>,
    ranks: &'r dyn Communicator,
    /// For each rank, the number of its first member in the team.
    firsts: Vec<usize>,
    first: usize,
    members: usize,
    with_members: FirstRanks<'r>,
}

impl<'r> Team<'r> {
    /// Returns a team that consists of the devices of all ranks. Each rank passes its own devices as `group`.
    ///
    /// # Errors
    /// Returns [`MultiError::Ranks`] if another rank has ended.
    pub fn new(group: &Group, ranks: &'r dyn Communicator) -> Result<Self, MultiError> {
        let devices = group.members().to_vec();
        let counts = gathered(ranks, &[devices.len() as u64])?;
        let count = |counts: &[Vec<u64>]| counts.iter().flatten().sum::<u64>() as usize;
        let firsts: Vec<usize> = (0..ranks.size()).map(|rank| count(&counts[..rank])).collect();
        let (first, members) = (firsts[ranks.rank()], count(&counts));
        let with_members = FirstRanks::new(ranks, ranks.size());
        Ok(Self { devices, ranks, firsts, first, members, with_members })
    }

    /// Returns a team that consists of the first `members` members of this team. A rank without any of these members
    /// must still take part in collective calls, such as [`gather`](Self::gather).
    pub fn of_first(&self, members: usize) -> Self {
        let members = members.min(self.members);
        let own = members.saturating_sub(self.first).min(self.devices.len());
        let with_members = FirstRanks::new(self.ranks, self.firsts.iter().filter(|&&first| first < members).count());
        Self {
            devices: self.devices[..own].to_vec(),
            ranks: self.ranks,
            firsts: self.firsts.clone(),
            first: self.first.min(members),
            members,
            with_members,
        }
    }

    /// Returns this rank's devices.
    pub fn devices(&self) -> &[Device] {
        &self.devices
    }

    /// Returns the communicator of all ranks.
    pub fn ranks(&self) -> &'r dyn Communicator {
        self.ranks
    }

    /// Returns the communicator of the ranks that have at least one member.
    pub fn with_members(&self) -> &dyn Communicator {
        &self.with_members
    }

    /// Returns the number of this rank's first member in the team.
    pub fn first(&self) -> usize {
        self.first
    }

    /// Returns the number of members of the team, on all ranks.
    pub fn members(&self) -> usize {
        self.members
    }

    /// Returns the rank that has the member `member`.
    pub(crate) fn rank_of(&self, member: usize) -> usize {
        self.firsts.partition_point(|&first| first <= member).saturating_sub(1)
    }

    /// Returns the segment of this rank's device number `device` in a vector of `n` elements, as a range of indices.
    /// All segments have the same length. If `n` is not a multiple of the number of members, the first segments have
    /// one more element.
    pub fn segment(&self, n: usize, device: usize) -> Range<usize> {
        let (member, members) = (self.first + device, self.members.max(1));
        let (each, more) = (n / members, n % members);
        let start = |member: usize| each * member + member.min(more);
        start(member)..start(member + 1)
    }

    /// Returns the [segment](Self::segment) of each of this rank's devices, for a vector of `n` elements.
    pub fn segments(&self, n: usize) -> impl Iterator<Item = Range<usize>> + '_ {
        (0..self.devices.len()).map(move |device| self.segment(n, device))
    }

    /// Allocates this rank's segments of a vector of `n` elements, with unspecified contents.
    ///
    /// # Errors
    /// Returns an error if a device has too little memory.
    pub fn alloc<T: Element>(&self, n: usize) -> Result<Vec<Buffer<T>>, MultiError> {
        let parts = self.devices.iter().zip(self.segments(n));
        Ok(parts.map(|(device, part)| device.alloc(part.len())).collect::<Result<_, _>>()?)
    }

    /// Uploads this rank's segments of `data`. All ranks must pass the same data.
    ///
    /// # Errors
    /// Returns an error if a device has too little memory.
    pub fn upload<T: Element>(&self, data: &[T]) -> Result<Vec<Buffer<T>>, MultiError> {
        let parts = self.devices.iter().zip(self.segments(data.len()));
        Ok(parts.map(|(device, part)| device.upload(&data[part])).collect::<Result<_, _>>()?)
    }

    /// Uploads this rank's segments of a vector of `n` elements. `element` must return the element at an index.
    ///
    /// # Errors
    /// Returns an error if a device or the host has too little memory.
    pub fn filled<T: Element>(
        &self,
        n: usize,
        element: impl Fn(usize) -> T + Sync,
    ) -> Result<Vec<Buffer<T>>, MultiError> {
        self.filled_by(n, &element)
    }

    /// Does the work of [`filled`](Self::filled). The closure is a `dyn Fn` here, so this function is compiled only
    /// once per `T`.
    fn filled_by<T: Element>(
        &self,
        n: usize,
        element: &(dyn Fn(usize) -> T + Sync),
    ) -> Result<Vec<Buffer<T>>, MultiError> {
        let mut buffers = Vec::with_capacity(self.devices.len());
        for (device, segment) in self.devices.iter().zip(self.segments(n)) {
            let mut host = host::host_memory(segment.len(), "split fewer elements, or use more processes")?;
            host::fill_with(&mut host, |index| element(segment.start + index));
            buffers.push(device.upload(&host)?);
        }
        Ok(buffers)
    }

    /// Waits until this rank's devices have finished all work.
    ///
    /// # Errors
    /// Returns an error if an earlier launch failed.
    pub fn synchronize(&self) -> Result<(), MultiError> {
        Ok(self.devices.iter().try_for_each(Device::synchronize)?)
    }

    /// Returns the values that all ranks pass as `own`, in the order of the members. `own` must have one value per
    /// device of this rank.
    ///
    /// # Errors
    /// Returns [`MultiError::Ranks`] if another rank has ended.
    pub fn gather<T: Element>(&self, own: &[T]) -> Result<Vec<T>, MultiError> {
        Ok(gathered(self.ranks, own)?.into_iter().flatten().collect())
    }

    /// Checks that `parts` has one buffer per device of this rank.
    pub(crate) fn check<T: Element>(&self, what: &'static str, parts: &[Buffer<T>]) -> Result<(), MultiError> {
        if parts.len() == self.devices.len() {
            return Ok(());
        }
        Err(launch::Error::LengthMismatch { what, buffer: parts.len(), other: self.devices.len() }.into())
    }
}

/// Returns the values that each rank passed as `own`, ordered by rank.
pub(crate) fn gathered<T: Element>(ranks: &dyn Communicator, own: &[T]) -> Result<Vec<Vec<T>>, MultiError> {
    let all = ranks.all_gather(bytemuck::cast_slice(own))?;
    // Every rank passes whole elements, but the received bytes may not have the alignment of `T`.
    let elements = |bytes: &Vec<u8>| bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect();
    Ok(all.iter().map(elements).collect())
}

/// Returns the lengths of all members' segments, in the order of the members.
pub(crate) fn lengths<T: Element>(team: &Team<'_>, parts: &[Buffer<T>]) -> Result<Vec<usize>, MultiError> {
    let own: Vec<u64> = parts.iter().map(|part| part.len() as u64).collect();
    Ok(team.gather(&own)?.into_iter().map(|len| len as usize).collect())
}
