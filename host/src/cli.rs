//! The command line: one subcommand an algorithm, one a probe, and what there is to run and to run on.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};

use crate::error::{self, UsageError};
use crate::{bench, check, devices, explain, life, list, probe, reduce, report, saxpy, scale, scan, stream, transpose};

/// CUDA kernels written in Rust, on an NVIDIA GPU or in a simulator
#[derive(Parser, Debug)]
#[command(name = "host", version, propagate_version = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

// What each does is said where its options are.
#[derive(Subcommand, Debug)]
enum Command {
    Life(life::command::LifeOptions),
    Saxpy(saxpy::command::SaxpyOptions),
    Scale(scale::command::ScaleOptions),
    Reduce(reduce::command::ReduceOptions),
    Scan(scan::command::ScanOptions),
    Transpose(transpose::command::TransposeOptions),
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
}

/// Runs the command that the process was started with and reports its failure.
pub fn main() -> ExitCode {
    error::finish(run(std::env::args_os()))
}

/// Runs one command line, the program's name first.
///
/// # Errors
/// [`UsageError`] when the line is wrong, and whatever makes the command fail.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> anyhow::Result<()> {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            return report::print(&error.render().to_string());
        }
        Err(error) => return Err(UsageError(one_line(&error)).into()),
    };
    match cli.command {
        None => report::print(&Cli::command().render_help().to_string()),
        Some(Command::Life(options)) => options.run(),
        Some(Command::Saxpy(options)) => options.run(),
        Some(Command::Scale(options)) => options.run(),
        Some(Command::Reduce(options)) => options.run(),
        Some(Command::Scan(options)) => options.run(),
        Some(Command::Transpose(options)) => options.run(),
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
    }
}

/// clap's explanation and tips in one line, without the usage that it adds below.
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
        let error = Cli::try_parse_from(line.split_whitespace()).unwrap_err();
        one_line(&error)
    }

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_wrong_line_is_explained_in_one() {
        for (line, parts) in [
            ("host lif", &["unrecognized subcommand 'lif'", "'life'"][..]),
            ("host life --sise 4x4", &["unexpected argument '--sise'", "'--size'"]),
            ("host life --size 4", &["'4'", "--size", "640x480"]),
            ("host life --density 2", &["'2'", "--density", "0 to 1"]),
            ("host life --fps 0", &["'0'", "--fps", "1..=240"]),
            ("host life --kernel bitpackd", &["bitpackd", "--kernel", "bitpacked"]),
            ("host life --device tpu", &["tpu", "--device", "auto", "gpu:N", "sim"]),
            ("host life --seed x", &["'x'", "--seed"]),
            ("host life a.rle --density 0.5", &["--density", "cannot be used with"]),
            ("host saxpy --n many", &["'many'", "--n", "2^20"]),
            ("host reduce --n -5", &["'-5'", "--n", "2^20"]),
            ("host saxpy --kernel strided", &["strided", "grid_stride"]),
        ] {
            let message = failure(line);
            assert!(!message.contains('\n') && !message.contains("error:"), "{line}: {message}");
            for part in parts {
                assert!(message.contains(part), "{line}: {message}");
            }
        }
    }
}
