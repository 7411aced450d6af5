//! Where a board is advanced, as a user names it, and what is there.

use std::fmt;
use std::str::FromStr;

use anyhow::bail;
use gridstride::MODULES;
use gridstride::error::AlgorithmError;
use gridstride::life::bands::{self, Need};
use gridstride::life::{Bands, Board, CpuSimulation, LifeRung, Rule, Workers, check_rule, check_size, fastest};
use launch::{Device, Group, GroupChoice, ParseGroupChoiceError};

use super::engine::Life;
use super::setting::Setting;
use crate::error::UsageError;
use crate::ranks;

/// Where a board of Life is to be advanced, as a user names it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Place {
    /// The host's own cores.
    Cpu,
    /// A device or several, or with [`DeviceChoice::Auto`] the host's cores where there is no GPU, unless a kernel is asked for.
    Device(GroupChoice),
}

/// A name of no place.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}, or cpu for the processor's own vector instructions")]
pub struct ParsePlaceError(ParseGroupChoiceError);

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

/// Where a board is advanced, by which kernel, and by which rule.
#[derive(Clone)]
pub enum Engine {
    /// The host's cores.
    Cpu(Setting),
    /// A kernel on a device.
    Kernel(Device, LifeRung, Setting),
    /// Several devices or ranks, each with a band of the board.
    Team(Team),
}

impl Engine {
    /// Opens what `place` names for a board of `width` × `height` cells under `setting`. Gives a line that says what it is, too.
    ///
    /// # Errors
    /// [`UsageError`] when the kernel cannot work there, under that setting or on that board; otherwise when a GPU was asked for
    /// and cannot be used.
    pub fn open(
        place: &Place,
        kernel: Option<LifeRung>,
        (width, height): (usize, usize),
        setting: Setting,
    ) -> anyhow::Result<(Self, String)> {
        let ranks = ranks::communicator();
        let cores = |why: Option<String>| {
            let why = why.map_or(String::new(), |why| format!(" ({why})"));
            let (engine, of_ranks) = match ranks.size() {
                1 => (Self::Cpu(setting), String::new()),
                size => (Self::Team(Team { group: None, kernel: None, setting }), format!(", in {size} ranks")),
            };
            (engine, format!("device: the processor's own cores{of_ranks}{why}"))
        };
        let choice = match (place, kernel) {
            (Place::Device(choice), _) => ranks::devices(choice, ranks),
            (Place::Cpu, None) => return Ok(cores(None)),
            (Place::Cpu, Some(kernel)) => {
                let message =
                    format!("--kernel {kernel} is for a GPU or the simulator: with --device cpu there is none");
                return Err(UsageError(message).into());
            }
        };
        if let Some(why) = setting.why_no_kernel() {
            let Some(kernel) = kernel else { return Ok(cores(Some(why))) };
            let message = format!("--kernel {kernel}: {why}; the processor's own cores can, without --kernel");
            return Err(UsageError(message).into());
        }
        let group = Group::open(&choice, MODULES)?;
        let [device, others @ ..] = group.members() else { bail!("there is no device in {choice}") };
        if let (Some(why), None) = (device.why_no_gpu(), kernel) {
            return Ok(cores(Some(why.to_string())));
        }
        if others.is_empty() && ranks.size() == 1 {
            let kernel = kernel.unwrap_or_else(|| fastest(device, (width, height), &setting.rule, u64::MAX));
            check_rule(kernel, &setting.rule).map_err(UsageError::of)?;
            check_size(kernel, width, height, device).map_err(UsageError::of)?;
            let line = device.summary();
            return Ok((Self::Kernel(device.clone(), kernel, setting), line));
        }
        let mut line = group.summary();
        if ranks.size() > 1 {
            line += &format!(", rank 0 of {}", ranks.size());
        }
        let team = Team { group: Some(group), kernel, setting };
        team.rung((width, height)).map_err(UsageError::of)?;
        Ok((Self::Team(team), line))
    }

