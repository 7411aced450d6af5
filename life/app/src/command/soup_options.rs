//! The options of a census of soups on the plane.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use launch::{Device, DeviceChoice};
use life::Rule;
use workbench::MODULES;

use crate::backend::DeviceSpec;
use crate::census::Census;
use crate::census::plane::{PlaneSoups, Symmetry};
use crate::objects::Counts;
use program::error::{Stopped, UsageError};
use program::files::WholeFile;
use program::report;
use program::signals::StopRequests;

/// The number of soups from which on a GPU is used, if there is one and no device was chosen. A core runs fewer soups
/// in a few seconds.
const MIN_ON_GPU: u64 = 20_000;

/// The command-line options of soups on the plane.
#[derive(Args, Debug)]
pub struct PlaneSoupOptions {
    /// With --soups: count soups on the plane, of 16x16 cells with this symmetry, as in Catagolue: C1 (none), C2_1,
    /// C2_2, C2_4, C4_1, C4_4, D2_+1, D2_+2, D2_x, D4_+1, D4_+2, D4_+4, D4_x1, D4_x4, D8_1, D8_4; or without symmetry
    /// 8x32, 4x64, 2x128, 1x256. For any rule B…/S… without B0
    #[arg(long, value_name = "NAME", requires = "soups")]
    pub symmetry: Option<Symmetry>,

    /// Text with which the names of the soups begin; a number from 0 on follows. apgsearch makes the same soups from
    /// the same root [default: n and --seed, such as n7_]
    #[arg(long, value_name = "TEXT", requires = "symmetry", conflicts_with = "seed")]
    root: Option<String>,

    /// Write the census to FILE in the format in which apgsearch submits results to Catagolue
    #[arg(long, value_name = "FILE", requires = "symmetry")]
    haul: Option<PathBuf>,
}

impl PlaneSoupOptions {
    /// Runs `count` soups and prints the census of their objects.
    pub fn count(
        &self,
        count: u64,
        device: &DeviceSpec,
        rule: Option<&str>,
        seed: Option<u64>,
        json: bool,
    ) -> anyhow::Result<()> {
        let Some(symmetry) = self.symmetry else { return Ok(()) };
        let rule: Rule = rule.unwrap_or("B3/S23").parse().map_err(UsageError::of)?;
        let counts = match rule.totalistic() {
            Some((birth, survival)) if rule.states() == 2 && birth & 1 == 0 => Counts { birth, survival },
            _ => reject!("--symmetry needs a rule such as B36/S23, without B0, but {rule} was given: use another rule"),
        };
        let root = self.root.clone().unwrap_or_else(|| format!("n{}_", seed.unwrap_or_else(rand::random)));
        if root.is_empty() || root.contains(|c: char| c.is_whitespace() || c.is_control()) {
            reject!(
                "--root must be a text without spaces, but '{}' was given: use letters and digits",
                root.escape_debug()
            );
        }
        let haul = self.haul.as_deref().map(WholeFile::new);
        haul.as_ref().map_or(Ok(()), WholeFile::check)?;
        let device = open(device, symmetry, count)?;
        let soups = PlaneSoups { soups: count, root, symmetry, rule, counts };
        let stop = StopRequests::watch().context("cannot watch for signals")?;
        let (census, text, signal) = Census::of_plane_soups(&soups, device.as_ref(), &stop)?;
        if let Some(file) = haul {
            let mut out = file.create()?;
            out.write_all(text.as_bytes()).with_context(|| file.failed())?;
            file.keep(out)?;
        }
        print(&census, signal, count, json)
    }
}

/// Opens the device that `spec` selects for `count` soups. Returns `None` if the processor's cores run all soups.
fn open(spec: &DeviceSpec, symmetry: Symmetry, count: u64) -> anyhow::Result<Option<Device>> {
    let DeviceSpec::Device(choice) = spec else { return Ok(None) };
    let Some(choice) = choice.as_one() else {
        reject!("--soups uses one device, but --device {choice} was given: use --device gpu or cpu");
    };
    let is_auto = choice == DeviceChoice::Auto;
    if !symmetry.fits_device() && !is_auto {
        reject!("a device runs soups of at most 32x32 cells, but {} are wider: use --device cpu", symmetry.name());
    }
    if is_auto && (count < MIN_ON_GPU || !symmetry.fits_device()) {
        return Ok(None);
    }
    let device = Device::open(choice, MODULES)?;
    if is_auto && device.is_simulated() {
        return Ok(None);
    }
    report::note(&device.summary());
    Ok(Some(device))
}

/// Prints the census of at most `count` soups. If a signal interrupted the census, the error says how many soups it
/// has.
///
/// # Errors
/// [`Stopped`] after a signal. Another error if the census cannot be printed.
pub fn print(census: &Census, signal: Option<i32>, count: u64, json: bool) -> anyhow::Result<()> {
    if json {
        report::print_json(census)?;
    } else {
        report::print(&census.to_string())?;
    }
    signal.map_or(Ok(()), |signal| {
        let done = format!("the census has {} of {count} soups", census.soups());
        Err(Stopped { signal, done }.into())
    })
}
