//! The command `host life`: runs a board from a file or a seed, with or without an animation.

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use clap::builder::RangedU64ValueParser;
use cuda_std::Ladder;

use launch::DeviceChoice;
use life::{CpuSimulation, LifeRung, Rule, Topology};
use life_formats::Metadata;
use multi::ranks::Communicator;
use observer_options::{ObserverOptions, Until};
use program::error::{Stopped, UsageError};
use program::options::{Size, parse_share};
use program::report;
use program::signals::StopRequests;
use soup_options::PlaneSoupOptions;
use summary::Summary;

use crate::animation::{self, AnimationOptions};
use crate::backend::{Backend, DeviceSpec, memory};
use crate::board_file::{BoardFile, Take};
use crate::census::{Census, Soups};
use crate::checkpoint::RunFacts;
use crate::first_board::{self, BoardOptions, FirstBoard};
use crate::observers::recording::Frames;
use crate::observers::stability::{Search, Stability};
use crate::observers::{self, Observer};
use crate::ranks::Ranks;
use crate::simulation::{GrowingBoard, Outgrown};
use crate::timed_run::TimedRun;
use crate::universe::Universe;

mod observer_options;
mod soup_options;
mod summary;

/// The default of `--generations` for runs without an animation.
const GENERATIONS: u64 = 1000;

/// The default of `--density`.
const DENSITY: f64 = 0.25;

/// Run Conway's Life or a similar cellular automaton
///
/// In a terminal the board is animated. Otherwise, and with --no-animation, --json, --until, --checkpoint, --stats,
/// --plot, --census or both --out and --generations, the board runs to its end and the result is printed.
#[derive(Args, Debug)]
pub struct LifeOptions {
    /// Pattern to start from: .rle, .cells, .lif, .mc, .mcl (each also .gz), .png, an apgcode such as xq4_153, or a
    /// checkpoint;
    /// - reads standard input; without FILE, the board is a random soup
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,

    /// Rule instead of the file's: B36/S23, 23/36, B2-a/S12, B2/S34H, MAP..., 12/34/3, HighLife, ... Golly's suffix for
    /// a bounded grid may follow, such as B3/S23:K30*,20 [default: the file's, or B3/S23]
    #[arg(long, value_name = "RULE")]
    rule: Option<String>,

    /// Size of the board in cells; a torus unless the rule's suffix names another grid [default: a soup fills the
    /// terminal or has 256x256 cells; a FILE has the grid of its rule, or the unbounded plane]
    #[arg(long, value_name = "WxH")]
    size: Option<Size>,

    /// Share of live cells in the soup, from 0 to 1 [default: 0.25]
    #[arg(long, value_name = "SHARE", value_parser = parse_share, conflicts_with = "file")]
    density: Option<f64>,

    /// Seed of the soup: the same seed makes the same soup [default: a random seed, which is printed]
    #[arg(long, value_name = "N", conflicts_with = "file", allow_negative_numbers = true)]
    seed: Option<u64>,

    /// Generations to run, including those before a checkpoint [default: 1000, or the checkpoint's; an animation runs
    /// until you quit]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    generations: Option<u64>,

    #[arg(long = "rung", alias = "kernel", value_name = "NAME", help = kernel_help())]
    kernel: Option<LifeRung>,

    /// Device: gpu, gpu:N, sim (simulator), cpu (vector instructions, no kernel), or auto: a GPU, else cpu, or sim with
    /// --rung. Several devices in bands: gpu:all, gpu:N,M,…, sim:COUNT
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    device: DeviceSpec,

    /// Frames per second of the animation
    #[arg(long, value_name = "N", default_value = "30", value_parser = RangedU64ValueParser::<u16>::new().range(1..=240))]
    fps: u16,

    /// Do not animate
    #[arg(long)]
    no_animation: bool,

    /// File for the last generation (.rle, .cells, .lif, .mc, each also .gz; .png) or for all generations, at --fps
    /// frames per second (.gif) or as numbered pictures (frames/%05d.png)
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    #[command(flatten)]
    observers: ObserverOptions,

    /// Run until the board is periodic, then count its objects by apgcode
    #[arg(long)]
    census: bool,

