//! Defines the ten metrics that the simulator and ncu both count.

use std::fmt;
use std::ops::AddAssign;

use explain::Totals;
pub use units::grouped;

/// Declares the metrics. Each has its documentation, the heading of its column, the metrics of ncu that add up to it,
/// and the simulator's count.
macro_rules! metrics {
    ($($(#[$doc:meta])* $name:ident $heading:literal [$($ncu:literal)*] $space:ident.$kind:ident.$count:ident;)*) => {
        /// A metric that the simulator and ncu both count.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub enum Metric {
            $($(#[$doc])* $name,)*
        }

        impl Metric {
            /// All metrics, in the order of the table's columns.
            pub const ALL: [Metric; 10] = [$(Metric::$name,)*];

            /// Returns the metrics of ncu that add up to this metric.
            pub fn of_ncu(self) -> &'static [&'static str] {
                match self {
                    $(Metric::$name => &[$(concat!("l1tex__", $ncu, ".sum")),*],)*
                }
            }

            /// Returns the simulator's count of this metric.
            pub fn of_simulator(self, totals: &Totals) -> u64 {
                match self {
                    $(Metric::$name => totals.$space.$kind.$count,)*
                }
            }

            /// Returns the heading of the metric's column.
            pub fn heading(self) -> &'static str {
                match self {
                    $(Metric::$name => $heading,)*
                }
            }
        }
    };
}

metrics! {
    /// The number of load requests to global memory.
    GlobalLoadRequests "load requests" ["t_requests_pipe_lsu_mem_global_op_ld"] global.load.requests;
    /// The number of sectors of 32 bytes that loads from global memory touch.
    GlobalLoadSectors "load sectors" ["t_sectors_pipe_lsu_mem_global_op_ld"] global.load.sectors;
    /// The number of store requests to global memory.
    GlobalStoreRequests "store requests" ["t_requests_pipe_lsu_mem_global_op_st"] global.store.requests;
    /// The number of sectors that stores to global memory touch.
    GlobalStoreSectors "store sectors" ["t_sectors_pipe_lsu_mem_global_op_st"] global.store.sectors;
    /// The number of requests of atomic updates to global memory, with and without a result.
    GlobalAtomicRequests "atomic requests"
        ["t_requests_pipe_lsu_mem_global_op_atom" "t_requests_pipe_lsu_mem_global_op_red"] global.atomic.requests;
    /// The number of sectors that atomic updates of global memory touch.
    GlobalAtomicSectors "atomic sectors"
        ["t_sectors_pipe_lsu_mem_global_op_atom" "t_sectors_pipe_lsu_mem_global_op_red"] global.atomic.sectors;
    /// The number of wavefronts of loads from shared memory.
    SharedLoadWavefronts "shared load wavefronts"
        ["data_pipe_lsu_wavefronts_mem_shared_op_ld"] shared.load.wavefronts;
    /// The number of additional wavefronts that bank conflicts of loads cost.
    SharedLoadConflicts "shared load conflicts"
        ["data_bank_conflicts_pipe_lsu_mem_shared_op_ld"] shared.load.bank_conflicts;
    /// The number of wavefronts of stores to shared memory.
    SharedStoreWavefronts "shared store wavefronts"
        ["data_pipe_lsu_wavefronts_mem_shared_op_st"] shared.store.wavefronts;
    /// The number of additional wavefronts that bank conflicts of stores cost.
    SharedStoreConflicts "shared store conflicts"
        ["data_bank_conflicts_pipe_lsu_mem_shared_op_st"] shared.store.bank_conflicts;
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.heading())
    }
}

/// A count for each metric.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts([u64; Metric::ALL.len()]);

impl Counts {
    /// Returns the counts that `value` returns for the metrics.
    pub fn of(value: impl Fn(Metric) -> u64) -> Counts {
        Counts(Metric::ALL.map(value))
    }

    /// Returns the counts that `value` returns for the metrics, if it succeeds for each.
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

/// A launch: the entry of a kernel, the grid and the block.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Launch {
    /// The name of the kernel's entry in the module.
    pub kernel: String,
    /// The number of blocks along x, y and z.
    pub grid: [u64; 3],
    /// The number of threads of a block along x, y and z.
    pub block: [u64; 3],
}

impl fmt::Display for Launch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kernel, self.shape())
    }
}

impl Launch {
    /// Returns the grid and the block as text, such as `3,907 × 256` or `(32, 24) × (32, 8)`.
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
