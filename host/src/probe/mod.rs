//! Probes that measure a GPU's memory, warps and scheduler.
//!
//! - [`bandwidth`]: reading, writing and copying by operand size, unroll factor and block;
//! - [`access`]: misaligned and strided access;
//! - [`divergence`]: a branch within warps against one between them;
//! - [`schedule`]: the order in which blocks run, and their multiprocessors.
//!
//! They measure a GPU. For tests the simulator runs the same kernels, but its times are those of a CPU.

use clap::Args;
use launch::{Device, Error};

use crate::error::UsageError;
use crate::measure::{self, Timing};
use crate::options::DeviceOption;

pub mod access;
pub mod bandwidth;
pub mod divergence;
pub mod schedule;

/// The option `--thorough` of a probe.
#[derive(Args, Clone, Copy, Debug)]
struct Thorough {
    /// Time up to 101 runs within half a second even if the times are steady, and check whole results
    #[arg(long)]
    thorough: bool,
}

impl Thorough {
    /// Times `work`.
    fn time(self, device: &Device, work: impl FnMut() -> Result<(), Error>) -> Result<Timing, Error> {
        if self.thorough { measure::median_time(device, work) } else { measure::steady_time(device, work) }
    }
}

/// Opens the GPU that `command` measures.
///
/// # Errors
/// [`UsageError`] if the device would be the simulator; if the GPU cannot be used.
fn open_gpu(option: DeviceOption, command: &str, instead: &str) -> anyhow::Result<Device> {
    let device = option.open()?;
    if device.is_simulated() {
        let text = format!(
            "host {command} measures a GPU, and the times of the simulator are those of the CPU: run it with --device gpu on \
             a machine with a GPU{instead}"
        );
        return Err(UsageError(text).into());
    }
    Ok(device)
}

/// Returns `part` of `whole` in percent.
fn percent(part: f64, whole: f64) -> String {
    format!("{:.1}%", 100.0 * part / whole)
}
