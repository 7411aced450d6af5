//! Vectors split over devices, and over the devices of ranks.
//!
//! A [`Team`] is the devices of all ranks, in order: those of rank 0, then those of rank 1, and so on. Each is a member
//! and holds a segment of a vector, a [`Buffer`] of its own; a rank knows those of its own devices, as a slice of as
//! many buffers. Parts may differ in length and may be empty; [`Team::segment`] divides evenly. All ranks call the same
//! functions in the same order.
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
//! # What runs at the same time
//!
//! GPUs return from a launch at once. So members are asked one after the other, and work together; the host waits for a
//! result only when all have been asked.
//!
//! # How fast it can be
//!
//! Let a device read or write one element in one unit of time, and n elements be split over p members. A reduction
//! takes n / p and saxpy 3n / p: p times as fast as one. What is exchanged, a result of each member, takes
//! microseconds.
//!
//! A scan on one device takes 2n, each element read and written once. On several, member k needs the total t of what is
//! before it. Here every member that has another after it first reduces its part, then all scan theirs: n / p + 2n / p,
//! which is 2p / 3 times as fast as one: 4/3 for two members. Scans first and sums added afterwards would take 2n / p +
//! 2n / p.
//!
//! No other way is faster for parts of contiguous elements that are larger than what a device keeps on its chip. Let
//! the first of two members have a elements, the second b = n − a. The second can write nothing final before t is
//! known, and has nothing of its part then: it takes 2b from there on. The first must have read a for that, and may
//! have written w of them: t is known at a + w at the earliest, and it takes 2(a − w) from there on. So the whole takes
//! at least max(a + w + 2b, 3a − w), which is least, 3n / 2, for w = 0 and a = b. Uneven parts do not help. The last
//! member waits while the others reduce, and nothing that it could do meanwhile saves it time: a scan to be added to
//! later costs as much as it saves.
//!
//! If the totals are known, all members scan at once, p times as fast as one: that is
//! [`SplitScan::scan_from`](crate::scan::SplitScan::scan_from).
//!
//! Parts that take turns do better. [`RoundScan`](crate::scan::RoundScan) scans a vector that is dealt in r rounds,
//! each split over all members. The last member never reduces: its total is the last element that it scans. So each of
//! the others is given 2 shares of a round and the last 3, which is 6 accesses for all of them, and while they scan a
//! round the others reduce their parts of the next. Of n elements a share is n / (r·(2p + 1)), and the whole takes 6r +
//! 2 shares: (2p + 1) / 3 times as fast as one for many rounds, 5/3 for two members (5r / (3r + 1) with r rounds: 1.63
//! for 16, 1.65 for 32).
//!
//! To reach p times, a tile would have to wait on the chip for the one before it on another device, as in the pipelined
//! scan on one, with the states of the tiles where all devices see them. No kernel here does that.

use std::ops::Range;

use launch::{Buffer, Device, Element, Group};

use crate::error::MultiError;
use crate::ranks::{Communicator, FirstRanks};
use gridstride::host;

mod repeated;

pub use repeated::Repeated;

/// The devices of all ranks.
pub struct Team<'r> {
    devices: Vec<Device>,
    ranks: &'r dyn Communicator,
    /// The number of each rank's first member.
    firsts: Vec<usize>,
    first: usize,
    members: usize,
    with_members: FirstRanks<'r>,
}

impl<'r> Team<'r> {
    /// The devices of `group`, and those of the groups of all other ranks.
    ///
    /// # Errors
    /// [`MultiError::Ranks`] when another rank has ended.
    pub fn new(group: &Group, ranks: &'r dyn Communicator) -> Result<Self, MultiError> {
        let devices = group.members().to_vec();
        let counts = gathered(ranks, &[devices.len() as u64])?;
        let count = |counts: &[Vec<u64>]| counts.iter().flatten().sum::<u64>() as usize;
        let firsts: Vec<usize> = (0..ranks.size()).map(|rank| count(&counts[..rank])).collect();
        let (first, members) = (firsts[ranks.rank()], count(&counts));
        let with_members = FirstRanks::new(ranks, ranks.size());
        Ok(Self { devices, ranks, firsts, first, members, with_members })
    }

    /// The team of the first `members` members alone. A rank may have none of them, and still takes part in what all
    /// do.
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

    /// This rank's devices.
    pub fn devices(&self) -> &[Device] {
        &self.devices
    }

