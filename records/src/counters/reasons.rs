//! Why the simulator and a GPU count differently where they do.
//!
//! The simulator runs the source's accesses, line by line; a GPU runs what LLVM and ptxas have made of them. What the
//! texts say of instructions was read in the PTX and in ptxas's code for sm_90.

use xtask::pattern::matches as means;

use super::compare::Row;
use super::counts::Metric::{self, *};

/// Why some counts differ.
#[derive(Clone, Copy, Debug)]
pub struct Reason {
    /// The cases that it is about: a name in which `*` stands for any letters.
    pub cases: &'static str,
    /// Kernels, likewise: one of them.
    pub kernels: &'static [&'static str],
    /// The counts that it is about.
    pub metrics: &'static [Metric],
    /// Whether a difference is of the kind that it explains.
    pub explains: fn(&Row, Metric) -> bool,
    /// Whether the difference changes from run to run, and may be absent from one.
    pub depends_on_timing: bool,
    /// What it says.
    pub text: &'static str,
}

impl Reason {
    /// Whether it is the reason why `metric` differs in `row`.
    pub fn applies(&self, row: &Row, metric: Metric) -> bool {
        means(self.cases, &row.case)
            && self.kernels.iter().any(|kernel| means(kernel, &row.launch.kernel))
            && self.metrics.contains(&metric)
            && (self.explains)(row, metric)
    }
}

/// The most stray conflicts that a load has, as a share of its wavefronts. An H200 had 0.9 %.
const MOST_STRAY: f64 = 0.02;

/// The most by which waiting for other blocks changes what is read, as a share.
const MOST_WAITING: f64 = 0.1;

/// The same of the pipelined scan, without what its blocks copy in vain in the simulator. An H200's scouts read 1 %
/// more.
const MOST_SCOUTING: f64 = 0.02;

/// What a block of the pipelined scan that comes late has begun to copy in vain, a tile: requests, and sectors of each.
const TILE_REQUESTS: u64 = 8 * 6;
const COPY_SECTORS: u64 = 16;

/// The most by which lanes that make accesses of a loop apart change the bytes that these touch, as a share.
const MOST_APART: f64 = 0.01;

/// The most by which they change the number of accesses. Bytes of an odd matrix on an H200: 51 %.
const MOST_UNROLLED: f64 = 0.6;

/// Where they stand.
pub const FILE: &str = "records/src/counters/reasons.rs";

