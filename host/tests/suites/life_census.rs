//! Tests the census of soups on the plane: `host life --census --soups N --symmetry NAME`.

use std::fs;
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::common::{Host, text};

const CENSUS: Host = Host(&["life", "--census", "--soups"]);

/// The objects of the first 100 soups of the root `k_cen`, as lifelib counts them.
const FIRST_OBJECTS: &str = "@NUM_OBJECTS 1988\n\n@CENSUS TABLE\nxs4_33 594\nxp2_7 561\nxs6_696 352\nxq4_153 181\n\
    xs5_253 95\nxs7_2596 91\nxs6_356 60\nxs8_6996 19\nxs4_252 18\nxp2_7e 6\nxs7_25ac 5\n";

#[test]
fn soups_on_the_plane_have_the_objects_that_lifelib_counts() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("haul.txt");
    let arguments = ["100", "--symmetry", "C1", "--root", "k_cen", "--json", "--haul", file.to_str().unwrap()];
    let output = CENSUS.run(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let haul = fs::read_to_string(&file).unwrap();
    assert!(haul.contains("@ROOT k_cen\n@RULE b3s23\n@SYMMETRY C1\n@NUM_SOUPS 100\n"), "{haul}");
    assert!(haul.contains(FIRST_OBJECTS), "{haul}");
    let census: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&census["objects"], &census["soups"]["soups"]), (&json!(1988), &json!(100)));
    assert_eq!(census["kinds"][0], json!({"code": "xs4_33", "name": "block", "count": 594}));
    assert_eq!(census["soups"]["not_settled"], Value::Null);
}

#[test]
fn symmetries_and_rules_are_counted_by_seed() {
    let run = |arguments: &[&str]| {
        let output = CENSUS.run(&[arguments, &["--seed", "7", "--json"]].concat());
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", text(&output.stderr));
        let mut census: Value = serde_json::from_slice(&output.stdout).unwrap();
        census["soups"]["seconds"] = Value::Null;
        census
    };
    let square = run(&["10", "--symmetry", "d8_4"]);
    assert_eq!((&square["soups"]["symmetry"], &square["soups"]["root"]), (&json!("D8_4"), &json!("n7_")));
    assert_eq!(square, run(&["10", "--symmetry", "D8_4"]));
    let high_life = run(&["10", "--symmetry", "C2_2", "--rule", "HighLife"]);
    assert_eq!(high_life["soups"]["rule"], json!("B36/S23"));
    assert!(high_life["objects"].as_u64() > Some(50));
    // Under this rule soups grow in all directions.
    let soups = run(&["1", "--symmetry", "1x256", "--rule", "B2/S"]);
    assert_eq!(soups["soups"]["not_settled"], json!({"it grows in all directions, beyond 2048x2048 cells": 1}));
    assert!(soups["kinds"][0]["code"].as_str().unwrap().starts_with("zz_"), "{soups}");
    let lines = text(&CENSUS.run(&["3", "--symmetry", "C1", "--seed", "7"]).stdout).to_owned();
    assert!(lines.contains(" in 3 soups C1 of B3/S23, named n7_0 to n7_2, "), "{lines}");
}

#[test]
fn wrong_options_are_refused() {
    for (arguments, parts) in [
        (&["5", "--symmetry", "C3"][..], &["C3", "C4_4"][..]),
        (&["5", "--symmetry", "C1", "--size", "64x64"], &["--size"]),
        (&["5", "--symmetry", "C1", "--density", "0.3"], &["--density"]),
        (&["5", "--symmetry", "C1", "--rule", "B03/S23"], &["B03/S23", "B36/S23"]),
        (&["5", "--symmetry", "C1", "--rule", "B2-a/S12"], &["B2-a/S12"]),
        (&["5", "--symmetry", "C1", "--root", "a b"], &["--root", "'a b'"]),
        (&["5", "--symmetry", "1x256", "--device", "sim"], &["32x32", "1x256", "--device cpu"]),
        (&["5", "--symmetry", "C1", "--device", "sim:2"], &["sim:2", "--device gpu"]),
        (&["5", "--rule", "HighLife"], &["--rule", "--symmetry"]),
        (&["5", "--device", "sim"], &["sim", "--symmetry C1"]),
        (&["5", "--haul", "x.txt"], &["--symmetry"]),
        (&["5", "--root", "k_1"], &["--symmetry"]),
    ] {
        let output = CENSUS.run(arguments);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
        assert!(parts.iter().all(|part| stderr.contains(part)), "{arguments:?}: {stderr}");
    }
}

#[test]
fn an_interrupted_census_has_the_soups_that_were_run() {
    for options in [&["--symmetry", "C1"][..], &["--size", "64x64"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_host"));
        command.args(CENSUS.0).args(["1000000000", "--seed", "1", "--json"]).args(options);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(Duration::from_secs(2));
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        let (mut stdout, mut stderr) = (String::new(), String::new());
        child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{stderr}");
        let census: Value = serde_json::from_str(&stdout).unwrap();
        let soups = census["soups"]["soups"].as_u64().unwrap();
        assert!(stderr.contains(&format!("the census has {soups} of 1000000000 soups")), "{stderr}");
    }
}

/// Runs the same soups on a GPU, if there is one, and on the cores.
#[test]
fn a_gpu_counts_the_same_objects() {
    if let Err(error) = launch::Device::open_gpu(&[]) {
        assert!(std::env::var_os("GRIDSTRIDE_TEST_GPU").is_none(), "no GPU can be used: {error}");
        return;
    }
    for (count, options) in [
        ("100000", &["--symmetry", "C1"][..]),
        ("2000", &["--symmetry", "D4_x1"]),
        ("2000", &["--symmetry", "C2_4", "--rule", "HighLife"]),
    ] {
        let [gpu, cores] = ["gpu", "cpu"].map(|device| {
            let output = CENSUS.run(&[&[count, "--seed", "7", "--json", "--device", device], options].concat());
            assert_eq!(output.status.code(), Some(0), "{device} {options:?}: {}", text(&output.stderr));
            serde_json::from_slice::<Value>(&output.stdout).unwrap()
        });
        assert_eq!(gpu["kinds"], cores["kinds"], "{options:?}");
        assert_eq!(gpu["soups"]["not_settled"], cores["soups"]["not_settled"], "{options:?}");
        let reasons = gpu["soups"]["not_on_device"].as_object().unwrap();
        let left = reasons.values().filter_map(Value::as_u64).sum::<u64>();
        assert!(left > 0 && left < 100_000 / 25, "{options:?}: {left} soups were left to the cores");
    }
}
