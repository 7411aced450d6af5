//! A board where an engine is.

use std::ops::Range;

use anyhow::Context;
use life::bands::Copied;
use life::{Bands, Board, CpuSimulation, LifeRung, Simulation, generations_per_launch};

use super::growth;
use super::place::{Engine, Team, cores};
use super::start::Source;
use program::ranks;

/// A board that is being advanced, of one size.
pub enum Cells {
    /// By the host's cores.
    Cpu(Box<CpuSimulation>),
    /// By a kernel.
    Kernel(Box<Simulation>),
    /// In bands.
    Bands(Box<Bands<'static>>, Team),
}

/// A copy of a board: of one in bands each rank has its own rows.
pub struct Snapshot {
    size: (usize, usize),
    cells: Copy,
}

enum Copy {
    /// On the first rank alone.
    Board(Option<Board>),
    Bands(Copied),
}

impl Snapshot {
    /// Columns and rows of the board.
    pub fn size(&self) -> (usize, usize) {
        self.size
    }

    /// The board, if this rank has all of it.
    pub fn board(&self) -> Option<&Board> {
        match &self.cells {
            Copy::Board(board) => board.as_ref(),
            Copy::Bands(_) => None,
        }
    }
}

impl Cells {
    /// Puts `board`, as it is `later` generations after the first one, where `engine` is.
    ///
    /// # Errors
    /// When there is no room for it, or the device fails.
    pub fn new(engine: &Engine, board: &Board, later: u64) -> anyhow::Result<Self> {
        Self::of_first(engine, Some(board), (board.width(), board.height()), later)
    }

    /// As [`new`](Self::new), with a board of this size, which the first rank has.
    fn of_first(engine: &Engine, board: Option<&Board>, size: (usize, usize), later: u64) -> anyhow::Result<Self> {
        let dead = || Board::with_states(size.0, size.1, engine.setting().rule.states());
        let read = |rows: Range<usize>| Ok(board.map_or_else(dead, |board| board.part(rows))?);
        let made;
        let whole = match (engine, board) {
            (Engine::Team(team), _) => return Self::in_bands(team, size, later, read),
            (_, Some(board)) => board,
            (_, None) => {
                made = dead()?;
                &made
            }
        };
        Ok(match engine {
            Engine::Kernel(device, kernel, setting) => {
                let from = setting.generation.wrapping_add(later);
                let life = Simulation::with_rule(device, *kernel, whole, &setting.rule, from)?;
                Self::Kernel(life.on(setting.kernel_topology())?.into())
            }
            _ => {
                let setting = engine.setting();
                let from = setting.generation.wrapping_add(later);
                Self::Cpu(CpuSimulation::with(whole, &setting.rule, setting.topology, from)?.into())
            }
        })
    }

    /// In bands, whose rows `read` gives on the first rank, in their order.
    fn in_bands(
        team: &Team,
        size: (usize, usize),
        later: u64,
        read: impl FnMut(Range<usize>) -> anyhow::Result<Board>,
    ) -> anyhow::Result<Self> {
        let mut bands = Bands::dead(ranks::communicator(), team.workers(), team.bands(size, later))?;
        bands.put(read)?;
        Ok(Self::Bands(bands.into(), team.clone()))
    }

