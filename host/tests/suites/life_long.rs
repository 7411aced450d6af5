//! Long runs of `host life`: checkpoints, statistics, the search for the end, the census.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::{Host, text};

const LIFE: Host = Host(&["life", "--no-animation"]);

/// The last board of a run with these arguments, as RLE.
fn last_board(folder: &Path, arguments: &[&str]) -> String {
    let out = folder.join("last.rle");
    let output = LIFE.run(&[arguments, &["--out", out.to_str().unwrap()]].concat());
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", text(&output.stderr));
    fs::read_to_string(out).unwrap()
}

fn json_of(arguments: &[&str]) -> Value {
    let output = LIFE.run(&[arguments, &["--json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn start(arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_host"));
    command.args(LIFE.0).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

#[test]
#[cfg(unix)]
fn a_run_that_is_killed_a_hundred_times_ends_as_one_that_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.checkpoint");
    let file = file.to_str().unwrap();
    let soup = ["--size", "300x200", "--seed", "5", "--density", "0.4", "--device", "cpu"];
    // It would go on for weeks.
    let checkpoint = ["--generations", "1099511627776", "--checkpoint", file, "--every", "500"];
    let generation = || -> u64 {
        let bytes = fs::read(file).unwrap_or_default();
        let header = String::from_utf8_lossy(&bytes[..bytes.len().min(400)]).into_owned();
        header.lines().find_map(|line| line.strip_prefix("generation ")?.parse().ok()).unwrap_or(0)
    };
    let (mut newest, mut advanced) = (0, 0);
    for kill in 0..100 {
        let mut child = if newest > 0 {
            start(&[&[file][..], &checkpoint[2..]].concat())
        } else {
            start(&[&soup[..], &checkpoint].concat())
        };
        // Some are killed at once, the others some time after they have written something: times that are no multiples of
        // anything in the program.
        let begun = Instant::now();
        while kill % 5 > 0 && generation() == newest && begun.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_micros(200));
        }
        std::thread::sleep(Duration::from_micros(1_000 + 1_711 * (kill % 7)));
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        child.kill().unwrap();
        child.wait().unwrap();
        // A checkpoint is there and whole, or was never there.
        let now = generation();
        assert!(now >= newest, "a checkpoint goes back: {now} after {newest}");
        advanced += u64::from(now > newest);
        newest = now;
    }
    assert!(advanced >= 50, "{advanced} of 100 came further");
    let generations = (newest + 777).to_string();
    let killed = last_board(folder.path(), &[file, "--generations", &generations, "--device", "cpu"]);
    let whole = last_board(folder.path(), &[&soup[..], &["--generations", &generations]].concat());
    assert_eq!(killed, whole);
    let object = json_of(&[file, "--generations", &generations]);
    assert_eq!((&object["generations"], &object["seed"]), (&json!(newest + 777), &json!(5)));
}

#[test]
#[cfg(unix)]
fn a_run_that_is_stopped_leaves_a_checkpoint_of_its_last_generation() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run");
    let file = file.to_str().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_host"));
    command.args(["life", "--no-animation", "--size", "100x80", "--seed", "2", "--device", "cpu", "--every", "1h"]);
    command.args(["--generations", "1099511627776", "--checkpoint", file]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    // The run begins after its remarks: the device, the soup.
    let mut remarks = BufReader::new(child.stderr.take().unwrap());
    let mut stderr = String::new();
    while !stderr.contains("soup") {
        assert_ne!(remarks.read_line(&mut stderr).unwrap(), 0, "it ended early");
    }
    std::thread::sleep(Duration::from_millis(300));
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    remarks.read_to_string(&mut stderr).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{stderr}");
    let generation = stderr.split("generation ").last().and_then(|rest| rest.split(' ').next()).unwrap();
    assert!(stderr.contains(&format!("`host life {file}` goes on from there")), "{stderr}");
    let object = json_of(&[file, "--generations", "0"]);
    assert_eq!(object["generations"].to_string(), generation, "{stderr}");
    assert!(generation != "0");
}

