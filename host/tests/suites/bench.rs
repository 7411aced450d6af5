//! Tests `host bench` in the simulator.

use crate::common;

use std::fs;
use std::path::Path;

use common::{Host, text};
use serde_json::Value;

const HOST: Host = Host(&["bench"]);

/// Measures in the simulator, and returns the recording and the table.
fn measure(arguments: &[&str], folder: &Path) -> (Value, String) {
    let file = folder.join("run.json");
    let output = HOST.run(&[arguments, &["--device", "sim", "--json", file.to_str().unwrap()]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    (serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap(), text(&output.stdout).to_owned())
}

fn rows<'a>(recording: &'a Value, algorithm: &str) -> Vec<&'a Value> {
    recording["rows"].as_array().unwrap().iter().filter(|row| row["algorithm"] == algorithm).collect()
}

/// Returns the rungs of an algorithm, each once.
fn rungs<'a>(recording: &'a Value, algorithm: &str) -> Vec<&'a str> {
    let mut names = Vec::new();
    for row in rows(recording, algorithm) {
        let name = row["rung"].as_str().unwrap();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

#[test]
fn every_algorithm_has_its_rungs_in_file_and_table() {
    let folder = tempfile::tempdir().unwrap();
    let (recording, table) = measure(&["--quick"], folder.path());
    assert_eq!((&recording["device"], &recording["simulated"]), (&"simulator".into(), &true.into()));
    assert_eq!((&recording["quick"], &recording["seed"]), (&true.into(), &0.into()));
    assert!(recording["compiler"].as_str().unwrap().starts_with("rustc "), "{recording}");
    assert!(recording["copy_gbps"].as_f64().unwrap() > 0.0 && recording["datasheet_gbps"].is_null());
    for (algorithm, some) in [
        ("copy", &["device_copy", "global_copy"][..]),
        ("saxpy", &["monolithic", "vectorised"]),
        ("scale", &["one_block", "grid", "vectorised"]),
        ("reduce", &["neighboured", "shuffle", "grid_stride"]),
        ("scan", &["naive_block", "naive", "work_efficient", "look_back"]),
        ("transpose", &["copy", "naive", "padded"]),
        ("life", &["global", "block", "shared", "bitpacked", "temporal"]),
    ] {
        let found = rungs(&recording, algorithm);
        for rung in some {
            assert!(found.contains(rung) && table.contains(rung), "{algorithm} {rung}: {found:?}");
        }
        let rows = rows(&recording, algorithm);
        assert!(rows.iter().any(|row| row["last"] == true), "{algorithm}");
        for row in rows {
            let number = |name: &str| row[name].as_f64().unwrap();
            assert!(number("low_us") <= number("median_us") && number("median_us") <= number("high_us"), "{row}");
            assert!(number("median_us") > 0.0 && number("runs") >= 2.0, "{row}");
            let rate = number("bytes") / number("median_us") / 1e3;
            assert!((number("gbps") / rate - 1.0).abs() < 1e-6, "{row}");
        }
    }
    let odd = rows(&recording, "transpose").into_iter().find(|row| row["shape"] == "63x65").unwrap();
    assert_eq!((&odd["size"], &odd["bytes"]), (&(63 * 65).into(), &(2 * 4 * 63 * 65).into()));
    for variant in ["inclusive", "exclusive"] {
        assert!(rows(&recording, "scan").iter().any(|row| row["variant"] == variant && row["type"] == "f64"));
    }
    for part in ["bench on simulator", "nothing about a GPU", "left out: scan naive_block"] {
        assert!(table.contains(part), "{part}: {table}");
    }
}

#[test]
fn a_recording_is_shown_and_drawn_again() {
    let folder = tempfile::tempdir().unwrap();
    let (recording, table) = measure(&["saxpy", "--quick", "--seed", "5"], folder.path());
    // Every recording includes the device's own copy.
    assert_eq!(rungs(&recording, "copy"), ["device_copy"]);
    assert_eq!((rows(&recording, "reduce").len(), &recording["seed"]), (0, &5.into()));
    let file = folder.path().join("run.json");
    let plots = folder.path().join("plots");
    let arguments = ["--from", file.to_str().unwrap(), "--plot", plots.to_str().unwrap()];
    let output = HOST.run(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), table);
    let mut names: Vec<_> = fs::read_dir(&plots).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["bench-saxpy.png", "bench-saxpy.svg"]);
    let svg = fs::read_to_string(plots.join("bench-saxpy.svg")).unwrap();
    for part in ["saxpy, f32, simulator", "monolithic", "vectorised", "device copy", "GB/s"] {
        assert!(svg.contains(part), "{part}");
    }
}

