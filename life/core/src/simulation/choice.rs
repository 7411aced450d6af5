//! Which rungs there are for a board and a rule, and which one runs by default.
//!
//! # Design
//!
//! Which rung is the default depends on board, rule, topology, device and the number of generations. The simulator has
//! another default, because a launch costs it little and work much.

use cuda_std::{Kernel, KernelInfo, Ladder};
use gpu::life::tuning::{DEEPEST, GENERATIONS_PER_LAUNCH, STREAMING_FROM, STREAMING_TORUS_FROM};
use gpu::life::{LifeRung, life_population_words, life_soup};
use launch::Device;

use super::{interleaved, resident};
use crate::circuits::Circuit;
use crate::error::LifeError;
use crate::{Rule, Topology};
use gridstride::capabilities;

/// The most generations that one launch of the rung runs.
pub fn generations_per_launch(rung: LifeRung) -> u64 {
    match rung {
        LifeRung::Global | LifeRung::Bitpacked => 1,
        LifeRung::Block | LifeRung::Shared => u64::MAX,
        LifeRung::Temporal => GENERATIONS_PER_LAUNCH.into(),
        LifeRung::Resident => u32::MAX.into(),
        LifeRung::Streaming => DEEPEST as u64,
    }
}

/// Whether the rung can run the rule on a board of `width` × `height` cells on this device.
///
/// # Errors
/// [`LifeError::Algorithm`] as for [`check_rule`]; for [`LifeRung::Shared`] when two boards do not fit a block's shared
/// memory, for [`LifeRung::Resident`] when one does not fit the device's registers, and for [`LifeRung::Streaming`]
/// beyond [`MAX_CELLS_ALONG`](gpu::life::MAX_CELLS_ALONG) columns or rows.
pub fn check_on(
    rung: LifeRung,
    device: &Device,
    (width, height): (usize, usize),
    rule: &Rule,
) -> Result<(), LifeError> {
    check_rule(rung, rule)?;
    match rung {
        LifeRung::Streaming => interleaved::check(width, height),
        LifeRung::Resident => resident::Plan::new(device, width, height).map(drop),
        LifeRung::Shared => {
            let limit = device.max_dynamic_shared();
            let needed = width.saturating_mul(height).saturating_mul(2);
            if needed <= limit as usize {
                return Ok(());
            }
            let asked = format!("a board of {width}x{height}, for which it needs {needed} bytes of shared memory");
            let offered =
                format!("boards that fit twice into the {limit} bytes of a block; all others take larger ones");
            Err(capabilities::refused(rung.rung(), asked, offered).into())
        }
        LifeRung::Global | LifeRung::Block | LifeRung::Bitpacked | LifeRung::Temporal => Ok(()),
    }
}

/// Whether the rung can run the rule.
///
/// # Errors
/// [`LifeError::Algorithm`] for a rule that it does not have.
pub fn check_rule(rung: LifeRung, rule: &Rule) -> Result<(), LifeError> {
    circuit(rung, rule).map(drop)
}

/// Whether the rung can run a board whose edges are joined so.
///
/// # Errors
/// [`LifeError::Algorithm`] for others than a torus without a shift, if the rung is not [`LifeRung::Streaming`].
pub fn check_topology(rung: LifeRung, topology: Topology) -> Result<(), LifeError> {
    if rung == LifeRung::Streaming || topology == Topology::TORUS {
        return Ok(());
    }
    let offered = "a torus without a shift; streaming has all bounded grids".to_owned();
    Err(capabilities::refused(rung.rung(), topology.to_string(), offered).into())
}

/// What the rung runs the rule by.
///
/// # Errors
/// As for [`check_rule`].
pub(super) fn circuit(rung: LifeRung, rule: &Rule) -> Result<Circuit, LifeError> {
    match (Circuit::of(rule), rung) {
        (Some(circuit), LifeRung::Bitpacked) => Ok(circuit),
        (Some(circuit @ Circuit::Counts(_)), LifeRung::Streaming) => Ok(circuit),
        (Some(Circuit::Conway), _) => Ok(Circuit::Conway),
        _ => {
            let offered = "B3/S23; bitpacked has any rule of two states, and Generations of up to four that count neighbours; \
                           streaming has rules of two states that count neighbours (B/S)";
            Err(capabilities::refused(rung.rung(), format!("the rule {rule}"), offered.to_owned()).into())
        }
    }
}

/// Returns the rung that runs by default for `generations` generations at a time of a board of this size, by a rule
/// that some rung has. Any topology but the torus is for `streaming` alone.
///
/// On a GPU a single generation is fastest by `bitpacked`, which is as fast as memory. Several are by `resident` where
/// that can hold the board, then by `temporal`, and from some 5800² cells on by `streaming`, or from 4096² where it
/// need not write margins, as measured on an H200. In the simulator, where a launch costs little, it is `bitpacked`,
/// which does least. For other rules than Life it is `streaming` where that has the rule.
pub fn default_rung(
    device: &Device,
    (width, height): (usize, usize),
    rule: &Rule,
    topology: Topology,
    generations: u64,
) -> LifeRung {
    if topology != Topology::TORUS {
        return LifeRung::Streaming;
    }
    let cells = width.saturating_mul(height);
    let is_offered = |rung| check_on(rung, device, (width, height), rule).is_ok();
    if device.is_simulated() || generations <= 1 {
        LifeRung::Bitpacked
    } else if is_offered(LifeRung::Resident) {
        LifeRung::Resident
    } else if (cells >= STREAMING_FROM
        || cells >= STREAMING_TORUS_FROM && interleaved::has_whole_margins(device, (width, height))
        || *rule != Rule::LIFE)
        && is_offered(LifeRung::Streaming)
    {
        LifeRung::Streaming
    } else if is_offered(LifeRung::Temporal) {
        LifeRung::Temporal
    } else {
        LifeRung::Bitpacked
    }
}

/// The kernels of B3/S23 on a torus that a GPU of so many multiprocessors holds in its registers, with those that make
/// a soup of it and count its cells, as far as they can be told before there is the GPU; none for a larger one.
pub fn resident_kernels((width, height): (usize, usize), multiprocessors: u32) -> Vec<&'static KernelInfo> {
    let others = [<life_soup as Kernel>::INFO, <life_population_words as Kernel>::INFO];
    let kernel = resident::Plan::kernel_for(width, height, multiprocessors as usize);
    kernel.into_iter().flat_map(|kernel| [kernel].into_iter().chain(others)).collect()
}
