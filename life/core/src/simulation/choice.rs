//! Checks whether a rung supports a board and a rule, and chooses the default rung.
//!
//! # Design
//!
//! The default rung depends on the board, the rule, the topology, the device and the number of generations. The
//! simulator has another default, because launches in the simulator are cheap and computation is slow.

use cuda_std::{Kernel, KernelInfo};
use gpu::life::tuning::{DEEPEST, GENERATIONS_PER_LAUNCH, STREAMING_FROM, STREAMING_TORUS_FROM};
use gpu::life::{LifeRung, life_population_words, life_soup};
use launch::Device;

use super::{interleaved, resident};
use crate::circuits::Circuit;
use crate::error::LifeError;
use crate::{Rule, Topology};

/// Returns the maximum number of generations per launch of the rung.
pub fn generations_per_launch(rung: LifeRung) -> u64 {
    match rung {
        LifeRung::Global | LifeRung::Bitpacked => 1,
        LifeRung::Block | LifeRung::Shared => u64::MAX,
        LifeRung::Temporal => GENERATIONS_PER_LAUNCH.into(),
        LifeRung::Resident => u32::MAX.into(),
        LifeRung::Streaming => DEEPEST as u64,
    }
}

/// Checks that the rung supports the rule on a board of `width` × `height` cells on this device.
///
/// # Errors
/// [`LifeError::Algorithm`] in the same cases as [`check_rule`], and if the board is too large. The limits are:
///
/// - for [`LifeRung::Shared`], two boards must fit a block's shared memory;
/// - for [`LifeRung::Resident`], the board must fit the device's registers;
/// - for [`LifeRung::Streaming`], the limit is [`MAX_CELLS_ALONG`](gpu::life::MAX_CELLS_ALONG) columns and rows.
pub fn check_on(
    rung: LifeRung,
    device: &Device,
    (width, height): (usize, usize),
    rule: &Rule,
) -> Result<(), LifeError> {
    check_rule(rung, rule)?;
    match rung {
        LifeRung::Streaming => interleaved::check(width, height),
        LifeRung::Resident => resident::ResidentPlan::new(device, width, height).map(drop),
        LifeRung::Shared => {
            let limit = device.max_dynamic_shared();
            let needed = width.saturating_mul(height).saturating_mul(2);
            if needed <= limit as usize {
                return Ok(());
            }
            let asked = format!("a board of {width}x{height}, which needs {needed} bytes of shared memory");
            let offered = format!("boards that need at most {limit} bytes; use another rung for larger boards");
            Err(LifeError::refused(rung, asked, &offered))
        }
        LifeRung::Global | LifeRung::Block | LifeRung::Bitpacked | LifeRung::Temporal => Ok(()),
    }
}

/// Checks that the rung supports the rule.
///
/// # Errors
/// [`LifeError::Algorithm`] if the rung does not support the rule.
pub fn check_rule(rung: LifeRung, rule: &Rule) -> Result<(), LifeError> {
    circuit(rung, rule).map(drop)
}

/// Checks that the rung supports the topology.
///
/// # Errors
/// [`LifeError::Algorithm`] if the topology is not a torus without a shift. [`LifeRung::Streaming`] supports every
/// topology.
pub fn check_topology(rung: LifeRung, topology: Topology) -> Result<(), LifeError> {
    if rung == LifeRung::Streaming || topology == Topology::TORUS {
        return Ok(());
    }
    let offered = "a torus without a shift; use rung streaming for other bounded grids";
    Err(LifeError::refused(rung, topology.to_string(), offered))
}

/// Returns the circuit by which the rung computes the rule.
///
/// # Errors
/// Fails in the same cases as [`check_rule`].
pub(super) fn circuit(rung: LifeRung, rule: &Rule) -> Result<Circuit, LifeError> {
    match (Circuit::of(rule), rung) {
        (Some(circuit), LifeRung::Bitpacked) => Ok(circuit),
        (Some(circuit @ Circuit::Counts(_)), LifeRung::Streaming) => Ok(circuit),
        (Some(Circuit::Conway), _) => Ok(Circuit::Conway),
        _ => {
            let offered = "B3/S23; bitpacked has all rules of two states, and Generations rules of up to four states \
                           that count neighbours; streaming has rules of two states that count neighbours; device cpu \
                           has all rules";
            Err(LifeError::refused(rung, format!("the rule {rule}"), offered))
        }
    }
}

/// Returns the default rung for a board of this size, a rule that some rung supports, and `generations` generations per
/// call. For topologies other than the torus, `streaming` is the only rung.
///
/// For a single generation on a GPU, `bitpacked` is the fastest rung, because it reaches the memory bandwidth. For
/// several generations, the fastest rung depends on the size. It is `resident` if the board fits the registers, and
/// `temporal` for larger boards. From about 5800² cells on, the fastest rung is `streaming`. If no margins must be
/// written, the fastest rung is `streaming` already from 4096² cells on. These sizes were measured on an H200. For a
/// rule other than Life, the default is `streaming` if that rung supports the rule. In the simulator the default is
/// `bitpacked`, which does the least work.
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

/// Returns the kernels that [`LifeRung::Resident`] needs for B3/S23 on a torus: one advances the board, one makes a
/// soup, and one counts cells. The function needs only the GPU's number of multiprocessors, so it can be called before
/// the GPU is opened. Returns no kernels if the board is too large for the GPU's registers.
pub fn resident_kernels((width, height): (usize, usize), multiprocessors: u32) -> Vec<&'static KernelInfo> {
    let others = [<life_soup as Kernel>::INFO, <life_population_words as Kernel>::INFO];
    let kernel = resident::ResidentPlan::kernel_for(width, height, multiprocessors as usize);
    kernel.into_iter().flat_map(|kernel| [kernel].into_iter().chain(others)).collect()
}
