//! The command `host life`: runs a board from a file or a seed, with or without an animation.

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, anyhow};
use clap::Args;
use cuda_std::Ladder;

use last_board::{check_census, why_no_census, write_last};
use launch::DeviceChoice;
use life::LifeRung;
use life_formats::FormatError;
use multi::ranks::Communicator;
use observer_options::{ObserverOptions, Until};
use program::error::Stopped;
use program::memory::{TooLittleMemory, available};
use program::options::{Size, number_in, parse_number, parse_share};
use program::report;
use program::signals::StopRequests;
use soup_options::PlaneSoupOptions;
use summary::Summary;

use crate::animation::{self, AnimationOptions};
use crate::backend::{Backend, DeviceSpec, memory};
use crate::board_file::BoardFile;
use crate::census::Census;
use crate::checkpoint::RunFacts;
use crate::fate::Outcome;
use crate::first_board::{BoardOptions, BoardPlan, Check, FirstBoard};
use crate::observers::recording::Frames;
use crate::observers::stability::{Search, Stability};
use crate::observers::{self, Observer};
use crate::ranks::Ranks;
use crate::simulation::{GrowingBoard, Outgrown};
use crate::timed_run::TimedRun;
use crate::universe::Universe;

mod last_board;
mod observer_options;
mod soup_options;
mod soups;
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
    #[arg(long, value_name = "N", value_parser = parse_number, conflicts_with = "file", allow_negative_numbers = true)]
    seed: Option<u64>,

    /// Generations to run, such as 1000 or 2^20, including those before a checkpoint [default: 1000, or the
    /// checkpoint's; an animation runs until you quit]
    #[arg(long, value_name = "N", value_parser = parse_number, allow_negative_numbers = true)]
    generations: Option<u64>,

    #[arg(long = "rung", alias = "kernel", value_name = "NAME", help = kernel_help())]
    kernel: Option<LifeRung>,

    /// Device: gpu, gpu:N, sim (simulator), cpu (vector instructions, no kernel), or auto: a GPU, else cpu, or sim with
    /// --rung. Several devices in bands: gpu:all, gpu:N,M,…, sim:COUNT
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    device: DeviceSpec,

    /// Frames per second of the animation
    #[arg(long, value_name = "N", default_value = "30", value_parser = number_in::<u16>(1..=240))]
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
        value_parser = number_in::<u64>(1..=u64::MAX),
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

/// The end of a run.
#[derive(Default)]
struct Ended {
    stopped: StoppedAt,
    /// The result of the search for a period.
    stability: Option<Stability>,
    /// What a pattern on the plane becomes, if it is not periodic as a whole.
    outcome: Option<Outcome>,
    /// The error of the last checkpoint if it could not be written.
    unsaved: Option<anyhow::Error>,
}

impl LifeOptions {
    /// Runs the command on the ranks of `communicator`.
    ///
    /// # Errors
    /// [`UsageError`](program::error::UsageError) for invalid options, [`Stopped`] after a signal, and other errors if
    /// the run fails.
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
        let mut opened = None;
        let first = self.first_board(ranks, screen, &mut |plan| {
            // Several ranks open their devices together, once all of them know the board.
            if ranks.size() == 1 {
                let backend = self.open_backend(ranks, plan, None, out.as_ref());
                opened = Some(backend.map_err(|error| match &plan.why_this_size {
                    Some(why) if error.is::<TooLittleMemory>() => error.context(why.clone()),
                    _ => error,
                })?);
            }
            Ok(())
        })?;
        let (first_size, facts) = (first.source.size(), first.facts.clone());
        let backend = match opened {
            Some(backend) => backend,
            None => self.open_backend(ranks, &first.plan(), facts.seed, out.as_ref())?,
        };

        let stop = StopRequests::watch().context("cannot watch for signals")?;
        let mut run = TimedRun::begin(&backend, &first.source, first.generation)?;
        let ended = if screen.is_some() {
            drop(first);
            self.animate(&mut run, &facts, &stop).map(|stopped| Ended { stopped, ..Ended::default() })
        } else {
            self.run_to_end(&mut run, &backend, first, out.as_ref(), &stop)
        };
        let Ended { stopped, stability, outcome, unsaved } = match ended {
            Err(error) if error.is::<Outgrown>() => {
                out.as_ref().map_or(Ok(()), |out| write_last(out, &run, &facts))?;
                return Err(error);
            }
            ended => ended?,
        };
        if let Some((signal, generation)) = stopped {
            let unwritten = out.map_or(String::new(), |out| format!("; {out} is not written"));
            let resume = self.observers.resume(unsaved);
            return Err(Stopped { signal, done: format!("generation {generation} is done{unwritten}{resume}") }.into());
        }

