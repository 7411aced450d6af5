//! The ten metrics that the simulator and ncu both count.

use std::fmt;
use std::ops::AddAssign;

use explain::Totals;
pub use units::grouped;

/// One metric.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Metric {
    /// Requests of loads from global memory.
    GlobalLoadRequests,
    /// Sectors of 32 bytes that they touch.
    GlobalLoadSectors,
    /// Requests of stores to global memory.
    GlobalStoreRequests,
    /// Sectors that they touch.
    GlobalStoreSectors,
    /// Requests of atomic updates of global memory, whether their results are used or not.
    GlobalAtomicRequests,
    /// Sectors that they touch.
    GlobalAtomicSectors,
    /// Wavefronts of loads from shared memory.
    SharedLoadWavefronts,
    /// Those of them that bank conflicts cost.
    SharedLoadConflicts,
    /// Wavefronts of stores to shared memory.
    SharedStoreWavefronts,
    /// Those of them that bank conflicts cost.
    SharedStoreConflicts,
}

use Metric::*;

impl Metric {
    /// All of them, in the order of the table's columns.
    pub const ALL: [Metric; 10] = [
        GlobalLoadRequests,
        GlobalLoadSectors,
        GlobalStoreRequests,
        GlobalStoreSectors,
        GlobalAtomicRequests,
        GlobalAtomicSectors,
        SharedLoadWavefronts,
        SharedLoadConflicts,
        SharedStoreWavefronts,
        SharedStoreConflicts,
    ];

    /// Returns the metrics of ncu whose sum it is.
    pub fn of_ncu(self) -> &'static [&'static str] {
        match self {
            GlobalLoadRequests => &["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"],
            GlobalLoadSectors => &["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"],
            GlobalStoreRequests => &["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"],
            GlobalStoreSectors => &["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"],
            GlobalAtomicRequests => &[
                "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum",
                "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum",
            ],
            GlobalAtomicSectors => {
                &["l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum"]
            }
            SharedLoadWavefronts => &["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"],
            SharedLoadConflicts => &["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"],
            SharedStoreWavefronts => &["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"],
            SharedStoreConflicts => &["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"],
        }
    }

    /// Returns the count of the simulator.
    pub fn of_simulator(self, totals: &Totals) -> u64 {
        let Totals { global, shared, .. } = totals;
        match self {
            GlobalLoadRequests => global.load.requests,
            GlobalLoadSectors => global.load.sectors,
            GlobalStoreRequests => global.store.requests,
            GlobalStoreSectors => global.store.sectors,
            GlobalAtomicRequests => global.atomic.requests,
            GlobalAtomicSectors => global.atomic.sectors,
            SharedLoadWavefronts => shared.load.wavefronts,
            SharedLoadConflicts => shared.load.bank_conflicts,
            SharedStoreWavefronts => shared.store.wavefronts,
            SharedStoreConflicts => shared.store.bank_conflicts,
        }
    }

    /// Returns the heading of its column.
    pub fn heading(self) -> &'static str {
        match self {
            GlobalLoadRequests => "load requests",
            GlobalLoadSectors => "load sectors",
            GlobalStoreRequests => "store requests",
            GlobalStoreSectors => "store sectors",
            GlobalAtomicRequests => "atomic requests",
            GlobalAtomicSectors => "atomic sectors",
            SharedLoadWavefronts => "shared load wavefronts",
            SharedLoadConflicts => "shared load conflicts",
            SharedStoreWavefronts => "shared store wavefronts",
            SharedStoreConflicts => "shared store conflicts",
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.heading())
    }
}

/// A value of each metric.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts([u64; Metric::ALL.len()]);

impl Counts {
    /// Returns the counts that `value` returns.
    pub fn of(value: impl Fn(Metric) -> u64) -> Counts {
        Counts(Metric::ALL.map(value))
    }

    /// Returns the counts that `value` returns, if it succeeds for every metric.
    ///
    /// # Errors
    /// The first error of `value`.
    pub fn try_of<E>(mut value: impl FnMut(Metric) -> Result<u64, E>) -> Result<Counts, E> {
        let mut counts = Counts::default();
        for metric in Metric::ALL {
            counts.0[metric as usize] = value(metric)?;
        }
        Ok(counts)
    }

    /// Returns the count of a metric.
    pub fn get(&self, metric: Metric) -> u64 {
        self.0[metric as usize]
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        for (sum, value) in self.0.iter_mut().zip(other.0) {
            *sum += value;
        }
    }
}

/// A kernel, by its entry, with its grid and block.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Launch {
    /// The kernel's name in the module.
    pub kernel: String,
    /// Blocks along x, y and z.
    pub grid: [u64; 3],
    /// Threads of a block along x, y and z.
    pub block: [u64; 3],
}

impl fmt::Display for Launch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kernel, self.shape())
    }
}

impl Launch {
    /// Returns the grid and the block, as in `3,907 × 256` and `(32, 24) × (32, 8)`.
    pub fn shape(&self) -> String {
        format!("{} × {}", extent(self.grid), extent(self.block))
    }
}

fn extent(extent: [u64; 3]) -> String {
    let [x, y, z] = extent.map(grouped);
    match extent {
        [_, 1, 1] => x,
        [_, _, 1] => format!("({x}, {y})"),
        _ => format!("({x}, {y}, {z})"),
    }
}
