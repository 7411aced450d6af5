//! Tests the search for what a board of `host life` becomes: periods, spaceships, and patterns that grow.

use std::fs;

use serde_json::{Value, json};

use crate::common::text;
use crate::life_long::{LIFE, json_of, last_board};

#[test]
fn an_end_is_found_on_every_device() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("glider.rle");
    fs::write(&file, "x = 3, y = 3\nbo$2bo$3o!").unwrap();
    let file = file.to_str().unwrap();
    for device in [&["--device", "cpu"][..], &["--device", "sim"], &["--device", "sim", "--rung", "global"]] {
        let object = json_of(&[&[file, "--size", "16x16", "--until", "stable"][..], device].concat());
        assert_eq!(object["stable"], json!({"since": 0, "period": 64, "dead": false}), "{device:?}");
    }
    for (generations, stable, end) in
        [("70", Value::Null, 70), ("5000", json!({"since": 0, "period": 64, "dead": false}), 64)]
    {
        let until = ["--until", "stable", "--generations", generations, "--device", "cpu"];
        let object = json_of(&[&[file, "--size", "16x16"][..], &until].concat());
        assert_eq!((&object["stable"], &object["generations"]), (&stable, &json!(end)));
    }
}

/// Tests that the board, the statistics and the checkpoint belong to the generation at which the board repeats,
/// whichever observer finds the repetition first.
#[test]
fn a_run_until_it_is_stable_always_writes_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (file, csv, checkpoint, gif) = (path("glider.rle"), path("a.csv"), path("a.checkpoint"), path("a.gif"));
    fs::write(&file, "x=3,y=1,rule=B3/S23:T13,17\nbo$2bo$3o!\n").unwrap();
    let mut written = Vec::new();
    for device in ["cpu", "sim", "sim:2"] {
        let until =
            ["--until", "stable", "--device", device, "--stats", &csv, "--checkpoint", &checkpoint, "--overwrite"];
        let last = last_board(folder.path(), &[&[&file[..]], &until[..]].concat());
        assert!(last.contains("Gen=884"), "{device}: {last}");
        written.push((last, fs::read(&csv).unwrap(), fs::read(&checkpoint).unwrap()));
    }
    assert!(written.iter().all(|all| *all == written[0]), "{written:?}");
    let last = text(&written[0].1).lines().last().unwrap();
    assert!(last.starts_with("88"), "{last}");
    let recorded = json_of(&[&file, "--until", "stable", "--out", &gif, "--rule", "B3/S23:T5,5"]);
    assert_eq!(recorded["generations"], json!(20));
}

/// Tests that a run of spaceships on the unbounded plane ends when they repeat.
#[test]
fn a_spaceship_ends() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ships.rle");
    // The board has two spaceships of the same velocity.
    fs::write(&file, "x = 5, y = 13\nbo2bo$o$o3bo$4o6$bo2bo$o$o3bo$4o!").unwrap();
    let file = file.to_str().unwrap();
    for device in ["cpu", "sim"] {
        let object = json_of(&[file, "--census", "--device", device]);
        assert_eq!(object["stable"], json!({"since": 0, "period": 4, "shift": [-2, 0], "dead": false}), "{device}");
        assert_eq!((&object["generations"], &object["width"]), (&json!(4), &json!(256)));
        let kinds = &object["census"]["kinds"];
        assert_eq!((&kinds[0]["code"], &kinds[0]["count"]), (&json!("xq4_6frc"), &json!(2)));
    }
    let output = LIFE.run(&[file, "--until", "stable", "--device", "cpu"]);
    let line = text(&output.stdout);
    assert!(line.contains("periodic with period 4, shifted by (-2, 0), from generation 0 on, 256x256"), "{line}");
}

/// Tests a period that is no multiple or divisor of the distances of hashes.
#[test]
fn a_long_period_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("glider.rle");
    fs::write(&file, "x = 3, y = 3\nbo$2bo$3o!").unwrap();
    let glider = [file.to_str().unwrap(), "--size", "97x101", "--until", "stable", "--device", "cpu"];
    let object = json_of(&[&glider[..], &["--generations", "49188"]].concat());
    assert_eq!(object["stable"], json!({"since": 0, "period": 39_188, "dead": false}));
    assert_eq!(object["generations"], json!(39_188));
}

/// Tests patterns on the plane that are not periodic as a whole.
#[test]
fn what_a_pattern_becomes_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let methuselah = write("r.rle", "x = 3, y = 3\nb2o$2o$bo!");
    let arguments = [&methuselah[..], "--until", "stable", "--census", "--device", "cpu"];
    let output = LIFE.run(&arguments);
    let line = text(&output.stdout);
    let state = "generation 1,105, population 116, periodic with period 2 from generation 1,103 on, except for";
    let became = "became: 8 blocks, 4 blinkers, 4 beehives, 1 boat, 1 ship, 1 loaf; 6 gliders escaped";
    assert!(output.status.success() && line.starts_with(state) && line.contains(became), "{line}");
    let object = json_of(&arguments);
    assert_eq!(object["stable"], json!({"since": 1103, "period": 2, "dead": false}));
    let glider = json!([{"code": "xq4_153", "name": "glider", "count": 6}]);
    assert_eq!((&object["outcome"]["escaped"], &object["census"]["objects"]), (&glider, &json!(25)));

    let gun = "x = 36, y = 9\n24bo$22bobo$12b2o6b2o12b2o$11bo3bo4b2o12b2o$2o8bo5bo3b2o$2o8bo3bob2o4bobo$10bo5bo7bo$\
               11bo3bo$12b2o!";
    let gun = write("gun.rle", gun);
    let object = json_of(&[&gun, "--until", "stable", "--device", "cpu"]);
    let growth = json!({"name": "Gosper glider gun", "since": 0, "period": 30, "leaves": [],
        "emits": [{"code": "xq4_153", "name": "glider", "count": 1}]});
    assert_eq!((&object["stable"], &object["outcome"]["growth"]), (&Value::Null, &growth));
    assert_eq!((&object["generations"], &object["outcome"]["escaped"]), (&json!(30), &json!([])));
    // The state is printed, too, but there is no census.
    let early = [&methuselah[..], "--census", "--generations", "1000", "--device", "cpu"];
    for (arguments, parts) in [
        (&[&gun[..], "--census", "--device", "cpu"][..], ["growing", "period 30"]),
        (&early, ["not stable in generation 1000", "more --generations"]),
    ] {
        let output = LIFE.run(arguments);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {stderr}");
        assert!(stderr.contains("--census: ") && parts.iter().all(|part| stderr.contains(part)), "{stderr}");
    }
}
