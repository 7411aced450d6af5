//! Boards of interleaved bits on a device, and the launches that advance them. A word of such a board stores cells of
//! distant columns.

use std::ops::Range;

use cuda_std::GlobalMut;
use gpu::life::tuning::{DEEPEST, STREAMING_EDGES, STREAMING_WAITING, STREAMING_WARPS, STREAMING_WAVES};
use gpu::life::{
    self as kernels, CORNERS_SIDE, CORNERS_THREADS, Conway, Given, Interleaved, LifeRung, MAX_CELLS_ALONG,
    ROWS_TOGETHER, Surface, TILE_WORDS,
};
use launch::{Buffer, BufferPart, Device, Error, LaunchConfig, Queue};

use super::grids::{LARGEST_GRID, linear, max_blocks};
use crate::error::LifeError;
use crate::topology::Edges;
use crate::{Rule, Topology};

/// The number of extra rows that a warp computes per strip before the warp's pipeline of generations is full.
const FILLING: usize = DEEPEST + 1;

/// Returns the height of the highest strip if `rows` rows are divided into `strips` strips.
fn height_of_strips(rows: usize, strips: usize) -> usize {
    rows.div_ceil(ROWS_TOGETHER).div_ceil(strips) * ROWS_TOGETHER
}

/// Checks that an interleaved layout exists for a board of this size.
///
/// # Errors
/// [`LifeError::Algorithm`] if the board is too large.
pub(super) fn check(width: usize, height: usize) -> Result<(), LifeError> {
    if width.max(height) <= MAX_CELLS_ALONG { Ok(()) } else { Err(too_large(width, height)) }
}

fn too_large(width: usize, height: usize) -> LifeError {
    let offered =
        format!("at most {MAX_CELLS_ALONG} columns and rows; use global, block, bitpacked or temporal for more");
    LifeError::refused(LifeRung::Streaming, format!("a board of {width}x{height}"), &offered)
}

/// Returns the maximum number of bytes of an interleaved board of this size, over all layouts.
pub(super) fn bytes(width: usize, height: usize) -> u64 {
    let layouts = (0..=5).filter_map(|fold_bits| Interleaved::new(width, height, fold_bits));
    layouts.map(|layout| 4 * layout.words() as u64).max().unwrap_or(u64::MAX)
}

/// The layout of a board and its division into strips. Each warp advances one strip of a tile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct StreamingPlan {
    layout: Interleaved,
    /// The number of strips into which a tile is divided along y.
    strips: usize,
}

impl StreamingPlan {
    /// Returns the fastest plan for a device that runs `warps` warps at once. The cost of a plan has three parts:
    /// rounds in which all warps run, a last round in which some warps are idle, and the writing of margins if the
    /// layout needs it. The time of a round is proportional to the number of rows of a strip. Among plans of equal
    /// cost, the plan with the fewest tiles is chosen.
    fn new(width: usize, height: usize, warps: usize) -> Option<Self> {
        let layouts = (0..=5).filter_map(|fold_bits| Interleaved::new(width, height, fold_bits));
        let plans = layouts.flat_map(|layout| {
            let (tiles, rows) = (layout.tiles() as usize, layout.rows() as usize);
            let edges = if layout.has_whole_margins() { 0 } else { STREAMING_EDGES };
            (1..=STREAMING_WAVES).map(move |waves| {
                let strips = (warps * waves / tiles).clamp(1, LARGEST_GRID.1.min(rows.div_ceil(ROWS_TOGETHER)));
                let rounds = (tiles * strips).div_ceil(warps);
                let rows = height_of_strips(rows, strips) + FILLING;
                let cost = (STREAMING_WAITING * rounds + 1) * rows + STREAMING_WAITING * edges;
                (cost, Self { layout, strips })
            })
        });
        Some(plans.min_by_key(|&(cost, plan)| (cost, plan.layout.tiles()))?.1)
    }
}

/// Returns true if the fastest plan for a torus of this size on `device` needs no writing of margins.
pub(super) fn has_whole_margins(device: &Device, (width, height): (usize, usize)) -> bool {
    let warps = (device.multiprocessors() * STREAMING_WARPS) as usize;
    StreamingPlan::new(width, height, warps).is_some_and(|plan| plan.layout.has_whole_margins())
}

/// Returns the maximum number of rows that one launch may write. If one launch wrote more rows, two of the rows could
/// share a word.
fn rows_in_one_launch(layout: Interleaved) -> usize {
    if layout.folds() == 1 { usize::MAX } else { (layout.rows() as usize - 1).max(1) }
}