        let census = match (stability, &outcome) {
            (Some(_), Some(outcome)) if self.census => Some(Census::of_objects(outcome.objects())),
            (Some(Stability { period, .. }), None) if self.census => {
                run.life.engine().gathered()?.map(|board| Census::of_board(&board, period)).transpose()?
            }
            _ => None,
        };
        let no_census = (self.census && stability.is_none()).then(|| why_no_census(outcome.as_ref(), &run));
        let stability = self.is_until_stable().then_some(stability);
        let size = run.life.size();
        if size != first_size {
            let ((width, height), (w, h)) = (first_size, size);
            report::note(&format!(
                "the board grew from {width}x{height} to {w}x{h}, because the pattern reached its edges"
            ));
        }
        let summary = Summary::of(&mut run, &facts, (stability, outcome), census)?;
        out.as_ref().map_or(Ok(()), |out| write_last(out, &run, &facts))?;
        report::print_either(self.json, &summary, &summary.to_string())?;
        unsaved.or(no_census.map(|why| anyhow!(why))).map_or(Ok(()), Err)
    }

    /// Reads the first board from the file, or determines the soup if there is no file.
    fn first_board(&self, ranks: Ranks, screen: Option<Size>, check: Check<'_>) -> anyhow::Result<FirstBoard> {
        let may_use_plane = ranks.size() == 1 && (self.device == DeviceSpec::Cpu || self.is_device_free());
        let options = BoardOptions { ranks, rule: self.rule.as_deref(), size: self.size, screen, may_use_plane };
        let first = match &self.file {
            None => options.soup(self.density.unwrap_or(DENSITY), self.seed)?,
            Some(file) => options.read(file, check)?,
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

    /// Opens the back end for the first board that `plan` describes, and prints the back end's name. Then checks that
    /// memory suffices.
    fn open_backend(
        &self,
        ranks: Ranks,
        plan: &BoardPlan,
        seed: Option<u64>,
        out: Option<&BoardFile>,
    ) -> anyhow::Result<Backend> {
        let &BoardPlan { size, universe, suits_plane, min_plane_bytes, .. } = plan;
        let takes_cores = ranks.size() == 1 && universe.is_unbounded() && suits_plane && self.is_device_free();
        let device = if takes_cores { &DeviceSpec::Cpu } else { &self.device };
        let (backend, mut line) = Backend::open(ranks, device, self.kernel, size, universe)?;
        if takes_cores {
            line += ", which skip the dead parts of the plane (--device gpu selects a GPU)";
        }
        report::note(&line);
        if universe != Universe::default() {
            report::note(&format!("rule: {}", universe.text(size)));
        }
        if let Some(seed) = seed {
            report::note(&format!("soup: {}x{}, seed {seed}", size.0, size.1));
        }
        if self.census {
            check_census(&universe)?;
        }
        let is_in_bands = matches!(backend, Backend::Team(_));
        if matches!(backend, Backend::Cpu(_)) && universe.is_unbounded() {
            let free = available().unwrap_or(u64::MAX);
            if min_plane_bytes > free {
                let error = FormatError::TooLarge { needed: min_plane_bytes, free };
                return Err(error).context("cannot put the pattern on the plane");
            }
        }
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

    /// Runs to the end with the observers that the options select.
    fn run_to_end(
        &self,
        run: &mut TimedRun,
        backend: &Backend,
        first: FirstBoard,
        out: Option<&BoardFile>,
        stop: &StopRequests,
    ) -> anyhow::Result<Ended> {
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
        let (stability, outcome) = search.map_or((None, None), |search| (search.found, search.outcome));
        let unsaved = checkpoints.as_mut().and_then(|checkpoints| checkpoints.failure.take());
        Ok(Ended { stopped, stability, outcome, unsaved })
    }

    /// Returns true if neither `--device` nor `--rung` selects a device.
    fn is_device_free(&self) -> bool {
        self.kernel.is_none() && self.device == DeviceSpec::Device(DeviceChoice::Auto.into())
    }

    /// Returns true if the run continues until the board is periodic.
    fn is_until_stable(&self) -> bool {
        self.observers.until == Some(Until::Stable) || self.census
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
