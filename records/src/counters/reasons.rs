//! Lists the reasons why counts of the simulator and of a GPU differ.
//!
//! The simulator runs the accesses of the source, line by line. A GPU runs the instructions that LLVM and ptxas
//! generate from the source. The statements about instructions are based on the PTX and on the code that ptxas
//! generates for sm_90.

use xtask::pattern::matches as means;

use super::compare::LaunchComparison;
use super::counts::Metric::{self, *};

/// A reason why some counts differ.
#[derive(Clone, Copy, Debug)]
pub struct Reason {
    /// A pattern for the names of the cases, in which `*` stands for any text.
    pub cases: &'static str,
    /// Patterns for the names of the kernels, in which `*` stands for any text. One of them must match.
    pub kernels: &'static [&'static str],
    /// The metrics whose differences the reason explains.
    pub metrics: &'static [Metric],
    /// A function that returns true if the reason explains why the metric of the second argument differs in the
    /// comparison of the first argument.
    pub explains: fn(&LaunchComparison, Metric) -> bool,
    /// True if the difference changes from run to run, and may be absent from a run.
    pub depends_on_timing: bool,
    /// The text that the document shows.
    pub text: &'static str,
}

impl Reason {
    /// Returns true if the reason explains why `metric` differs in `row`.
    pub fn applies(&self, row: &LaunchComparison, metric: Metric) -> bool {
        means(self.cases, &row.case)
            && self.kernels.iter().any(|kernel| means(kernel, &row.launch.kernel))
            && self.metrics.contains(&metric)
            && (self.explains)(row, metric)
    }
}

/// The maximum number of bank conflicts that do not come from the lanes of one warp, as a share of the wavefronts. The
/// measured share on an H200 was 0.9 %.
const MAX_STRAY: f64 = 0.02;

/// The maximum relative change of the number of reads that is due to waiting for other blocks.
const MAX_WAITING: f64 = 0.1;

/// The maximum relative change of the number of reads in the pipelined scan that is due to waiting. Tiles that blocks
/// copy in vain in the simulator are not counted. On an H200 the scouts (the warps that wait for other blocks) read 1 %
/// more.
const MAX_SCOUTING: f64 = 0.02;

/// The number of requests to copy one tile of the pipelined scan. A block that starts too late to join the team (the
/// blocks that share the tiles) copies one tile in vain.
const TILE_REQUESTS: u64 = 8 * 6;
/// The number of sectors of each of these requests.
const COPY_SECTORS: u64 = 16;

/// The maximum relative change of the number of sectors that is due to lanes that execute different stores of an
/// unrolled loop.
const MAX_APART: f64 = 0.01;

/// The maximum relative change of the number of requests that is due to lanes that execute different stores of an
/// unrolled loop. The measured share on an H200 was 51 %, for a matrix of bytes with odd sides.
const MAX_UNROLLED: f64 = 0.6;

/// The file of the reasons.
pub const FILE: &str = "records/src/counters/reasons.rs";

