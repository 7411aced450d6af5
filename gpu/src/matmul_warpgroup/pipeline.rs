//! The pipeline of stages between a warpgroup that loads steps of *A* and *B* and the warpgroups that multiply them.

use cuda_std::barrier::{self, Barrier};
use cuda_std::bulk::TensorMap;
use cuda_std::tensor::wgmma::{self, Accumulator, ROWS, Sums, WgmmaInstruction};
use cuda_std::{Shared, dynamic_shared, shared_array, thread, warp};

use super::arrangement::{Arranged, Arrangement, ContiguousK, UNIT, load_unit};
use super::finish::STAGING_BYTES;

/// The number of rows of a block's tile.
pub const TILE_ROWS: usize = 128;
/// The number of threads of a block: a loading warpgroup and two multiplying ones.
pub const THREADS: u32 = 384;
/// The number of bytes along *k* of a step.
const STEP_BYTES: usize = 128;
/// The number of bytes of the shared memory for all stages, with tiles of at least 128 columns.
const STAGES_BYTES: usize = 192 << 10;
/// The maximum number of stages.
const MAX_STAGES: usize = 8;
/// The number of bytes of dynamic shared memory that a block needs.
pub const SHARED_BYTES: usize = STAGES_BYTES + 2 * STAGING_BYTES;

/// The flag of an operand *A* whose columns are contiguous, along *m*.
pub const A_ACROSS: u32 = 1;
/// The flag of an operand *B* whose rows are contiguous, along *n*.
pub const B_ACROSS: u32 = 2;
/// The flag of a result to which boxes can be stored.
pub const STORES: u32 = 4;

/// The flag of clusters whose blocks have tiles side by side, and not one above the other.
pub const WIDE: u32 = 8;

/// Returns the number of bytes of the shared memory for all stages, with tiles of `columns` columns. A multiprocessor
/// has two blocks with narrow tiles: while one begins or ends, the other loads.
pub const fn stages_bytes(columns: usize) -> usize {
    if columns < 128 { 100 << 10 } else { STAGES_BYTES }
}

/// Returns the number of stages for tiles of `columns` columns.
const fn stages(columns: usize) -> usize {
    stages_bytes(columns) / ((TILE_ROWS + columns) * STEP_BYTES)
}

/// A stage of the pipeline, and the parity of the phase of its barriers.
#[derive(Clone, Copy)]
pub struct Stage {
    index: u32,
    parity: bool,
}

impl Stage {
    /// The first stage for a warpgroup that loads: all stages are empty, as after the phase before the first one.
    pub const LOADING: Self = Self { index: 0, parity: true };
    /// The first stage for a warpgroup that multiplies.
    pub const MULTIPLYING: Self = Self { index: 0, parity: false };

    /// Returns the next one of `stages` stages.
    #[inline(always)]
    fn next(self, stages: usize) -> Self {
        let is_last = self.index == stages as u32 - 1;
        Self { index: if is_last { 0 } else { self.index + 1 }, parity: self.parity ^ is_last }
    }
}

/// The barriers of the stages.
#[derive(Clone, Copy)]
struct Barriers(Shared<u64>);

impl Barriers {
    /// Returns the barrier at which the bytes of a stage arrive.
    #[inline(always)]
    fn full(self, stage: Stage) -> Barrier {
        // The remainder shows the compiler that the index is in bounds.
        Barrier::at(self.0, stage.index as usize % MAX_STAGES)
    }

    /// Returns the barrier at which the warpgroups arrive that have read a stage.
    #[inline(always)]
    fn empty(self, stage: Stage) -> Barrier {
        Barrier::at(self.0, MAX_STAGES + stage.index as usize % MAX_STAGES)
    }
}

/// The stages of a block in a cluster of `BLOCKS` blocks, one or two, which multiplies tiles of 128 × `N` elements. `K`
/// elements are a step along *k*.
#[derive(Clone, Copy)]
pub struct Pipeline<T, const N: usize, const K: usize, const BLOCKS: usize> {
    shared: Shared<T>,
    barriers: Barriers,
    /// The first step along *k*, and the number of steps.
    first: u32,
    steps: u32,
    is_a_across: bool,
    is_b_across: bool,
    is_wide: bool,
}

