//! Defines the command line: a subcommand for each algorithm, each probe, and each task such as `check` or `list`.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use workbench::algorithm::Algorithm;
use workbench::catalogue::ALGORITHMS;

use crate::error::UsageError;
use crate::{bench, check, devices, explain, learn, list, measure, new, probe, ranks, report, stream};

/// CUDA kernels written in Rust, on an NVIDIA GPU or in a simulator
#[derive(Parser, Debug)]
#[command(name = units::program(), version, propagate_version = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand, Debug)]
enum Command {
    Life(life_app::command::LifeOptions),
    Stream(stream::command::StreamOptions),
    Bench(bench::command::BenchOptions),
    Bandwidth(probe::bandwidth::BandwidthOptions),
    Access(probe::access::AccessOptions),
    Divergence(probe::divergence::DivergenceOptions),
    Schedule(probe::schedule::ScheduleOptions),
    Explain(explain::command::ExplainOptions),
    Check(check::CheckOptions),
    List(list::ListOptions),
    Devices(devices::DevicesOptions),
    New(new::NewOptions),
    Learn(learn::LearnOptions),
}

/// The commands that may run on several ranks, besides those of the algorithms.
const RUN_ON_RANKS: [&str; 2] = ["life", "bench"];

/// Returns the algorithms whose command [`measure::command`] makes. Life is not among them, because its command
/// `host life` shows a board.
fn measured() -> impl Iterator<Item = &'static dyn Algorithm> {
    ALGORITHMS
        .iter()
        .copied()
        .filter(|algorithm| !Cli::command().get_subcommands().any(|own| own.get_name() == algorithm.name()))
}

/// Returns the definition of the command line: the commands of [`Command`], and one for each algorithm.
pub(crate) fn definition() -> clap::Command {
    measured()
        .fold(Cli::command(), |cli, algorithm| cli.subcommand(measure::command::command(algorithm).display_order(0)))
}

/// Runs the command line of this process, and prints its error if it fails.
pub fn main() -> ExitCode {
    ranks::finish(ranks::begin().and_then(|()| run(std::env::args_os())))
}

/// Runs a command line, whose first argument is the name of the program.
///
/// # Errors
/// [`UsageError`] if the command line is wrong; otherwise the error of the command.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> anyhow::Result<()> {
    let mut definition = definition();
    let matches = match definition.try_get_matches_from_mut(arguments) {
        Ok(matches) => matches,
        Err(error) if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            return report::print(&error.render().to_string());
        }
        Err(error) => return Err(UsageError(one_line(&error)).into()),
    };
    if let Some((name, matches)) = matches.subcommand()
        && let Some(algorithm) = measured().find(|algorithm| algorithm.name() == name)
    {
        return measure::command::run(algorithm, matches);
    }
    if let Some((name, _)) = matches.subcommand().filter(|(name, _)| !RUN_ON_RANKS.contains(name)) {
        ranks::one_alone(name)?;
    }
    match Cli::from_arg_matches(&matches)?.command {
        None => report::print(&definition.render_help().to_string()),
        Some(Command::Life(options)) => options.run(ranks::communicator()),
        Some(Command::Stream(options)) => options.run(),
        Some(Command::Bench(options)) => options.run(),
        Some(Command::Bandwidth(options)) => options.run(),
        Some(Command::Access(options)) => options.run(),
        Some(Command::Divergence(options)) => options.run(),
        Some(Command::Schedule(options)) => options.run(),
        Some(Command::Explain(options)) => options.run(),
        Some(Command::Check(options)) => options.run(),
        Some(Command::List(options)) => options.run(),
        Some(Command::Devices(options)) => options.run(),
        Some(Command::New(options)) => options.run(),
        Some(Command::Learn(options)) => options.run(),
    }
}

/// Returns clap's message and tips in one line, without the usage text.
fn one_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let text = text.split("\nUsage:").next().unwrap_or_default();
    let text = text.split("\nFor more information").next().unwrap_or_default();
    let parts: Vec<_> = text.split("\n\n").map(|part| part.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let parts: Vec<_> = parts.iter().filter(|part| !part.is_empty()).map(String::as_str).collect();
    format!("{} (see --help)", parts.join("; ").trim_start_matches("error: "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(line: &str) -> String {
        let error = definition().try_get_matches_from(line.split_whitespace()).unwrap_err();
        one_line(&error)
    }

    #[test]
    fn the_definition_is_consistent() {
        definition().debug_assert();
    }

    #[test]
    fn every_command_says_what_it_does() {
        let definition = definition();
        for algorithm in measured() {
            let command = definition.find_subcommand(algorithm.name()).unwrap();
            assert_eq!(command.get_about().unwrap().to_string(), algorithm.about().lines().next().unwrap());
        }
    }

    /// Parses every command line of the README and of the pages in `docs/`.
    #[test]
    fn the_commands_of_the_documents_are_understood() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let in_docs = std::fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
        let pages = ["README.md", "CONTRIBUTING.md"].map(|page| root.join(page)).into_iter().chain(in_docs);
        let mut count = 0;
        for page in pages.filter(|page| page.extension().is_some_and(|extension| extension == "md")) {
            let text = std::fs::read_to_string(&page).unwrap();
            for line in text.lines().filter(|line| line.contains("cargo run") && line.contains(" -p host -- ")) {
                let (_, arguments) = line.split_once(" -p host -- ").unwrap();
                let arguments = arguments.split(['`', '#']).next().unwrap().split_whitespace();
                let parsed = definition().try_get_matches_from(std::iter::once("host").chain(arguments));
                assert!(parsed.is_ok(), "{}: {line}: {}", page.display(), parsed.unwrap_err());
                count += 1;
            }
        }
        assert!(count >= 20, "{count}");
    }

    #[test]
    fn a_wrong_line_is_explained_in_one() {
        for (line, parts) in [
            ("host lif", &["unrecognized subcommand 'lif'", "'life'"][..]),
            ("host life --sise 4x4", &["unexpected argument '--sise'", "'--size'"]),
            ("host life --size 4", &["'4'", "--size", "640x480"]),
            ("host life --density 2", &["'2'", "--density", "0 to 1"]),
            ("host life --fps 0", &["'0'", "--fps", "1..=240"]),
            ("host life --rung bitpackd", &["bitpackd", "--rung", "bitpacked"]),
            ("host life --device tpu", &["tpu", "--device", "auto", "gpu:N", "sim"]),
            ("host life --seed x", &["'x'", "--seed"]),
            ("host life a.rle --density 0.5", &["--density", "cannot be used with"]),
            ("host saxpy --n many", &["'many'", "--n", "2^20"]),
            ("host reduce --n -5", &["'-5'", "--n", "2^20"]),
            ("host saxpy --rung strided", &["strided", "--rung", "grid_stride"]),
            ("host saxpy --kernel strided", &["strided", "--rung", "grid_stride"]),
        ] {
            let message = failure(line);
            assert!(!message.contains('\n') && !message.contains("error:"), "{line}: {message}");
            for part in parts {
                assert!(message.contains(part), "{line}: {message}");
            }
        }
    }
}