/// All reasons.
pub const REASONS: &[Reason] = &[
    Reason {
        cases: "*",
        kernels: &["*"],
        metrics: &[SharedLoadWavefronts, SharedLoadConflicts, SharedStoreWavefronts, SharedStoreConflicts],
        explains: is_stray,
        depends_on_timing: true,
        text: "Conflicts outside the lanes of a warp, whose number changes from launch to launch [1].",
    },
    Reason {
        cases: "reduce-*",
        kernels: &["reduce_grid_stride_*", "reduce_one_tile_*"],
        metrics: &[GlobalLoadRequests, GlobalLoadSectors],
        explains: is_waiting,
        depends_on_timing: true,
        text: "How often the last block reads the words of the others depends on when they are published.",
    },
    Reason {
        cases: "reduce-*",
        kernels: &["reduce_grid_stride_*", "reduce_one_tile_*"],
        metrics: &[GlobalStoreRequests, GlobalStoreSectors],
        explains: |row, metric| {
            // The GPU may make one more request for each word, and a block has two words.
            let words = 2 * row.launch.grid.iter().product::<u64>();
            (1..=words).contains(&row.ncu.get(metric).saturating_sub(row.simulator.get(metric)))
        },
        depends_on_timing: true,
        text: "Lanes of the last block wait for words that arrive at different times, and clear them one after the \
               other.",
    },
    Reason {
        cases: "life-*",
        kernels: &["life_global", "life_block"],
        metrics: &[GlobalLoadRequests, GlobalLoadSectors],
        explains: |row, metric| {
            let [simulator, ncu] = [row.simulator, row.ncu].map(|counts| counts.get(metric));
            // The GPU leaves out at most one of the nine loads per cell.
            ncu < simulator && simulator - ncu <= simulator / 9
        },
        depends_on_timing: false,
        text: "LLVM moves the load of the cell itself behind the count of its neighbours, because it matters only \
               if two of them are alive. A warp without such a cell does not load it.",
    },
    Reason {
        cases: "scan-look_back",
        kernels: &["scan_look_back_*"],
        metrics: &[GlobalLoadRequests, GlobalLoadSectors],
        explains: is_waiting,
        depends_on_timing: true,
        text: "How often a tile reads the states of the tiles before it depends on when these are published.",
    },
    Reason {
        cases: "scan-look_back",
        kernels: &["scan_look_back_*"],
        metrics: &[SharedLoadWavefronts],
        explains: is_joined,
        depends_on_timing: false,
        text: "ptxas joins the eight loads of the warps' totals into two of 16 bytes.",
    },
    Reason {
        cases: "scan-look_back",
        kernels: &["scan_look_back_*"],
        metrics: &[SharedStoreWavefronts],
        explains: is_joined,
        depends_on_timing: false,
        text: "ptxas joins the two stores of a block's ticket, its tile and its epoch, into one of 8 bytes.",
    },
    Reason {
        cases: "scan-*",
        kernels: &["scan_look_back_*", "scan_pipelined_*"],
        metrics: &[SharedLoadConflicts, SharedStoreConflicts],
        explains: |row, metric| row.simulator.get(metric) == 0,
        depends_on_timing: true,
        text: "Conflicts although all lanes access the same words; their number changes from launch to launch [1].",
    },
    Reason {
        cases: "transpose-odd-*",
        kernels: &["transpose_copy_tile_*", "transpose_tile_*", "transpose_padded_*"],
        metrics: &[SharedLoadWavefronts, SharedLoadConflicts],
        explains: is_less,
        depends_on_timing: false,
        text: "ptxas moves the last of a thread's four loads from the tile behind the bounds check of the store \
               after it. Lanes past the edge of the matrix then do not load.",
    },
    Reason {
        cases: "transpose-odd-*",
        kernels: &["transpose_unaligned_*", "transpose_gathered_*"],
        metrics: &[GlobalStoreRequests, GlobalStoreSectors, SharedLoadWavefronts, SharedLoadConflicts],
        explains: |row, metric| {
            is_apart_by(if metric == GlobalStoreSectors { MAX_APART } else { MAX_UNROLLED }, row, metric)
        },
        depends_on_timing: false,
        text: "At the edges of the matrix some lanes store whole vectors and others single elements, in a loop that \
               the compilers unroll: its only store becomes 5 to 42 instructions in the code for sm_90. Lanes with \
               different numbers of elements execute different ones, each of which is a request. Vectors that the \
               source stores in different iterations can share a request.",
    },
    Reason {
        cases: "scan-pipelined",
        kernels: &["scan_pipelined_*"],
        metrics: &[GlobalLoadRequests, GlobalLoadSectors],
        explains: is_alone_in_team,
        depends_on_timing: true,
        text: "The simulator runs the first block before the next one starts, so that it finds itself alone in its \
               team. Each of the 263 others has then begun to copy a tile in vain: 48 requests of 16 sectors. \
               Without these, the scouts of the GPU read 1 % more: how often they read depends on when the other \
               blocks publish their aggregates.",
    },
    Reason {
        cases: "scan-pipelined",
        kernels: &["scan_pipelined_*"],
        metrics: &[SharedLoadWavefronts],
        explains: is_joined,
        depends_on_timing: false,
        text: "ptxas joins the loads of the warps' totals, nine per warp and tile, into loads of 16 bytes.",
    },
    Reason {
        cases: "scan-pipelined",
        kernels: &["scan_pipelined_*"],
        metrics: &[SharedStoreWavefronts],
        explains: is_less,
        depends_on_timing: false,
        text: "ncu counts the stores of asynchronous copies separately, as `…_mem_shared_op_ldgsts`: 499,968 here, \
               eight for each of 62,496 copies. The simulator counts four for each of these, and the stores of the \
               copies in vain.",
    },
];

/// Returns true if `metric` is larger on the GPU by exactly the number of additional bank conflicts, and if these
/// conflicts are few.
fn is_stray(row: &LaunchComparison, metric: Metric) -> bool {
    let conflicts = conflicts_of(metric);
    let wavefronts = if conflicts == SharedStoreConflicts { SharedStoreWavefronts } else { SharedLoadWavefronts };
    let excess = |metric| row.ncu.get(metric).saturating_sub(row.simulator.get(metric));
    let stray = excess(conflicts);
    excess(metric) == stray && stray > 0 && stray as f64 <= MAX_STRAY * row.simulator.get(wavefronts) as f64
}

/// Returns true if `metric` is smaller on the GPU.
fn is_less(row: &LaunchComparison, metric: Metric) -> bool {
    row.ncu.get(metric) < row.simulator.get(metric)
}

/// Returns true if the GPU's wavefronts without conflicts are fewer than the simulator's count of `metric`.
fn is_joined(row: &LaunchComparison, metric: Metric) -> bool {
    row.ncu.get(metric).saturating_sub(row.ncu.get(conflicts_of(metric))) < row.simulator.get(metric)
}

/// Returns the metric that counts bank conflicts of stores if `metric` counts stores, and of loads otherwise.
fn conflicts_of(metric: Metric) -> Metric {
    match metric {
        SharedStoreWavefronts | SharedStoreConflicts => SharedStoreConflicts,
        _ => SharedLoadConflicts,
    }
}

/// Returns true if waiting for other blocks explains the difference of `metric`.
fn is_waiting(row: &LaunchComparison, metric: Metric) -> bool {
    is_apart_by(MAX_WAITING, row, metric)
}

/// Returns true if two effects of the pipelined scan explain the difference. In the simulator, every block except the
/// first copies a tile that it does not use. On a GPU, the warps that look back may read more words.
fn is_alone_in_team(row: &LaunchComparison, metric: Metric) -> bool {
    let in_vain = (row.launch.grid[0] - 1) * TILE_REQUESTS * if metric == GlobalLoadSectors { COPY_SECTORS } else { 1 };
    let [simulator, ncu] =
        [row.simulator.get(metric).saturating_sub(in_vain), row.ncu.get(metric)].map(|count| count as f64);
    (ncu - simulator).abs() <= MAX_SCOUTING * simulator
}

/// Returns true if `metric` differs by at most the share `most` of the simulator's count.
fn is_apart_by(most: f64, row: &LaunchComparison, metric: Metric) -> bool {
    let [simulator, ncu] = [row.simulator, row.ncu].map(|counts| counts.get(metric) as f64);
    (ncu - simulator).abs() <= most * simulator
}