    /// Begins with what `source` gives, where `engine` is.
    ///
    /// # Errors
    /// As [`new`](Self::new), and those of `source`.
    pub fn read(engine: &Engine, source: &Source) -> anyhow::Result<Self> {
        match (engine, source) {
            (Engine::Team(team), Source::Soup { size, density, seed }) => {
                let (workers, setting) = (team.workers(), team.bands(*size, 0));
                let bands = Bands::soup(ranks::communicator(), workers, setting, *density, *seed)?;
                Ok(Self::Bands(bands.into(), team.clone()))
            }
            (Engine::Kernel(device, kernel, setting), Source::Soup { size, density, seed }) => {
                let life = Simulation::soup(device, *kernel, *size, *density, *seed, &setting.rule)?;
                Ok(Self::Kernel(life.on(setting.kernel_topology())?.into()))
            }
            (_, Source::Soup { size, density, seed }) => {
                Self::new(engine, &Board::random(size.0, size.1, *density, *seed)?, 0)
            }
            (Engine::Team(team), Source::Pattern(placed)) => {
                Self::in_bands(team, source.size(), 0, |rows| placed.rows(rows))
            }
            (_, Source::Pattern(placed)) => Self::new(engine, &placed.board()?, 0),
            (_, Source::OfFirstRank { size }) => Self::of_first(engine, None, *size, 0),
            (Engine::Team(team), Source::Saved(saved)) => {
                let read = || {
                    let mut body = saved.body()?;
                    let cells = Self::in_bands(team, saved.size(), 0, |rows| body.rows(rows.len()))?;
                    body.finish()?;
                    anyhow::Ok(cells)
                };
                read().with_context(|| saved.failed())
            }
            (_, Source::Saved(saved)) => Self::new(engine, &saved.board()?, 0),
        }
    }

    /// Puts a copy, as it was `later` generations after the first board, where `engine` is.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn of_snapshot(engine: &Engine, snapshot: &Snapshot, later: u64) -> anyhow::Result<Self> {
        match (engine, &snapshot.cells) {
            (Engine::Team(team), Copy::Bands(copied)) => {
                let setting = team.bands(snapshot.size, later);
                let mut bands = Bands::dead(ranks::communicator(), team.workers(), setting)?;
                bands.put_copied(copied)?;
                Ok(Self::Bands(bands.into(), team.clone()))
            }
            _ => Self::of_first(engine, snapshot.board(), snapshot.size, later),
        }
    }

    /// A copy of the board, of this size; of one that `grows` the first rank has it.
    ///
    /// # Errors
    /// As [`gathered`](Self::gathered).
    pub fn snapshot(&self, size: (usize, usize), grows: bool) -> anyhow::Result<Snapshot> {
        let cells = match self {
            Self::Bands(bands, _) if !grows => Copy::Bands(bands.copied()?),
            _ => Copy::Board(self.gathered()?),
        };
        Ok(Snapshot { size, cells })
    }

    /// Whether the cells are those of a copy, if each rank can tell by its own rows.
    ///
    /// # Errors
    /// When a device or a rank fails.
    pub fn is(&self, snapshot: &Snapshot) -> anyhow::Result<Option<bool>> {
        match (self, &snapshot.cells) {
            (Self::Bands(bands, _), Copy::Bands(copied)) => Ok(Some(bands.is(copied)?)),
            _ => Ok(None),
        }
    }