    /// Count the objects of N soups. With --symmetry, the soups are on the plane: --device gpu runs them on a GPU,
    /// which leaves a few to the processor's cores, and --device cpu on the cores alone. Without --device, a GPU runs
    /// them if there is one and N is 20000 or more. Without --symmetry, the cores run tori of --size, with consecutive
    /// seeds from --seed on
    #[arg(
        long,
        value_name = "N",
        requires = "census",
        value_parser = RangedU64ValueParser::<u64>::new().range(1..),
        conflicts_with_all =
            ["file", "generations", "kernel", "out", "until", "checkpoint", "overwrite", "stats", "plot"]
    )]
    soups: Option<u64>,

    #[command(flatten)]
    plane_soups: PlaneSoupOptions,

    /// Print the result as one JSON object
    #[arg(long)]
    json: bool,
}

/// Returns the help text of `--rung`, which lists the rungs.
fn kernel_help() -> String {
    let names = LifeRung::ALL.iter().map(|rung| rung.name()).collect::<Vec<_>>().join(", ");
    format!("Rung: {names} [default: on a GPU the fastest for the board, in the simulator bitpacked]")
}

/// The signal that stopped a run before its end, and the generation that the run had reached.
type StoppedAt = Option<(i32, String)>;

impl LifeOptions {
    /// Runs the command on the ranks of `communicator`.
    ///
    /// # Errors
    /// [`UsageError`] for invalid options, [`Stopped`] after a signal, and other errors if the run fails.
    pub fn run(self, communicator: &'static dyn Communicator) -> anyhow::Result<()> {
        let ranks = Ranks::new(communicator);
        let out = self.out.as_deref().map(BoardFile::new).transpose()?;
        if ranks.is_first() {
            out.as_ref().map_or(Ok(()), |out| out.file.check())?;
            self.observers.check_paths(self.file.as_deref(), self.out.as_deref())?;
        }
        self.observers.check(ranks)?;
        if let Some(count) = self.soups {
            return self.count_soups(ranks, count);
        }
        // The claim is made before the input is read, because another run may still be writing the input.
        let recording = out.as_ref().filter(|out| out.is_recording()).map(|out| out.file.path());
        let input = self.file.as_deref();
        let _claim = if ranks.is_first() { self.observers.claim(input, recording)? } else { None };
        ranks.share_cores()?;
        let screen = self.screen(ranks);
        let first = self.first_board(ranks, screen)?;
        let (first_size, facts) = (first.source.size(), first.facts.clone());
        let backend = self.open_backend(ranks, &first, out.as_ref())?;

        let stop = StopRequests::watch().context("cannot watch for signals")?;
        let mut run = TimedRun::begin(&backend, &first.source, first.generation)?;
        let ended = if screen.is_some() {
            drop(first);
            self.animate(&mut run, &facts, &stop).map(|stopped| (stopped, None))
        } else {
            self.run_to_end(&mut run, &backend, first, out.as_ref(), &stop)
        };
        let (stopped, stability) = match ended {
            Err(error) if error.is::<Outgrown>() => {
                out.as_ref().map_or(Ok(()), |out| write_last(out, &run, &facts))?;
                return Err(error);
            }
            ended => ended?,
        };
        if let Some((signal, generation)) = stopped {
            let unwritten = out.map_or(String::new(), |out| format!("; {out} is not written"));
            let resume = self.observers.resume();
            return Err(Stopped { signal, done: format!("generation {generation} is done{unwritten}{resume}") }.into());
        }

        let census = match stability {
            Some(Stability { period, .. }) if self.census => {
                run.life.engine().gathered()?.map(|board| Census::of_board(&board, period)).transpose()?
            }
            _ => None,
        };
        let stability = self.is_until_stable().then_some(stability);
        let size = run.life.size;
        if size != first_size {
            let ((width, height), (w, h)) = (first_size, size);
            report::note(&format!(
                "the board grew from {width}x{height} to {w}x{h}, because the pattern came near its edges"
            ));
        }
        let summary = Summary::of(&mut run, facts.seed, stability, census)?;
        out.as_ref().map_or(Ok(()), |out| write_last(out, &run, &facts))?;
        if self.json { report::print_json(&summary) } else { report::print(&summary.to_string()) }
    }

