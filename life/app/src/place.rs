//! Where a board is advanced, as a user names it, and what is there.

use std::fmt;
use std::str::FromStr;

use anyhow::{Context, bail};
use launch::{Device, Group, GroupChoice, ParseGroupChoiceError, compile_beside};
use life::LifeError;
use life::bands::{self, Need};
use life::{
    CpuSimulation, LifeRung, Rule, Topology, Workers, check_on, check_rule, check_topology, default_rung,
    resident_kernels,
};
use workbench::MODULES;

use super::memory::{REMEDY, board_bytes, check_host};
use super::setting::Setting;
use program::error::UsageError;
use program::memory::check_memory;
use program::ranks;

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
        let by_cores = |why: String| {
            let Some(kernel) = kernel else { return Ok(cores(Some(why))) };
            let message = format!("--kernel {kernel}: {why}; the processor's own cores can, without --kernel");
            Err(UsageError(message).into())
        };
        if let Some(why) = setting.why_no_kernel() {
            return by_cores(why);
        }
        let open = || Group::open(&choice, MODULES);
        let is_conway = setting.rule == Rule::LIFE && setting.kernel_topology() == Topology::TORUS;
        let group =
            match choice.as_one().filter(|_| is_conway && kernel.is_none_or(|kernel| kernel == LifeRung::Resident)) {
                Some(choice) => compile_beside(choice, MODULES, |most| resident_kernels((width, height), most), open),
                None => open(),
            }?;
        let [device, others @ ..] = group.members() else { bail!("there is no device in {choice}") };
        if let (Some(why), None) = (device.why_no_gpu(), kernel) {
            return Ok(cores(Some(why.to_string())));
        }
        if others.is_empty() && ranks.size() == 1 {
            let kernel = kernel.unwrap_or_else(|| fastest_kernel(device, (width, height), &setting));
            check_on(kernel, device, (width, height), &setting.rule).map_err(UsageError::of)?;
            check_topology(kernel, setting.kernel_topology()).map_err(UsageError::of)?;
            let line = device.summary();
            return Ok((Self::Kernel(device.clone(), kernel, setting), line));
        }
        if let Some(why) = setting.why_no_bands() {
            return by_cores(why);
        }
        let mut line = group.summary();
        if ranks.size() > 1 {
            line += &format!(", rank 0 of {}", ranks.size());
        }
        let team = Team { group: Some(group), kernel, setting };
        team.rung((width, height)).map_err(UsageError::of)?;
        Ok((Self::Team(team), line))
    }

    /// Refuses a run on a board of `size`, if the host or a device has too little memory for it: the host keeps `boards` packed
    /// boards beside what the engine takes, and of a board in bands each rank its share of these.
    ///
    /// # Errors
    /// With what is needed and what there is.
    pub fn check_memory(&self, size: (usize, usize), boards: u64) -> anyhow::Result<()> {
        let on_host = board_bytes(size).saturating_mul(boards);
        match self {
            Self::Cpu(setting) => check_host(
                size,
                on_host.saturating_add(CpuSimulation::bytes(size.0, size.1, &setting.rule, setting.topology)),
            ),
            Self::Kernel(device, kernel, _) => {
                let on_device = life::device_bytes(*kernel, size);
                if device.is_simulated() {
                    return check_host(size, on_host.saturating_add(on_device));
                }
                check_host(size, on_host)?;
                check_memory(device, on_device, REMEDY)
            }
            Self::Team(team) => {
                let ranks = ranks::communicator();
                let mut of_rank = on_host / ranks.size() as u64;
                for need in team.needs(size)? {
                    match need.device.filter(|device| !device.is_simulated()) {
                        Some(device) => check_memory(&device, need.bytes, REMEDY).context(need.place)?,
                        None => of_rank = of_rank.saturating_add(need.bytes),
                    }
                }
                check_host(size, of_rank.saturating_mul(ranks.local_size() as u64))
            }
        }
    }

    /// The same with another rule: by the same kernel if that has the rule, else by the fastest that has it, or the cores.
    ///
    /// # Errors
    /// When several devices cannot work by the rule.
    pub fn with_rule(&self, rule: Rule, size: (usize, usize)) -> Result<Self, LifeError> {
        let setting = Setting { rule, ..*self.setting() };
        match self {
            Self::Kernel(device, kernel, _) if setting.why_no_kernel().is_none() => {
                let is_offered = check_rule(*kernel, &rule).is_ok();
                let kernel = if is_offered { *kernel } else { fastest_kernel(device, size, &setting) };
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

/// The fastest kernel for a board of this size.
fn fastest_kernel(device: &Device, size: (usize, usize), setting: &Setting) -> LifeRung {
    default_rung(device, size, &setting.rule, setting.kernel_topology(), u64::MAX)
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
    pub fn rung(&self, size: (usize, usize)) -> Result<Option<LifeRung>, LifeError> {
        bands::rung(ranks::communicator(), self.workers(), &self.bands(size, 0))
    }

    /// What this rank's bands of a board of this size take.
    ///
    /// # Errors
    /// As for [`rung`](Self::rung).
    pub fn needs(&self, size: (usize, usize)) -> Result<Vec<Need>, LifeError> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused_with_both_numbers() {
        for (place, kernel) in [(Place::Cpu, None), (Place::Device("sim".parse().unwrap()), Some(LifeRung::Global))] {
            let size = (1 << 26, 1 << 26);
            let (engine, _) = Engine::open(&place, kernel, size, Setting::default()).unwrap();
            let message = engine.check_memory(size, 1).unwrap_err().to_string();
            for part in ["67108864x67108864 needs", "PiB of memory", "are free", "--size"] {
                assert!(message.contains(part), "{part}: {message}");
            }
            engine.check_memory((100, 100), 3).unwrap();
        }
        let (engine, _) = Engine::open(&Place::Cpu, None, (8, 8), Setting::default()).unwrap();
        assert!(engine.check_memory((usize::MAX, 1), 1).is_err());
        assert!(engine.check_memory((1, usize::MAX), 1).is_err());
    }
}
