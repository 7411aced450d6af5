//! Tests the program as several processes, which Open MPI's `mpirun` starts.

#[path = "suites/common/mod.rs"]
mod common;

use std::fs;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use common::text;
use serde_json::Value;

const HOST: &str = env!("CARGO_BIN_EXE_host");

/// The time within which all ranks must end after one of them has failed or was killed.
const SOON: Duration = Duration::from_secs(10);

/// Starts `mpirun` with `arguments`, which include the programs and their arguments.
fn start(arguments: &[&str]) -> Child {
    let mut command = Command::new("mpirun");
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    command.args(["--oversubscribe", "--bind-to", "none"]).args(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("mpirun is needed: apt-get install openmpi-bin")
}

/// Runs `mpirun` to its end and returns the output.
fn run(arguments: &[&str]) -> Output {
    start(arguments).wait_with_output().unwrap()
}

/// Asserts that a command failed with `code`. It must have printed nothing on standard output, and one error that
/// contains all of `parts`.
#[track_caller]
fn assert_failed(output: &Output, code: i32, parts: &[&str]) {
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{stderr}");
    assert!(output.stdout.is_empty(), "{}", text(&output.stdout));
    let errors: Vec<&str> = stderr.lines().filter(|line| line.starts_with("error: ")).collect();
    assert_eq!(errors.len(), 1, "{stderr}");
    for part in parts {
        assert!(errors[0].contains(part), "`{part}` is not in: {stderr}");
    }
}

/// Runs a command on `ranks` ranks, and returns the JSON object that one of them prints.
#[track_caller]
fn json(ranks: usize, arguments: &[&str]) -> Value {
    let output = run(&[&["-n", &ranks.to_string(), HOST], arguments, &["--json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn any_number_of_ranks_gives_right_results() {
    for ranks in 1..=4 {
        for arguments in [
            &["reduce", "--n", "10007", "--type", "i32", "--op", "product", "--rung", "grid_stride"][..],
            &[
                "scan",
                "--n",
                if ranks == 3 { "2" } else { "5009" },
                "--type",
                "i64",
                "--exclusive",
                "--rung",
                "look_back",
            ],
            &["saxpy", "--n", "10007", "--rung", "vectorised"],
            &["histogram", "--n", "10007", "--rung", "replicated"],
        ] {
            let device = if ranks == 2 { "sim:2" } else { "sim" };
            let report = json(ranks, &[arguments, &["--device", device]].concat());
            let members = if ranks == 2 { 4 } else { ranks };
            if members > 1 {
                assert_eq!((&report["members"], &report["ranks"]), (&members.into(), &ranks.into()), "{report}");
            }
            let kernel = &report["kernels"][0];
            assert!(kernel["wrong"].is_null() && kernel["of_bound"].as_f64().unwrap() <= 1.0, "{report}");
        }
    }
}

#[test]
fn patterns_are_read_and_written_in_bands() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("in.rle"), "#CXRLE Pos=-5,-9\nx = 9, y = 16, rule = B3/S23:T40,37\nbo$2bo$3o13$3o$o$bo!\n").unwrap();
    for name in ["out.rle", "out.cells", "out.png", "out.lif.gz", "out.mc"] {
        let work = ["life", &path("in.rle"), "--generations", "50", "--no-animation", "--out", &path(name)];
        let one = Command::new(HOST).args(work).args(["--device", "cpu"]).output().unwrap();
        assert!(one.status.success(), "{}", text(&one.stderr));
        let expected = fs::read(path(name)).unwrap();
        // The device does not affect how a format is written, so only RLE is tested on all devices.
        let devices = [("3", "cpu"), ("2", "sim"), ("2", "sim:2")];
        for (ranks, device) in devices.into_iter().take(if name == "out.rle" { 3 } else { 1 }) {
            fs::remove_file(path(name)).unwrap();
            let output = run(&[&["-n", ranks, HOST][..], &work[..], &["--device", device]].concat());
            assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
            assert_eq!(fs::read(path(name)).unwrap(), expected, "{name}, {ranks} ranks of {device}");
            // Simulators of different ranks are in different processes, so halos pass through page-locked memory.
            let says = text(&output.stdout).contains("halos through page-locked memory (no CUDA IPC)");
            assert_eq!(says, device != "cpu", "{}", text(&output.stdout));
        }
    }
}

#[test]
fn the_first_rank_alone_writes_what_a_benchmark_finds() {
    let folder = tempfile::tempdir().unwrap();
    let (file, plots) = (folder.path().join("run.json"), folder.path().join("plots"));
    let paths = [file.to_str().unwrap(), plots.to_str().unwrap()];
    let output = run(&[
        "-n", "3", HOST, "bench", "reduce", "scan", "--device", "sim", "--n", "1009", "--json", paths[0], "--plot",
        paths[1],
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout).matches("scaling on 3 × simulator, 3 processes").count(), 1);
    let recording: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let rows = recording["scaling"].as_array().unwrap();
    // The recording has rows for two sums and a scan, on 1, 2 and 3 members, with strong and weak scaling.
    assert_eq!(rows.len(), 3 * 3 * 2, "{recording}");
    assert!(plots.join("bench-scaling.svg").is_file());
}

#[test]
fn what_all_ranks_refuse_is_told_once() {
    assert_failed(&run(&["-n", "3", HOST, "reduce", "--n", "x"]), 2, &["rank 0 of 3: ", "--n"]);
    assert_failed(&run(&["-n", "2", HOST, "list"]), 2, &["host list runs as one process, and 2 were started"]);
    let output = run(&["-n", "2", HOST, "transpose", "--size", "9x5", "--device", "sim"]);
    assert_failed(&output, 2, &["transpose", "one device of one process"]);
}

#[test]
fn a_rank_that_fails_ends_the_others() {
    let begun = Instant::now();
    let work = ["scan", "--n", "1000", "--device"];
    let output =
        run(&[&["-n", "2", HOST], &work[..], &["sim", ":", "-n", "1", HOST], &work[..], &["gpu:4000000000"]].concat());
    assert_failed(&output, 1, &["rank 2 of 3: ", "gpu:4000000000"]);
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
}

#[test]
fn ranks_of_different_builds_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("host");
    fs::copy(HOST, &other).unwrap();
    // Bytes after the end of an executable do not change what it does.
    let mut bytes = fs::OpenOptions::new().append(true).open(&other).unwrap();
    std::io::Write::write_all(&mut bytes, b"another build").unwrap();
    drop(bytes);
    let begun = Instant::now();
    let work = ["reduce", "--n", "1000", "--device", "sim"];
    let output = run(&[&["-n", "1", HOST], &work[..], &[":", "-n", "1", other.to_str().unwrap()], &work[..]].concat());
    assert_failed(&output, 1, &["rank 1 is another build of the program than rank 0"]);
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
}

/// Returns a process's state and parent.
fn status(process: i32) -> Option<(String, u32)> {
    let status = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The fields follow the name, which ends with the last parenthesis.
    let mut after_name = status.rsplit(')').next()?.split_whitespace();
    Some((after_name.next()?.to_owned(), after_name.next()?.parse().ok()?))
}

/// Returns the processes that `parent` started.
fn children(parent: u32) -> Vec<i32> {
    let processes = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    processes.filter(|&process| status(process).is_some_and(|(_, by)| by == parent)).collect()
}

/// Returns true if a process exists and is not a zombie.
fn is_running(process: i32) -> bool {
    status(process).is_some_and(|(state, _)| state != "Z")
}

#[test]
fn a_rank_that_is_killed_ends_the_others() {
    // This scan takes minutes.
    let mut mpirun = start(&["-n", "3", HOST, "scan", "--n", "2^26", "--device", "sim", "--rung", "naive"]);
    let begun = Instant::now();
    let ranks = loop {
        let ranks = children(mpirun.id());
        if ranks.len() == 3 || begun.elapsed() > SOON {
            break ranks;
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    assert_eq!(ranks.len(), 3);
    // The ranks have joined each other, and are at work.
    std::thread::sleep(Duration::from_secs(3));
    assert!(mpirun.try_wait().unwrap().is_none(), "it must still be at work");
    // SAFETY: the call only sends a signal. mpirun started the process for this test and has not waited for it, so its
    // id is still valid.
    assert_eq!(unsafe { libc::kill(ranks[1], libc::SIGKILL) }, 0);
    let killed = Instant::now();
    while mpirun.try_wait().unwrap().is_none() && killed.elapsed() < 2 * SOON {
        std::thread::sleep(Duration::from_millis(50));
    }
    let took = killed.elapsed();
    let _ = mpirun.kill();
    let output = mpirun.wait_with_output().unwrap();
    assert!(took < SOON, "{took:?}");
    assert!(!output.status.success() && output.stdout.is_empty(), "{}", text(&output.stdout));
    // mpirun prints which rank failed, and how.
    assert!(text(&output.stderr).contains("signal 9"), "{}", text(&output.stderr));
    while ranks.iter().any(|&rank| is_running(rank)) && killed.elapsed() < SOON {
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(!ranks.iter().any(|&rank| is_running(rank)), "no rank is left");
}

/// Tests the protection of a checkpoint, whose file only the first rank locks and reads.
#[test]
fn the_checkpoint_of_another_run_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.checkpoint");
    let file = file.to_str().unwrap();
    let ranks = ["-n", "3", HOST, "life", "--device", "cpu", "--generations", "8"];
    let soup = [&ranks[..], &["--size", "90x40", "--seed", "2", "--checkpoint", file]].concat();
    assert_eq!(run(&soup).status.code(), Some(0));
    let whole = fs::read(file).unwrap();
    assert_failed(&run(&soup), 2, &["generation 8", "--overwrite"]);
    for more in [&[&soup[..], &["--overwrite"]].concat(), &[&ranks[..], &[file, "--checkpoint", file]].concat()] {
        let output = run(more);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert!(fs::read(file).unwrap() == whole);
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left over");
}
