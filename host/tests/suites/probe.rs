//! Tests the commands of the probes.

use std::fs;
use std::path::Path;
use std::process::Command;

struct Outcome {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

fn host(arguments: &[&str]) -> Outcome {
    let output = Command::new(env!("CARGO_BIN_EXE_host")).args(arguments).output().unwrap();
    Outcome {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Asserts that a command fails with `code`, no standard output, and a last line `error: …` that contains `parts`.
#[track_caller]
fn assert_fails(arguments: &[&str], code: i32, parts: &[&str]) {
    let outcome = host(arguments);
    let last = outcome.stderr.lines().last().unwrap_or_default();
    assert_eq!(outcome.code, Some(code), "{arguments:?}: {}", outcome.stderr);
    assert!(last.starts_with("error: "), "{}", outcome.stderr);
    assert_eq!(outcome.stderr.matches("error: ").count(), 1, "{}", outcome.stderr);
    for part in parts {
        assert!(last.contains(part), "{part}: {last}");
    }
    assert_eq!(outcome.stdout, "");
}

const MEASURING: [&[&str]; 4] = [&["bandwidth", "copy"], &["access"], &["divergence"], &["schedule"]];

#[test]
fn the_simulator_is_no_machine_to_measure() {
    for arguments in MEASURING {
        let parts = [arguments[0], "the times of the simulator are those of the CPU", "--device gpu"];
        assert_fails(&[arguments, &["--device", "sim"]].concat(), 2, &parts);
    }
    assert_fails(&["schedule", "--device", "sim"], 2, &["--print"]);
}

/// Tests `--device auto` on a machine without a GPU: it opens the simulator, the command fails, and no plot is written.
#[test]
fn without_a_gpu_auto_says_so_too() {
    if launch::gpus().is_ok() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let plot = folder.path().join("plot.svg");
    for arguments in MEASURING {
        let arguments = [arguments, &["--plot", plot.to_str().unwrap()]].concat();
        assert_fails(&arguments, 2, &["the times of the simulator are those of the CPU"]);
        assert_fails(&[&arguments[..], &["--device", "gpu"]].concat(), 1, &["gpu"]);
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn what_is_typed_wrongly_exits_with_2() {
    for arguments in MEASURING {
        assert_fails(&[arguments, &["--plot", "plot.pdf"]].concat(), 2, &["plot.pdf", ".svg", ".png"]);
        assert!(!Path::new("plot.pdf").exists());
    }
    for (arguments, parts) in [
        (&["bandwidth"][..], &["WHAT"][..]),
        (&["bandwidth", "move"], &["move", "copy_alternating"]),
        (&["bandwidth", "read", "--operand", "3"], &["'3'", "1, 2, 4, 8, 16"]),
        (&["bandwidth", "read", "--bytes", "many"], &["many", "2^20"]),
        (&["bandwidth", "read", "--bytes", "15"], &["15", "16 bytes"]),
        (&["access", "--n", "0"], &["--n", "at least 1"]),
        (&["divergence", "--rounds", "1,x"], &["'x'", "--rounds"]),
        (&["schedule", "--threads", "1025"], &["1025", "1..=1024"]),
        (&["schedule", "--blocks", "0"], &["'0'", "--blocks"]),
        (&["schedule", "--print", "--json"], &["--print", "--json"]),
        (&["schedule", "--print", "--plot", "a.svg"], &["--print", "--plot"]),
        (&["schedule", "--print", "--blocks", "100000", "--device", "sim"], &["4096", "fewer"]),
    ] {
        assert_fails(arguments, 2, parts);
    }
}

#[test]
fn a_plot_that_cannot_be_written_is_told_before_anything_is_measured() {
    for arguments in MEASURING {
        assert_fails(&[arguments, &["--plot", "none/such/plot.svg"]].concat(), 1, &["there is no folder", "none/such"]);
    }
}

#[test]
fn help_tells_of_plots_and_formats() {
    for arguments in MEASURING {
        let outcome = host(&[arguments[0], "--help"]);
        assert_eq!(outcome.code, Some(0));
        for part in ["Usage: host", "--plot <FILE>", ".svg or .png", "--json", "--device <DEVICE>"] {
            assert!(outcome.stdout.contains(part), "{part}: {}", outcome.stdout);
        }
    }
    let all = host(&["--help"]).stdout;
    assert!(MEASURING.iter().all(|arguments| all.contains(arguments[0])), "{all}");
}

#[test]
fn the_simulator_prints_its_order() {
    let outcome = host(&["schedule", "--print", "--device", "sim"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(outcome.stdout.lines().count(), 16, "{}", outcome.stdout);
    assert!(outcome.stdout.contains("block 3 of 4, warp 1, thread 48: multiprocessor 0"), "{}", outcome.stdout);
    let outcome = host(&["schedule", "--print", "--device", "sim", "--blocks", "1", "--threads", "1"]);
    assert_eq!(outcome.stdout, "block 0 of 1, warp 0, thread 0: multiprocessor 0\n");
}
