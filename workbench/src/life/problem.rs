//! The implementation of [`Algorithm`] for Life, which measures generations of a random board.
//!
//! A run has several generations, so that a small board stays in the caches between two generations. The bytes of a
//! generation are counted as if a board with one bit per cell were read once and written once. A rung with several
//! generations per launch may move fewer bytes. A rung with one byte per cell moves more bytes.

use cuda_std::{Ladder, Rung};
use launch::{Device, Held, Queue, Resources};

use crate::algorithm::{
    Aim, Algorithm, Engine, Fact, Inputs, Measurement, Options, Other, PreparedRung, Problem, ProblemOption, Purpose,
    Shape, Size, Sizes, Target, Unit, rung_of,
};
use crate::deviation::Deviation;
use crate::error::WorkbenchError;
use crate::scaling::ScalingMeasurement;
use gridstride::numbers::NumberType;
use life::{Board, CpuSimulation, LifeRung, Rule, RuleError, Simulation, Topology, check_on, default_rung, reference};

/// The algorithm Life, which advances boards of Conway's Game of Life.
pub struct LifeAlgorithm;

/// The number of generations of a short run. The generations fill whole launches of every rung.
const FEW_GENERATIONS: u64 = 8;
/// The number of generations of a longer run, which can be timed more precisely. The generations also fill whole
/// launches.
const GENERATIONS: u64 = 480;

/// The largest number of cells at which a benchmark measures the rungs that run in one block.
const MAX_OF_ONE_BLOCK: usize = 1 << 26;
/// The largest number of cells at which a benchmark in the simulator measures these rungs.
const MAX_OF_ONE_BLOCK_SIMULATED: usize = 1 << 12;

/// The density of live cells in a random board.
const DENSITY: f64 = 0.25;

/// The size of a board that consists of whole tiles of the temporal rung.
const WHOLE_TILES: Shape = Shape::plane(960, 480);

impl Algorithm for LifeAlgorithm {
    fn rungs(&self) -> &'static [Rung] {
        LifeRung::RUNGS
    }

    fn about(&self) -> &'static str {
        "Measure generations of a random board and check them\n\n\
         The last board of a run is compared with the board of a simple reference, word by word."
    }

    fn options(&self) -> &'static [ProblemOption] {
        &[]
    }

    fn types(&self) -> Vec<NumberType> {
        Vec::new()
    }

    fn default_shape(&self, rung: Option<&Rung>, _purpose: Purpose) -> Shape {
        match rung.and_then(|rung| rung_of::<LifeRung>(rung).ok()) {
            // Two boards of this size fit in a block's shared memory.
            Some(LifeRung::Shared | LifeRung::Block) => Shape::plane(480, 240),
            // Rows of this length consist of whole vectors.
            Some(LifeRung::Bitpacked) => Shape::plane(1024, 480),
            _ => WHOLE_TILES,
        }
    }

    fn problem(&self, shape: Shape, options: &Options) -> Result<Box<dyn Problem>, WorkbenchError> {
        Ok(Box::new(LifeProblem { size: shape.size(), seed: options.seed }))
    }

    fn unit(&self) -> Unit {
        Unit::Cells
    }

    fn measurements(&self) -> Vec<Measurement> {
        const SIDE: usize = 65_536;
        const ONE: Aim = Aim::plane("Life, one generation per launch", SIDE, SIDE, &[Target::CellUpdates(1.6e13)]);
        const SEVERAL: Aim =
            Aim::plane("Life, several generations per launch", SIDE, SIDE, &[Target::CellUpdates(5.2e13)]);
        vec![Measurement::vectors("bit").sizes(Sizes::Boards).ladder().aims(&[ONE, Aim { nth: 1, ..SEVERAL }])]
    }

    fn scaling_measurements(&self) -> Vec<ScalingMeasurement> {
        super::scaling::measurements()
    }

    fn has_engine(&self) -> bool {
        true
    }

    fn others(&self) -> &'static [Other] {
        const CONVERSIONS: Other = Other {
            name: "conversions",
            idea: "Conversion of words to bytes and back, a random board, the population, its changes, and the hash.",
            families: &[
                "life_pack",
                "life_unpack",
                "life_population_cells",
                "life_population_words",
                "life_soup",
                "life_hash_words",
                "life_changes_words",
            ],
            shape: WHOLE_TILES,
            options: &[],
            run: convert,
        };
        const RULES: Other = Other {
            name: "rules",
            idea: "A generation by HighLife, by an isotropic rule, and by Brian's Brain.",
            families: &["life_counts", "life_table", "life_generations"],
            shape: WHOLE_TILES,
            options: &[],
            run: by_rules,
        };
        const INTERLEAVED: Other = Other {
            name: "interleaving",
            idea: "Conversion to interleaved words and back, copies of rows, edges, the population, its changes, the hash.",
            families: &[
                "life_interleave",
                "life_interleave_rows",
                "life_deinterleave",
                "life_edges",
                "life_take_rows",
                "life_put_rows",
                "life_population_interleaved",
                "life_changes_interleaved",
                "life_hash_interleaved",
            ],
            shape: WHOLE_TILES,
            options: &[],
            run: interleave,
        };
        const GRIDS: Other = Other {
            name: "bounded grids",
            idea: "The margins of grids other than a torus, a bounded plane, and the corners of a cross-surface.",
            families: &["life_edges_of", "life_streaming_plane", "life_corners"],
            shape: WHOLE_TILES,
            options: &[],
            run: on_grids,
        };
        const SOUPS: Other = Other {
            name: "soups",
            idea: "A census of small soups on the plane, one per warp.",
            families: &["life_soup_census"],
            shape: WHOLE_TILES,
            options: &[],
            run: |device, _, _| {
                super::cases::run_soups(device)?;
                Ok(())
            },
        };
        &[CONVERSIONS, INTERLEAVED, RULES, GRIDS, SOUPS]
    }
}

