//! The plan of a sort: its kernels, tiles and launches.

use cuda_std::Ladder;
use gpu::collective::ranks::{DIGIT_BITS, RADIX};
use gpu::sort::tuning::{
    COPIES_BYTES, COUNT_BLOCKS, COUNT_THREADS, MAX_COUNT_BYTES, MAX_ROUNDS, MIN_SWEEP_ITEMS, ONE_BLOCK_ITEMS,
    ONE_BLOCK_THREADS, SweepTile, VECTORS, one_sweep_tile, sorts_in_one_block,
};
use gpu::sort::{
    BLOCK_KEYS, DIGITS, FOUR_BIT_TILE, KeyBits, MAX_PORTION, Payload, SortRung, count_bytes, one_block_bytes,
    one_sweep_bytes,
};
use launch::{Device, LaunchConfig};

/// The plan of a sort, which depends on the number of keys and on the sizes of keys and values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plan {
    pub(super) rung: SortRung,
    pub(super) n: usize,
    /// True if one block sorts all keys in one launch.
    pub(super) in_one_block: bool,
    /// The number of keys that a block sorts at a time.
    pub(super) tile: usize,
    /// The largest tile of the rung `one_sweep`.
    pub(super) sweep: SweepTile,
    /// The number of tiles that one launch of the rung `one_sweep` sorts.
    pub(super) tiles_per_launch: usize,
    /// The grid, block and shared memory of the launch that counts the digits.
    pub(super) counts: LaunchConfig,
    /// The number of copies of the counters of that launch.
    pub(super) copies: u32,
}

impl Plan {
    /// Returns the plan for `n` keys on `device`, or `None` if the rung `one_sweep` is not built for the sizes of keys
    /// and payloads.
    pub(super) fn new<B: KeyBits, P: Payload>(device: &Device, rung: SortRung, n: usize) -> Option<Self> {
        let sweep = one_sweep_tile(size_of::<B>(), P::SIZE)?;
        let one_block = one_block_keys(device, size_of::<B>(), P::SIZE);
        let in_one_block = rung == SortRung::BitonicBlock || rung == SortRung::OneSweep && n <= one_block;
        let tile = match rung {
            SortRung::BitonicBlock => BLOCK_KEYS,
            SortRung::FourBit => FOUR_BIT_TILE,
            SortRung::Bitonic | SortRung::Split => gpu::sort::tuning::BLOCK as usize,
            SortRung::OneSweep if in_one_block => one_block.max(1),
            SortRung::OneSweep => sweep_items(device, sweep, n, size_of::<B>(), P::SIZE) * sweep.threads(),
        };
        let vectors = (n / 16).saturating_mul(size_of::<B>());
        let most = device.multiprocessors().saturating_mul(COUNT_BLOCKS).max(1);
        // The cast is lossless, because the value is at most `most`, which is a `u32`.
        let blocks = vectors.div_ceil(COUNT_THREADS as usize * VECTORS).clamp(1, most as usize) as u32;
        let copies = copies(device, n, size_of::<B>());
        // The cast is lossless, because it is the memory of one block.
        let counts = LaunchConfig::new(blocks, COUNT_THREADS).shared_bytes(count_bytes(copies, size_of::<B>()) as u32);
        Some(Self { rung, n, in_one_block, tile, sweep, tiles_per_launch: 1, counts, copies }.with_portion(MAX_PORTION))
    }

    /// Returns the same plan with at most `keys` keys per launch of the rung `one_sweep`, but at least one tile.
    /// Without this call, a launch sorts up to 2³⁰ − 1 keys, the largest number that it can count.
    pub fn with_portion(self, keys: usize) -> Self {
        let most = (keys.min(MAX_PORTION) / self.tile).max(1);
        let portions = self.tiles().div_ceil(most).max(1);
        Self { tiles_per_launch: self.tiles().div_ceil(portions).max(1), ..self }
    }

    /// Returns the rung that runs.
    pub fn rung(&self) -> SortRung {
        self.rung
    }

    /// Returns the number of keys.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Returns the number of tiles.
    pub(super) fn tiles(&self) -> usize {
        self.n.div_ceil(self.tile)
    }

    /// Returns the number of passes over all keys for a sort by `bits` bits.
    pub fn passes(&self, bits: u32) -> u32 {
        match self.rung {
            SortRung::BitonicBlock => 1,
            SortRung::Bitonic => {
                let merges = self.n.max(1).next_power_of_two().ilog2();
                merges * (merges + 1) / 2
            }
            SortRung::Split => bits,
            SortRung::FourBit => bits.div_ceil(gpu::sort::FOUR_BITS),
            SortRung::OneSweep => bits.div_ceil(DIGIT_BITS),
        }
    }

    /// Returns the number of 32-bit words for the states of the tiles, or for the counts or flags of the older rungs.
    pub(super) fn state_words(&self) -> usize {
        match self.rung {
            SortRung::BitonicBlock | SortRung::Bitonic => 0,
            SortRung::Split => self.n,
            SortRung::FourBit => self.tiles() * DIGITS,
            SortRung::OneSweep if self.in_one_block => 0,
            SortRung::OneSweep => 2 * self.tiles_per_launch * RADIX,
        }
    }
}

/// Returns the number of keys per thread with which the rung `one_sweep` sorts `n` keys of `key` bytes with payloads of
/// `payload` bytes.
///
/// Many keys have the largest tiles. Fewer keys are divided so that all multiprocessors have the same number of tiles.
fn sweep_items(device: &Device, tile: SweepTile, n: usize, key: usize, payload: usize) -> usize {
    // The kernel also has arrays of a fixed size.
    let room = (device.max_dynamic_shared() as usize).saturating_sub(4096);
    let fits = |&items: &usize| one_sweep_bytes(items, tile.warps, key, payload) <= room;
    let most = (1..=tile.items).rev().find(fits).unwrap_or(1);
    let each = n.div_ceil(tile.threads() * device.multiprocessors().max(1) as usize);
    match each.div_ceil(most) {
        rounds if rounds > MAX_ROUNDS => most,
        rounds => each.div_ceil(rounds.max(1)).clamp(MIN_SWEEP_ITEMS.min(most), most),
    }
}

/// Returns the number of copies of the counters in the launch that counts the digits of `n` keys of `key` bytes.
fn copies(device: &Device, n: usize, key: usize) -> u32 {
    if n.saturating_mul(key) < COPIES_BYTES {
        return 1;
    }
    let room = (device.max_dynamic_shared() as usize).min(MAX_COUNT_BYTES);
    [32, 16, 8, 4, 2].into_iter().find(|&copies| count_bytes(copies, key) <= room).unwrap_or(1)
}

/// Returns the largest number of keys of `key` bytes, with payloads of `payload` bytes, that one block sorts on
/// `device`.
pub(super) fn one_block_keys(device: &Device, key: usize, payload: usize) -> usize {
    // The kernel also has an array of a fixed size.
    let room = (device.max_dynamic_shared() as usize).saturating_sub(1024);
    let fits = |&items: &u32| sorts_in_one_block(key, payload) && one_block_bytes(items, key, payload) <= room;
    (1..=ONE_BLOCK_ITEMS).rev().find(fits).unwrap_or(0) as usize * ONE_BLOCK_THREADS as usize
}

/// Returns the rung that runs by default: the last of the ladder, which sorts keys of all types.
pub fn default_rung() -> SortRung {
    SortRung::LAST
}