impl<T: Arranged, const N: usize, const K: usize, const BLOCKS: usize> Pipeline<T, N, K, BLOCKS> {
    const LEFT: usize = TILE_ROWS * K;
    const RIGHT: usize = N * K;
    const FIRST_RIGHT: usize = stages(N) * Self::LEFT;

    /// Makes the barriers, for products with `k` summands. A barrier of the block or the cluster must follow.
    #[inline(always)]
    #[track_caller]
    pub fn make_stages(k: u32, flags: u32) -> Self {
        // The end of the stages is checked here, so that no later access needs a check.
        let shared = dynamic_shared::<T>().part(0, stages(N) * (Self::LEFT + Self::RIGHT));
        let barriers = Barriers(shared_array![u64; 2 * MAX_STAGES]);
        if thread::index_in_block() == 0 {
            for index in 0..stages(N) as u32 {
                let stage = Stage { index, parity: false };
                barriers.full(stage).init(1);
                // Both multiplying warpgroups of each block have read a stage before it is loaded again.
                barriers.empty(stage).init(2 * BLOCKS as u32);
            }
            barrier::fence_init();
        }
        let is_set = |flag| T::HAS_ACROSS && flags & flag != 0;
        let (is_a_across, is_b_across) = (is_set(A_ACROSS), is_set(B_ACROSS));
        let is_wide = BLOCKS > 1 && flags & WIDE != 0;
        Self { shared, barriers, first: 0, steps: k.div_ceil(K as u32), is_a_across, is_b_across, is_wide }
    }

    /// Returns the pipeline with the steps of part number `part` of `parts` equal ones.
    #[inline(always)]
    pub fn part(self, part: u32, parts: u32) -> Self {
        let first = |part: u32| self.steps * part / parts;
        Self { first: first(part), steps: first(part + 1) - first(part), ..self }
    }

    /// Loads all steps of the tile at `row` and `column`, from the matrices number `matrices` of *A* and *B*. Block
    /// `rank` of a cluster of two loads half of each step of the operand that both blocks have, for both. One thread
    /// calls this method.
    #[inline(always)]
    #[track_caller]
    pub fn load(
        self,
        (a, b): (&TensorMap<'_, T, 3>, &TensorMap<'_, T, 3>),
        matrices: [u32; 2],
        [row, column]: [u32; 2],
        rank: u32,
        stage: &mut Stage,
    ) {
        // The first unit that this block loads, the number of these units, and the blocks for which it loads them.
        let share = |units: u32, is_shared: bool| match is_shared {
            true => (rank * units.div_ceil(2)..units.div_ceil(2) + rank * (units / 2), Some(0b11)),
            false => (0..units, None),
        };
        let (left_units, left_ranks) = share((TILE_ROWS / UNIT) as u32, BLOCKS > 1 && self.is_wide);
        let (right_units, right_ranks) = share(N.div_ceil(UNIT) as u32, BLOCKS > 1 && !self.is_wide);
        for step in self.first..self.first + self.steps {
            let full = self.barriers.full(*stage);
            self.barriers.empty(*stage).await_parity(stage.parity);
            let _ = full.arrive_and_expect(((Self::LEFT + Self::RIGHT) * size_of::<T>()) as u32);
            let (k, index) = (step * K as u32, stage.index as usize);
            let (left, right) = (index * Self::LEFT, Self::FIRST_RIGHT + index * Self::RIGHT);
            // SAFETY: `make_stages` has checked the end of the stages, and each unit begins at a multiple of 1024
            // bytes.
            unsafe {
                for unit in left_units.clone() {
                    let at = (self.is_a_across, [row + unit * UNIT as u32, k, matrices[0]]);
                    load_unit::<T, UNIT, K>(a, at, (self.shared, left + unit as usize * UNIT * K), full, left_ranks);
                }
                for unit in right_units.clone() {
                    let at = (self.is_b_across, [column + unit * UNIT as u32, k, matrices[1]]);
                    let to = (self.shared, right + unit as usize * UNIT * K);
                    // A narrow tile has one unit of fewer rows.
                    if N < UNIT {
                        load_unit::<T, N, K>(b, at, to, full, right_ranks);
                    } else {
                        load_unit::<T, UNIT, K>(b, at, to, full, right_ranks);
                    }
                }
            }
            *stage = stage.next(stages(N));
        }
    }