/// Creates a simulation with a random board on the device.
fn soup(device: &Device, rung: LifeRung, shape: Shape, options: &Options) -> Result<Simulation, WorkbenchError> {
    let Size { width, height } = shape.size();
    Ok(Simulation::soup(device, rung, (width, height), DENSITY, options.seed, &Rule::LIFE)?)
}

fn convert(device: &Device, shape: Shape, options: &Options) -> Result<(), WorkbenchError> {
    let board = LifeProblem { size: shape.size(), seed: options.seed }.board()?;
    let mut bytes = Simulation::new(device, LifeRung::Global, &board)?;
    bytes.population()?;
    bytes.board()?;
    let mut words = soup(device, LifeRung::Bitpacked, shape, options)?;
    words.population()?;
    words.hash()?;
    words.advance_counting()?;
    Ok(())
}

fn interleave(device: &Device, shape: Shape, options: &Options) -> Result<(), WorkbenchError> {
    let mut life = soup(device, LifeRung::Streaming, shape, options)?;
    life.advance_counting()?;
    life.population()?;
    life.fingerprint_of(0..life.height())?;
    let board = life.board()?;
    if let Some((words, _)) = life.row_layout() {
        let mut row = device.alloc(words)?;
        life.take(0..1, &mut row, 0, false)?;
        life.put(0..1, &mut row, 0, false)?;
    }
    Ok(life.restart(&board)?)
}

fn by_rules(device: &Device, shape: Shape, options: &Options) -> Result<(), WorkbenchError> {
    let board = LifeProblem { size: shape.size(), seed: options.seed }.board()?;
    for name in ["B36/S23", "B2-a/S12", "/2/3"] {
        let rule = name.parse().map_err(|error: RuleError| WorkbenchError::Options(error.to_string()))?;
        Simulation::with_rule(device, LifeRung::Bitpacked, &board, &rule, 0)?.advance(1)?;
    }
    Ok(())
}

fn on_grids(device: &Device, shape: Shape, options: &Options) -> Result<(), WorkbenchError> {
    for topology in [Topology::Plane, Topology::CrossSurface] {
        soup(device, LifeRung::Streaming, shape, options)?.on(topology)?.advance(FEW_GENERATIONS)?;
    }
    Ok(())
}

/// The problem of advancing a random board by several generations.
struct LifeProblem {
    size: Size,
    seed: u64,
}

impl LifeProblem {
    fn board(&self) -> Result<Board, WorkbenchError> {
        Ok(Board::random(self.size.width, self.size.height, DENSITY, self.seed)?)
    }

    fn cells(&self) -> u64 {
        (self.size.width as u64).saturating_mul(self.size.height as u64)
    }
}

impl Problem for LifeProblem {
    fn title(&self) -> String {
        format!("life, a board of {}", self.size)
    }

    fn facts(&self) -> Vec<(&'static str, Fact)> {
        let Size { width, height } = self.size;
        vec![("width", Fact::Count(width as u64)), ("height", Fact::Count(height as u64))]
    }

    fn detail(&self) -> Option<String> {
        Some(format!("{FEW_GENERATIONS} generations"))
    }

