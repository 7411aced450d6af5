//! Tests the files that commands write. Pipes and devices are written in place, and no file of an earlier run is lost.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::{Host, text};

const LIFE: Host = Host(&["life", "--no-animation", "--device", "cpu"]);
const SOUP: [&str; 4] = ["--size", "60x50", "--seed", "3"];

#[track_caller]
fn assert_runs(arguments: &[&str]) {
    let output = LIFE.run(arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", text(&output.stderr));
}

/// Returns the paths of files in a folder, as arguments.
fn paths<const N: usize>(folder: &Path, names: [&str; N]) -> [String; N] {
    names.map(|name| folder.join(name).to_str().unwrap().to_owned())
}

fn make_fifo(path: &str) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Tests output to the path of standard output's descriptor in /proc, which no program can replace. A program could
/// replace /dev/stdout.
#[test]
fn standard_output_gets_json_and_table() {
    let folder = tempfile::tempdir().unwrap();
    let [file, link] = paths(folder.path(), ["out.txt", "link.json"]);
    symlink("/proc/self/fd/1", &link).unwrap();
    for (json, to_file) in [("/proc/self/fd/1", false), ("/proc/self/fd/1", true), (&*link, true)] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_host"));
        command.args(["bench", "saxpy", "--quick", "--device", "sim", "--json", json]);
        if to_file {
            command.stdout(File::create(&file).unwrap());
        }
        let output = command.stderr(Stdio::piped()).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let written = if to_file { fs::read(&file).unwrap() } else { output.stdout };
        let mut values = serde_json::Deserializer::from_slice(&written).into_iter::<Value>();
        assert_eq!(values.next().unwrap().unwrap()["quick"], true, "{}", text(&written));
        let table = text(&written[values.byte_offset()..]);
        assert!(table.contains("saxpy") && table.contains("vectorised"), "{table}");
    }
    assert!(Path::new(&link).is_symlink());
}

#[test]
fn a_pipe_is_read_and_a_fifo_written() {
    let folder = tempfile::tempdir().unwrap();
    let [out, last] = paths(folder.path(), ["out.rle", "last.rle"]);
    make_fifo(&out);
    let reader = thread::spawn({
        let out = out.clone();
        move || fs::read_to_string(out).unwrap()
    });
    let mut command = Command::new(env!("CARGO_BIN_EXE_host"));
    command.args(LIFE.0).args(["/dev/stdin", "--generations", "1", "--out", &out]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let blinker = "x = 3, y = 1, rule = B3/S23:P5,5\n3o!\n";
    child.stdin.take().unwrap().write_all(blinker.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(fs::symlink_metadata(&out).unwrap().file_type().is_fifo(), "it is replaced");
    let written = reader.join().unwrap();
    // A run from and to files writes the same text.
    let pattern = folder.path().join("blinker.rle");
    fs::write(&pattern, blinker).unwrap();
    assert_runs(&[pattern.to_str().unwrap(), "--generations", "1", "--out", &last]);
    assert_eq!(written, fs::read_to_string(&last).unwrap());
}

#[test]
fn a_checkpoint_of_another_run_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let [file, other, link] = paths(folder.path(), ["run.checkpoint", "other.checkpoint", "link"]);
    let run = [&SOUP[..], &["--generations", "20", "--checkpoint", &file]].concat();
    assert_runs(&run);
    symlink(&file, &link).unwrap();
    let whole = fs::read(&file).unwrap();
    let parts = ["run.checkpoint", "generation 20", "`host life ", "use another file", "--overwrite"];
    LIFE.assert_fails(&run, 2, &parts);
    LIFE.assert_fails(&[&SOUP[..], &["--checkpoint", &link]].concat(), 2, &["link", "generation 20", "--overwrite"]);
    // The checkpoint of one run does not replace the checkpoint of another run.
    assert_runs(&[&SOUP[..], &["--generations", "10", "--checkpoint", &other]].concat());
    LIFE.assert_fails(&[&other, "--generations", "15", "--checkpoint", &file], 2, &parts);
    assert!(fs::read(&file).unwrap() == whole);

    assert_runs(&[&file, "--generations", "30", "--checkpoint", &link]);
    let resumed = fs::read(&file).unwrap();
    assert!(String::from_utf8_lossy(&resumed).contains("\ngeneration 30\n") && Path::new(&link).is_symlink());
    assert_runs(&[&run[..], &["--overwrite"]].concat());
    assert!(fs::read(&file).unwrap() == whole);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3, "nothing is left over");
    LIFE.assert_fails(&[&SOUP[..], &["--overwrite"]].concat(), 2, &["--overwrite", "needs --checkpoint"]);
}

