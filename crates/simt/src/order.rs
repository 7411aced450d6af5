//! Chooses the next thread or block: in natural order, in reverse, or in a pseudo-random and reproducible order.

use crate::geometry::Dim3;
use crate::schedule::Schedule;

/// Scrambles `value`: every bit of the result depends on every bit of `value` (the finaliser of SplitMix64).
pub(crate) const fn scramble(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// Chooses the first, the last, or a random one of several candidates. The default chooses the first. The random
/// numbers come from a small generator (xorshift).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Chooser {
    /// The generator's state, or 0 if the choice is not random.
    state: u64,
    takes_last: bool,
}

impl Chooser {
    /// Makes a chooser under `schedule`. Its random numbers depend on `part`, for example the number of a block.
    pub(crate) fn new(schedule: Schedule, part: u64) -> Self {
        let state = schedule.key().map_or(0, |key| scramble(key ^ scramble(part)) | 1);
        Self { state, takes_last: schedule.takes_last() }
    }

    /// Chooses one of the bits that are set in `mask` and returns its index. `mask` must not be 0.
    #[inline]
    pub(crate) fn choose(&mut self, mask: u32) -> u32 {
        if self.state == 0 {
            let lowest = mask.trailing_zeros() & 31;
            return if self.takes_last { 31 - (mask.leading_zeros() & 31) } else { lowest };
        }
        let turn = self.draw(u32::BITS - mask.leading_zeros());
        (mask.rotate_right(turn).trailing_zeros() + turn) & 31
    }

    /// Returns a random number below `end`, or 0 if the chooser is not random.
    #[inline]
    pub(crate) fn draw(&mut self, end: u32) -> u32 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (((self.state >> 32) * u64::from(end)) >> 32) as u32
    }
}

/// The order in which the blocks of a grid run, as a permutation of their linear indices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockOrder {
    /// The number of clusters. Without clusters, each block counts as one.
    blocks: u64,
    factor: u64,
    offset: u64,
    /// The extent of a cluster in blocks, and the number of these blocks.
    cluster: Dim3,
    cluster_blocks: u64,
    takes_last: bool,
}

impl BlockOrder {
    /// Makes the order in which `schedule` runs the blocks of `grid`. The blocks of a cluster, whose extent is
    /// `cluster`, have consecutive positions.
    pub(crate) fn new(schedule: Schedule, grid: Dim3, cluster: Dim3) -> Self {
        let cluster_blocks = cluster.count() as u64;
        let order = Self::of_units(schedule, grid.count() as u64 / cluster_blocks);
        Self { cluster, cluster_blocks, ..order }
    }

    /// Makes the order in which `schedule` runs `blocks` blocks without clusters.
    fn of_units(schedule: Schedule, blocks: u64) -> Self {
        let takes_last = schedule.takes_last();
        let in_order = |factor, offset| {
            let cluster = Dim3::new(1, 1, 1);
            Self { blocks, factor, offset, cluster, cluster_blocks: 1, takes_last }
        };
        if blocks < 2 || (schedule.key().is_none() && !takes_last) {
            return in_order(1, 0);
        }
        let Some(key) = schedule.key() else {
            // Position p has block −1 − p modulo the number of blocks.
            return in_order(blocks - 1, blocks - 1);
        };
        let mut factor = scramble(key) % blocks;
        while greatest_common_divisor(factor, blocks) != 1 {
            factor = (factor + 1) % blocks;
        }
        in_order(factor, scramble(!key) % blocks)
    }

    /// Returns the linear index of the block that runs at `position`, or of the cluster at this position among the
    /// clusters.
    #[inline]
    fn block_at(&self, position: u64) -> u64 {
        if self.factor == 1 && self.offset == 0 {
            position
        } else if self.blocks <= u64::from(u32::MAX) {
            (position * self.factor + self.offset) % self.blocks
        } else {
            let image = u128::from(position) * u128::from(self.factor) + u128::from(self.offset);
            (image % u128::from(self.blocks)) as u64
        }
    }

