//! Tests the command line: exit codes, messages, and the texts on standard output and standard error.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

const GLIDER: &str = "x = 3, y = 3, rule = B3/S23:T16,12\nbo$2bo$3o!\n";

struct Outcome {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

fn start<S: AsRef<OsStr>>(arguments: &[S]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_host"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn end(child: Child) -> Outcome {
    let output = child.wait_with_output().unwrap();
    Outcome {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

fn host<S: AsRef<OsStr>>(arguments: &[S]) -> Outcome {
    end(start(arguments))
}

fn host_with_input(arguments: &[&str], input: &str) -> Outcome {
    let mut child = start(arguments);
    let mut stdin = child.stdin.take().unwrap();
    // A child that stops before it has read everything closes the pipe.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    end(child)
}

/// Runs a command that succeeds, and returns its JSON object.
fn json(arguments: &[&str]) -> Value {
    let outcome = host(arguments);
    assert_eq!(outcome.code, Some(0), "{arguments:?}: {}", outcome.stderr);
    serde_json::from_str(&outcome.stdout).unwrap_or_else(|error| panic!("{error}: {}", outcome.stdout))
}

/// Asserts that a command failed with `code`, no standard output, and a last line `error: …` that contains `parts`.
#[track_caller]
fn assert_fails(outcome: &Outcome, code: i32, parts: &[&str]) {
    let last = outcome.stderr.lines().last().unwrap_or_default();
    assert_eq!(outcome.code, Some(code), "{}", outcome.stderr);
    assert!(last.starts_with("error: "), "{}", outcome.stderr);
    assert_eq!(outcome.stderr.matches("error: ").count(), 1, "{}", outcome.stderr);
    assert!(!outcome.stderr.contains("panicked"), "{}", outcome.stderr);
    for part in parts {
        assert!(last.contains(part), "{part}: {last}");
    }
    assert_eq!(outcome.stdout, "");
}

#[test]
fn help_and_version_are_results() {
    for arguments in [&[][..], &["--help"], &["help"], &["life", "--help"], &["saxpy", "-h"], &["devices", "--help"]] {
        let outcome = host(arguments);
        assert_eq!(outcome.code, Some(0), "{arguments:?}");
        assert!(outcome.stdout.contains("Usage: host"), "{arguments:?}: {}", outcome.stdout);
        assert_eq!(outcome.stderr, "", "{arguments:?}");
    }
    assert_eq!(host(&["--version"]).stdout, concat!("host ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn what_is_typed_wrongly_exits_with_2() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("row.cells");
    fs::write(&file, "OOOOO\n").unwrap();
    let file = file.to_str().unwrap();
    for (arguments, parts) in [
        (&["lief"][..], &["lief", "life"][..]),
        (&["life", "--sise", "8x8"], &["--sise", "--size"]),
        (&["life", "--size", "8"], &["'8'", "640x480"]),
        (&["life", "--size", "0x8"], &["width is 0"]),
        (&["life", "--size", "99999999999x99999999999"], &["too many cells"]),
        (&["life", "--density", "1.5"], &["1.5", "0 to 1"]),
        (&["life", "--density", "NaN"], &["0 to 1"]),
        (&["life", "--fps", "0"], &["1..=240"]),
        (&["life", "--fps", "241"], &["1..=240"]),
        (&["life", "--kernel", "bitpackt"], &["bitpackt", "bitpacked"]),
        (&["life", "--device", "gpu:x"], &["gpu:x", "auto"]),
        (&["life", "--generations", "-1"], &["-1"]),
        (&["life", "--out", "board.bmp"], &["board.bmp", ".rle", ".cells", ".png", ".gif"]),
        (&["life", "--size", "4x4", file], &["5x1", "4x4", "larger"]),
        (&["life", "--seed", "1", file], &["--seed"]),
        (&["life", "--size", "16384x16384", "--kernel", "shared", "--device", "sim"], &["shared", "another rung"]),
        (&["saxpy", "--n", "lots"], &["lots", "2^20"]),
        (&["saxpy", "--rung", "strided"], &["--rung", "strided", "grid_stride"]),
        (&["saxpy", "--a", "inf"], &["finite"]),
    ] {
        assert_fails(&host(arguments), 2, parts);
    }
}

#[test]
fn what_fails_exits_with_1() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("cut.rle"), "x = 3, y = 3\nbo$2bo$3").unwrap();
    fs::write(path("wire.rle"), "@RULE WireWorld\n").unwrap();
    fs::write(path("wireworld.rle"), "x = 1, y = 1, rule = WireWorld\no!").unwrap();
    for (arguments, parts) in [
        (vec!["life".into(), path("none.rle")], &["none.rle", "No such file"][..]),
        (vec!["life".into(), path("")], &["directory"]),
        (vec!["life".into(), path("cut.rle")], &["cut.rle", "line 2", "column"]),
        (vec!["life".into(), path("wire.rle")], &["wire.rle", "a Golly rule", ".mcl"]),
        (vec!["life".into(), path("wireworld.rle")], &["wireworld.rle", "WireWorld", "rule tables", "B3/S23"]),
        (vec!["life".into(), "--out".into(), path("none/a.rle")], &["none", "there is no folder"]),
        (
            ["life", "--size", "70000x1", "--device", "sim", "--out", &path("wide.gif")].map(String::from).into(),
            &["wide.gif", "65535"],
        ),
        (vec!["life".into(), "--device".into(), "gpu:4000000000".into()], &["gpu:4000000000", "sim"]),
    ] {
        assert_fails(&host(&arguments), 1, parts);
    }
}

#[test]
fn a_malformed_standard_input_is_named() {
    assert_fails(&host_with_input(&["life", "-"], "x = 3, y = 1\n5z!"), 1, &["standard input", "line 2"]);
}

/// Tests a file with too large a board. This is not a usage error, and the message says where the size comes from.
#[test]
#[cfg(target_os = "linux")]
fn a_pattern_that_gets_too_much_room_is_told_of_size() {
    // Some machines have, or promise, any amount of memory. The limit of 8 GiB is enough for everything else.
    let limited = |file: &str, input: &str| {
        let mut command = Command::new("sh");
        command.args(["-c", r#"ulimit -v 8388608 && exec "$0" "$@""#, env!("CARGO_BIN_EXE_host")]);
        command.args(["life", "--device", "sim", file]).stdin(Stdio::piped());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        end(child)
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("big.rle");
    let most = usize::MAX / 2;
    for (size, (width, height), rule, parts) in [
        ("1000000x1000000", (1_000_000, 1_000_000), "B3/S23", ["is twice as large", "board of 2000000x2000000 needs"]),
        (&format!("{most}x1"), (most, 1), "B3/S23", ["is twice as large", "too many cells"]),
        (&format!("{most}x{most}"), (most, most), "B3/S23", ["is twice as large", "too many cells"]),
        ("3x3", (3, 3), "B3/S23:T3000000,2000000", ["size in the file's rule", "board of 3000000x2000000 needs"]),
    ] {
        let text = format!("x = {width}, y = {height}, rule = {rule}\no!\n");
        fs::write(&file, &text).unwrap();
        let parts = [&["default board", "--size", size], &parts[..]].concat();
        assert_fails(&limited(file.to_str().unwrap(), ""), 1, &[&["big.rle"], &parts[..]].concat());
        assert_fails(&limited("-", &text), 1, &[&["standard input"], &parts[..]].concat());
    }
}

#[test]
fn the_object_has_what_programs_need() {
    let object = json(&["life", "--size", "64x48", "--seed", "7", "--generations", "20", "--device", "sim", "--json"]);
    assert_eq!(object["device"], "simulator");
    assert_eq!(object["kernel"], "bitpacked");
    assert_eq!((&object["width"], &object["height"]), (&64.into(), &48.into()));
    assert_eq!(object["generations"], 20);
    assert_eq!(object["seed"], 7);
    let seconds = object["seconds"].as_f64().unwrap();
    let speed = object["cell_updates_per_second"].as_f64().unwrap();
    assert!((speed * seconds / (64.0 * 48.0 * 20.0) - 1.0).abs() < 1e-6);
    assert!(object["population"].as_u64().unwrap() > 0);
}

#[test]
fn every_kernel_gives_the_same_board_for_a_seed() {
    let folder = tempfile::tempdir().unwrap();
    let boards: Vec<_> = ["global", "block", "shared", "bitpacked"]
        .into_iter()
        .map(|kernel| {
            let out = folder.path().join(format!("{kernel}.rle"));
            let out_text = out.to_str().unwrap();
            let common = ["--size", "33x31", "--seed", "5", "--generations", "17", "--device", "sim", "--json"];
            let object = json(&[&["life", "--kernel", kernel, "--out", out_text][..], &common].concat());
            assert_eq!(object["kernel"], kernel);
            fs::read_to_string(out).unwrap()
        })
        .collect();
    assert!(boards.iter().all(|board| *board == boards[0]));
    assert!(boards[0].contains("T33,31"), "{}", boards[0]);
}

#[test]
fn a_gif_holds_every_generation() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.gif");
    let arguments = ["life", "--size", "9x5", "--generations", "6", "--device", "sim", "--out"];
    let outcome = host(&[&arguments[..], &[path.to_str().unwrap()]].concat());
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let mut gif = gif::Decoder::new(fs::File::open(path).unwrap()).unwrap();
    let mut frames = 0;
    while gif.read_next_frame().unwrap().is_some() {
        frames += 1;
    }
    assert_eq!(frames, 7);
}

#[test]
fn a_file_goes_in_and_comes_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("glider.rle"), GLIDER).unwrap();
    // A glider returns to its column, of 16, after 4·16 generations. It returns to its row, of 12, as well after 4·48.
    let first = json(&[
        "life",
        &path("glider.rle"),
        "--generations",
        "0",
        "--out",
        &path("0.cells"),
        "--device",
        "sim",
        "--json",
    ]);
    assert_eq!((&first["width"], &first["height"], &first["population"]), (&16.into(), &12.into(), &5.into()));
    assert!(first.get("seed").is_none());
    json(&[
        "life",
        &path("0.cells"),
        "--size",
        "16x12",
        "--generations",
        "192",
        "--out",
        &path("192.cells"),
        "--device",
        "sim",
        "--json",
    ]);
    json(&[
        "life",
        &path("glider.rle"),
        "--generations",
        "64",
        "--out",
        &path("64.cells"),
        "--device",
        "sim",
        "--json",
    ]);
    let read = |name| fs::read_to_string(path(name)).unwrap();
    assert_eq!(read("0.cells"), read("192.cells"));
    assert_ne!(read("0.cells"), read("64.cells"));
    let outcome =
        host(&["life", &path("glider.rle"), "--generations", "1", "--out", &path("1.png"), "--device", "sim"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(fs::read(path("1.png")).unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn standard_input_is_read_as_rle_or_plaintext() {
    for text in [GLIDER, "!Name: Glider\n.O.\n..O\nOOO\n"] {
        let outcome = host_with_input(&["life", "-", "--generations", "4", "--device", "sim", "--json"], text);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        let object: Value = serde_json::from_str(&outcome.stdout).unwrap();
        assert_eq!(object["population"], 5);
    }
}

#[test]
fn a_result_is_one_line_and_remarks_go_to_standard_error() {
    let outcome = host(&["life", "--size", "32x32", "--generations", "3", "--device", "sim"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(outcome.stdout.lines().count(), 1, "{}", outcome.stdout);
    for part in ["generation 3", "population", "seed", "bitpacked", "cell updates/s"] {
        assert!(outcome.stdout.contains(part), "{part}: {}", outcome.stdout);
    }
    assert!(outcome.stderr.starts_with("device: simulator"), "{}", outcome.stderr);
    assert!(!outcome.stdout.contains('\u{1b}') && !outcome.stderr.contains('\u{1b}'), "no terminal, no escapes");
}

#[test]
fn a_random_soup_comes_back_from_the_seed_that_was_printed() {
    let arguments = ["life", "--size", "40x30", "--generations", "10", "--device", "sim", "--json"];
    let first = json(&arguments);
    let seed = first["seed"].as_u64().unwrap().to_string();
    let again = json(&[&arguments[..], &["--seed", &seed]].concat());
    assert_eq!(first["population"], again["population"]);
}

#[test]
fn a_closed_standard_output_is_no_failure() {
    for arguments in [&["--help"][..], &["life", "--size", "8x8", "--generations", "1", "--device", "sim"]] {
        let mut child = start(arguments);
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{stderr}");
        assert!(!stderr.contains("error") && !stderr.contains("panicked"), "{stderr}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_a_failure() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_host"));
    let child = command.arg("--version").stdout(full).stderr(Stdio::piped()).spawn().unwrap();
    assert_fails(&end(child), 1, &["standard output", "No space left"]);
}

#[test]
#[cfg(unix)]
fn ctrl_c_ends_a_long_run_and_leaves_no_file() {
    use std::io::{BufRead, BufReader};

    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("board.rle");
    let out_text = out.to_str().unwrap();
    let generations = "1000000000000";
    let mut child =
        start(&["life", "--size", "64x64", "--generations", generations, "--out", out_text, "--device", "sim"]);
    // The program prints its remarks about the device and the soup before the run begins.
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut remark = String::new();
    while !remark.starts_with("soup") {
        remark.clear();
        assert_ne!(stderr.read_line(&mut remark).unwrap(), 0, "it ended early");
    }
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let mut error = String::new();
    stderr.read_line(&mut error).unwrap();
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(130), "{error}");
    assert!(error.starts_with("error: stopped by Ctrl-C: generation ") && error.contains("board.rle"), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn saxpy_is_right_and_measured() {
    for n in ["0", "1", "1_000", "2^16"] {
        let object = json(&["saxpy", "--n", n, "--device", "sim", "--json"]);
        let kernels = object["kernels"].as_array().unwrap();
        let names: Vec<_> = kernels.iter().map(|kernel| kernel["kernel"].as_str().unwrap()).collect();
        assert_eq!(names, ["monolithic", "grid_stride", "unrolled_2", "unrolled_4", "unrolled_8", "vectorised"]);
        for kernel in kernels {
            assert!(kernel["of_bound"].as_f64().unwrap() <= 1.0, "{object}");
            assert_eq!(kernel["gigabytes_per_second"].as_f64().unwrap() > 0.0, n != "0", "{object}");
        }
    }
    let outcome = host(&["saxpy", "--n", "1000", "--a", "-0.5", "--rung", "grid_stride", "--device", "sim"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(outcome.stdout.contains("grid_stride") && !outcome.stdout.contains("monolithic"), "{}", outcome.stdout);
}

#[test]
fn devices_always_has_the_simulator() {
    for arguments in [&["devices", "--json"][..], &["devices", "--kernels", "--json"]] {
        let object = json(arguments);
        assert!(object["simulator"]["workers"].as_u64().unwrap() >= 1);
        assert_eq!(object["gpus"].as_array().unwrap().is_empty(), object.get("no_gpu").is_some());
        for gpu in object["gpus"].as_array().unwrap() {
            let kernels = gpu["kernels"].as_array().map_or(0, Vec::len);
            assert_eq!(kernels > 300, arguments.len() == 3, "{kernels}");
        }
    }
    let outcome = host(&["devices"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(outcome.stdout.contains("simulator"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("no GPU: ") || outcome.stdout.contains("GPU 0: "), "{}", outcome.stdout);
}

#[test]
fn the_patterns_of_the_repository_are_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../patterns");
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "rle" || extension == "cells") {
            let path = path.to_str().unwrap();
            let object = json(&["life", path, "--generations", "0", "--device", "sim", "--json"]);
            assert!(object["population"].as_u64().unwrap() > 0, "{path}");
            count += 1;
        }
    }
    assert!(count >= 12, "{count} patterns");
}
