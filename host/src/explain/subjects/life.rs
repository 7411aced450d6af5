//! The rungs of Life, and the kernels around them.

use launch::Device;

use super::{Problem, Subject, Wanted};
use crate::error::UsageError;
use crate::life::{Board, LifeKernel, Simulation};
use crate::options::Size;

const ALGORITHM: &str = "life";

/// Generations that are run: as many as one launch of the temporal rung.
const GENERATIONS: u64 = gpu::life::GENERATIONS_PER_LAUNCH as u64;

/// The share of live cells.
const DENSITY: f64 = 0.25;

/// Whole tiles of the temporal rung.
const DEFAULT: Size = Size { width: 960, height: 480 };

/// Whole vectors of the bit-packed rung.
const DEFAULT_VECTORS: Size = Size { width: 1024, height: 480 };

/// What fits a block's shared memory twice.
const DEFAULT_SHARED: Size = Size { width: 480, height: 240 };

pub(super) fn subjects() -> Vec<Subject> {
    let rung = |kernel: LifeKernel| {
        let (families, idea): (&[&str], _) = match kernel {
            LifeKernel::Global => (&["life_global"], "A thread a cell, in global memory, a generation a launch."),
            LifeKernel::Block => (&["life_block"], "One block, all generations in one launch, in global memory."),
            LifeKernel::Shared => (&["life_shared"], "The same in shared memory, where the board fits it twice."),
            LifeKernel::Bitpacked => (
                &["life_bitpacked_vectors", "life_bitpacked"],
                "32 cells a word, added as bits; vectors of four words.",
            ),
            LifeKernel::Temporal => (&["life_temporal"], "Several generations a launch, on tiles with a margin."),
        };
        Subject {
            algorithm: ALGORITHM,
            rung: kernel.name(),
            idea,
            families,
            is_rung: true,
            run: Box::new(move |device, wanted| run(kernel, device, wanted)),
        }
    };
    let mut subjects: Vec<Subject> = LifeKernel::ALL.into_iter().map(rung).collect();
    subjects.push(Subject {
        algorithm: ALGORITHM,
        rung: "conversions",
        idea: "From words to bytes and back, and the population.",
        families: &["life_pack", "life_unpack", "life_population_cells", "life_population_words"],
        is_rung: false,
        run: Box::new(convert),
    });
    subjects
}

fn run(kernel: LifeKernel, device: &Device, wanted: &Wanted) -> anyhow::Result<Problem> {
    let default = match kernel {
        LifeKernel::Shared | LifeKernel::Block => DEFAULT_SHARED,
        LifeKernel::Bitpacked => DEFAULT_VECTORS,
        LifeKernel::Global | LifeKernel::Temporal => DEFAULT,
    };
    let (problem, board) = start(wanted, default)?;
    kernel.check_size(board.width(), board.height(), device).map_err(UsageError::of)?;
    Simulation::new(device, kernel, &board)?.advance(GENERATIONS)?;
    let elements = problem.elements.saturating_mul(GENERATIONS);
    Ok(Problem { elements, ..problem }.with_detail(format!("{GENERATIONS} generations")))
}

fn convert(device: &Device, wanted: &Wanted) -> anyhow::Result<Problem> {
    let (problem, board) = start(wanted, DEFAULT)?;
    let mut bytes = Simulation::new(device, LifeKernel::Global, &board)?;
    bytes.population()?;
    bytes.board()?;
    Simulation::new(device, LifeKernel::Bitpacked, &board)?.population()?;
    Ok(problem)
}

fn start(wanted: &Wanted, default: Size) -> anyhow::Result<(Problem, Board)> {
    wanted.no_operator(ALGORITHM)?;
    let size = wanted.size(ALGORITHM, "board", default)?;
    if wanted.element.is_some() {
        return Err(UsageError("a board of life has no element type: leave --type out".into()).into());
    }
    let board = Board::random(size.width, size.height, DENSITY, 0)?;
    Ok((Problem { element: None, ..Problem::matrix(size, "") }, board))
}