    /// Reads the first board from the file, or determines the soup if there is no file.
    fn first_board(&self, ranks: Ranks, screen: Option<Size>) -> anyhow::Result<FirstBoard> {
        let options = BoardOptions { ranks, rule: self.rule.as_deref(), size: self.size, screen };
        let first = match &self.file {
            None => options.soup(self.density.unwrap_or(DENSITY), self.seed)?,
            Some(file) => options.read(file)?,
        };
        let begun_at = first.generation;
        match self.generations {
            Some(generations) if generations < begun_at => {
                reject!(
                    "--generations {generations}: the checkpoint is at generation {begun_at}: use at least that number"
                )
            }
            _ => Ok(first),
        }
    }

    /// Opens the back end for the first board and prints the back end's name. Then checks that memory suffices.
    fn open_backend(&self, ranks: Ranks, first: &FirstBoard, out: Option<&BoardFile>) -> anyhow::Result<Backend> {
        let (size, universe) = (first.source.size(), first.universe);
        let (backend, line) = Backend::open(ranks, &self.device, self.kernel, size, universe)?;
        report::note(&line);
        if universe != Universe::default() {
            report::note(&format!("rule: {}", universe.text(size)));
        }
        if let Some(seed) = first.facts.seed {
            report::note(&format!("soup: {}x{}, seed {seed}", size.0, size.1));
        }
        if self.census {
            check_census(&universe)?;
        }
        let is_in_bands = matches!(backend, Backend::Team(_));
        backend.check_memory(size, u64::from(!is_in_bands) + self.observers.boards(self.census))?;
        if is_in_bands && ranks.is_first() && (self.census || out.is_some_and(|out| !out.takes_parts())) {
            let what = if self.census { "--census" } else { "--out in this format" };
            memory::check_host(size, memory::board_bytes(size).saturating_mul(2))
                .with_context(|| format!("{what}: the first rank needs memory for the whole board"))?;
        }
        Ok(backend)
    }

    /// Animates the run in the terminal.
    fn animate(&self, run: &mut TimedRun, facts: &RunFacts, stop: &StopRequests) -> anyhow::Result<StoppedAt> {
        let generations = self.generations.or(facts.until);
        let options = AnimationOptions { frames_per_second: self.fps, generations, seed: facts.seed };
        let signal = animation::animate(run, options, stop)?;
        Ok(signal.map(|signal| (signal, run.generation().to_string())))
    }

    /// Runs to the end with the observers that the options select. Returns the signal if one stopped the run, and the
    /// result of the search for a period.
    fn run_to_end(
        &self,
        run: &mut TimedRun,
        backend: &Backend,
        first: FirstBoard,
        out: Option<&BoardFile>,
        stop: &StopRequests,
    ) -> anyhow::Result<(StoppedAt, Option<Stability>)> {
        let FirstBoard { source, facts, generation: begun_at, .. } = first;
        let (size, is_first) = (source.size(), run.life.ranks().is_first());
        let endless = self.is_until_stable().then_some(u64::MAX);
        let last = self.generations.or(facts.until).or(endless);
        let last = last.unwrap_or_else(|| begun_at.saturating_add(GENERATIONS));
        let until = (last < u64::MAX).then_some(last);

        let recorded = out.filter(|out| out.is_recording());
        let delay = Duration::from_secs(1) / u32::from(self.fps);
        let recording = recorded.filter(|_| is_first).map(|out| out.record(size, delay)).transpose()?;
        let mut frames = recorded.map(|_| Frames::new(recording, begun_at));
        let mut checkpoints = self.observers.checkpoints(RunFacts { until, ..facts }, begun_at);
        let title = format!("Life, {}x{} cells, {}", size.0, size.1, run.life.engine().device());
        let mut stats = self.observers.stats(title, (begun_at, last))?;
        let begin = move || GrowingBoard::read(backend, &source);
        let search = || Search::new(backend, (begun_at, last), recorded.is_some(), begin);
        let mut search = self.is_until_stable().then(search);
        let mut observers: Vec<&mut dyn Observer> = Vec::new();
        observers.extend(frames.as_mut().map(|observer| observer as &mut dyn Observer));
        observers.extend(checkpoints.as_mut().map(|observer| observer as &mut dyn Observer));
        observers.extend(search.as_mut().map(|observer| observer as &mut dyn Observer));
        // The statistics must be the last observer, because they advance the run.
        observers.extend(stats.as_mut().map(|observer| observer as &mut dyn Observer));
        let signal = observers::run_to_end(run, last, &mut observers, stop)?;
        let of = until.map_or(String::new(), |last| format!(" of {last}"));
        let stopped = signal.map(|signal| (signal, format!("{}{of}", run.generation())));
        Ok((stopped, search.and_then(|search| search.found)))
    }