    /// The same cells on a larger board, with so many columns and rows to the left and above, where `engine` is.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn grown(
        &self,
        engine: &Engine,
        (size, (left, top)): ((usize, usize), (usize, usize)),
        later: u64,
    ) -> anyhow::Result<Self> {
        let (Self::Bands(..), Engine::Team(team)) = (self, engine) else {
            let board = self.gathered()?;
            let corner = (left as i64, top as i64);
            let board = board.map(|board| growth::window(&board, size, corner)).transpose()?;
            return Self::of_first(engine, board.as_ref(), size, later);
        };
        let mut larger = Bands::dead(ranks::communicator(), team.workers(), team.bands(size, later))?;
        self.each_part(|rows, part| {
            let there = rows.start + top..rows.end + top;
            let corner = (left as i64, 0);
            let part = part.map(|part| growth::window(part, (size.0, rows.len()), corner)).transpose()?;
            Ok(larger.put_rows(there, part.as_ref())?)
        })?;
        Ok(Self::Bands(larger.into(), team.clone()))
    }

    /// Runs `generations` generations, to their end.
    ///
    /// # Errors
    /// When the device fails.
    pub fn advance(&mut self, generations: u64) -> anyhow::Result<()> {
        match self {
            Self::Cpu(life) => life.advance(generations),
            Self::Kernel(life) => {
                life.advance(generations)?;
                life.device().synchronize()?;
            }
            Self::Bands(life, _) => {
                life.advance(generations)?;
                life.wait()?;
            }
        }
        Ok(())
    }

    /// Live cells.
    ///
    /// # Errors
    /// When the device fails.
    pub fn population(&mut self) -> anyhow::Result<u64> {
        Ok(match self {
            Self::Cpu(life) => life.population(),
            Self::Kernel(life) => life.population()?,
            Self::Bands(life, _) => life.population()?,
        })
    }

    /// Runs one generation, and gives how many cells it has brought to life and how many have died in it.
    ///
    /// # Errors
    /// When the device fails.
    pub fn advance_counting(&mut self) -> anyhow::Result<(u64, u64)> {
        Ok(match self {
            Self::Cpu(life) => life.advance_counting(),
            Self::Kernel(life) => life.advance_counting()?,
            Self::Bands(life, _) => life.advance_counting()?,
        })
    }

    /// [`Board::hash`] of the board.
    ///
    /// # Errors
    /// When the device fails or the host has too little memory.
    pub fn hash(&mut self) -> anyhow::Result<u64> {
        Ok(match self {
            Self::Cpu(life) => life.board()?.hash(),
            Self::Kernel(life) => life.hash()?,
            Self::Bands(life, _) => life.hash()?,
        })
    }

    /// The board as it is now, for the first rank; for the others none.
    ///
    /// # Errors
    /// When the device fails or the host has too little memory.
    pub fn gathered(&self) -> anyhow::Result<Option<Board>> {
        Ok(match self {
            Self::Cpu(life) => Some(life.board()?),
            Self::Kernel(life) => Some(life.board()?),
            Self::Bands(life, _) => life.rows(0..life.size().1)?,
        })
    }

    /// Calls `take` on the first rank with the rows of the board, part by part.
    ///
    /// # Errors
    /// As [`gathered`](Self::gathered), and those of `take`.
    pub fn parts(&self, mut take: impl FnMut(Range<usize>, &Board) -> anyhow::Result<()>) -> anyhow::Result<()> {
        self.each_part(|rows, part| part.map_or(Ok(()), |part| take(rows, part)))
    }

    /// Calls `take` on each rank for the rows of the board, part by part, with the rows on the first.
    fn each_part(
        &self,
        mut take: impl FnMut(Range<usize>, Option<&Board>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let Self::Bands(life, _) = self else {
            let board = self.gathered()?;
            return take(0..board.as_ref().map_or(0, Board::height), board.as_ref());
        };
        for rows in life.parts(0..life.size().1) {
            take(rows.clone(), life.rows(rows)?.as_ref())?;
        }
        Ok(())
    }

    /// Generations run so far.
    pub fn generation(&self) -> u64 {
        match self {
            Self::Cpu(life) => life.generation(),
            Self::Kernel(life) => life.generation(),
            Self::Bands(life, _) => life.generation(),
        }
    }

    /// What the device is called.
    pub fn device(&self) -> String {
        match self {
            Self::Cpu(_) => cores(),
            Self::Kernel(life) => life.device().name().to_owned(),
            Self::Bands(_, team) => team.name(),
        }
    }

    /// How halos go from rank to rank, if there are several with devices.
    pub fn halos(&self) -> Option<String> {
        if let Self::Bands(life, _) = self { life.way().map(|way| way.to_string()) } else { None }
    }

    /// The kernel, or what the cores compute with.
    pub fn kernel(&self) -> String {
        match self {
            Self::Cpu(life) => life.instructions().to_string(),
            Self::Kernel(life) => life.rung().to_string(),
            Self::Bands(life, _) => life.by(),
        }
    }

    /// Generations that together take about as long as one: those that a launch has in its registers one after the other.
    pub fn generations_at_once(&self) -> u64 {
        let rung = match self {
            Self::Cpu(_) => None,
            Self::Kernel(life) => Some(life.rung()),
            Self::Bands(life, _) => life.rung(),
        };
        rung.filter(|rung| matches!(rung, LifeRung::Temporal | LifeRung::Streaming)).map_or(1, generations_per_launch)
    }
}