#[test]
fn no_other_file_becomes_a_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let [thesis, fifo] = paths(folder.path(), ["thesis.txt", "fifo"]);
    fs::write(&thesis, "It is known that").unwrap();
    make_fifo(&fifo);
    for overwrite in [&[][..], &["--overwrite"]] {
        let refused = |path: &str, code, part: &str| {
            let run = [&SOUP[..], &["--generations", "3", "--checkpoint", path], overwrite].concat();
            LIFE.assert_fails(&run, code, &[path, part]);
        };
        refused(&thesis, 2, "is not a checkpoint: use another file");
        refused(&fifo, 2, "is not a regular file");
        refused(folder.path().to_str().unwrap(), 1, "it is a folder");
    }
    assert_eq!(fs::read_to_string(&thesis).unwrap(), "It is known that");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing is left over");
}

#[test]
fn two_runs_do_not_write_one_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let [file] = paths(folder.path(), ["run.checkpoint"]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_host"));
    command.args(LIFE.0).args(SOUP).args(["--generations", "1099511627776", "--checkpoint", &file, "--every", "500"]);
    let mut first = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let begun = Instant::now();
    while !Path::new(&file).exists() && begun.elapsed() < Duration::from_secs(30) {
        thread::sleep(Duration::from_millis(2));
    }
    let parts = ["run.checkpoint", "another run writes its checkpoints there", "use another file"];
    let again = [&SOUP[..], &["--checkpoint", &file, "--overwrite"]].concat();
    LIFE.assert_fails(&again, 1, &parts);
    LIFE.assert_fails(&[&file, "--checkpoint", &file], 1, &parts);
    assert!(first.try_wait().unwrap().is_none(), "it ended by itself");
    first.kill().unwrap();
    first.wait().unwrap();
    // A killed run no longer locks its file.
    assert_runs(&[&SOUP[..], &["--generations", "3", "--checkpoint", &file, "--overwrite"]].concat());
    assert_runs(&[&file, "--generations", "5", "--checkpoint", &file]);
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().ends_with(".lock")), "{left:?}");
}

#[test]
fn a_resumed_run_keeps_what_it_wrote_before() {
    let folder = tempfile::tempdir().unwrap();
    let [file, stats, plot, gif, frames, last] =
        paths(folder.path(), ["run.checkpoint", "run.csv", "run.svg", "run.gif", "%02d.png", "last.rle"]);
    let outputs = [["--stats", &*stats], ["--plot", &plot], ["--out", &gif], ["--out", &frames]];
    let run = [&SOUP[..], &["--generations", "4"]].concat();
    assert_runs(&[&run[..], &["--checkpoint", &file]].concat());
    for output in &outputs {
        assert_runs(&[&run[..], output].concat());
    }
    let first = folder.path().join("00.png");
    let bytes = || [Path::new(&stats), Path::new(&plot), Path::new(&gif), &first].map(|path| fs::read(path).unwrap());
    let before = bytes();
    let resumed = [&file[..], "--generations", "8"];
    for output in &outputs {
        let parts = [output[0], "a resumed run", "use another file", "--overwrite"];
        LIFE.assert_fails(&[&resumed[..], output].concat(), 2, &parts);
    }
    assert!(bytes() == before);
    for output in &outputs {
        assert_runs(&[&resumed[..], output, &["--overwrite"]].concat());
    }
    assert!(bytes().iter().zip(&before).all(|(after, before)| after != before));
    // The last board belongs to the whole run, so `--out` may replace an earlier file.
    for _ in 0..2 {
        assert_runs(&[&resumed[..], &["--out", &last]].concat());
    }
}
