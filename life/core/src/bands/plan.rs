//! The plan of a board's bands: their boards and the memory that these need.

use launch::Device;

use super::direct::Peers;
use super::division::{Beyond, Division, halo as halo_of, late as late_of};
use super::late_halo::LateHalo;
use super::messages::all;
use super::rows::{are_all_direct, rows_beyond};
use super::{HaloWay, Overrides, Setting, Workers};
use crate::error::LifeError;
use crate::{Board, CpuSimulation, LifeRung, Topology, check_on, default_rung, device_bytes};
use multi::ranks::Communicator;

/// The board of a band.
pub(super) struct Shape {
    pub(super) above: usize,
    pub(super) beside: usize,
    pub(super) size: (usize, usize),
    /// How the edges of the band's board are joined.
    pub(super) topology: Topology,
}

/// The plan of a board's bands.
pub(super) struct Plan {
    pub(super) division: Division,
    pub(super) halo: usize,
    /// The halo rows that may arrive late.
    pub(super) late: usize,
    pub(super) beyond: Beyond,
    pub(super) rung: Option<LifeRung>,
    pub(super) way: Option<HaloWay>,
}

impl Plan {
    pub(super) fn new(
        ranks: &dyn Communicator,
        workers: Workers<'_>,
        setting: &Setting,
        overrides: Overrides,
        peers: &Peers,
    ) -> Result<Self, LifeError> {
        let (members, is_kernel) = match workers {
            Workers::Cores => (1, 0),
            Workers::Kernels(group, _) => (group.members().len() as u64, 1),
        };
        let of_ranks = all(ranks, &[members, is_kernel])?;
        if of_ranks.iter().any(|of_rank| of_rank[1] != is_kernel) {
            return Err(LifeError::MixedRanks);
        }
        let members: Vec<usize> = of_ranks.iter().map(|of_rank| of_rank[0] as usize).collect();
        let division = Division::new(setting.height, &members);
        let rows = division.max_rows();
        let (beyond, asked) = match workers {
            Workers::Cores => (Beyond::on_cores(setting.topology), None),
            Workers::Kernels(group, asked) => {
                let device = &group.members()[0];
                (
                    Beyond::BY_KERNELS,
                    Some(asked.unwrap_or_else(|| {
                        default_rung(device, (setting.width, rows), &setting.rule, Topology::TORUS, u64::MAX)
                    })),
                )
            }
        };
        let best =
            overrides.halo.unwrap_or_else(|| halo_of(setting, rows, asked, is_far(ranks, is_kernel == 1), beyond));
        // The ranks may have different devices. All of them use the largest halo.
        let best = all(ranks, &[best as u64])?.iter().flatten().max().map_or(best, |&best| best as usize);
        let has_way = is_kernel == 1 && ranks.size() > 1 && division.bands() > 1;
        let way = has_way.then(|| match are_all_direct(&division, best, peers) {
            true => HaloWay::Direct,
            false => HaloWay::Messages,
        });
        let late = match way {
            Some(HaloWay::Messages) => {
                overrides.late.unwrap_or_else(|| late_of(setting, division.height() / division.bands(), best))
            }
            _ => 0,
        };
        // The halo of a test includes the late rows.
        let halo = if overrides.halo.is_some() { best } else { best + late };
        let rung = match workers {
            Workers::Kernels(group, asked) => {
                let size = (setting.width, if division.bands() == 1 { rows } else { rows + 2 * halo });
                let rung = asked.unwrap_or_else(|| {
                    default_rung(&group.members()[0], size, &setting.rule, Topology::TORUS, u64::MAX)
                });
                group.members().iter().try_for_each(|device| check_on(rung, device, size, &setting.rule))?;
                Some(rung)
            }
            Workers::Cores => None,
        };
        Ok(Self { division, halo, late, beyond, rung, way })
    }

    /// Returns the board of a band.
    pub(super) fn shape(&self, setting: &Setting, band: usize) -> Shape {
        let halo = self.halo;
        let (above, below, beside, topology) = match self.beyond {
            _ if self.division.bands() == 1 => (0, 0, 0, setting.topology),
            Beyond::Rows { goes_around, topology } => {
                let (above, below) = rows_beyond(&self.division, band, halo, goes_around);
                (above, below, 0, topology)
            }
            Beyond::Cells => (halo, halo, halo, Topology::Plane),
        };
        let size = (setting.width + 2 * beside, self.division.rows(band).len() + above + below);
        Shape { above, beside, size, topology }
    }
}

/// Returns true if the ranks are on several hosts, or on several processes without devices.
fn is_far(ranks: &dyn Communicator, are_kernels: bool) -> bool {
    ranks.size() > if are_kernels { ranks.local_size() } else { 1 }
}

/// The memory that a band needs.
#[derive(Clone, Debug)]
pub struct Need {
    /// The name of the device or of the cores.
    pub place: String,
    /// The device, or `None` for the host's cores.
    pub device: Option<Device>,
    /// Bytes of the device's memory or of the host's.
    pub bytes: u64,
}

/// Returns the memory that each band of this rank needs.
///
/// # Errors
/// As for [`Bands::dead`](super::Bands::dead).
pub fn needs(ranks: &dyn Communicator, workers: Workers<'_>, setting: &Setting) -> Result<Vec<Need>, LifeError> {
    Board::check_size(setting.width, setting.height)?;
    let plan = Plan::new(ranks, workers, setting, Overrides::default(), &Peers::new(ranks, workers)?)?;
    let own = (0..plan.division.bands()).filter(|&band| plan.division.owner(band).0 == ranks.rank());
    let need = |band: usize| {
        let (Shape { size, topology, .. }, member) = (plan.shape(setting, band), plan.division.owner(band).1);
        let (device, bytes) = match (workers, plan.rung) {
            (Workers::Kernels(group, _), Some(rung)) => {
                let late_halo = LateHalo::size(size.0, plan.halo, plan.late);
                let of_late_halo = if plan.late == 0 { 0 } else { device_bytes(LateHalo::RUNG, late_halo) };
                (Some(group.members()[member].clone()), device_bytes(rung, size) + of_late_halo)
            }
            _ => (None, CpuSimulation::bytes(size.0, size.1, &setting.rule, topology)),
        };
        Need { place: place(ranks, workers, member), device, bytes }
    };
    Ok(own.map(need).collect())
}

/// Returns the rung that would advance the bands of this board, or `None` for the host's cores.
///
/// # Errors
/// As for [`Bands::dead`](super::Bands::dead).
pub fn rung(ranks: &dyn Communicator, workers: Workers<'_>, setting: &Setting) -> Result<Option<LifeRung>, LifeError> {
    Board::check_size(setting.width, setting.height)?;
    Ok(Plan::new(ranks, workers, setting, Overrides::default(), &Peers::none(ranks))?.rung)
}

/// Returns a name for a band's device or cores, for errors.
pub(super) fn place(ranks: &dyn Communicator, workers: Workers<'_>, member: usize) -> String {
    let place = match workers {
        Workers::Cores => "the processor's cores".to_owned(),
        Workers::Kernels(group, _) => {
            let name = group.members()[member].name();
            format!("member {} of {} ({name})", member + 1, group.members().len())
        }
    };
    if ranks.size() == 1 { place } else { format!("{place} of rank {}", ranks.rank()) }
}
