//! The commands of the algorithms, such as `host reduce` and `host scan`. Each command measures the time and bandwidth
//! of the algorithm's rungs, and compares their results with the reference.
//!
//! # Design
//!
//! If the inputs are small, the driver compiles the kernels while the command opens the GPU. To predict these kernels,
//! the command records its launches on a simulated device that has as many multiprocessors as the GPU. A wrong
//! prediction costs time only.

use std::num::NonZeroUsize;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use cuda_std::{KernelInfo, Rung, UnknownRung};
use gridstride::{MODULES, Size};
use launch::{Device, Queue, Simulator, compile_beside};
use units::alternatives;
use workbench::WorkbenchError;
use workbench::algorithm::{Algorithm, Inputs, Options, ProblemOption, Purpose, Shape, parse_type};
use workbench::inputs::REMEDY;

use super::{Facts, MeasureOptions, Report, check_memory, copy_speed, help, median_time, split};
use crate::error::{UsageError, usage_or_failure};
use crate::options::parse_count;
use crate::ranks;
use crate::report::progress;

/// The maximum size of a small problem's inputs, in bytes. Making such inputs takes less time than compiling the
/// kernels.
const SMALL_BYTES: u64 = 16 << 20;

/// Returns the command of an algorithm.
pub fn command(algorithm: &'static dyn Algorithm) -> Command {
    let about = algorithm.about();
    let command = Command::new(algorithm.name()).arg(shape_argument(algorithm));
    let options = algorithm.options().iter().map(|option| option_argument(algorithm, *option));
    // `about` comes last, because `augment_args` sets it to the documentation of the flags.
    MeasureOptions::augment_args(command.args(options).arg(rung_argument(algorithm)))
        .about(about.lines().next().unwrap_or_default())
        .long_about(about)
        .after_long_help(help(algorithm.rungs()))
}

/// Returns the argument `--n` or `--size`.
fn shape_argument(algorithm: &dyn Algorithm) -> Arg {
    let default = |simulated| algorithm.default_shape(None, Purpose::Measure { simulated });
    match (default(false), default(true)) {
        (Shape::Vector(gpu), Shape::Vector(simulator)) => {
            Arg::new("n").value_name("N").value_parser(parse_count).allow_negative_numbers(true).help(format!(
                "Elements of a vector, such as 1000000, 1_000_000 or 2^28 [default: 2^{}, in the simulator 2^{}]",
                gpu.ilog2(),
                simulator.ilog2()
            ))
        }
        (gpu, simulator) => Arg::new("size")
            .value_name("WxH")
            .value_parser(clap::value_parser!(Size))
            .help(format!("Width x height, such as 16384x16384 [default: {gpu}, in the simulator {simulator}]")),
    }
    .long(match default(false) {
        Shape::Vector(_) => "n",
        Shape::Plane(_) => "size",
    })
}

fn option_argument(algorithm: &'static dyn Algorithm, option: ProblemOption) -> Arg {
    let ProblemOption { name, value, help, default, check } = option;
    let argument = Arg::new(name).long(name).help(help);
    if value.is_empty() {
        return argument.action(ArgAction::SetTrue);
    }
    let argument = argument.value_name(value).default_value(default).allow_negative_numbers(true);
    if name != ProblemOption::NUMBER.name {
        return argument.value_parser(move |text: &str| check(text).map(|()| text.to_owned()));
    }
    let names: Vec<&str> = algorithm.types().iter().map(|number| number.name()).collect();
    argument
        .help(format!("{help}: {}", alternatives(&names)))
        .value_parser(move |text: &str| parse_type(algorithm.name(), &algorithm.types(), text).map(|_| text.to_owned()))
}

fn rung_argument(algorithm: &'static dyn Algorithm) -> Arg {
    let names: Vec<&str> = algorithm.rungs().iter().map(|rung| rung.name).collect();
    Arg::new("rung")
        .long("rung")
        .alias("kernel")
        .value_name("NAME")
        .default_value("all")
        .value_parser(move |text: &str| parse_rung(algorithm, text))
        .help(format!("Rung: {}, or all that support the other options", names.join(", ")))
}