/// Two boards of interleaved bits: the present one and the next one.
pub(super) struct InterleavedCells {
    device: Device,
    max_blocks: u32,
    plan: StreamingPlan,
    /// The rule's tables: one for launches that begin in an even generation, one for launches that begin in an odd
    /// generation. `None` for Life, which needs no tables.
    tables: Option<[&'static [u8]; 2]>,
    /// The counts of live neighbours for birth (the low 16 bits) and for survival (the high 16 bits). The first element
    /// is for even generations, the second for odd generations.
    counts: [u32; 2],
    /// How the edges of the board are joined. `None` for a torus without a shift.
    joined: Option<JoinedEdges>,
    pub(super) now: Buffer<u32>,
    pub(super) next: Buffer<u32>,
}

/// The way in which the edges of a board are joined, unless it is a torus without a shift.
struct JoinedEdges {
    surface: Surface,
    /// True if a launch of several generations computes the corners wrong, so that another kernel must correct the
    /// corners.
    mends_corners: bool,
}

impl JoinedEdges {
    /// Converts `topology` for a board of this size, (columns, rows). Returns `None` for a torus without a shift.
    fn new(topology: Topology, (width, height): (u32, u32)) -> Option<Self> {
        let surface = surface_of(topology, (width, height))?;
        let is_square = topology != Topology::Sphere || width == height;
        let mends_corners = surface.has_corners() && is_square && width.min(height) >= CORNERS_SIDE;
        Some(Self { surface, mends_corners })
    }

    /// Returns true if the cells beyond at least one edge are dead.
    fn has_dead(&self) -> bool {
        self.surface.dead() != [false; 2]
    }