/// All reasons.
pub const REASONS: &[Reason] = &[
    Reason {
        cases: "*",
        kernels: &["*"],
        metrics: &[SharedLoadWavefronts, SharedLoadConflicts, SharedStoreWavefronts, SharedStoreConflicts],
        explains: is_stray,
        depends_on_timing: true,
        text: "Collisions that are not among the lanes of a warp: they change from launch to launch [1].",
    },
    Reason {
        cases: "reduce-*",
        kernels: &["reduce_grid_stride_*", "reduce_one_tile_*"],
        metrics: &[GlobalLoadRequests, GlobalLoadSectors],
        explains: is_waiting,
        depends_on_timing: true,
        text: "How often the last block reads the others' words depends on when they are published.",
    },
    Reason {
        cases: "reduce-*",
        kernels: &["reduce_grid_stride_*", "reduce_one_tile_*"],
        metrics: &[GlobalStoreRequests, GlobalStoreSectors],
        explains: |row, metric| {
            // A request for each word at most; two words per block.
            let words = 2 * row.launch.grid.iter().product::<u64>();
            (1..=words).contains(&row.ncu.get(metric).saturating_sub(row.simulator.get(metric)))
        },
        depends_on_timing: true,
        text: "Lanes of the last block that wait for words that come at different times clear them one after the other.",
    },
    Reason {
        cases: "life-*",
        kernels: &["life_global", "life_block"],
        metrics: &[GlobalLoadRequests, GlobalLoadSectors],
        explains: |row, metric| {
            let [simulator, ncu] = [row.simulator, row.ncu].map(|counts| counts.get(metric));
            // Of the nine loads of a cell one.
            ncu < simulator && simulator - ncu <= simulator / 9
        },
        depends_on_timing: false,
        text: "LLVM moves the load of the cell itself behind the test of its neighbours: it matters for two of them alone, and \
               a warp in which no cell has two does not make it.",
    },
    Reason {
        cases: "scan-look_back",
        kernels: &["scan_look_back_*"],
        metrics: &[GlobalLoadRequests, GlobalLoadSectors],
        explains: is_waiting,
        depends_on_timing: true,
        text: "How often a tile reads the states of those before it depends on when they are published.",
    },
    Reason {
        cases: "scan-look_back",
        kernels: &["scan_look_back_*"],
        metrics: &[SharedLoadWavefronts],
        explains: |row, metric| {
            row.ncu.get(metric).saturating_sub(row.ncu.get(SharedLoadConflicts)) < row.simulator.get(metric)
        },
        depends_on_timing: false,
        text: "ptxas joins the eight loads of the warps' totals into two of 16 bytes.",
    },
    Reason {
        cases: "scan-look_back",
        kernels: &["scan_look_back_*"],
        metrics: &[SharedStoreWavefronts],
        explains: |row, metric| {
            row.ncu.get(metric).saturating_sub(row.ncu.get(SharedStoreConflicts)) < row.simulator.get(metric)
        },
        depends_on_timing: false,
        text: "ptxas joins the two stores of what a block has drawn into one of 8 bytes.",
    },
    Reason {
        cases: "scan-*",
        kernels: &["scan_look_back_*", "scan_pipelined_*"],
        metrics: &[SharedLoadConflicts, SharedStoreConflicts],
        explains: |row, metric| row.simulator.get(metric) == 0,
        depends_on_timing: true,
        text: "Conflicts although all lanes want the same words: they change from launch to launch [1].",
    },
    Reason {
        cases: "transpose-odd-*",
        kernels: &["transpose_copy_tile_*", "transpose_tile_*", "transpose_padded_*"],
        metrics: &[SharedLoadWavefronts, SharedLoadConflicts],
        explains: |row, metric| row.ncu.get(metric) < row.simulator.get(metric),
        depends_on_timing: false,
        text: "ptxas moves the last of a thread's four loads from the tile behind the test of the store that follows it: \
               lanes past the matrix's edge do not load.",
    },
    Reason {
        cases: "transpose-odd-*",
        kernels: &["transpose_unaligned_*", "transpose_gathered_*"],
        metrics: &[GlobalStoreRequests, GlobalStoreSectors, SharedLoadWavefronts, SharedLoadConflicts],
        explains: |row, metric| {
            let [simulator, ncu] = [row.simulator, row.ncu].map(|counts| counts.get(metric) as f64);
            let most = if metric == GlobalStoreSectors { MOST_APART } else { MOST_UNROLLED };
            (ncu - simulator).abs() <= most * simulator
        },
        depends_on_timing: false,
        text: "At the matrix's edges some lanes store whole vectors and others single elements, in a loop that the compilers unroll: \
               its one store stands in 5 to 42 places of the code for sm_90. Lanes with different numbers of elements \
               make theirs in different places, each a request; vectors that the source stores in different turns are one.",
    },
    Reason {
        cases: "scan-pipelined",
        kernels: &["scan_pipelined_*"],
        metrics: &[GlobalLoadRequests, GlobalLoadSectors],
        explains: is_alone_in_team,
        depends_on_timing: true,
        text: "The simulator runs the first block before the next one starts: it counts itself alone in its team, and each of the 263 \
               others has begun to copy a tile in vain, 48 requests of 16 sectors. Without these the GPU's scouts read 1 % more: how \
               often they look depends on when the others' aggregates are published.",
    },
    Reason {
        cases: "scan-pipelined",
        kernels: &["scan_pipelined_*"],
        metrics: &[SharedLoadWavefronts],
        explains: |row, metric| {
            row.ncu.get(metric).saturating_sub(row.ncu.get(SharedLoadConflicts)) < row.simulator.get(metric)
        },
        depends_on_timing: false,
        text: "ptxas joins the loads of the warps' totals, nine per warp and tile, into ones of 16 bytes.",
    },
    Reason {
        cases: "scan-pipelined",
        kernels: &["scan_pipelined_*"],
        metrics: &[SharedStoreWavefronts],
        explains: |row, metric| row.ncu.get(metric) < row.simulator.get(metric),
        depends_on_timing: false,
        text: "ncu has a counter of its own for what asynchronous copies store, `…_mem_shared_op_ldgsts`: 499,968 here, eight for each of \
               62,496 copies, of which the simulator counts four, and those of the copies in vain.",
    },
];

/// Whether `metric` is larger on the GPU by as many wavefronts as it has conflicts more, which are few.
fn is_stray(row: &Row, metric: Metric) -> bool {
    let (wavefronts, conflicts) = match metric {
        SharedStoreWavefronts | SharedStoreConflicts => (SharedStoreWavefronts, SharedStoreConflicts),
        _ => (SharedLoadWavefronts, SharedLoadConflicts),
    };
    let excess = |metric| row.ncu.get(metric).saturating_sub(row.simulator.get(metric));
    let stray = excess(conflicts);
    excess(metric) == stray && stray > 0 && stray as f64 <= MOST_STRAY * row.simulator.get(wavefronts) as f64
}

/// Whether `metric` differs by what waiting for other blocks may change.
fn is_waiting(row: &Row, metric: Metric) -> bool {
    is_apart_by(MOST_WAITING, row, metric)
}

/// Whether `metric` differs by what the blocks that come late in the simulator copy in vain, all but the first one, and
/// by what scouts may read more.
fn is_alone_in_team(row: &Row, metric: Metric) -> bool {
    let in_vain = (row.launch.grid[0] - 1) * TILE_REQUESTS * if metric == GlobalLoadSectors { COPY_SECTORS } else { 1 };
    let [simulator, ncu] =
        [row.simulator.get(metric).saturating_sub(in_vain), row.ncu.get(metric)].map(|count| count as f64);
    (ncu - simulator).abs() <= MOST_SCOUTING * simulator
}

/// Whether `metric` differs by at most this share.
fn is_apart_by(most: f64, row: &Row, metric: Metric) -> bool {
    let [simulator, ncu] = [row.simulator, row.ncu].map(|counts| counts.get(metric) as f64);
    (ncu - simulator).abs() <= most * simulator
}