#[test]
fn what_is_typed_wrongly_exits_with_2() {
    for (arguments, parts) in [
        (&["saxpie"][..], &["saxpie", "saxpy"][..]),
        (&["--from", "run.json", "--quick"], &["--from", "--quick"]),
        (&["--from", "run.json", "scan"], &["--from", "ALGORITHM"]),
        (&["--seed", "x"], &["'x'", "--seed"]),
        (&["--json"], &["--json", "FILE"]),
        (&["--device", "tpu"], &["tpu", "sim"]),
    ] {
        HOST.assert_fails(arguments, 2, parts);
    }
}

#[test]
fn what_cannot_be_read_or_written_is_told_before_anything_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "{}").unwrap();
    let file = file.to_str().unwrap();
    for (arguments, parts) in [
        (&["--json", "none/such/run.json"][..], &["none/such", "there is no folder"][..]),
        (&["--plot", file], &["it is no folder"]),
        (&["--from", "none.json"], &["cannot read", "none.json"]),
        (&["--from", file], &["is not a recording of `host bench --json`"]),
        (&["--peers", "none/peers", "--device", "sim"], &["none/peers", "cargo xtask bench --build"]),
    ] {
        HOST.assert_fails(arguments, 1, parts);
    }
    assert_eq!(fs::read_to_string(file).unwrap(), "{}");
}

/// The source of a stand-in for the library of the peers. It copies `x` to `y` for work on f32, and fails for work on
/// i32.
const PEERS: &str = r#"
#include <stdlib.h>
#include <string.h>
struct peer { size_t bytes; int fails; };
const char* peers_about(void) {
    return "{\"compiler\": \"nvcc 13.0\", \"cub\": \"3.0.1\", \"cublas\": \"13.0.2\", "
           "\"works\": [\"scale f32\", \"scale i32\", \"reduce f32\"]}";
}
void* peers_open(const char* work, const char* variant, size_t width, size_t height, void* stream) {
    if (*variant || height != 1 || stream) return NULL;
    struct peer* peer = malloc(sizeof *peer);
    peer->bytes = strcmp(work, "reduce f32") ? 4 * width : 0;
    peer->fails = !strcmp(work, "scale i32");
    return peer;
}
const char* peers_name(const void* peer) { return "libfast"; }
int peers_call(const struct peer* peer, void* x, void* y) {
    if (!x || !y || peer->fails) return 0;
    memcpy(y, x, peer->bytes);
    return 1;
}
void peers_close(void* peer) { free(peer); }
const char* peers_error(void) { return "no room"; }
"#;

/// Tests that `--peers` calls the library on the memory of the rungs, and shows its rows in the same table.
#[test]
#[cfg(unix)]
fn peers_stand_beside_the_rungs() {
    let folder = tempfile::tempdir().unwrap();
    let [source, library, text] = ["peers.c", "libpeers.so", "text"].map(|name| folder.path().join(name));
    fs::write(&source, PEERS).unwrap();
    let mut compiler = std::process::Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source);
    assert!(compiler.status().unwrap().success());
    let library = library.to_str().unwrap();
    let (recording, table) = measure(&["scale", "--quick", "--peers", library], folder.path());
    assert_eq!(recording["peers"]["cub"], "3.0.1");
    let named = |row: &&Value| row["peer"] == "libfast";
    let peers: Vec<_> = rows(&recording, "scale").into_iter().filter(named).collect();
    let sizes: Vec<_> =
        peers.iter().map(|row| (row["type"].as_str().unwrap(), row["size"].as_u64().unwrap())).collect();
    assert_eq!(sizes, [("f32", 1 << 10), ("f32", 1 << 12)]);
    assert_eq!((peers[0].get("rung"), peers[0].get("last"), &peers[0]["runs"]), (None, None, &3.into()));
    for part in ["peers: CUB 3.0.1, cuBLAS 13.0.2, nvcc 13.0", "libfast", "left out: the peers of scale i32", "no room"]
    {
        assert!(table.contains(part), "{part}: {table}");
    }
    // The peer is also called in a series, with the memory of each set.
    let (recording, table) = measure(&["reduce", "--peers", library], folder.path());
    let peers: Vec<_> = rows(&recording, "reduce").into_iter().filter(named).collect();
    let has_series = |row: &&Value| row["series_us"].is_number() && row["host_us"].is_number();
    assert_eq!((peers.len(), peers.iter().copied().filter(has_series).count()), (4, 1), "{table}");
    fs::write(&text, "no library").unwrap();
    let parts = &["text", "is not the peers' library", "cargo xtask bench --build"];
    HOST.assert_fails(&["--peers", text.to_str().unwrap(), "--device", "sim"], 1, parts);
}