    /// Has the kernel loaded that a board of this size takes.
    ///
    /// # Errors
    /// When a device fails.
    pub fn warm_up(&self, size: (usize, usize)) -> anyhow::Result<()> {
        let small = Board::new(8, 8)?;
        let Self::Team(team) = self else { return Life::new(self, &small)?.advance(1) };
        // Each member has a row at least.
        let rows = 8 * team.group.as_ref().map_or(1, |group| group.members().len()) * ranks::communicator().size();
        let team = Team { kernel: team.rung(size)?, ..team.clone() };
        let mut bands = Bands::dead(ranks::communicator(), team.workers(), team.bands((8, rows), 0))?;
        bands.advance(1)?;
        Ok(bands.wait()?)
    }

    /// The same with another rule: by the same kernel if that has the rule, else by the fastest that has it, or the cores.
    ///
    /// # Errors
    /// When several devices cannot work by the rule.
    pub fn with_rule(&self, rule: Rule, size: (usize, usize)) -> Result<Self, AlgorithmError> {
        let setting = Setting { rule, ..*self.setting() };
        match self {
            Self::Kernel(device, kernel, _) if setting.why_no_kernel().is_none() => {
                let is_offered = check_rule(*kernel, &rule).is_ok();
                let kernel = if is_offered { *kernel } else { fastest(device, size, &rule, u64::MAX) };
                Ok(Self::Kernel(device.clone(), kernel, setting))
            }
            Self::Team(team) => {
                let team = Team { setting, kernel: None, ..team.clone() };
                team.rung(size)?;
                Ok(Self::Team(team))
            }
            _ => Ok(Self::Cpu(setting)),
        }
    }

    /// What the board is advanced by.
    pub fn setting(&self) -> &Setting {
        match self {
            Self::Cpu(setting) | Self::Kernel(.., setting) | Self::Team(Team { setting, .. }) => setting,
        }
    }
}

/// Several devices, or those or the cores of several ranks.
#[derive(Clone)]
pub struct Team {
    /// The devices of this rank; without, its cores.
    pub group: Option<Group>,
    /// The kernel, if one is asked for.
    pub kernel: Option<LifeRung>,
    /// The rule, and what is beyond the edges.
    pub setting: Setting,
}

impl Team {
    /// What advances this rank's bands.
    pub fn workers(&self) -> Workers<'_> {
        self.group.as_ref().map_or(Workers::Cores, |group| Workers::Kernels(group, self.kernel))
    }

    /// A board of this size, `later` generations after the first one, in bands.
    pub fn bands(&self, (width, height): (usize, usize), later: u64) -> bands::Setting {
        let Setting { rule, topology, generation, .. } = self.setting;
        bands::Setting { width, height, rule, topology, from: generation.wrapping_add(later) }
    }

    /// The kernel for a board of this size, if it is not the cores that advance it.
    ///
    /// # Errors
    /// When the one that is asked for cannot.
    pub fn rung(&self, size: (usize, usize)) -> Result<Option<LifeRung>, AlgorithmError> {
        bands::rung(ranks::communicator(), self.workers(), &self.bands(size, 0))
    }

    /// What this rank's bands of a board of this size take.
    ///
    /// # Errors
    /// As for [`rung`](Self::rung).
    pub fn needs(&self, size: (usize, usize)) -> Result<Vec<Need>, AlgorithmError> {
        bands::needs(ranks::communicator(), self.workers(), &self.bands(size, 0))
    }

    /// What it is called.
    pub fn name(&self) -> String {
        let of_rank = match self.group.as_ref().map(Group::members) {
            Some([device]) => device.name().to_owned(),
            Some(members) => {
                let name = members.first().map_or("", |device| device.name());
                format!("{} × {name}", members.len())
            }
            None => cores(),
        };
        match ranks::communicator().size() {
            1 => of_rank,
            size => format!("{size} ranks of {of_rank}"),
        }
    }
}

/// What the host's cores are called.
pub fn cores() -> String {
    match CpuSimulation::cores() {
        1 => "1 CPU core".into(),
        cores => format!("{cores} CPU cores"),
    }
}