/// Returns the rung of that name, or `None` for `all`.
fn parse_rung(algorithm: &'static dyn Algorithm, text: &str) -> Result<Option<&'static Rung>, UnknownRung> {
    let rung = algorithm.rungs().iter().find(|rung| rung.name == text);
    if rung.is_some() || text == "all" {
        return Ok(rung);
    }
    let known = algorithm.rungs().iter().map(|rung| rung.name).chain(["all"]).collect();
    Err(UnknownRung { algorithm: algorithm.name(), name: text.to_owned(), known })
}

/// Returns the values of the options that are specific to the algorithm. Without `--type`, the element type is that of
/// `rung`.
fn options(algorithm: &dyn Algorithm, rung: Option<&Rung>, matches: &ArgMatches, seed: u64) -> Options {
    let mut options = Options::default().seeded(seed);
    for option in algorithm.options() {
        if !option.value.is_empty() {
            let value = matches.get_one::<String>(option.name).map_or(option.default, String::as_str);
            options.set(option.name, value);
        } else if matches.get_flag(option.name) {
            options.set(option.name, "");
        }
    }
    let name = ProblemOption::NUMBER.name;
    if let Some(number) = rung.and_then(|rung| algorithm.default_type(rung))
        && options.get(name).is_some()
        && matches.value_source(name) == Some(ValueSource::DefaultValue)
    {
        options.set(name, number.name());
    }
    options
}

/// A parsed command line.
struct Request {
    algorithm: &'static dyn Algorithm,
    /// The shape of the problem; `None` for the default shape of the device.
    shape: Option<Shape>,
    options: Options,
    /// The chosen rung; `None` for all.
    rung: Option<&'static Rung>,
}

impl Request {
    /// Returns the requested rungs, including rungs that do not support the options.
    fn rungs(&self) -> &'static [Rung] {
        self.rung.map_or(self.algorithm.rungs(), std::slice::from_ref)
    }

    /// Predicts which kernels the command will launch for a small problem on a GPU with `multiprocessors`
    /// multiprocessors. Returns `None` for a problem of more than [`SMALL_BYTES`].
    fn kernels(&self, multiprocessors: u32) -> Option<Vec<&'static KernelInfo>> {
        let workers = NonZeroUsize::new(multiprocessors as usize)?;
        let device = Device::simulated(Simulator::new().with_workers(workers));
        let problem = self.algorithm.problem(self.shape?, &self.options).ok()?;
        if problem.bytes() > SMALL_BYTES {
            return None;
        }
        let rungs: Vec<_> = self.rungs().iter().filter(|rung| problem.check(&device, rung).is_ok()).collect();
        let mut inputs = problem.inputs(&device).ok()?;
        device.kernels_of(|queue| launch_all(&mut *inputs, &rungs, queue)).ok()
    }

    /// Measures on the devices, and prints the report.
    fn measure(&self, measure: &MeasureOptions) -> anyhow::Result<()> {
        let algorithm = self.algorithm;
        let (group, ranks) = (measure.device.open()?, ranks::communicator());
        let device = group.members()[0].clone();
        let members = group.members().len() * ranks.size();
        let shape = self.shape.unwrap_or_else(|| {
            algorithm.default_shape(self.rung, Purpose::Measure { simulated: device.is_simulated() })
        });
        let problem = algorithm.problem(shape, &self.options).map_err(usage_or_failure)?;

        let (mut rungs, mut left_out) = (Vec::new(), Vec::new());
        for rung in self.rungs() {
            match problem.check(&device, rung) {
                Ok(()) => rungs.push(rung),
                Err(reason) if self.rung.is_some() => return Err(UsageError::of(reason).into()),
                Err(reason) => left_out.push((rung.name, reason)),
            }
        }
        for device in group.members() {
            check_memory(device, problem.memory_bytes(device, &rungs).div_ceil(members as u64), REMEDY)?;
        }
        let facts = Facts::of(&*problem, measure.seed);
        if members > 1 {
            let mut report = split::measure(&group, ranks, &*problem, algorithm.name(), rungs, facts)?;
            left_out.iter().for_each(|(rung, reason)| report.leave_out(rung, reason));
            return report.finish(measure.json);
        }
        let copy = copy_speed(&device, problem.bytes())?;
        let mut report = Report::new(&device, copy, algorithm.name(), problem.title(), facts, problem.bytes())
            .operations(problem.operations());
        left_out.iter().for_each(|(rung, reason)| report.leave_out(rung, reason));
        let mut inputs = problem.inputs(&device)?;
        device.load(|queue| launch_all(&mut *inputs, &rungs, queue))?;
        for rung in progress::rungs(rungs) {
            let mut prepared = inputs.prepare(rung)?;
            // The first run warms up; its result is checked.
            let deviation = prepared.verify(&device)?;
            let timing = median_time::<WorkbenchError>(&device, || prepared.run(device.queue()))?;
            report.add(rung.name, timing, deviation);
        }
        report.finish(measure.json)
    }
}

/// Launches each rung once.
fn launch_all(inputs: &mut dyn Inputs, rungs: &[&Rung], queue: Queue<'_>) -> Result<(), WorkbenchError> {
    rungs.iter().try_for_each(|rung| inputs.prepare(rung)?.run(queue))
}

/// Runs the command of an algorithm.
///
/// # Errors
/// [`UsageError`] if the rung does not support the options; another error if the device fails or has too little memory,
/// or a result is wrong.
pub fn run(algorithm: &'static dyn Algorithm, matches: &ArgMatches) -> anyhow::Result<()> {
    let measure = MeasureOptions::from_arg_matches(matches)?;
    let shape = match algorithm.default_shape(None, Purpose::Measure { simulated: false }) {
        Shape::Vector(_) => matches.get_one("n").map(|&n| Shape::Vector(n)),
        Shape::Plane(_) => matches.get_one("size").map(|&size| Shape::Plane(size)),
    };
    let rung = matches.get_one::<Option<&'static Rung>>("rung").copied().flatten();
    let options = options(algorithm, rung, matches, measure.seed);
    let request = Request { algorithm, shape, options, rung };
    match measure.device.device.as_one() {
        Some(choice) => {
            let kernels = |multiprocessors| request.kernels(multiprocessors).unwrap_or_default();
            compile_beside(choice, MODULES, kernels, || request.measure(&measure))
        }
        None => request.measure(&measure),
    }
}