#[test]
fn every_engine_resumes_from_a_checkpoint_of_another() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a");
    let file = file.to_str().unwrap();
    let soup = ["--size", "70x50", "--seed", "3", "--density", "0.4"];
    let whole = last_board(folder.path(), &[&soup[..], &["--generations", "90", "--device", "cpu"]].concat());
    for (first, second) in [("cpu", "sim"), ("sim", "cpu")] {
        let part = ["--generations", "31", "--checkpoint", file, "--every", "1h", "--device", first];
        LIFE.run(&[&soup[..], &part].concat());
        let rest = [file, "--generations", "90", "--device", second];
        assert_eq!(last_board(folder.path(), &rest), whole, "{first}, then {second}");
    }
}

#[test]
fn cells_of_more_than_two_states_are_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.checkpoint");
    let file = file.to_str().unwrap();
    for (rule, devices) in [("/2/3", ["cpu", "sim"]), ("345/2/4", ["sim", "cpu"]), ("345/2/25", ["cpu", "cpu"])] {
        let soup = ["--rule", rule, "--size", "70x50", "--seed", "5", "--density", "0.4"];
        let expected = last_board(folder.path(), &[&soup[..], &["--device", "cpu", "--generations", "60"]].concat());
        let [first, second] = devices.map(|device| ["--device", device]);
        last_board(folder.path(), &[&soup[..], &first, &["--generations", "23", "--checkpoint", file]].concat());
        let resumed = last_board(folder.path(), &[&[file][..], &second, &["--generations", "60"]].concat());
        assert_eq!(resumed, expected, "{rule}");
        assert!(expected.contains('B'), "{rule}: there are dying cells in {expected}");
    }
}

#[test]
fn what_is_no_checkpoint_gets_one_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.checkpoint");
    let file = path.to_str().unwrap();
    let made = LIFE.run(&["--size", "50x20", "--generations", "3", "--checkpoint", file, "--device", "cpu"]);
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    let whole = fs::read(&path).unwrap();
    let life = ["--device", "cpu"];
    let fails = |bytes: &[u8], parts: &[&str]| {
        fs::write(&path, bytes).unwrap();
        LIFE.assert_fails(&[&[file][..], &life].concat(), 1, &[&["a.checkpoint"][..], parts].concat());
    };
    let mut damaged = whole.clone();
    *damaged.last_mut().unwrap() ^= 1;
    fails(&damaged, &["damaged"]);
    fails(&whole[..whole.len() - 5], &["damaged"]);
    fails(&whole[..60], &["cut short"]);
    let other = String::from_utf8_lossy(&whole[..28]).replace('1', "7");
    fails(&[other.as_bytes(), &whole[28..]].concat(), &["version 7"]);
    fs::write(&path, &whole).unwrap();
    LIFE.assert_fails(&[file, "--size", "50x20"], 2, &["--size", "leave"]);
    LIFE.assert_fails(&["--checkpoint", "/no/such/folder/a"], 1, &["there is no folder"]);
}

#[test]
fn flags_that_do_not_go_together_are_refused() {
    for (arguments, parts) in [
        (&["--every", "5"][..], &["--checkpoint"][..]),
        (&["--checkpoint", "a", "--every", "1d"], &["1d", "30s"]),
        (&["--until", "sunset"], &["stable"]),
        (&["--stats", "a.txt"], &[".csv", ".json"]),
        (&["--plot", "a.gif"], &[".svg", ".png"]),
        (&["--stats-every", "5"], &["--stats"]),
        (&["--soups", "5"], &["--census"]),
        (&["--census", "--soups", "0"], &["0"]),
        (&["--census", "--soups", "5", "--generations", "7"], &["--generations"]),
        (&["--census", "--soups", "5", "--device", "sim"], &["--device sim", "cores"]),
    ] {
        let output = LIFE.run(arguments);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
        assert!(parts.iter().all(|part| stderr.contains(part)), "{arguments:?}: {stderr}");
    }
}

#[test]
fn boards_that_do_not_fit_are_refused_with_both_numbers() {
    for device in ["cpu", "sim"] {
        let arguments = ["--size", "110000000x1100000", "--device", device];
        LIFE.assert_fails(&arguments, 1, &["110000000x1100000 needs", "TiB of memory", "free", "--size"]);
    }
}

