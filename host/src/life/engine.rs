//! What advances a board: a kernel on a device, or the host's own cores.

use std::fmt;
use std::str::FromStr;

use gridstride::MODULES;
use gridstride::life::{Board, CpuSimulation, LifeRung, Simulation, check_size, fastest};
use launch::{Device, DeviceChoice, ParseChoiceError};

use crate::error::UsageError;

/// Where a board of Life is to be advanced, as a user names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// The host's own cores.
    Cpu,
    /// A device, or with [`DeviceChoice::Auto`] the host's cores where there is no GPU, unless a kernel is asked for.
    Device(DeviceChoice),
}

/// A name of no place.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}, or cpu for the processor's own vector instructions")]
pub struct ParsePlaceError(ParseChoiceError);

impl FromStr for Place {
    type Err = ParsePlaceError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "cpu" => Ok(Self::Cpu),
            _ => text.parse().map(Self::Device).map_err(ParsePlaceError),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => f.write_str("cpu"),
            Self::Device(choice) => choice.fmt(f),
        }
    }
}

/// Where a board is advanced, and by which kernel.
pub enum Engine {
    /// The host's cores.
    Cpu,
    /// A kernel on a device.
    Kernel(Device, LifeRung),
}

impl Engine {
    /// Opens what `place` names for a board of `width` × `height` cells. Gives a line that says what it is, too.
    ///
    /// # Errors
    /// [`UsageError`] when the kernel cannot work there or on that board; otherwise when a GPU was asked for and cannot be
    /// used.
    pub fn open(
        place: Place,
        kernel: Option<LifeRung>,
        (width, height): (usize, usize),
    ) -> anyhow::Result<(Self, String)> {
        let choice = match (place, kernel) {
            (Place::Device(choice), _) => choice,
            (Place::Cpu, None) => return Ok((Self::Cpu, "device: the processor's own cores".into())),
            (Place::Cpu, Some(kernel)) => {
                let message =
                    format!("--kernel {kernel} is for a GPU or the simulator: with --device cpu there is none");
                return Err(UsageError(message).into());
            }
        };
        let device = Device::open(choice, MODULES)?;
        if let (Some(why), None) = (device.why_no_gpu(), kernel) {
            return Ok((Self::Cpu, format!("device: the processor's own cores ({why})")));
        }
        let kernel = kernel.unwrap_or_else(|| fastest(&device, width, height, u64::MAX));
        check_size(kernel, width, height, &device).map_err(UsageError::of)?;
        let line = device.summary();
        Ok((Self::Kernel(device, kernel), line))
    }
}

/// A board that is being advanced.
pub enum Life {
    /// By the host's cores.
    Cpu(CpuSimulation),
    /// By a kernel.
    Kernel(Simulation),
}

impl Life {
    /// Puts `board` where `engine` is.
    ///
    /// # Errors
    /// When there is no room for it, or the device fails.
    pub fn new(engine: &Engine, board: &Board) -> anyhow::Result<Self> {
        Ok(match engine {
            Engine::Cpu => Self::Cpu(CpuSimulation::new(board)?),
            Engine::Kernel(device, kernel) => Self::Kernel(Simulation::new(device, *kernel, board)?),
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_as_they_are_written() {
        for place in [Place::Cpu, Place::Device(DeviceChoice::Auto), Place::Device(DeviceChoice::Gpu(Some(1)))] {
            assert_eq!(place.to_string().parse(), Ok(place));
        }
        let message = "avx".parse::<Place>().unwrap_err().to_string();
        assert!(message.contains("\"avx\"") && message.contains("gpu:N") && message.contains("cpu"), "{message}");
    }

    #[test]
    fn a_kernel_is_not_for_the_cpu() {
        let error = Engine::open(Place::Cpu, Some(LifeRung::Temporal), (8, 8)).err().unwrap();
        assert!(error.is::<UsageError>() && error.to_string().contains("--kernel temporal"), "{error}");
        let (engine, line) = Engine::open(Place::Device(DeviceChoice::Sim), None, (8, 8)).unwrap();
        assert!(matches!(engine, Engine::Kernel(..)) && line.contains("simulator"), "{line}");
    }

    #[test]
    fn both_engines_agree() {
        let board = Board::random(300, 200, 0.4, 1).unwrap();
        let after = |place| {
            let (engine, _) = Engine::open(place, None, (300, 200)).unwrap();
            let mut life = Life::new(&engine, &board).unwrap();
            life.advance(50).unwrap();
            (life.generation(), life.population().unwrap(), life.board().unwrap().words().to_vec())
        };
        assert_eq!(after(Place::Cpu), after(Place::Device(DeviceChoice::Sim)));
    }
}
