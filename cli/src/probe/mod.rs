//! Contains the probes, which measure a GPU's memory, warps and scheduler.
//!
//! - [`bandwidth`]: reading, writing and copying by operand size, unroll factor and block size;
//! - [`access`]: misaligned and strided access;
//! - [`divergence`]: a branch that splits warps, compared with one that does not;
//! - [`schedule`]: the order in which blocks run, and their multiprocessors.
//!
//! The probes need a GPU. For tests the simulator runs the same kernels, but its times are those of a CPU.

use clap::Args;
use launch::{Device, Error};
use serde::Serialize;

use crate::error::UsageError;
use crate::measure::{self, Timing};
use crate::options::DeviceOption;
use crate::report;
use crate::report::plot::{Picture, PlotOption};

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
    /// Returns the median time of `work`. Without `--thorough` the runs end as soon as their times are steady.
    fn time<E: From<Error>>(self, device: &Device, work: impl FnMut() -> Result<(), E>) -> Result<Timing, E> {
        if self.thorough { measure::median_time(device, work) } else { measure::steady_time(device, work) }
    }
}

/// The options of every probe.
#[derive(Args, Debug)]
struct ProbeOptions {
    #[command(flatten)]
    device: DeviceOption,

    /// Print the result as one JSON object
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    plot: PlotOption,
}

impl ProbeOptions {
    /// Opens the GPU that `command` measures.
    ///
    /// # Errors
    /// [`UsageError`] if the device would be the simulator; another error if the GPU cannot be used, or the plot cannot
    /// be written.
    fn open_gpu(&self, command: &str, instead: &str) -> anyhow::Result<Device> {
        self.plot.check()?;
        let device = self.device.open()?;
        if device.is_simulated() {
            let text = format!(
                "host {command} measures a GPU, and the times of the simulator are those of the CPU: run it with \
                 --device gpu on a machine with a GPU{instead}"
            );
            return Err(UsageError(text).into());
        }
        Ok(device)
    }

    /// Prints the result as JSON or as text, and writes its plot.
    ///
    /// # Errors
    /// If standard output or the plot cannot be written.
    fn finish<P: Picture>(&self, result: &impl Serialize, text: &str, plot: impl FnOnce() -> P) -> anyhow::Result<()> {
        report::print_either(self.json, result, text)?;
        self.plot.draw(plot)
    }
}

/// Returns `part` of `whole` in percent.
fn percent(part: f64, whole: f64) -> String {
    format!("{:.1}%", 100.0 * part / whole)
}
