//! The plan of a sort: its kernels, tiles and launches.

use std::str::FromStr;

use cuda_std::{ArgumentId, Ladder};
use gpu::collective::ranks::{DIGIT_BITS, RADIX};
use gpu::sort::tuning::{
    CLUSTER_ROWS, COPIES_BYTES, COUNT_BLOCKS, COUNT_THREADS, MAX_COUNT_BYTES, MAX_ROUNDS, MIN_SWEEP_ITEMS,
    ONE_BLOCK_ITEMS, ONE_BLOCK_THREADS, SweepTile, VECTORS, one_sweep_tile, sorts_in_one_block,
};
use gpu::sort::{
    BLOCK_KEYS, DIGITS, FOUR_BIT_TILE, KeyBits, MAX_PORTION, Payload, SortRung, count_bytes, one_block_bytes,
    one_sweep_bytes,
};
use gpu::sort_cluster::{CLUSTER_BLOCKS, CLUSTER_ITEMS, CLUSTER_THREADS, cluster_bytes, sort_cluster};
use launch::{Device, LaunchConfig};

/// The kernels with which the rung `one_sweep` sorts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SortMethod {
    /// One block, which holds all keys in its shared memory.
    OneBlock,
    /// The blocks of one cluster, which hold all keys in their shared memory.
    Cluster {
        /// The number of blocks: from 2 to 16.
        blocks: u32,
    },
    /// A launch that counts the digits of all passes, and a launch per pass.
    ManyBlocks,
}

impl FromStr for SortMethod {
    type Err = String;

    /// Parses `block`, `cluster:` with a number of blocks, or `many`.
    fn from_str(text: &str) -> Result<Self, String> {
        let blocks = text.strip_prefix("cluster:").and_then(|blocks| blocks.parse().ok());
        match (text, blocks) {
            ("block", _) => Ok(Self::OneBlock),
            ("many", _) => Ok(Self::ManyBlocks),
            (_, Some(blocks @ 2..=CLUSTER_BLOCKS)) => Ok(Self::Cluster { blocks }),
            _ => Err(format!(
                "there is no method '{text}': use block, cluster:N with 2 to {CLUSTER_BLOCKS} blocks, or many"
            )),
        }
    }
}

/// The plan of a sort, which depends on the number of keys and on the sizes of keys and values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plan {
    pub(super) rung: SortRung,
    pub(super) n: usize,
    /// The kernels of the rung `one_sweep`.
    pub(super) method: SortMethod,
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
    /// and payloads. The rung sorts by `requested`, if that is a method and can sort the keys.
    pub(super) fn new<B: KeyBits, P: Payload>(
        device: &Device,
        rung: SortRung,
        n: usize,
        requested: Option<SortMethod>,
    ) -> Option<Self> {
        let sweep = one_sweep_tile(size_of::<B>(), P::SIZE)?;
        let method = match rung {
            SortRung::OneSweep => method::<B, P>(device, n, requested),
            _ => SortMethod::ManyBlocks,
        };
        let tile = match rung {
            SortRung::BitonicBlock => BLOCK_KEYS,
            SortRung::FourBit => FOUR_BIT_TILE,
            SortRung::Bitonic | SortRung::Split => gpu::sort::tuning::BLOCK as usize,
            SortRung::OneSweep if method != SortMethod::ManyBlocks => n.max(1),
            SortRung::OneSweep => sweep_items(device, sweep, n, size_of::<B>(), P::SIZE) * sweep.threads(),
        };
        let vectors = (n / 16).saturating_mul(size_of::<B>());
        let most = device.multiprocessors().saturating_mul(COUNT_BLOCKS).max(1);
        // The cast is lossless, because the value is at most `most`, which is a `u32`.
        let blocks = vectors.div_ceil(COUNT_THREADS as usize * VECTORS).clamp(1, most as usize) as u32;
        let copies = copies(device, n, size_of::<B>());
        // The cast is lossless, because it is the memory of one block.
        let counts = LaunchConfig::new(blocks, COUNT_THREADS).shared_bytes(count_bytes(copies, size_of::<B>()) as u32);
        Some(Self { rung, n, method, tile, sweep, tiles_per_launch: 1, counts, copies }.with_portion(MAX_PORTION))
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

    /// Returns the kernels of the rung `one_sweep`.
    #[doc(hidden)]
    pub fn method(&self) -> SortMethod {
        self.method
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
            SortRung::OneSweep if self.method != SortMethod::ManyBlocks => 0,
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

/// Returns the method that sorts `n` keys with the bits `B` and payloads `P` on `device`: `requested`, if that is a
/// method and can sort them, and otherwise the first that can in the order of [`CLUSTER_ROWS`].
fn method<B: KeyBits, P: Payload>(device: &Device, n: usize, requested: Option<SortMethod>) -> SortMethod {
    let can = |&method: &SortMethod| match method {
        SortMethod::OneBlock => n <= one_block_keys(device, size_of::<B>(), P::SIZE),
        SortMethod::Cluster { blocks } => sorts_in_cluster::<B, P>(device, n, blocks),
        SortMethod::ManyBlocks => true,
    };
    let rows = CLUSTER_ROWS.into_iter().filter(|&(max, _)| n <= max).map(|(_, blocks)| match blocks {
        1 => SortMethod::OneBlock,
        _ => SortMethod::Cluster { blocks },
    });
    let methods = requested.into_iter().chain(rows).chain([SortMethod::OneBlock]);
    methods.into_iter().find(can).unwrap_or(SortMethod::ManyBlocks)
}

/// Returns true if `device` can sort `n` keys with the bits `B` and payloads `P` in one cluster of `blocks` blocks.
fn sorts_in_cluster<B: KeyBits, P: Payload>(device: &Device, n: usize, blocks: u32) -> bool {
    if !(2..=CLUSTER_BLOCKS).contains(&blocks) || cluster_items(n, blocks) > CLUSTER_ITEMS {
        return false;
    }
    let arguments = [ArgumentId::of::<B>(), ArgumentId::of::<P>()];
    let kernel = sort_cluster::INSTANCES.iter().find(|kernel| kernel.arguments_begin_with(&arguments));
    let config = cluster_config(n, blocks, size_of::<B>(), P::SIZE);
    // A device without clusters, or with PTX without clusters, runs none.
    kernel.is_some_and(|kernel| device.max_active_clusters(kernel, config).is_ok_and(|clusters| clusters > 0))
}

/// Returns the number of keys per thread with which `blocks` blocks of a cluster sort `n` keys.
pub(super) fn cluster_items(n: usize, blocks: u32) -> usize {
    n.div_ceil(blocks as usize * CLUSTER_THREADS as usize)
}

/// Returns the launch that sorts `n` keys of `key` bytes, with payloads of `payload` bytes, in one cluster.
pub(super) fn cluster_config(n: usize, blocks: u32, key: usize, payload: usize) -> LaunchConfig {
    let bytes = cluster_bytes(cluster_items(n, blocks), key, payload);
    LaunchConfig::new(blocks, CLUSTER_THREADS).cluster(blocks).shared_bytes(u32::try_from(bytes).unwrap_or(u32::MAX))
}

/// Returns the rung that runs by default: the last of the ladder, which sorts keys of all types.
pub fn default_rung() -> SortRung {
    SortRung::LAST
}
