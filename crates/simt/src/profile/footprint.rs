//! Counts the distinct sectors of global memory that a launch touches.

use std::collections::HashMap;

use super::request::{Request, SECTOR};
use crate::lanes::bits;

/// The number of sectors in a group. A group is one word with one bit per sector.
const GROUP: u64 = u128::BITS as u64;

/// The set of sectors of global memory that a launch has touched.
#[derive(Debug, Default)]
pub(super) struct Footprint(HashMap<u64, u128>);

impl Footprint {
    /// Adds the sectors that a memory request touches.
    pub(super) fn add(&mut self, request: &Request<'_>) {
        // Neighbouring lanes mostly touch the same group.
        let (mut group, mut found) = (0, 0);
        for lane in bits(request.lanes) {
            let sector = request.addresses[lane] / SECTOR;
            if sector / GROUP != group {
                self.insert(group, found);
                (group, found) = (sector / GROUP, 0);
            }
            found |= 1 << (sector % GROUP);
        }
        self.insert(group, found);
    }

    /// Adds the sectors of `bytes` bytes from `start` on. There must be at least one byte.
    pub(super) fn add_bytes(&mut self, start: u64, bytes: u64) {
        for sector in start / SECTOR..=(start + bytes - 1) / SECTOR {
            self.insert(sector / GROUP, 1 << (sector % GROUP));
        }
    }

    /// Adds the sectors of `other`.
    pub(super) fn add_all(&mut self, other: &Self) {
        other.0.iter().for_each(|(&group, &sectors)| self.insert(group, sectors));
    }

    fn insert(&mut self, group: u64, sectors: u128) {
        if sectors != 0 {
            *self.0.entry(group).or_default() |= sectors;
        }
    }

    /// Returns the number of sectors in the set.
    pub(super) fn len(&self) -> u64 {
        self.0.values().map(|sectors| u64::from(sectors.count_ones())).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sector_is_counted_once() {
        let mut footprint = Footprint::default();
        let mut add = |lanes, address: fn(u64) -> u64| {
            let addresses = std::array::from_fn(|lane| address(lane as u64));
            footprint.add(&Request { lanes, addresses: &addresses, bytes: 4 });
            footprint.len()
        };
        assert_eq!(add(0, |lane| lane), 0);
        assert_eq!(add(u32::MAX, |lane| lane * 4), 4);
        assert_eq!(add(u32::MAX, |lane| 4 + lane * 4), 5);
        assert_eq!(add(u32::MAX, |lane| lane % 2 * (1 << 40)), 6);
        assert_eq!(add(u32::MAX, |lane| lane * 4096), 6 + 31);
        assert_eq!(add(1, |_| 31 * 4096), 6 + 31);
    }

    #[test]
    fn bytes_touch_the_sectors_in_which_they_begin_and_end() {
        let mut footprint = Footprint::default();
        footprint.add_bytes(48, 16);
        assert_eq!(footprint.len(), 1);
        footprint.add_bytes(48, 17);
        assert_eq!(footprint.len(), 2);
        let mut other = Footprint::default();
        other.add_bytes(0, 4096 + 64);
        other.add_all(&footprint);
        assert_eq!(other.len(), 130);
    }
}
