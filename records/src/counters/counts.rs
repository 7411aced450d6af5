//! The ten metrics that the simulator and ncu both count.

use std::fmt;
use std::ops::AddAssign;

use explain::Totals;
pub use units::grouped;

/// Declares the metrics: for each its documentation, the heading of its column, the metrics of ncu whose sum it is, and
/// what the simulator counts of it.
macro_rules! metrics {
    ($($(#[$doc:meta])* $name:ident $heading:literal [$($ncu:literal)*] $space:ident.$kind:ident.$count:ident;)*) => {
        /// One metric.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub enum Metric {
            $($(#[$doc])* $name,)*
        }

        impl Metric {
            /// All of them, in the order of the table's columns.
            pub const ALL: [Metric; 10] = [$(Metric::$name,)*];

            /// Returns the metrics of ncu whose sum it is.
            pub fn of_ncu(self) -> &'static [&'static str] {
                match self {
                    $(Metric::$name => &[$(concat!("l1tex__", $ncu, ".sum")),*],)*
                }
            }

            /// Returns the count of the simulator.
            pub fn of_simulator(self, totals: &Totals) -> u64 {
                match self {
                    $(Metric::$name => totals.$space.$kind.$count,)*
                }
            }

            /// Returns the heading of its column.
            pub fn heading(self) -> &'static str {
                match self {
                    $(Metric::$name => $heading,)*
                }
            }
        }
    };
}

metrics! {
    /// Requests of loads from global memory.
    GlobalLoadRequests "load requests" ["t_requests_pipe_lsu_mem_global_op_ld"] global.load.requests;
    /// Sectors of 32 bytes that they touch.
    GlobalLoadSectors "load sectors" ["t_sectors_pipe_lsu_mem_global_op_ld"] global.load.sectors;
    /// Requests of stores to global memory.
    GlobalStoreRequests "store requests" ["t_requests_pipe_lsu_mem_global_op_st"] global.store.requests;
    /// Sectors that they touch.
    GlobalStoreSectors "store sectors" ["t_sectors_pipe_lsu_mem_global_op_st"] global.store.sectors;
    /// Requests of atomic updates of global memory, whether their results are used or not.
    GlobalAtomicRequests "atomic requests"
        ["t_requests_pipe_lsu_mem_global_op_atom" "t_requests_pipe_lsu_mem_global_op_red"] global.atomic.requests;
    /// Sectors that they touch.
    GlobalAtomicSectors "atomic sectors"
        ["t_sectors_pipe_lsu_mem_global_op_atom" "t_sectors_pipe_lsu_mem_global_op_red"] global.atomic.sectors;
    /// Wavefronts of loads from shared memory.
    SharedLoadWavefronts "shared load wavefronts"
        ["data_pipe_lsu_wavefronts_mem_shared_op_ld"] shared.load.wavefronts;
    /// Those of them that bank conflicts cost.
    SharedLoadConflicts "shared load conflicts"
        ["data_bank_conflicts_pipe_lsu_mem_shared_op_ld"] shared.load.bank_conflicts;
    /// Wavefronts of stores to shared memory.
    SharedStoreWavefronts "shared store wavefronts"
        ["data_pipe_lsu_wavefronts_mem_shared_op_st"] shared.store.wavefronts;
    /// Those of them that bank conflicts cost.
    SharedStoreConflicts "shared store conflicts"
        ["data_bank_conflicts_pipe_lsu_mem_shared_op_st"] shared.store.bank_conflicts;
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
