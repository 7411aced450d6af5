//! Tests the numbers, the results and the limits of runs of `host life`.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::common::{Host, text};

const LIFE: Host = Host(&["life", "--no-animation"]);

fn object(arguments: &[&str]) -> Value {
    let output = LIFE.run(&[arguments, &["--json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn numbers_are_written_as_powers() {
    let found = object(&["--size", "2^5x2^4", "--seed", "2^3", "--generations", "2^4", "--device", "cpu"]);
    let keys = ["width", "height", "seed", "generations", "first_generation"];
    assert_eq!(keys.map(|key| found[key].as_u64()), [32, 16, 8, 16, 0].map(Some));
    for arguments in [["--generations", "1e3"], ["--seed", "abc"], ["--stats-every", "x"], ["--fps", "1.5"]] {
        LIFE.assert_fails(&arguments, 2, &[arguments[0], arguments[1], "not a whole number", "2^20"]);
    }
    LIFE.assert_fails(&["--size", "2^xx4"], 2, &["2^xx4", "the width '2^'"]);
}

#[test]
fn json_has_the_generation_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (file, checkpoint) = (path("a.rle"), path("a.checkpoint"));
    fs::write(&file, "#CXRLE Pos=0,0 Gen=30\nx = 3, y = 3, rule = B3/S23:T20,20\nbo$2bo$3o!").unwrap();
    let first = object(&[&file, "--generations", "12", "--checkpoint", &checkpoint, "--device", "cpu"]);
    assert_eq!((&first["first_generation"], &first["generations"]), (&json!(30), &json!(12)));
    assert_eq!(first["resumed_at"], Value::Null);
    let resumed = object(&[&checkpoint, "--generations", "20", "--device", "cpu"]);
    assert_eq!((&resumed["first_generation"], &resumed["resumed_at"]), (&json!(30), &json!(12)));
}

/// Tests that a long run without a terminal reports its progress. The test shortens the interval of a minute.
#[test]
fn a_long_run_says_how_far_it_is() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_host"));
    command.args(["life", "--no-animation", "--size", "64x64", "--device", "cpu", "--generations", "2^50"]);
    command.env("GRIDSTRIDE_TEST_REPORTS_MS", "10").stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let line =
        lines.find(|line| line.as_ref().is_ok_and(|line| line.contains(" of 1,125,899,906,842,624 generations")));
    child.kill().unwrap();
    child.wait().unwrap();
    let line = line.unwrap().unwrap();
    assert!(line.contains("cell updates/s") && line.contains(" left"), "{line}");
}

/// Runs the program with a limit of a resource. As root, runs it as another user, because root has no limit of
/// processes. Returns `None` if that user may not read the program.
#[cfg(target_os = "linux")]
fn limited(resource: libc::__rlimit_resource_t, limit: u64, arguments: &[&str]) -> Option<std::process::Output> {
    use std::os::unix::process::CommandExt;
    let mut command = Command::new(env!("CARGO_BIN_EXE_host"));
    // SAFETY: the call has no conditions.
    if resource == libc::RLIMIT_NPROC && unsafe { libc::geteuid() } == 0 {
        command.uid(65534);
    }
    let limit = libc::rlimit { rlim_cur: limit, rlim_max: limit };
    // SAFETY: `setrlimit` is async-signal-safe, and `limit` is a valid value.
    unsafe {
        command.pre_exec(move || {
            if libc::setrlimit(resource, &limit) == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
        })
    };
    command.args(arguments).output().ok()
}

#[test]
#[cfg(target_os = "linux")]
fn a_limit_of_the_system_gets_one_error() {
    let life = ["life", "--no-animation", "--size", "64x64", "--generations", "3", "--device", "cpu"];
    let saxpy = ["saxpy", "--n", "2^28", "--device", "sim"];
    for (output, part) in [
        (limited(libc::RLIMIT_NPROC, 1, &life), "cannot start the worker threads"),
        (limited(libc::RLIMIT_AS, 1 << 30, &saxpy), "are needed on"),
        (limited(libc::RLIMIT_AS, 96 << 20, &["check", "all"]), "memory"),
    ] {
        let Some(output) = output else { continue };
        let stderr = text(&output.stderr);
        let last = stderr.lines().last().unwrap_or_default();
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert!(last.starts_with("error: ") && last.contains(part) && !stderr.contains("panicked"), "{stderr}");
    }
    // These commands need no further thread.
    for arguments in [&["saxpy", "--n", "2^10", "--device", "sim"][..], &["check", "scale"]] {
        let Some(output) = limited(libc::RLIMIT_NPROC, 1, arguments) else { continue };
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", text(&output.stderr));
    }
}