    /// Returns the linear index of the block that runs at `position`, and the block's index in `grid`.
    pub(crate) fn index_at(&self, position: u64, grid: Dim3) -> (u64, Dim3) {
        if self.cluster_blocks > 1 {
            return self.index_in_cluster(position, grid);
        }
        let linear = self.block_at(position);
        let index = if grid.y == 1 && grid.z == 1 { Dim3::new(linear as u32, 0, 0) } else { grid.index(linear) };
        (linear, index)
    }

    /// Does what [`index_at`](Self::index_at) does, in a grid with clusters.
    #[cold]
    fn index_in_cluster(&self, position: u64, grid: Dim3) -> (u64, Dim3) {
        let Self { cluster: extent, cluster_blocks: blocks, offset, takes_last, .. } = *self;
        let within = if takes_last { blocks - 1 - position % blocks } else { (position + offset) % blocks };
        let clusters = Dim3::new(grid.x / extent.x, grid.y / extent.y, grid.z / extent.z);
        let (first, within) = (clusters.index(self.block_at(position / blocks)), extent.index(within));
        let index =
            Dim3::new(first.x * extent.x + within.x, first.y * extent.y + within.y, first.z * extent.z + within.z);
        let row = u64::from(index.z) * u64::from(grid.y) + u64::from(index.y);
        (row * u64::from(grid.x) + u64::from(index.x), index)
    }
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedules() -> impl Iterator<Item = Schedule> {
        [Schedule::Natural, Schedule::LastFirst].into_iter().chain((0..50).map(Schedule::Random))
    }

    #[test]
    fn a_block_order_is_a_permutation() {
        for blocks in [1_u64, 2, 3, 4, 5, 12, 97, 1000] {
            for schedule in schedules() {
                let order = BlockOrder::of_units(schedule, blocks);
                let mut seen = vec![false; blocks as usize];
                for position in 0..blocks {
                    let block = order.block_at(position) as usize;
                    assert!(!std::mem::replace(&mut seen[block], true), "{blocks} blocks, {schedule}");
                }
            }
        }
    }

    #[test]
    fn the_blocks_of_a_cluster_follow_each_other() {
        let (grid, cluster) = (Dim3::new(6, 4, 2), Dim3::new(3, 2, 1));
        for schedule in schedules() {
            let order = BlockOrder::new(schedule, grid, cluster);
            let mut all = std::collections::HashSet::new();
            for first in (0..48).step_by(6) {
                let of = |position| {
                    let (linear, index) = order.index_at(position, grid);
                    assert_eq!(grid.index(linear), index, "{schedule}");
                    all.insert(linear);
                    (index.x / 3, index.y / 2, index.z)
                };
                let clusters: std::collections::HashSet<_> = (first..first + 6).map(of).collect();
                assert_eq!(clusters.len(), 1, "{schedule}");
            }
            assert_eq!(all.len(), 48, "{schedule}");
        }
    }

    #[test]
    fn the_last_block_comes_first() {
        let order = BlockOrder::of_units(Schedule::LastFirst, 5);
        assert_eq!([0, 1, 2, 3, 4].map(|position| order.block_at(position)), [4, 3, 2, 1, 0]);
    }

    #[test]
    fn huge_grids_do_not_overflow() {
        let blocks = (1 << 31) * 65535 * 65535;
        for schedule in schedules() {
            assert!(BlockOrder::of_units(schedule, blocks).block_at(blocks - 1) < blocks);
        }
    }

    #[test]
    fn without_a_seed_the_first_or_the_last_is_chosen() {
        let mut first = Chooser::new(Schedule::Natural, 3);
        assert_eq!((first.choose(0b1100), first.choose(u32::MAX), first.choose(1 << 31)), (2, 0, 31));
        let mut last = Chooser::new(Schedule::LastFirst, 3);
        assert_eq!((last.choose(0b1100), last.choose(u32::MAX), last.choose(1)), (3, 31, 0));
    }

    #[test]
    fn every_choice_is_a_set_bit_and_all_are_chosen() {
        let mut chooser = Chooser::new(Schedule::Random(42), 3);
        let mask = 0x8001_0110;
        let mut chosen = 0;
        for _ in 0..1000 {
            let bit = 1 << chooser.choose(mask);
            assert_ne!(mask & bit, 0);
            chosen |= bit;
        }
        assert_eq!(chosen, mask);
    }
}