    /// Returns the products of all steps of a tile in the rows of the multiplying warpgroup number `consumer`.
    #[inline(always)]
    #[track_caller]
    pub fn multiply<S: Sums<N> + WgmmaInstruction<T, T, N>>(
        self,
        consumer: usize,
        stage: &mut Stage,
    ) -> Accumulator<S, N> {
        match (T::HAS_ACROSS && self.is_a_across, T::HAS_ACROSS && self.is_b_across) {
            (false, false) => self.multiply_arranged::<S, ContiguousK, ContiguousK>(consumer, stage),
            (false, true) => self.multiply_arranged::<S, ContiguousK, T::Across>(consumer, stage),
            (true, false) => self.multiply_arranged::<S, T::Across, ContiguousK>(consumer, stage),
            (true, true) => self.multiply_arranged::<S, T::Across, T::Across>(consumer, stage),
        }
    }

    /// Does the same as [`multiply`](Self::multiply) for a *B* whose elements are contiguous along *k*.
    #[inline(always)]
    #[track_caller]
    pub fn multiply_by_rows<S: Sums<N> + WgmmaInstruction<T, T, N>>(
        self,
        consumer: usize,
        stage: &mut Stage,
    ) -> Accumulator<S, N> {
        match T::HAS_ACROSS && self.is_a_across {
            false => self.multiply_arranged::<S, ContiguousK, ContiguousK>(consumer, stage),
            true => self.multiply_arranged::<S, T::Across, ContiguousK>(consumer, stage),
        }
    }

    #[inline(always)]
    #[track_caller]
    fn multiply_arranged<S: Sums<N> + WgmmaInstruction<T, T, N>, A: Arrangement, B: Arrangement>(
        self,
        consumer: usize,
        stage: &mut Stage,
    ) -> Accumulator<S, N> {
        let mut sums = Accumulator::<S, N>::zeroed();
        for _ in 0..self.steps {
            self.barriers.full(*stage).await_parity(stage.parity);
            // The shuffle shows the assembler that the number is the same in all lanes: it then computes the
            // descriptors once per warp.
            let index = warp::shuffle_idx(warp::FULL_MASK, stage.index, 0) as usize;
            // SAFETY: `make_stages` has checked the end of the stages, each of which begins at a multiple of 1024
            // bytes.
            let (left, right) = unsafe {
                let left = A::part::<T, ROWS, TILE_ROWS, K>(self.shared, index * Self::LEFT, consumer * ROWS);
                (left, B::part::<T, N, N, K>(self.shared, Self::FIRST_RIGHT + index * Self::RIGHT, 0))
            };
            sums = sums.begin().multiply_add(left, right).finish();
            // Each block that has loaded a part of the stage is told by one thread.
            let thread = thread::index_in_block() % wgmma::THREADS;
            if thread < BLOCKS as u32 {
                match BLOCKS {
                    1 => drop(self.barriers.empty(*stage).arrive()),
                    _ => self.barriers.empty(*stage).arrive_at(thread),
                }
            }
            *stage = stage.next(stages(N));
        }
        sums
    }
}

/// Returns the shared memory in which the multiplying warpgroup number `consumer` puts its sums.
#[inline(always)]
#[track_caller]
pub fn staging(consumer: usize) -> Shared<u32> {
    dynamic_shared::<u32>().part((STAGES_BYTES + consumer * STAGING_BYTES) / 4, STAGING_BYTES / 4)
}

/// Returns the number of the calling thread's warpgroup.
#[inline(always)]
pub fn warpgroup() -> u32 {
    // The shuffle shows the assembler that the number is the same in all lanes.
    warp::shuffle_idx(warp::FULL_MASK, thread::index_in_block() / wgmma::THREADS, 0)
}