#[test]
fn an_end_is_found_on_every_device() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("glider.rle");
    fs::write(&file, "x = 3, y = 3\nbo$2bo$3o!").unwrap();
    let file = file.to_str().unwrap();
    for device in [&["--device", "cpu"][..], &["--device", "sim"], &["--device", "sim", "--kernel", "global"]] {
        let object = json_of(&[&[file, "--size", "16x16", "--until", "stable"][..], device].concat());
        assert_eq!(object["stable"], json!({"since": 0, "period": 64, "dead": false}), "{device:?}");
    }
    let object = json_of(&[file, "--size", "16x16", "--until", "stable", "--generations", "70", "--device", "cpu"]);
    assert_eq!((&object["stable"], &object["generations"]), (&Value::Null, &json!(70)));
}

#[test]
fn statistics_are_those_of_the_boards() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let soup = ["--size", "90x40", "--seed", "8", "--density", "0.4", "--generations", "40"];
    let mut all = Vec::new();
    for (number, device) in [&["--device", "cpu"][..], &["--device", "sim"], &["--device", "sim", "--kernel", "shared"]]
        .into_iter()
        .enumerate()
    {
        let (csv, plot) = (path(&format!("{number}.csv")), path("a.svg"));
        let files = ["--stats", &csv, "--plot", &plot, "--stats-every", "4"];
        let output = LIFE.run(&[&soup[..], &files, device].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        all.push(fs::read_to_string(csv).unwrap());
        let plot = fs::read_to_string(plot).unwrap();
        assert!(["<svg", "population", "births", "deaths"].iter().all(|part| plot.contains(part)));
    }
    assert!(all.iter().all(|stats| *stats == all[0]), "{all:?}");
    let rows: Vec<Vec<Option<i64>>> =
        all[0].lines().skip(1).map(|line| line.split(',').map(|field| field.parse().ok()).collect()).collect();
    assert_eq!(rows.iter().map(|row| row[0].unwrap()).collect::<Vec<_>>(), (0..=40).step_by(4).collect::<Vec<_>>());
    assert_eq!((rows[0][2], rows[0][3]), (None, None));
    // Every generation's: births less deaths are what the population has gained.
    let json = path("all.json");
    LIFE.run(&[&soup[..], &["--stats", &json, "--device", "cpu"]].concat());
    let every: Value = serde_json::from_str(&fs::read_to_string(json).unwrap()).unwrap();
    let every = every.as_array().unwrap();
    assert_eq!(every.len(), 41);
    for pair in every.windows(2) {
        let number = |row: &Value, key: &str| row[key].as_i64().unwrap();
        let gained = number(&pair[1], "births") - number(&pair[1], "deaths");
        assert_eq!(number(&pair[0], "population") + gained, number(&pair[1], "population"));
    }
    for row in &rows[1..] {
        let same = &every[row[0].unwrap() as usize];
        let keys = ["generation", "population", "births", "deaths"];
        assert_eq!(keys.map(|key| same[key].as_i64()).to_vec(), *row);
    }
}

#[test]
fn a_census_counts_the_ash() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("some.rle");
    // A block, a blinker and a beehive.
    fs::write(&file, "x = 20, y = 3\n2o6bo8b2o$2o6bo7bo2bo$8bo8b2o!").unwrap();
    let object = json_of(&[file.to_str().unwrap(), "--size", "60x30", "--census", "--device", "cpu"]);
    assert_eq!(object["stable"]["period"], json!(2));
    let kinds = object["census"]["kinds"].as_array().unwrap();
    let codes: Vec<_> = kinds.iter().map(|kind| kind["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["xp2_7", "xs4_33", "xs6_696"]);

    let soups = ["--census", "--soups", "20", "--size", "128x128", "--seed", "1", "--density", "0.5"];
    let census = json_of(&soups);
    assert_eq!(census["soups"]["soups"], json!(20));
    let count = |code: &str| {
        let kinds = census["kinds"].as_array().unwrap();
        kinds.iter().find(|kind| kind["code"] == code).map_or(0, |kind| kind["count"].as_u64().unwrap())
    };
    // The published order, where it is clear in so few soups.
    assert!(count("xs4_33") > count("xs6_696") && count("xp2_7") > count("xs6_696"), "{census}");
    assert!(count("xs6_696") > count("xs7_2596") && count("xs5_253") > count("xs4_252"), "{census}");
    assert_eq!(census["kinds"], json_of(&soups)["kinds"]);
}
