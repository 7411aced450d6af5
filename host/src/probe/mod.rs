//! Probes of the machine: what its memory, its warps and its scheduler do.
//!
//! - [`bandwidth`]: reading, writing and copying by operand size, unroll factor and block;
//! - [`access`]: misaligned and strided access;
//! - [`divergence`]: a branch within warps against one between them;
//! - [`schedule`]: in which order, and where, blocks run.
//!
//! They measure a GPU. The simulator runs the same kernels, for tests, but its times are those of a CPU.

use clap::Args;
use launch::{Device, Error};

use crate::error::UsageError;
use crate::measure::{self, Timing};
use crate::options::DeviceOption;

pub mod access;
pub mod bandwidth;
pub mod divergence;
pub mod schedule;

/// How much a probe repeats.
#[derive(Args, Clone, Copy, Debug)]
struct Thorough {
    /// Time each up to 101 times within half a second, also once the times are steady, and check whole results
    #[arg(long)]
    thorough: bool,
}

impl Thorough {
    /// Times `work`.
    fn time(self, device: &Device, work: impl FnMut() -> Result<(), Error>) -> Result<Timing, Error> {
        if self.thorough { measure::median_time(device, work) } else { measure::steady_time(device, work) }
    }
}

/// Opens the GPU for `command`, which measures one.
///
/// # Errors
/// [`UsageError`] where it would be the simulator; else why a GPU that was asked for cannot be used.
fn open_gpu(option: DeviceOption, command: &str, instead: &str) -> anyhow::Result<Device> {
    let device = option.open()?;
    if device.is_simulated() {
        let text = format!(
            "host {command} measures a GPU and has no meaning in the simulator, whose times are the CPU's: run it with \
             --device gpu on a machine that has one{instead}"
        );
        return Err(UsageError(text).into());
    }
    Ok(device)
}

/// `part` of `whole` as it is printed.
fn percent(part: f64, whole: f64) -> String {
    format!("{:.1}%", 100.0 * part / whole)
}
