//! The back end that advances a run's board: the CPU, a kernel on one device, or a team of devices or ranks.

use anyhow::{Context, bail};
use launch::{Device, Group, compile_beside};

use life::{
    CpuSimulation, LifeError, LifeRung, Rule, Topology, check_on, check_rule, check_topology, default_rung,
    resident_kernels,
};
use workbench::MODULES;

use memory::{REMEDY, board_bytes, check_host};
use program::error::UsageError;
use program::memory::check_memory;

use crate::ranks::Ranks;
use crate::universe::Universe;

mod device_spec;
pub mod memory;
mod team;

pub use device_spec::DeviceSpec;
pub use team::{Team, cores};

/// The cores or devices that advance a board, and the universe of the board (its rule, topology and directions of
/// growth).
#[derive(Clone)]
pub enum Backend {
    /// The host's cores.
    Cpu(Universe),
    /// A kernel on a device.
    Kernel(Device, LifeRung, Universe),
    /// Several devices or ranks. Each of them advances a band of the board.
    Team(Team),
}

impl Backend {
    /// Opens the back end that `spec` selects, for a board of `width` × `height` cells in `universe`. Also returns a
    /// line of text that describes the back end.
    ///
    /// # Errors
    /// [`UsageError`] if `kernel` does not support the device, the universe or the board. Another error if a requested
    /// GPU cannot be used.
    pub fn open(
        ranks: Ranks,
        spec: &DeviceSpec,
        kernel: Option<LifeRung>,
        (width, height): (usize, usize),
        universe: Universe,
    ) -> anyhow::Result<(Self, String)> {
        let cores = |why: Option<String>| {
            let why = why.map_or(String::new(), |why| format!(" ({why})"));
            let (backend, of_ranks) = match ranks.size() {
                1 => (Self::Cpu(universe), String::new()),
                size => (Self::Team(Team { ranks, group: None, kernel: None, universe }), format!(", in {size} ranks")),
            };
            (backend, format!("device: the processor's own cores{of_ranks}{why}"))
        };
        let choice = match (spec, kernel) {
            (DeviceSpec::Device(choice), _) => program::ranks::devices(choice, ranks.communicator()),
            (DeviceSpec::Cpu, None) => return Ok(cores(None)),
            (DeviceSpec::Cpu, Some(kernel)) => {
                reject!(
                    "--rung {kernel} needs a GPU or the simulator, but --device cpu was given: use --device auto or sim"
                );
            }
        };
        let by_cores = |why: String| {
            let Some(kernel) = kernel else { return Ok(cores(Some(why))) };
            reject!("--rung {kernel}: {why}: leave out --rung to use the processor's cores")
        };
        if let Some(why) = universe.why_no_kernel() {
            return by_cores(why);
        }
        let open = || Group::open(&choice, MODULES);
        let is_conway = universe.rule == Rule::LIFE && universe.kernel_topology() == Topology::TORUS;
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
            let kernel = kernel.unwrap_or_else(|| fastest_kernel(device, (width, height), &universe));
            check_on(kernel, device, (width, height), &universe.rule).map_err(UsageError::of)?;
            check_topology(kernel, universe.kernel_topology()).map_err(UsageError::of)?;
            let line = device.summary();
            return Ok((Self::Kernel(device.clone(), kernel, universe), line));
        }
        if let Some(why) = universe.why_no_bands() {
            return by_cores(why);
        }
        let mut line = group.summary();
        if ranks.size() > 1 {
            line += &format!(", rank 0 of {}", ranks.size());
        }
        let team = Team { ranks, group: Some(group), kernel, universe };
        team.rung((width, height)).map_err(UsageError::of)?;
        Ok((Self::Team(team), line))
    }

    /// Checks that there is enough memory on the devices for a board of `size`, and on the host for `boards` packed
    /// boards. If the board is in bands, each rank stores only its own rows of the packed boards.
    ///
    /// # Errors
    /// If the host or a device has too little memory. The message contains the required and the free bytes.
    pub fn check_memory(&self, size: (usize, usize), boards: u64) -> anyhow::Result<()> {
        let on_host = board_bytes(size).saturating_mul(boards);
        match self {
            // The plane needs memory for its cells, and not for a board.
            Self::Cpu(universe) if universe.is_unbounded() => Ok(()),
            Self::Cpu(universe) => check_host(
                size,
                on_host.saturating_add(CpuSimulation::bytes(size.0, size.1, &universe.rule, universe.topology)),
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
                let ranks = team.ranks.communicator();
                let mut of_rank = on_host / ranks.size() as u64;
                for need in life::bands::memory(ranks, team.workers(), &team.bands(size, 0))? {
                    match need.device.filter(|device| !device.is_simulated()) {
                        Some(device) => check_memory(&device, need.bytes, REMEDY).context(need.place)?,
                        None => of_rank = of_rank.saturating_add(need.bytes),
                    }
                }
                check_host(size, of_rank.saturating_mul(ranks.local_size() as u64))
            }
        }
    }

    /// Returns the back end for another rule. The kernel stays the same if it supports the rule. Otherwise the default
    /// kernel or the CPU replaces it.
    ///
    /// # Errors
    /// If the back end consists of several devices that do not support the rule.
    pub fn with_rule(&self, rule: Rule, size: (usize, usize)) -> Result<Self, LifeError> {
        let universe = Universe { rule, ..*self.universe() };
        match self {
            Self::Kernel(device, kernel, _) if universe.why_no_kernel().is_none() => {
                let is_offered = check_rule(*kernel, &rule).is_ok();
                let kernel = if is_offered { *kernel } else { fastest_kernel(device, size, &universe) };
                Ok(Self::Kernel(device.clone(), kernel, universe))
            }
            Self::Team(team) => {
                let team = Team { universe, kernel: None, ..team.clone() };
                team.rung(size)?;
                Ok(Self::Team(team))
            }
            _ => Ok(Self::Cpu(universe)),
        }
    }

    /// Returns the ranks that share the board.
    pub fn ranks(&self) -> Ranks {
        match self {
            Self::Team(team) => team.ranks,
            Self::Cpu(_) | Self::Kernel(..) => Ranks::alone(),
        }
    }

    /// Returns the universe of the run.
    pub fn universe(&self) -> &Universe {
        match self {
            Self::Cpu(universe) | Self::Kernel(.., universe) | Self::Team(Team { universe, .. }) => universe,
        }
    }
}

/// Returns the default rung for a board of this size.
fn fastest_kernel(device: &Device, size: (usize, usize), universe: &Universe) -> LifeRung {
    default_rung(device, size, &universe.rule, universe.kernel_topology(), u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused_with_both_numbers() {
        for (spec, kernel) in
            [(DeviceSpec::Cpu, None), (DeviceSpec::Device("sim".parse().unwrap()), Some(LifeRung::Global))]
        {
            let size = (1 << 26, 1 << 26);
            let (backend, _) = Backend::open(Ranks::alone(), &spec, kernel, size, Universe::default()).unwrap();
            let message = backend.check_memory(size, 1).unwrap_err().to_string();
            for part in ["67108864x67108864 needs", "PiB of memory", "are free", "--size"] {
                assert!(message.contains(part), "{part}: {message}");
            }
            backend.check_memory((100, 100), 3).unwrap();
        }
        let (backend, _) = Backend::open(Ranks::alone(), &DeviceSpec::Cpu, None, (8, 8), Universe::default()).unwrap();
        assert!(backend.check_memory((usize::MAX, 1), 1).is_err());
        assert!(backend.check_memory((1, usize::MAX), 1).is_err());
    }
}