    /// Returns the communicator of all ranks.
    pub fn ranks(&self) -> &'r dyn Communicator {
        self.ranks
    }

    /// Returns the communicator of the ranks that have a member.
    pub fn with_members(&self) -> &dyn Communicator {
        &self.with_members
    }

    /// The number of this rank's first member among all.
    pub fn first(&self) -> usize {
        self.first
    }

    /// Members of all ranks.
    pub fn members(&self) -> usize {
        self.members
    }

    /// The part of `n` elements that this rank's device of that number has, if they are divided evenly: the first parts
    /// have one more where they do not divide.
    pub fn segment(&self, n: usize, device: usize) -> Range<usize> {
        let (member, members) = (self.first + device, self.members.max(1));
        let (each, more) = (n / members, n % members);
        let start = |member: usize| each * member + member.min(more);
        start(member)..start(member + 1)
    }

    /// This rank's [segments](Self::segment).
    pub fn segments(&self, n: usize) -> impl Iterator<Item = Range<usize>> + '_ {
        (0..self.devices.len()).map(move |device| self.segment(n, device))
    }

    /// Memory for this rank's parts of `n` elements, with unspecified contents.
    ///
    /// # Errors
    /// When a device has too little memory.
    pub fn alloc<T: Element>(&self, n: usize) -> Result<Vec<Buffer<T>>, MultiError> {
        let parts = self.devices.iter().zip(self.segments(n));
        Ok(parts.map(|(device, part)| device.alloc(part.len())).collect::<Result<_, _>>()?)
    }

    /// This rank's parts of `data`, which all ranks have.
    ///
    /// # Errors
    /// When a device has too little memory.
    pub fn upload<T: Element>(&self, data: &[T]) -> Result<Vec<Buffer<T>>, MultiError> {
        let parts = self.devices.iter().zip(self.segments(data.len()));
        Ok(parts.map(|(device, part)| device.upload(&data[part])).collect::<Result<_, _>>()?)
    }

    /// This rank's parts of the `n` elements that `element` gives for their indices.
    ///
    /// # Errors
    /// When a device or the host has too little memory.
    pub fn filled<T: Element>(
        &self,
        n: usize,
        element: impl Fn(usize) -> T + Sync,
    ) -> Result<Vec<Buffer<T>>, MultiError> {
        let parts = self.devices.iter().zip(self.segments(n));
        parts
            .map(|(device, part)| {
                let mut host = host::host_memory(part.len(), "split fewer elements, or over more processes")?;
                host::fill_with(&mut host, |index| element(part.start + index));
                Ok(device.upload(&host)?)
            })
            .collect()
    }

    /// Waits until all that this rank's devices were asked is done.
    ///
    /// # Errors
    /// When a launch made before failed.
    pub fn synchronize(&self) -> Result<(), MultiError> {
        Ok(self.devices.iter().try_for_each(Device::synchronize)?)
    }

    /// One value of each of this rank's devices: those of all members, in order.
    ///
    /// # Errors
    /// [`MultiError::Ranks`] when another rank has ended.
    pub fn gather<T: Element>(&self, own: &[T]) -> Result<Vec<T>, MultiError> {
        Ok(gathered(self.ranks, own)?.into_iter().flatten().collect())
    }

    /// Refuses buffers that are not one for each of this rank's devices.
    pub(crate) fn check<T: Element>(&self, what: &'static str, parts: &[Buffer<T>]) -> Result<(), MultiError> {
        if parts.len() == self.devices.len() {
            return Ok(());
        }
        Err(launch::Error::LengthMismatch { what, buffer: parts.len(), other: self.devices.len() }.into())
    }
}

/// The values of each rank.
pub(crate) fn gathered<T: Element>(ranks: &dyn Communicator, own: &[T]) -> Result<Vec<Vec<T>>, MultiError> {
    let all = ranks.all_gather(bytemuck::cast_slice(own))?;
    // A rank of the same build gives whole elements, aligned for bytes.
    let elements = |bytes: &Vec<u8>| bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect();
    Ok(all.iter().map(elements).collect())
}

/// The lengths of all members' parts.
pub(crate) fn lengths<T: Element>(team: &Team<'_>, parts: &[Buffer<T>]) -> Result<Vec<usize>, MultiError> {
    let own: Vec<u64> = parts.iter().map(|part| part.len() as u64).collect();
    Ok(team.gather(&own)?.into_iter().map(|len| len as usize).collect())
}
