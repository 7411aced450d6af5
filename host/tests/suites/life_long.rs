//! Tests long runs of `host life`: checkpoints, statistics, the search for a repetition, the census.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::{Host, text};

pub const LIFE: Host = Host(&["life", "--no-animation"]);

/// Returns the last board of a run with `arguments`, as RLE.
pub fn last_board(folder: &Path, arguments: &[&str]) -> String {
    let out = folder.join("last.rle");
    let output = LIFE.run(&[arguments, &["--out", out.to_str().unwrap()]].concat());
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", text(&output.stderr));
    fs::read_to_string(out).unwrap()
}

pub fn json_of(arguments: &[&str]) -> Value {
    let output = LIFE.run(&[arguments, &["--json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn start(arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_host"));
    command.args(LIFE.0).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Follows two gliders that fly apart: checkpoints and the last board are as small as their cells, not as their box.
#[test]
fn a_checkpoint_on_the_plane_follows_the_cells() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (pattern, file) = (path("apart.rle"), path("run.checkpoint"));
    fs::write(&pattern, "x = 43, y = 43\n3o$o$bo38$42bo$43bo$41b3o!").unwrap();
    let to = |generations: &'static str| ["--device", "cpu", "--generations", generations];
    let whole = last_board(folder.path(), &[&[&pattern[..]], &to("400_000")[..]].concat());
    let half = json_of(&[&[&pattern[..]], &to("200_000")[..], &["--checkpoint", &file]].concat());
    assert_eq!((&half["population"], &half["width"]), (&json!(10), &json!(100_044)));
    assert!(whole.len() < 300 && fs::metadata(&file).unwrap().len() < 600, "{whole}");
    assert_eq!(last_board(folder.path(), &[&[&file[..]], &to("400_000")[..]].concat()), whole);
}

#[test]
#[cfg(unix)]
fn a_run_that_is_killed_a_hundred_times_ends_as_one_that_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.checkpoint");
    let file = file.to_str().unwrap();
    let soup = ["--size", "300x200", "--seed", "5", "--density", "0.4", "--device", "cpu"];
    // The run would last for weeks.
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
        // Some runs are killed at once, and the others some time after they have written something. These times are not
        // multiples of any period in the program.
        let begun = Instant::now();
        while kill % 5 > 0 && generation() == newest && begun.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_micros(200));
        }
        std::thread::sleep(Duration::from_micros(1_000 + 1_711 * (kill % 7)));
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        child.kill().unwrap();
        child.wait().unwrap();
        // A checkpoint is complete, or does not exist.
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
    let names = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let left: Vec<_> = names.filter(|name| name.starts_with(".gridstride-")).collect();
    assert!(left.is_empty(), "temporary files of killed runs are left: {left:?}");
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
    // The program prints its remarks about the device and the soup before the run begins.
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
    assert!(stderr.contains(&format!("`host life {file}` resumes from there")), "{stderr}");
    let object = json_of(&[file, "--generations", generation]);
    assert_eq!(object["generations"].to_string(), generation, "{stderr}");
    LIFE.assert_fails(&[file, "--generations", "0"], 2, &["--generations 0", &format!("at generation {generation}")]);
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
        let part = ["--generations", "31", "--checkpoint", file, "--overwrite", "--every", "1h", "--device", first];
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
        last_board(
            folder.path(),
            &[&soup[..], &first, &["--generations", "23", "--checkpoint", file, "--overwrite"]].concat(),
        );
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
    fails(&whole[..60], &["truncated"]);
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
        (&["--out", "c%s.png"], &["c%s.png", "%05d"]),
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
fn the_help_names_all_kernels() {
    let help = LIFE.run(&["--help"]);
    let help = text(&help.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    let kernels = "global, block, shared, bitpacked, temporal, resident, streaming [default: on a GPU the fastest";
    assert!(help.contains(kernels), "{help}");
}

#[test]
fn boards_that_do_not_fit_are_refused_with_both_numbers() {
    for device in ["cpu", "sim"] {
        let arguments = ["--size", "110000000x1100000", "--device", device];
        LIFE.assert_fails(&arguments, 1, &["110000000x1100000 needs", "TiB of memory", "free", "--size"]);
    }
}

#[test]
fn no_file_is_written_over_another() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (pattern, other, stats) = (path("mine.rle"), path("same.rle"), path("same.csv"));
    let detour = path("../") + folder.path().file_name().unwrap().to_str().unwrap() + "/mine.rle";
    fs::write(&pattern, "bo$2bo$3o!").unwrap();
    for (arguments, parts) in [
        (&[&pattern[..], "--checkpoint", &pattern][..], &["--checkpoint", "mine.rle", "is also the input"][..]),
        (&[&pattern, "--checkpoint", &detour], &["--checkpoint", "is also the input"]),
        (&[&pattern, "--out", &detour], &["--out", "is also the input"]),
        (&[&pattern, "--checkpoint", &other, "--out", &other], &["--checkpoint", "same.rle", "the file of --out"]),
        (&[&pattern, "--checkpoint", &stats, "--stats", &stats], &["--stats", "same.csv", "the file of --checkpoint"]),
    ] {
        LIFE.assert_fails(&[arguments, &["--generations", "3", "--device", "cpu"]].concat(), 2, parts);
    }
    assert_eq!(fs::read_to_string(&pattern).unwrap(), "bo$2bo$3o!");
    assert!(!Path::new(&other).exists() && !Path::new(&stats).exists());
    // The run resumes a checkpoint, and writes the next one to the same file.
    for generations in ["3", "6"] {
        let input = if generations == "3" { &pattern } else { &other };
        let object = json_of(&[input, "--generations", generations, "--checkpoint", &other, "--device", "cpu"]);
        assert_eq!(object["generations"].to_string(), generations);
    }
}

#[test]
fn statistics_are_those_of_the_boards() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let soup = ["--size", "90x40", "--seed", "8", "--density", "0.4", "--generations", "40"];
    let mut all = Vec::new();
    for (number, device) in [&["--device", "cpu"][..], &["--device", "sim"], &["--device", "sim", "--rung", "shared"]]
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
    // The statistics cover every generation: births minus deaths equal the growth of the population.
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
    // The board has a block, a blinker and a beehive.
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
    // The objects have the published order of frequency, as far as so few soups show it.
    assert!(count("xs4_33") > count("xs6_696") && count("xp2_7") > count("xs6_696"), "{census}");
    assert!(count("xs6_696") > count("xs7_2596") && count("xs5_253") > count("xs4_252"), "{census}");
    assert_eq!(census["kinds"], json_of(&soups)["kinds"]);
}
