//! Tests `host life` on boards in bands on several devices.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{Host, text};

const LIFE: Host = Host(&["life", "--no-animation"]);

fn json_of(arguments: &[&str]) -> Value {
    let output = LIFE.run(&[arguments, &["--json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Returns the content of the file that a run with `arguments` writes.
fn written(folder: &Path, flag: &str, name: &str, arguments: &[&str]) -> Vec<u8> {
    let out = folder.join(name);
    let output = LIFE.run(&[arguments, &[flag, out.to_str().unwrap()]].concat());
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", text(&output.stderr));
    fs::read(out).unwrap()
}

const SOUP: [&str; 6] = ["--size", "150x101", "--seed", "5", "--density", "0.4"];

#[test]
fn several_devices_give_what_one_does() {
    let folder = tempfile::tempdir().unwrap();
    let on = |device: &str, flag: &str, name: &str| {
        written(folder.path(), flag, name, &[&SOUP[..], &["--generations", "60", "--device", device]].concat())
    };
    for (flag, name) in [("--out", "a.rle"), ("--stats", "a.csv"), ("--checkpoint", "a.checkpoint")] {
        let expected = on("cpu", flag, name);
        for device in ["sim:2", "sim:3", "sim:7"] {
            fs::remove_file(folder.path().join(name)).unwrap();
            assert!(on(device, flag, name) == expected, "{flag} on {device}");
        }
    }
    let object = json_of(&[&SOUP[..], &["--generations", "5", "--device", "sim:3", "--rung", "streaming"]].concat());
    assert_eq!((object["device"].as_str(), object["kernel"].as_str()), (Some("3 × simulator"), Some("streaming")));
}

#[test]
fn a_run_is_resumed_on_another_number_of_devices() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.checkpoint");
    let file = file.to_str().unwrap();
    let soup = [&SOUP[..], &["--generations", "90"]].concat();
    let whole = written(folder.path(), "--out", "last.rle", &[&soup[..], &["--device", "cpu"]].concat());
    for (first, second) in [("cpu", "sim:3"), ("sim:3", "cpu"), ("sim:2", "sim:5")] {
        let part = ["--generations", "31", "--checkpoint", file, "--overwrite", "--every", "10", "--device", first];
        assert_eq!(LIFE.run(&[&SOUP[..], &part].concat()).status.code(), Some(0));
        let rest = [file, "--generations", "90", "--device", second];
        assert!(written(folder.path(), "--out", "last.rle", &rest) == whole, "{first}, then {second}");
    }
    // The program detects a damaged file while it reads the file's parts.
    let mut damaged = fs::read(file).unwrap();
    *damaged.last_mut().unwrap() ^= 1;
    fs::write(file, damaged).unwrap();
    LIFE.assert_fails(&[file, "--device", "sim:3"], 1, &["a.checkpoint", "damaged"]);
}

#[test]
fn the_end_and_the_growth_of_a_board_in_bands_are_those_of_one() {
    let small = ["--size", "40x31", "--seed", "4", "--until", "stable"];
    let stable = |device: &str| json_of(&[&small[..], &["--device", device]].concat())["stable"].clone();
    assert_eq!(stable("sim:3"), stable("cpu"));
    let folder = tempfile::tempdir().unwrap();
    let glider = folder.path().join("glider.rle");
    fs::write(&glider, "x = 3, y = 3, rule = B3/S23\nbob$2bo$3o!\n").unwrap();
    // A list of cells does not depend on the size to which a board has grown.
    let run = |device: &str| {
        let run = [glider.to_str().unwrap(), "--generations", "700", "--device", device];
        written(folder.path(), "--out", "last.lif", &run)
    };
    assert!(run("sim:3") == run("cpu"));
}
