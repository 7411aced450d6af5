//! The plan of a histogram: its grid, block and shared memory.

use gpu::histogram::tuning::{BLOCK, BLOCKS_PER_MULTIPROCESSOR, MAX_REPLICATED, VECTORS};
use gpu::histogram::{Key, MAX_REPLICAS, VALUES};
use launch::{Device, LaunchConfig};

use super::HistogramRung;

/// The plan of a histogram, which is a single launch. For the first two rungs, the host also sets the counts to 0
/// before the launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plan {
    /// The rung that is launched.
    pub rung: HistogramRung,
    /// The grid, block and dynamic shared memory of the launch.
    pub config: LaunchConfig,
    /// The number of bins in a segment: the bins that one block counts. The grid has one row of blocks along y for each
    /// segment. In the first rung, a block counts all bins. If a kernel has a counter for each value of a key instead
    /// of each bin, this is the number of values.
    pub segment: u32,
    /// The number of copies of each counter in a block.
    pub replicas: u32,
}

impl Plan {
    /// Returns the plan for counting `n` keys of type `K` in `bins` bins on `device` with `rung`.
    pub fn new<K: Key>(rung: HistogramRung, n: usize, bins: u32, device: &Device) -> Self {
        Self::with_limits::<K>(rung, n, bins, device.multiprocessors(), device.max_dynamic_shared())
    }

    /// Returns the plan for a device with `multiprocessors` multiprocessors and `shared_bytes` bytes of dynamic shared
    /// memory per block.
    pub fn with_limits<K: Key>(
        rung: HistogramRung,
        n: usize,
        bins: u32,
        multiprocessors: u32,
        shared_bytes: u32,
    ) -> Self {
        // A multiprocessor has about as much shared memory as one block can have at most.
        let room = (shared_bytes / size_of::<u32>() as u32).max(1);
        let segments = if rung == HistogramRung::Global { 1 } else { bins.div_ceil(room).max(1) };
        let segment = bins.div_ceil(segments);
        let simple = (BLOCK, BLOCKS_PER_MULTIPROCESSOR, BLOCK as usize);
        let replicated = (
            K::SHAPE.threads,
            K::SHAPE.blocks_per_multiprocessor,
            // 0 keys per word: the rung is not built for the type.
            K::SHAPE.threads as usize * VECTORS * 4 * K::PER_WORD.max(1),
        );
        // The first tuple has the number of threads per block, of blocks per multiprocessor, and of keys that a block
        // processes at once.
        let ((threads, held, tile), segments, segment, replicas, counters) = match rung {
            HistogramRung::Global => (simple, 1, segment, 1, 0),
            HistogramRung::Privatised => (simple, segments, segment, 1, segment),
            HistogramRung::Replicated if K::BY_VALUE => (replicated, 1, VALUES, MAX_REPLICAS, VALUES * MAX_REPLICAS),
            HistogramRung::Replicated => {
                let max = MAX_REPLICATED.min(room) / segment.max(1);
                let replicas = 1 << max.clamp(1, MAX_REPLICAS).ilog2();
                (replicated, segments, segment, replicas, segment * replicas)
            }
        };
        let held = (room / counters.max(1)).clamp(1, held);
        let max = (multiprocessors.saturating_mul(held) / segments).max(1);
        // The cast is lossless, because the value is at most `max`, which is a `u32`.
        let blocks = n.div_ceil(tile).clamp(1, max as usize) as u32;
        let config = LaunchConfig::new((blocks, segments), threads).shared_bytes(counters * size_of::<u32>() as u32);
        Self { rung, config, segment, replicas }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuda_std::Ladder;

    const H200: (u32, u32) = (132, 227 * 1024);

    fn plan<K: Key>(rung: HistogramRung, n: usize, bins: u32) -> Plan {
        Plan::with_limits::<K>(rung, n, bins, H200.0, H200.1)
    }

    /// Checks that every bin has a counter in exactly one row of blocks, and that a block has enough memory for its
    /// counters.
    #[test]
    fn segments_hold_all_bins_in_the_memory_that_there_is() {
        for &rung in HistogramRung::ALL {
            for bins in [1, 2, 255, 256, 257, 1000, 8192, 8193, 24_577, 58_112, 58_113, 65_535, 65_536] {
                for (multiprocessors, shared) in [H200, (1, 48 * 1024), (40, 64 * 1024), (2, 99 * 1024)] {
                    let plan = Plan::with_limits::<u32>(rung, 1 << 28, bins, multiprocessors, shared);
                    let what = format!("{bins} bins, {shared} bytes: {plan:?}");
                    assert!(plan.segment * plan.config.grid.y >= bins, "{what}");
                    assert!(plan.segment * (plan.config.grid.y - 1) < bins, "{what}");
                    assert!(plan.replicas.is_power_of_two() && plan.replicas <= 32, "{what}");
                    assert!(plan.config.shared_bytes <= shared, "{what}");
                    let counters = plan.segment * plan.replicas * 4;
                    let needed = if rung == HistogramRung::Global { 0 } else { counters };
                    assert_eq!(plan.config.shared_bytes, needed, "{what}");
                    assert!(plan.config.grid.x >= 1, "{what}");
                }
            }
        }
    }

    #[test]
    fn an_h200_is_filled() {
        let replicated = HistogramRung::Replicated;
        let config = |plan: Plan| (plan.config.grid.x, plan.config.grid.y, plan.config.block.x, plan.replicas);
        assert_eq!(config(plan::<u8>(replicated, 1 << 28, 256)), (264, 1, 512, 32));
        assert_eq!(config(plan::<u8>(replicated, 1 << 28, 65_536)), (264, 1, 512, 32));
        assert_eq!(config(plan::<u32>(replicated, 1 << 28, 256)), (132, 1, 1024, 32));
        assert_eq!(config(plan::<u32>(replicated, 1 << 28, 1000)), (132, 1, 1024, 8));
        assert_eq!(config(plan::<u32>(replicated, 1 << 28, 65_536)), (66, 2, 1024, 1));
    }

    #[test]
    fn few_keys_get_few_blocks() {
        for &rung in HistogramRung::ALL {
            assert_eq!(plan::<u8>(rung, 0, 256).config.grid.x, 1);
            assert_eq!(plan::<u32>(rung, 1, 256).config.grid.x, 1);
        }
        assert_eq!(plan::<u8>(HistogramRung::Replicated, 32 * 1024 + 1, 256).config.grid.x, 2);
    }
}