    /// Returns true if the run continues until the board is periodic.
    fn is_until_stable(&self) -> bool {
        self.observers.until == Some(Until::Stable) || self.census
    }

    /// Runs `count` soups and prints the census of their objects.
    fn count_soups(&self, ranks: Ranks, count: u64) -> anyhow::Result<()> {
        if ranks.size() > 1 {
            reject!("life --soups runs as one process, but {} were started: leave out mpirun", ranks.size());
        }
        if self.plane_soups.symmetry.is_some() {
            if self.size.is_some() || self.density.is_some() {
                reject!("--symmetry gives the size and density of soups: leave out --size and --density");
            }
            return self.plane_soups.count(count, &self.device, self.rule.as_deref(), self.seed, self.json);
        }
        if self.device != DeviceSpec::Cpu && self.device != DeviceSpec::Device(DeviceChoice::Auto.into()) {
            reject!(
                "--soups on a torus uses the processor's cores, but --device {} was given: leave out --device, or add \
                 --symmetry C1 for the plane",
                self.device
            );
        }
        if self.rule.is_some() {
            reject!("--soups on a torus needs the rule B3/S23: leave out --rule, or add --symmetry C1 for the plane");
        }
        let (Size { width, height }, first_seed) = first_board::soup(self.size, None, self.seed);
        // Each core needs memory for a board and for some copies of that board.
        Backend::Cpu(Universe::default()).check_memory((width, height), 8 * CpuSimulation::cores() as u64)?;
        let density = self.density.unwrap_or(DENSITY);
        let soups = Soups { soups: count, width, height, density, first_seed, ..Soups::default() };
        let stop = StopRequests::watch().context("cannot watch for signals")?;
        let (census, signal) = Census::of_soups(soups, &stop)?;
        soup_options::print(&census, signal, count, self.json)
    }

    /// Returns the size of the board that fills the screen, or `None` if the run will not be animated.
    fn screen(&self, ranks: Ranks) -> Option<Size> {
        let recording = self.out.as_deref().is_some_and(|out| BoardFile::new(out).is_ok_and(|out| out.is_recording()));
        let to_its_end = self.no_animation
            || self.json
            || recording
            || self.observers.is_asked_for()
            || self.census
            || (self.out.is_some() && self.generations.is_some());
        if to_its_end || !io::stdout().is_terminal() {
            return None;
        }
        if ranks.size() > 1 {
            report::note("an animation needs one rank, but several were started: running without animation");
            return None;
        }
        animation::board_size()
    }
}

/// Writes the board of the last generation to `out` and prints the file's name. For a recording, only prints the name,
/// because the recording already contains the board.
fn write_last(out: &BoardFile, run: &TimedRun, facts: &RunFacts) -> anyhow::Result<()> {
    if !out.is_recording() {
        let life = &run.life;
        let (size, (left, top), origin) = (life.size, life.added, facts.origin);
        let origin = (origin.0.saturating_sub(left as i64), origin.1.saturating_sub(top as i64));
        let generation = facts.first.saturating_add(run.generation());
        let metadata = Metadata { name: None, rule: life.universe().text(size), generation, origin };
        let parts = |take: Take<'_>| match out.takes_parts() {
            true => life.parts(|_, part| take(part)),
            false => life.engine().gathered()?.map_or(Ok(()), |board| take(&board)),
        };
        // The first rank writes the file. The other ranks only send their parts.
        match life.ranks().is_first() {
            true => out.write(size, life.universe().rule.states() > 2, &metadata, parts)?,
            false => parts(&mut |_| Ok(()))?,
        }
    }
    report::note(&format!("wrote {out}"));
    Ok(())
}

/// Checks that the universe is Conway's rule on a plane or a torus. A census identifies only the objects of that rule.
fn check_census(universe: &Universe) -> Result<(), UsageError> {
    let is_known = universe.is_unbounded() || matches!(universe.topology, Topology::TORUS | Topology::Plane);
    if universe.rule == Rule::LIFE && is_known {
        return Ok(());
    }
    reject!("--census needs the rule B3/S23 on a torus or a plane: use that rule, or leave out --census")
}
