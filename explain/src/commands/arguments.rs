//! The command line of the commands.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use launch::{DeviceChoice, Schedule};
use units::parse_count;

use crate::check::thorough;
use crate::gpus::Gpu;

/// The names of the commands.
pub(super) const COMMANDS: [&str; 3] = ["explain", "check", "bench"];

/// The names of the cases to run; empty for all.
pub(super) type Names = Vec<String>;

/// A parsed command line.
#[derive(Debug)]
pub(super) enum Arguments {
    Explain {
        names: Names,
        n: Option<usize>,
        gpu: &'static Gpu,
        baseline: Option<String>,
        html: Option<PathBuf>,
        json: bool,
    },
    Check {
        names: Names,
        schedules: Vec<Schedule>,
        strict: bool,
        thorough: Option<Duration>,
        format: Format,
    },
    Bench {
        names: Names,
        n: Option<usize>,
        device: DeviceChoice,
        json: bool,
    },
}

/// The format of a check's report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Format {
    Text,
    Json,
    Sarif,
}

/// Parses a command line, whose first argument is the program's name.
///
/// # Errors
/// The error or the help of the parser.
pub(super) fn parse(arguments: Vec<OsString>) -> Result<Arguments, clap::Error> {
    let mut matches = definition().try_get_matches_from(arguments)?;
    let (name, mut matches) = matches.remove_subcommand().unwrap_or_default();
    let names = matches.remove_many("case").map_or_else(Vec::new, Iterator::collect);
    Ok(match name.as_str() {
        "explain" => Arguments::Explain {
            names,
            n: matches.remove_one("n"),
            gpu: matches.remove_one("gpu").unwrap_or_else(Gpu::default_gpu),
            baseline: matches.remove_one("baseline"),
            html: matches.remove_one("html"),
            json: matches.get_flag("json"),
        },
        "bench" => Arguments::Bench {
            names,
            n: matches.remove_one("n"),
            device: matches.remove_one("device").unwrap_or(DeviceChoice::Gpu(None)),
            json: matches.get_flag("json"),
        },
        _ => Arguments::Check {
            names,
            schedules: matches.remove_many("schedule").map_or_else(Vec::new, Iterator::collect),
            strict: matches.get_flag("strict"),
            thorough: matches.remove_one("thorough"),
            format: format(&matches),
        },
    })
}

fn format(matches: &ArgMatches) -> Format {
    match (matches.get_flag("json"), matches.get_flag("sarif")) {
        (true, _) => Format::Json,
        (_, true) => Format::Sarif,
        _ => Format::Text,
    }
}

fn definition() -> Command {
    let case = || Arg::new("case").value_name("CASE").num_args(0..).help("The cases to run [default: all]");
    let n = || Arg::new("n").long("n").value_name("N").value_parser(parse_count);
    let flag = |name: &'static str, help: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue).help(help);
    let json = || flag("json", "Print one JSON value");
    let gpus: Vec<&str> = Gpu::ALL.iter().map(|gpu| gpu.id).collect();
    let explain = Command::new("explain")
        .about("Explain what a GPU's memory system does for the kernels, line by line")
        .arg(case())
        .arg(n().help("The size of the cases, such as 100_000 or 2^20 [default: that of each case]"))
        .arg(Arg::new("gpu").long("gpu").value_name("NAME").value_parser(Gpu::find).help(format!(
            "The GPU to model: {} [default: {}]",
            gpus.join(", "),
            Gpu::DEFAULT
        )))
        .arg(
            Arg::new("baseline")
                .long("baseline")
                .value_name("CASE|FILE.json")
                .help("Compare with another case, or with a file that an earlier `explain --json` printed"),
        )
        .arg(
            Arg::new("html")
                .long("html")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .help("Also write the report to FILE as one HTML page"),
        )
        .arg(json());
    let check = Command::new("check")
        .about("Check the kernels in the simulator for races, barrier faults, uninitialised reads and wrong results")
        .arg(case())
        .arg(
            Arg::new("schedule")
                .long("schedule")
                .value_name("NAME:SEED")
                .action(ArgAction::Append)
                .value_parser(|text: &str| text.parse::<Schedule>().map_err(|error| error.to_string()))
                .help("An order of the threads; it may be given several times [default: eight hostile orders]"),
        )
        .arg(flag("strict", "Assume that shuffles and votes order no memory accesses"))
        .arg(
            Arg::new("thorough")
                .long("thorough")
                .value_name("SECONDS")
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value(thorough::DEFAULT_SECONDS)
                .value_parser(thorough::parse_seconds)
                .help("Also search more orders, for up to SECONDS per kernel (10 without a value)"),
        )
        .arg(json().conflicts_with("sarif"))
        .arg(flag("sarif", "Print the faults as SARIF, for editors and CI"));
    let bench = Command::new("bench")
        .about("Time the kernels on a GPU, by device events")
        .arg(case())
        .arg(n().help("The size of the cases, such as 100_000_000 or 2^28 [default: that of each case]"))
        .arg(
            Arg::new("device")
                .long("device")
                .value_name("DEVICE")
                .value_parser(|text: &str| text.parse::<DeviceChoice>().map_err(|error| error.to_string()))
                .help("The GPU: gpu or gpu:N [default: gpu]"),
        )
        .arg(json());
    Command::new("commands").subcommand_required(true).subcommands([explain, check, bench])
}
