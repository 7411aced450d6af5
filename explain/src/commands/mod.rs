//! The commands `explain`, `check` and `bench` for the kernels of any program.
//!
//! # Design
//!
//! A program describes its launches once, as [cases](Case). The commands are part of its own binary, because only that
//! has its kernels. [`Commands::run`] takes over if the first argument names a command, and otherwise does nothing, so
//! that the program's own command line stays its own.

mod arguments;
mod case;
mod check;
mod expect;

use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind, Write};

use launch::{Device, DeviceChoice, PtxModule};
use serde::Serialize;
use units::{Bytes, Seconds, alternatives, grouped, number, table};

use self::arguments::{Arguments, COMMANDS, Format, Names};
use crate::check::Settings;
use crate::compare::{Baseline, BaselineError};
use crate::explainer::Explainer;
use crate::explanation::{Explanation, RungFigures, RungNames};
use crate::gpus::Gpu;
use crate::problem::Problem;
use crate::times::Times;

pub use self::case::{Case, CaseResult, Run};

/// The width of the text, in columns.
const COLUMNS: usize = 120;

/// The commands `explain`, `check` and `bench` of a program, for its own kernels.
///
/// ```no_run
/// use cuda_std::{Global, GlobalMut, kernel, thread};
/// use explain::{Case, Commands};
/// use launch::LaunchConfig;
///
/// /// `y[i] = x[i] + 1` for every `i`; any grid.
/// #[kernel]
/// pub fn add_one(x: Global<u32>, y: GlobalMut<u32>) {
///     for i in thread::grid_stride(y.len()) {
///         y.store(i, x.load(i) + 1);
///     }
/// }
///
/// fn main() {
///     # const PTX: &[launch::PtxModule] = &[];
///     let add_one = Case::new("add_one", |run| {
///         let input: Vec<u32> = (0..run.n() as u32).collect();
///         let x = run.device().upload(&input)?;
///         let mut y = run.device().alloc(run.n())?;
///         run.measure(8 * run.n(), || {
///             run.device().launch(LaunchConfig::new(64, 256), add_one(x.view(), y.view_mut()))
///         })?;
///         run.expect("y", &y, || input.iter().map(|x| x + 1).collect())
///     });
///     Commands::new(PTX).case(add_one).run(); // ends the process if the first argument is a command
///     println!("the program itself");
/// }
/// ```
#[derive(Debug)]
pub struct Commands {
    ptx: &'static [PtxModule],
    cases: Vec<Case>,
}

/// The output of a command.
#[derive(Debug, Default)]
struct Answer {
    /// The text for standard output.
    text: String,
    /// The reason why the command failed all the same, such as a fault of a kernel.
    failure: Option<String>,
}

/// The error of a command that has no output.
#[derive(Debug)]
enum Refusal {
    /// The command line is wrong, or asks for help.
    CommandLine(Box<clap::Error>),
    /// The command line names a case that does not exist, or a baseline that does not fit.
    Usage(String),
    /// The command failed.
    Failure(String),
}

impl From<clap::Error> for Refusal {
    fn from(error: clap::Error) -> Self {
        Self::CommandLine(Box::new(error))
    }
}

impl From<BaselineError> for Refusal {
    fn from(error: BaselineError) -> Self {
        match error {
            BaselineError::Unreadable(_) => Self::Failure(error.to_string()),
            BaselineError::Mismatch(_) => Self::Usage(error.to_string()),
        }
    }
}

impl Commands {
    /// Returns the commands of a program that embeds `ptx`, the result of `launch::include_ptx!`, without cases.
    pub fn new(ptx: &'static [PtxModule]) -> Self {
        Self { ptx, cases: Vec::new() }
    }

    /// Adds a case.
    pub fn case(mut self, case: Case) -> Self {
        self.cases.push(case);
        self
    }

