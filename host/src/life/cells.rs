//! A board where an engine is.

use gridstride::life::{Board, CpuSimulation, Simulation};

use super::engine::Engine;

/// A board that is being advanced, of one size.
pub enum Cells {
    /// By the host's cores.
    Cpu(Box<CpuSimulation>),
    /// By a kernel.
    Kernel(Box<Simulation>),
}

impl Cells {
    /// Puts `board`, as it is `later` generations after the first one, where `engine` is.
    ///
    /// # Errors
    /// When there is no room for it, or the device fails.
    pub fn new(engine: &Engine, board: &Board, later: u64) -> anyhow::Result<Self> {
        Ok(match engine {
            Engine::Cpu(setting) => {
                let from = setting.generation.wrapping_add(later);
                Self::Cpu(CpuSimulation::with(board, &setting.rule, setting.topology, from)?.into())
            }
            Engine::Kernel(device, kernel, setting) => {
                let from = setting.generation.wrapping_add(later);
                Self::Kernel(Simulation::with_rule(device, *kernel, board, &setting.rule, from)?.into())
            }
        })
    }

    /// A random board of `width` × `height` cells, made where `engine` is.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn soup(engine: &Engine, size: (usize, usize), density: f64, seed: u64) -> anyhow::Result<Self> {
        match engine {
            Engine::Cpu(_) => Self::new(engine, &Board::random(size.0, size.1, density, seed)?, 0),
            Engine::Kernel(device, kernel, setting) => {
                Ok(Self::Kernel(Simulation::soup(device, *kernel, size, density, seed, &setting.rule)?.into()))
            }
        }
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
        })
    }

    /// A hash of the board: two boards of one run that differ have the same one in 1 of 2⁶⁴ cases. Another engine may give
    /// another one.
    ///
    /// # Errors
    /// When the device fails or the host has too little memory.
    pub fn hash(&mut self) -> anyhow::Result<u64> {
        Ok(match self {
            Self::Cpu(life) => life.board()?.hash(),
            Self::Kernel(life) => life.hash()?,
        })
    }

    /// The board as it is now.
    ///
    /// # Errors
    /// When the device fails or the host has too little memory.
    pub fn board(&self) -> anyhow::Result<Board> {
        Ok(match self {
            Self::Cpu(life) => life.board()?,
            Self::Kernel(life) => life.board()?,
        })
    }

    /// Generations run so far.
    pub fn generation(&self) -> u64 {
        match self {
            Self::Cpu(life) => life.generation(),
            Self::Kernel(life) => life.generation(),
        }
    }

    /// What the device is called.
    pub fn device(&self) -> String {
        match self {
            Self::Cpu(_) => match CpuSimulation::cores() {
                1 => "1 CPU core".into(),
                cores => format!("{cores} CPU cores"),
            },
            Self::Kernel(life) => life.device().name().to_owned(),
        }
    }

    /// The kernel, or what the cores compute with.
    pub fn kernel(&self) -> String {
        match self {
            Self::Cpu(life) => life.instructions().to_string(),
            Self::Kernel(life) => life.rung().to_string(),
        }
    }
}
