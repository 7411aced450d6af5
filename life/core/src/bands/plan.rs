//! Plans the bands of a board: the size of each band's board, and the memory that it needs.

use launch::Device;

use super::division::{Division, HaloKind, halo as halo_of, late as late_of};
use super::encoding::gather;
use super::ipc::PeerAccess;
use super::late_halo::LateHalo;
use super::row_exchange::{are_all_direct, halo_rows};
use super::{BoardSpec, HaloTransport, Overrides, Workers};
use crate::error::LifeError;
use crate::{Board, CpuSimulation, LifeRung, Topology, check_on, default_rung, device_bytes};
use multi::ranks::Communicator;

/// The size and topology of the board on which a band is computed, and the position of the band on that board.
pub(super) struct BandShape {
    pub(super) above: usize,
    pub(super) beside: usize,
    pub(super) size: (usize, usize),
    /// How the edges of the band's board are joined.
    pub(super) topology: Topology,
}

/// The plan of a board in bands: the division into bands, the size of the halos, and the rung that advances the bands.
pub(super) struct BandPlan {
    pub(super) division: Division,
    /// The number of generations that the bands can run after an exchange before their own rows become wrong.
    pub(super) halo: usize,
    /// The maximum number of generations that bands run during an exchange. Halo rows that arrive after the exchange
    /// are behind by that many generations.
    pub(super) late: usize,
    pub(super) halo_kind: HaloKind,
    pub(super) rung: Option<LifeRung>,
    pub(super) transport: Option<HaloTransport>,
}

impl BandPlan {
    pub(super) fn new(
        ranks: &dyn Communicator,
        workers: Workers<'_>,
        spec: &BoardSpec,
        overrides: Overrides,
        peers: &PeerAccess,
    ) -> Result<Self, LifeError> {
        let kernels = if let Workers::Kernels(group, rung) = workers { Some((group.members(), rung)) } else { None };
        let (members, is_kernel) = kernels.map_or((1, 0), |(members, _)| (members.len() as u64, 1));
        let of_ranks = gather(ranks, &[members, is_kernel])?;
        if of_ranks.iter().any(|of_rank| of_rank[1] != is_kernel) {
            return Err(LifeError::MixedRanks);
        }
        let members: Vec<usize> = of_ranks.iter().map(|of_rank| of_rank[0] as usize).collect();
        let division = Division::new(spec.height, &members);
        let rows = division.max_rows();
        let rung_for = |height| {
            let default = |device| default_rung(device, (spec.width, height), &spec.rule, Topology::TORUS, u64::MAX);
            kernels.map(|(members, rung)| rung.unwrap_or_else(|| default(&members[0])))
        };
        let halo_kind = if kernels.is_some() { HaloKind::BY_KERNELS } else { HaloKind::on_cores(spec.topology) };
        let is_far = is_far(ranks, kernels.is_some());
        let best = overrides.halo.unwrap_or_else(|| halo_of(spec, rows, rung_for(rows), is_far, halo_kind));
        // Ranks with different devices may compute different halos. All ranks use the largest one.
        let best = gather(ranks, &[best as u64])?.iter().flatten().max().map_or(best, |&best| best as usize);
        let is_remote = kernels.is_some() && ranks.size() > 1 && division.bands() > 1;
        let transport = is_remote.then(|| match are_all_direct(&division, best, peers) {
            true => HaloTransport::Direct,
            false => HaloTransport::Messages,
        });
        let late = match transport {
            Some(HaloTransport::Messages) => {
                overrides.late.unwrap_or_else(|| late_of(spec, division.height / division.bands(), best))
            }
            _ => 0,
        };
        // A halo that a test sets already includes the late rows.
        let halo = if overrides.halo.is_some() { best } else { best + late };
        let height = if division.bands() == 1 { rows } else { rows + 2 * halo };
        let rung = rung_for(height);
        if let (Some((members, _)), Some(rung)) = (kernels, rung) {
            members.iter().try_for_each(|device| check_on(rung, device, (spec.width, height), &spec.rule))?;
        }
        Ok(Self { division, halo, late, halo_kind, rung, transport })
    }

    /// Returns the size and topology of the board of band `band`.
    pub(super) fn shape(&self, spec: &BoardSpec, band: usize) -> BandShape {
        let halo = self.halo;
        let (above, below, beside, topology) = match self.halo_kind {
            _ if self.division.bands() == 1 => (0, 0, 0, spec.topology),
            HaloKind::Rows { goes_around, topology } => {
                let (above, below) = halo_rows(&self.division, band, halo, goes_around);
                (above, below, 0, topology)
            }
            HaloKind::Cells => (halo, halo, halo, Topology::Plane),
        };
        let size = (spec.width + 2 * beside, self.division.rows(band).len() + above + below);
        BandShape { above, beside, size, topology }
    }
}

/// Returns true if the ranks run on several hosts, or if there are several ranks that use cores only.
fn is_far(ranks: &dyn Communicator, are_kernels: bool) -> bool {
    ranks.size() > if are_kernels { ranks.local_size() } else { 1 }
}

/// The memory that a band needs, and the device or host on which it needs the memory.
#[derive(Clone, Debug)]
pub struct BandMemory {
    /// The name of the device or of the cores.
    pub place: String,
    /// The device, or `None` for the host's cores.
    pub device: Option<Device>,
    /// The number of bytes that the band needs in the device's memory or in the host's memory.
    pub bytes: u64,
}

/// Returns the memory that each band of this rank needs.
///
/// # Errors
/// Fails in the same cases as [`Bands::dead`](super::Bands::dead).
pub fn memory(ranks: &dyn Communicator, workers: Workers<'_>, spec: &BoardSpec) -> Result<Vec<BandMemory>, LifeError> {
    Board::check_size(spec.width, spec.height)?;
    let plan = BandPlan::new(ranks, workers, spec, Overrides::default(), &PeerAccess::new(ranks, workers)?)?;
    let own = (0..plan.division.bands()).filter(|&band| plan.division.owner(band).0 == ranks.rank());
    let memory = |band: usize| {
        let (BandShape { size, topology, .. }, member) = (plan.shape(spec, band), plan.division.owner(band).1);
        let (device, bytes) = match (workers, plan.rung) {
            (Workers::Kernels(group, _), Some(rung)) => {
                let late_halo = LateHalo::size(size.0, plan.halo, plan.late);
                let of_late_halo = if plan.late == 0 { 0 } else { device_bytes(LateHalo::RUNG, late_halo) };
                (Some(group.members()[member].clone()), device_bytes(rung, size) + of_late_halo)
            }
            _ => (None, CpuSimulation::bytes(size.0, size.1, &spec.rule, topology)),
        };
        BandMemory { place: place(ranks, workers, member), device, bytes }
    };
    Ok(own.map(memory).collect())
}

/// Returns the rung that would advance the bands of a board of this `spec`, or `None` for the host's cores.
///
/// # Errors
/// Fails in the same cases as [`Bands::dead`](super::Bands::dead).
pub fn rung(ranks: &dyn Communicator, workers: Workers<'_>, spec: &BoardSpec) -> Result<Option<LifeRung>, LifeError> {
    Board::check_size(spec.width, spec.height)?;
    Ok(BandPlan::new(ranks, workers, spec, Overrides::default(), &PeerAccess::none(ranks))?.rung)
}

/// Returns a name for the device or cores of a band, for error messages.
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