    /// If the program's first argument is `explain`, `check` or `bench`, runs that command and ends the process. The
    /// exit code is 0 on success, 1 if a kernel has a fault or the command failed, and 2 if the command line is wrong.
    /// Otherwise does nothing.
    pub fn run(self) {
        let arguments: Vec<OsString> = std::env::args_os().collect();
        if arguments.get(1).is_some_and(|first| COMMANDS.iter().any(|command| first == command)) {
            std::process::exit(self.finish(arguments));
        }
    }

    /// Runs a command, prints its output, and returns the exit code.
    fn finish(&self, arguments: Vec<OsString>) -> i32 {
        let fail = |code: i32, text: &str| {
            say(&format!("error: {text}"));
            code
        };
        match self.answer(arguments) {
            Ok(Answer { text, failure }) => match (print(&text), failure) {
                (Err(error), _) => fail(1, &format!("cannot write to standard output: {error}")),
                (Ok(()), Some(failure)) => fail(1, &failure),
                (Ok(()), None) => 0,
            },
            Err(Refusal::CommandLine(error)) => {
                let _ = error.print();
                error.exit_code()
            }
            Err(Refusal::Usage(text)) => fail(2, &text),
            Err(Refusal::Failure(text)) => fail(1, &text),
        }
    }

    fn answer(&self, arguments: Vec<OsString>) -> Result<Answer, Refusal> {
        match arguments::parse(arguments)? {
            Arguments::Explain { names, n, gpu, baseline, html, json } => {
                let cases = self.chosen(&names)?;
                let mut explanation = self.explain(&cases, n, gpu)?;
                if let Some(baseline) = baseline {
                    explanation.compare(&self.baseline(&baseline, n, gpu)?)?;
                }
                explanation.next = Some(match cases[..] {
                    [case] => format!("cargo run -- check {}", case.name),
                    _ => "cargo run -- check".into(),
                });
                if let Some(path) = html {
                    let failed = |error| Refusal::Failure(format!("cannot write '{}': {error}", path.display()));
                    fs::write(&path, explanation.html()).map_err(failed)?;
                    say(&format!("wrote {}", path.display()));
                }
                let text = if json { as_json(&explanation)? } else { explanation.text(COLUMNS) };
                Ok(Answer { text, failure: None })
            }
            Arguments::Check { names, schedules, strict, thorough, format } => {
                let report = self.check(&names, &Settings::new(strict, &schedules), thorough)?;
                let text = match format {
                    Format::Text => report.text(),
                    Format::Json => as_json(&report)?,
                    Format::Sarif => as_json(&reports::sarif("check", report.findings()))?,
                };
                Ok(Answer { text, failure: report.verdict().err().map(|verdict| verdict.to_string()) })
            }
            Arguments::Bench { names, n, device, json } => {
                let rows = self.bench(&self.chosen(&names)?, n, device)?;
                let text = if json { as_json(&rows)? } else { BenchRow::table(&rows) };
                Ok(Answer { text, failure: None })
            }
        }
    }

    /// Returns the cases with these names, or all without names.
    fn chosen(&self, names: &Names) -> Result<Vec<&Case>, Refusal> {
        let known: Vec<&str> = self.cases.iter().map(|case| case.name).collect();
        match names.iter().find(|name| !known.contains(&name.as_str())) {
            Some(name) if known.is_empty() => {
                Err(Refusal::Usage(format!("no case is called '{name}': there are none")))
            }
            Some(name) => Err(Refusal::Usage(format!("no case is called '{name}': use {}", alternatives(&known)))),
            None => {
                let is_chosen = |case: &&Case| names.is_empty() || names.iter().any(|name| name == case.name);
                Ok(self.cases.iter().filter(is_chosen).collect())
            }
        }
    }