    /// Returns the number of generations that one launch may run: 1 or `generations`.
    fn max_generations(&self, generations: u64) -> u64 {
        let is_one =
            (self.has_dead() && generations < DEEPEST as u64) || (self.surface.has_corners() && !self.mends_corners);
        if is_one { 1 } else { generations }
    }
}

/// Converts a topology to the representation that kernels use, for a board of this size. Returns `None` for a torus
/// without a shift.
fn surface_of(topology: Topology, size: (u32, u32)) -> Option<Surface> {
    Some(match topology {
        Topology::TORUS => return None,
        Topology::Plane => Surface::plane(true, true),
        Topology::Tube(joined) => Surface::plane(joined == Edges::Horizontal, joined == Edges::Vertical),
        Topology::Torus { across, down } => Surface::torus(size, across, down),
        Topology::Klein { twisted, is_shifted } => Surface::klein(twisted == Edges::Horizontal, is_shifted),
        Topology::CrossSurface => Surface::CROSS_SURFACE,
        Topology::Sphere => Surface::SPHERE,
    })
}

impl InterleavedCells {
    /// Makes a torus of dead cells on `device`, for a rule that counts neighbours. `tables` contains the rule's tables,
    /// or is `None` for Life.
    ///
    /// # Errors
    /// Fails in the same cases as [`check`], and if the device has too little memory.
    pub(super) fn dead(
        device: &Device,
        (width, height): (usize, usize),
        rule: &Rule,
        tables: Option<[&'static [u8]; 2]>,
    ) -> Result<Self, LifeError> {
        let warps = (device.multiprocessors() * STREAMING_WARPS) as usize;
        let plan = StreamingPlan::new(width, height, warps).ok_or_else(|| too_large(width, height))?;
        let len = plan.layout.words();
        let counts = rule.phases().map(|phase| {
            let (birth, survival) = phase.totalistic().unwrap_or_default();
            u32::from(birth) | u32::from(survival) << 16
        });
        let (now, next) = (device.zeroed(len)?, device.zeroed(len)?);
        let (device, max_blocks) = (device.clone(), max_blocks(device));
        Ok(Self { device, max_blocks, plan, tables, counts, joined: None, now, next })
    }

    /// Joins the edges of the board as `topology` says. The board must have the size `width` × `height`.
    pub(super) fn join(&mut self, topology: Topology, (width, height): (usize, usize)) {
        // The sides of a board with an interleaved layout are below 2³².
        self.joined = JoinedEdges::new(topology, (width as u32, height as u32));
    }

    /// Calls `make` to write a packed board into a buffer. Then interleaves that board and makes it the present board.
    pub(super) fn made(&mut self, make: impl FnOnce(&mut Buffer<u32>) -> Result<(), Error>) -> Result<(), Error> {
        // The buffer of the next board can store the packed board, because an interleaved board has at least as many
        // words.
        make(&mut self.next)?;
        let config = linear(self.now.len(), self.max_blocks);
        let call = kernels::life_interleave(self.next.view(), self.now.view_mut(), self.plan.layout);
        self.device.launch(config, call)?;
        self.next.fill_zero()
    }

    /// Packs rows from row `first` on into `words`, until `words` is full.
    pub(super) fn gather(&self, first: usize, words: GlobalMut<'_, u32>) -> Result<(), Error> {
        let config = linear(words.len(), self.max_blocks);
        self.device.launch(config, kernels::life_deinterleave(self.now.view(), words, self.plan.layout, first))
    }

    /// Returns the number of words of a row and the number of folds (parts of the board that share the same words).
    /// Boards for which both numbers are equal can exchange rows without packing.
    pub(super) fn row_layout(&self) -> (usize, u32) {
        (self.plan.layout.words_in_row(), self.plan.layout.folds())
    }

    /// Copies rows from row `first` on into `words` without packing, until `words` is full.
    pub(super) fn take(&self, first: usize, words: GlobalMut<'_, u32>) -> Result<(), Error> {
        let config = linear(words.len(), self.max_blocks);
        self.device.launch(config, kernels::life_take_rows(self.now.view(), words, self.plan.layout, first))
    }

    /// Replaces the rows from row `first` on by the rows in `words`, which [`take`](Self::take) copied.
    pub(super) fn put(&mut self, mut first: usize, words: BufferPart<'_, u32>) -> Result<(), Error> {
        let layout = self.plan.layout;
        for words in words.chunks(rows_in_one_launch(layout).saturating_mul(layout.words_in_row())) {
            let len = words.len();
            let call = kernels::life_put_rows(words.view(), self.now.view_mut(), layout, first);
            self.device.launch(linear(len, self.max_blocks), call)?;
            first += len / layout.words_in_row();
        }
        Ok(())
    }

    /// Replaces the rows from row `first` on by the packed rows in `words`. Each packed row has `words_per_row` words.
    pub(super) fn scatter(
        &mut self,
        mut first: usize,
        words: BufferPart<'_, u32>,
        words_per_row: usize,
    ) -> Result<(), Error> {
        let layout = self.plan.layout;
        for words in words.chunks(rows_in_one_launch(layout).saturating_mul(words_per_row)) {
            let rows = words.len() / words_per_row;
            let config = linear(rows * (layout.tiles() * TILE_WORDS) as usize, self.max_blocks);
            let call = kernels::life_interleave_rows(words.view(), self.now.view_mut(), layout, first, rows);
            self.device.launch(config, call)?;
            first += rows;
        }
        Ok(())
    }

    /// Adds the number of live cells to `total`.
    pub(super) fn count(&self, total: &mut Buffer<u64>) -> Result<(), Error> {
        let call = kernels::life_population_interleaved(self.now.view(), total.view_mut(), self.plan.layout);
        self.device.launch(linear(self.now.len(), self.max_blocks), call)
    }

    /// Adds a hash of `rows` to `total`.
    pub(super) fn hash(&self, rows: Range<usize>, total: &mut Buffer<u64>) -> Result<(), Error> {
        let (cells, len) = (self.now.view(), rows.len());
        let call = kernels::life_hash_interleaved(cells, total.view_mut(), self.plan.layout, rows.start, len);
        self.device.launch(linear(self.now.len() / 4, self.max_blocks), call)
    }

    /// Adds the numbers of births and deaths of the last launch to `total`.
    pub(super) fn count_changes(&self, total: &mut Buffer<u64>) -> Result<(), Error> {
        let (before, now) = (self.next.view(), self.now.view());
        let call = kernels::life_changes_interleaved(before, now, total.view_mut(), self.plan.layout);
        self.device.launch(linear(self.now.len(), self.max_blocks), call)
    }

    /// Enqueues one launch of at most `generations` generations, beginning with generation `from`. Returns the number
    /// of generations that the launch runs. This number may be lower than `generations`, because kernels exist only for
    /// some numbers.
    pub(super) fn advance(&mut self, queue: Queue<'_>, from: u64, generations: u64) -> Result<u64, Error> {
        let StreamingPlan { layout, strips } = self.plan;
        const DEEP: u64 = DEEPEST as u64;
        let joined = self.joined.as_ref();
        let generations = joined.map_or(generations, |joined| joined.max_generations(generations));
        let needs_edges = joined.is_some() || generations < DEEP || !layout.has_whole_margins();
        if needs_edges {
            // Each thread copies one word. Each block copies words of one row of a tile.
            let blocks = layout.edge_words().div_ceil(TILE_WORDS as usize).min(self.max_blocks as usize);
            let config = LaunchConfig::new(blocks as u32, TILE_WORDS);
            let now = self.now.view_mut();
            match joined {
                None => queue.launch(config, kernels::life_edges(now, layout))?,
                Some(joined) => queue.launch(config, kernels::life_edges_of(now, layout, joined.surface))?,
            }
        }
        let plane = joined.filter(|joined| generations >= DEEP && joined.has_dead()).map(|joined| joined.surface);
        let config = LaunchConfig::new((layout.tiles(), strips as u32), 32);
        let config = match self.tables {
            None => config,
            Some(tables) => config.tables(tables[(from % 2) as usize]),
        };
        let (now, next) = (self.now.view(), self.next.view_mut());
        let (depth, call) = match (self.tables, generations) {
            (None, _) if !needs_edges => (DEEP, kernels::life_streaming_torus::<Conway>(now, next, layout)),
            (Some(_), _) if !needs_edges => (DEEP, kernels::life_streaming_torus::<Given>(now, next, layout)),
            (None, DEEP..) => match plane {
                Some(surface) => (DEEP, kernels::life_streaming_plane::<Conway>(now, next, layout, surface)),
                None => (DEEP, kernels::life_streaming::<DEEPEST, Conway>(now, next, layout)),
            },
            (None, 3..) => (3, kernels::life_streaming::<3, Conway>(now, next, layout)),
            (None, _) => (1, kernels::life_streaming::<1, Conway>(now, next, layout)),
            (Some(_), DEEP..) => match plane {
                Some(surface) => (DEEP, kernels::life_streaming_plane::<Given>(now, next, layout, surface)),
                None => (DEEP, kernels::life_streaming::<DEEPEST, Given>(now, next, layout)),
            },
            (Some(_), _) => (1, kernels::life_streaming::<1, Given>(now, next, layout)),
        };
        queue.launch(config, call)?;
        if let Some(JoinedEdges { surface, .. }) = joined.filter(|joined| joined.mends_corners && depth > 1) {
            let [even, odd] = self.counts;
            let rule = if from.is_multiple_of(2) { [even, odd] } else { [odd, even] };
            let (now, next) = (self.now.view(), self.next.view_mut());
            let call = kernels::life_corners(now, next, layout, *surface, depth as u32, rule);
            queue.launch(LaunchConfig::new(1, CORNERS_THREADS), call)?;
        }
        std::mem::swap(&mut self.now, &mut self.next);
        Ok(depth)
    }
}

#[cfg(test)]
mod tests {
    use gpu::life::CELLS_PER_WORD;

