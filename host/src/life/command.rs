//! `host life`: a board from a file or from a seed, animated, or run to its end.

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use clap::builder::RangedU64ValueParser;

use super::animation::{self, Ended, Settings};
use super::engine::{Engine, Place};
use super::files::{BoardFile, Recording};
use super::format::About;
use super::run::Run;
use super::start::{self, Start};
use super::summary::Summary;
use crate::error::Stopped;
use crate::options::{Size, parse_share};
use crate::report::{self, progress::Progress};
use crate::signals::StopRequests;
use gridstride::life::LifeRung;

/// Generations of a run that is not animated, when nobody says how many.
const GENERATIONS: u64 = 1000;

/// Live cells of a soup, when nobody says how many.
const DENSITY: f64 = 0.25;

/// How often a run that is not animated shows its progress and looks for signals.
const BATCH: Duration = Duration::from_millis(100);

/// Run Conway's Life on a torus
///
/// In a terminal it is animated. Otherwise, and with --no-animation, with --json, or with both --out and --generations,
/// it runs to its end and prints the result.
#[derive(Args, Debug)]
pub struct LifeOptions {
    /// Pattern to start from: .rle, .cells, .lif, .mc, .mcl (each also .gz), .png, or an apgcode such as xq4_153; - reads
    /// standard input; without it, a random soup
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,

    /// Size of the torus in cells [default: what fills the terminal, or 256x256; with FILE, the torus that it names, or
    /// room for twice the pattern]
    #[arg(long, value_name = "WxH")]
    size: Option<Size>,

    /// Share of live cells in the soup, from 0 to 1 [default: 0.25]
    #[arg(long, value_name = "SHARE", value_parser = parse_share, conflicts_with = "file")]
    density: Option<f64>,

    /// Seed of the soup, to see the same one again [default: another each time; it is printed]
    #[arg(long, value_name = "N", conflicts_with = "file", allow_negative_numbers = true)]
    seed: Option<u64>,

    /// Generations to run [default: 1000; animated, until you quit]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    generations: Option<u64>,

    /// Kernel: global, block, shared, bitpacked or temporal [default: bitpacked]
    #[arg(long, value_name = "NAME", value_parser = parse_kernel)]
    kernel: Option<LifeRung>,

    /// Where to run: gpu, gpu:N, sim, cpu (the processor's vector instructions, without a kernel) or auto, which is a GPU or
    /// else cpu, or sim for --kernel
    #[arg(long, value_name = "DEVICE", default_value = "auto", value_parser = parse_place)]
    device: Place,

    /// Frames per second of the animation
    #[arg(long, value_name = "N", default_value = "30", value_parser = RangedU64ValueParser::<u16>::new().range(1..=240))]
    fps: u16,

    /// Do not animate
    #[arg(long)]
    no_animation: bool,

    /// File for the last generation (.rle, .cells, .lif, .mc, each also .gz; .png) or for all of them, at --fps frames per
    /// second (.gif) or as pictures with numbers (frames/%05d.png)
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Print the result as one JSON object
    #[arg(long)]
    json: bool,
}

fn parse_kernel(text: &str) -> Result<LifeRung, String> {
    text.parse::<LifeRung>().map_err(|error| error.to_string())
}

fn parse_place(text: &str) -> Result<Place, String> {
    text.parse::<Place>().map_err(|error| error.to_string())
}

impl LifeOptions {
    /// Runs the command.
    ///
    /// # Errors
    /// [`UsageError`](crate::error::UsageError) for what was typed, [`Stopped`] after a signal, otherwise what made it fail.
    pub fn run(self) -> anyhow::Result<()> {
        let out = self.out.as_deref().map(BoardFile::new).transpose()?;
        if let Some(out) = &out {
            out.check()?;
        }
        let screen = self.screen();
        let Start { board, seed } = match &self.file {
            Some(file) => start::pattern(file, self.size, screen)?,
            None => start::soup(self.size, screen, self.density.unwrap_or(DENSITY), self.seed)?,
        };
        let size = (board.width(), board.height());
        let (engine, line) = Engine::open(self.device, self.kernel, size)?;
        report::note(&line);
        if let Some(seed) = seed {
            report::note(&format!("soup: {}x{}, seed {seed}", size.0, size.1));
        }

        let stop = StopRequests::watch().context("cannot watch for signals")?;
        let mut run = Run::new(&engine, &board)?;
        drop(board);
        let stopped = if screen.is_some() {
            let settings = Settings { frames_per_second: self.fps, generations: self.generations, seed };
            match animation::animate(&mut run, settings, &stop)? {
                Ended::Finished | Ended::Quit => None,
                Ended::Stopped(signal) => Some((signal, run.life().generation().to_string())),
            }
        } else {
            let generations = self.generations.unwrap_or(GENERATIONS);
            let delay = Duration::from_secs(1) / u32::from(self.fps);
            let recording =
                out.as_ref().filter(|out| out.is_recording()).map(|out| out.record(size, delay)).transpose()?;
            let signal = run_to_end(&mut run, generations, size, recording, &stop)?;
            signal.map(|signal| (signal, format!("{} of {generations}", run.life().generation())))
        };
        if let Some((signal, generation)) = stopped {
            let unwritten = out.map_or(String::new(), |out| format!("; {out} is not written"));
            return Err(Stopped { signal, done: format!("generation {generation} is done{unwritten}") }.into());
        }

        let summary = Summary::of(&mut run, size, seed)?;
        if let Some(out) = &out {
            if !out.is_recording() {
                out.write(&run.life().board()?, &About::torus(size, run.life().generation()))?;
            }
            report::note(&format!("wrote {out}"));
        }
        if self.json { report::print_json(&summary) } else { report::print(&summary.to_string()) }
    }

    /// The board size that fills the screen, if the run is to be animated on one.
    fn screen(&self) -> Option<Size> {
        let recording = self.out.as_deref().is_some_and(|out| BoardFile::new(out).is_ok_and(|out| out.is_recording()));
        let to_its_end =
            self.no_animation || self.json || recording || (self.out.is_some() && self.generations.is_some());
        if to_its_end || !io::stdout().is_terminal() { None } else { animation::board_size() }
    }
}

/// Runs all generations with a progress bar, or until a signal comes, which it gives. A recording gets every generation.
fn run_to_end(
    run: &mut Run,
    generations: u64,
    (width, height): (usize, usize),
    mut recording: Option<Recording<'_>>,
    stop: &StopRequests,
) -> anyhow::Result<Option<i32>> {
    let cells = width as f64 * height as f64;
    let mut progress = Progress::new(generations, "generations");
    let mut done = 0;
    if let Some(recording) = &mut recording {
        recording.frame(&run.life().board()?)?;
    }
    while done < generations {
        let most = if recording.is_some() { 1 } else { generations - done };
        done += run.advance(most, BATCH)?;
        if let Some(recording) = &mut recording {
            recording.frame(&run.life().board()?)?;
        }
        progress.set(done, cells * done as f64 / run.computing().as_secs_f64(), "cell updates");
        if let Some(signal) = stop.received() {
            return Ok(Some(signal));
        }
    }
    recording.map(Recording::finish).transpose()?;
    Ok(None)
}