    fn explain(&self, cases: &[&Case], n: Option<usize>, gpu: &'static Gpu) -> Result<Explanation, Refusal> {
        let subject: Vec<&str> = cases.iter().map(|case| case.name).collect();
        let mut explanation = Explanation::new(subject.join(", "), gpu);
        let explainer = match Explainer::new(gpu).with_ptx(self.ptx) {
            Ok(explainer) => explainer,
            Err(why) => {
                explanation.notes.push(format!("registers, spills, local memory and occupancy are not known: {why}"));
                Explainer::new(gpu)
            }
        };
        for case in cases {
            let n = n.unwrap_or(case.explain_size);
            let run = explainer.profile(|device| case.run_once(device, n, None));
            let ((), kernels) = run.map_err(|error| failed(case, n, &*error))?;
            let names = RungNames::new("", case.name, kernels.first().map_or("", |kernel| kernel.summary));
            let problem = Problem { n: Some(n), elements: n as u64, ..Problem::default() };
            explanation.push(RungFigures::new(names, problem, kernels, gpu), false);
        }
        Ok(explanation)
    }

    /// Returns the baseline with this name: a case, or a file of JSON.
    fn baseline(&self, name: &str, n: Option<usize>, gpu: &'static Gpu) -> Result<Baseline, Refusal> {
        Ok(match Baseline::path(name) {
            Some(path) => Baseline::read(path)?,
            None => Baseline::of(&self.explain(&self.chosen(&vec![name.to_owned()])?, n, gpu)?)?,
        })
    }

    fn bench(&self, cases: &[&Case], n: Option<usize>, choice: DeviceChoice) -> Result<Vec<BenchRow>, Refusal> {
        let device = Device::open(choice, self.ptx).map_err(|error| {
            let why = match &error {
                launch::Error::NoDevice { reason, .. } => format!("{reason}; {}", reason.remedy()),
                error => error.to_string(),
            };
            Refusal::Failure(format!("bench times kernels on a GPU, and device {choice} cannot be used: {why}"))
        })?;
        if device.is_simulated() {
            let why = device.why_no_gpu().map_or_else(String::new, |why| format!(" ({why})"));
            return Err(Refusal::Failure(format!(
                "bench: the device is the simulator{why}, whose times say nothing about a GPU: run it on a machine \
                 with an NVIDIA GPU, with --device gpu; `explain` counts the memory traffic without a GPU"
            )));
        }
        say(&device.summary());
        let row = |case: &&Case| {
            let n = n.unwrap_or(case.bench_size);
            let (times, bytes) = case.run_timed(&device, n).map_err(|error| failed(case, n, &*error))?;
            Ok(BenchRow { case: case.name, n, bytes, gbps: times.gbps(bytes as f64), times })
        };
        cases.iter().map(row).collect()
    }
}

/// The times of a case on a GPU.
#[derive(Debug, Serialize)]
struct BenchRow {
    case: &'static str,
    n: usize,
    /// The number of useful bytes.
    bytes: u64,
    /// The useful bytes divided by the median time, in GB/s of 10⁹ bytes.
    gbps: f64,
    #[serde(flatten)]
    times: Times,
}

impl BenchRow {
    fn table(rows: &[Self]) -> String {
        let heading = ["case", "n", "useful", "median", "quartiles", "GB/s", "runs"];
        let row = |row: &Self| {
            let Times { runs, low, median, high } = row.times;
            [
                row.case.to_owned(),
                grouped(row.n as u64),
                Bytes(row.bytes).to_string(),
                Seconds(median).to_string(),
                format!("{} – {}", Seconds(low), Seconds(high)),
                number(row.gbps),
                runs.to_string(),
            ]
        };
        format!("{}\n", table(heading, rows.iter().map(row)))
    }
}

fn failed(case: &Case, n: usize, error: &(dyn Error + Send + Sync)) -> Refusal {
    Refusal::Failure(format!("{}, n = {n}: {error}", case.name))
}

fn as_json(value: &impl Serialize) -> Result<String, Refusal> {
    let text = serde_json::to_string_pretty(value);
    text.map_err(|error| Refusal::Failure(format!("cannot express the result as JSON: {error}")))
}

/// Prints `text` on standard output, and adds a line end if the text has none. A reader that has closed it is no
/// failure.
fn print(text: &str) -> io::Result<()> {
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let mut out = io::stdout().lock();
    match write!(out, "{text}{end}").and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Prints a line on standard error. A closed standard error is no failure.
fn say(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

#[cfg(test)]
mod tests;