    fn elements(&self) -> u64 {
        self.cells().saturating_mul(FEW_GENERATIONS)
    }

    fn bytes(&self) -> u64 {
        self.cells() / 4
    }

    fn memory_bytes(&self, _device: &Device, _rungs: &[&Rung]) -> u64 {
        // Memory for two boards of one byte per cell, and for the words from which they are converted.
        self.cells().saturating_mul(2).saturating_add(self.cells() / 8)
    }

    fn check(&self, device: &Device, rung: &Rung) -> Result<(), WorkbenchError> {
        Ok(check_on(rung_of(rung)?, device, (self.size.width, self.size.height), &Rule::LIFE)?)
    }

    /// Returns the default rung for a single generation, and the default rung for many generations.
    fn default_rungs(&self, device: &Device) -> Vec<&'static Rung> {
        let size = (self.size.width, self.size.height);
        let rung = |generations| default_rung(device, size, &Rule::LIFE, Topology::TORUS, generations).rung();
        [1, u64::MAX].map(rung).to_vec()
    }

    fn is_worth_measuring(&self, device: &Device, rung: &Rung) -> bool {
        let max = if device.is_simulated() { MAX_OF_ONE_BLOCK_SIMULATED } else { MAX_OF_ONE_BLOCK };
        let is_one_block = rung_of(rung).is_ok_and(|rung| matches!(rung, LifeRung::Block | LifeRung::Shared));
        self.check(device, rung).is_ok() && (!is_one_block || self.cells() <= max as u64)
    }

    fn engine(&self) -> Result<Box<dyn Engine>, WorkbenchError> {
        Ok(Box::new(CpuEngine(CpuSimulation::new(&self.board()?)?)))
    }

    fn inputs(&self, device: &Device) -> Result<Box<dyn Inputs + '_>, WorkbenchError> {
        Ok(Box::new(LifeInputs { device: device.clone(), board: self.board()?, expected: None }))
    }
}

/// The CPU engine, which runs on the processor's cores.
struct CpuEngine(CpuSimulation);

impl Engine for CpuEngine {
    fn setting(&self) -> String {
        format!("{}, {} threads", self.0.instructions(), CpuSimulation::cores())
    }

    fn run(&mut self, steps: u64) {
        self.0.advance(steps);
    }
}

struct LifeInputs {
    device: Device,
    board: Board,
    /// The board of the reference after a run, computed when it is first needed.
    expected: Option<Board>,
}

impl Inputs for LifeInputs {
    fn prepare<'a>(&'a mut self, rung: &Rung) -> Result<Box<dyn PreparedRung + 'a>, WorkbenchError> {
        let simulation = Simulation::new(&self.device, rung_of(rung)?, &self.board)?;
        Ok(Box::new(PreparedLife { simulation, generations: FEW_GENERATIONS, on: self }))
    }
}

struct PreparedLife<'a> {
    simulation: Simulation,
    generations: u64,
    on: &'a mut LifeInputs,
}

impl Resources for PreparedLife<'_> {
    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        self.simulation.hold(held);
    }
}

impl PreparedRung for PreparedLife<'_> {
    fn run(&mut self, queue: Queue<'_>) -> Result<(), WorkbenchError> {
        Ok(self.simulation.advance_in(queue, self.generations)?)
    }

    fn refresh(&mut self) -> Result<(), WorkbenchError> {
        Ok(self.simulation.restart(&self.on.board)?)
    }

    fn compare(&mut self) -> Result<Deviation, WorkbenchError> {
        let (board, generations) = (&self.on.board, self.generations);
        let expected = self.on.expected.get_or_insert_with(|| reference::advance(board, generations));
        let found = self.simulation.board()?;
        Ok(Deviation::of_exact(found.words(), |index| expected.words()[index]))
    }

    fn workspace_bytes(&self) -> u64 {
        0
    }

    fn steps(&self) -> u64 {
        self.generations
    }

    fn lengthen(&mut self) {
        self.generations = GENERATIONS;
        self.on.expected = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use launch::DeviceChoice;

    #[test]
    fn the_best_rungs_are_those_that_run_where_none_is_named() {
        let device = Device::open(DeviceChoice::Sim, &[]).unwrap();
        let problem = LifeProblem { size: Size { width: 8, height: 8 }, seed: 0 };
        let is_default = |rung: &&LifeRung| problem.is_default_rung(&device, rung.rung());
        let best: Vec<_> = LifeRung::ALL.iter().filter(is_default).copied().collect();
        assert_eq!(best, [LifeRung::Bitpacked], "in the simulator for any number of generations");
    }
}