    use super::*;

    /// Checks that the strips of a plan cover all rows and do not exceed CUDA's maximum grid.
    #[test]
    fn a_plan_covers_the_board() {
        for (width, height) in
            [(1, 1), (7, 5), (4080, 33), (65_536, 65_536), (3, 1 << 30), (1 << 30, 1), (500, 100_000)]
        {
            for warps in [8, 1056] {
                let StreamingPlan { layout, strips } = StreamingPlan::new(width, height, warps).unwrap();
                let (rows, folds, tiles) = (layout.rows() as usize, layout.folds() as usize, layout.tiles() as usize);
                assert!((1..=rows.min(LARGEST_GRID.1)).contains(&strips));
                assert!(rows * folds >= height && (rows - 1) * folds < height);
                assert!(tiles * layout.inner() as usize >= width && (tiles - 1) * (layout.inner() as usize) < width);
            }
        }
    }

    #[test]
    fn no_board_takes_fewer_words_interleaved_than_packed() {
        for width in (1..5000).chain([65_536, 1_000_000]) {
            for height in [1, 2, 3, 31, 32, 33, 40, 1000] {
                for layout in (0..=5).filter_map(|fold_bits| Interleaved::new(width, height, fold_bits)) {
                    assert!(layout.words() >= width.div_ceil(32) * height, "{width}x{height}: {layout:?}");
                }
            }
        }
    }

    /// Checks the efficiency of plans for an H200, which has 132 multiprocessors. The efficiency is the fraction of a
    /// launch's time in which the warps compute cells of the board.
    #[test]
    fn large_boards_are_cut_into_whole_waves() {
        let efficiency = |side: usize| {
            let warps = 132 * STREAMING_WARPS as usize;
            let StreamingPlan { layout, strips } = StreamingPlan::new(side, side, warps).unwrap();
            let waves = (strips * layout.tiles() as usize).div_ceil(warps);
            let rows = (height_of_strips(layout.rows() as usize, strips) + FILLING) * waves;
            (side * side) as f64 / (warps * rows * CELLS_PER_WORD * TILE_WORDS as usize) as f64
        };
        for (side, least) in [(65_536, 0.94), (16_384, 0.82), (8_192, 0.61)] {
            assert!(efficiency(side) > least, "{side}: {}", efficiency(side));
        }
    }
}
