//! Tests `host explain`: figures that are known beforehand, their order, and the HTML page.

use std::fs;

use serde_json::Value;

use crate::common;

use common::{Host, text};

const EXPLAIN: Host = Host(&["explain"]);

#[track_caller]
fn json(arguments: &[&str]) -> Value {
    let output = EXPLAIN.run(&[arguments, &["--json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[track_caller]
fn stdout(arguments: &[&str]) -> String {
    let output = EXPLAIN.run(arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout).to_owned()
}

fn rungs(explanation: &Value) -> Vec<(&str, &Value)> {
    let rungs = explanation["rungs"].as_array().unwrap();
    rungs.iter().map(|rung| (rung["rung"].as_str().unwrap(), rung)).collect()
}

/// Returns the name of each rung, with the value of `figure` in the rung's summary.
fn figures(explanation: &Value, figure: &str) -> Vec<(String, Option<f64>)> {
    rungs(explanation).iter().map(|(name, rung)| (name.to_string(), rung["summary"][figure].as_f64())).collect()
}

#[track_caller]
fn assert_figures(explanation: &Value, figure: &str, expected: &[(&str, Option<f64>)]) {
    let expected: Vec<_> = expected.iter().map(|(name, value)| (name.to_string(), *value)).collect();
    assert_eq!(figures(explanation, figure), expected, "{figure}");
}

/// Tests the memory traffic of the transpose rungs. It is known beforehand: blocks of 32 x 8 threads move tiles of 32 x
/// 32 elements of 4 bytes.
#[test]
fn the_rungs_of_transpose_move_what_their_accesses_say() {
    let explanation = json(&["transpose", "--size", "128x64"]);
    assert_eq!(explanation["subject"], "transpose");
    assert_eq!(explanation["gpu"]["compute_capability"], "9.0");
    let all = Some(1.0);
    let rungs_with = |values: [Option<f64>; 6]| {
        ["copy", "copy_tile", "naive", "tile", "padded", "vectorised"].into_iter().zip(values).collect::<Vec<_>>()
    };
    assert_figures(&explanation, "load_efficiency", &rungs_with([all; 6]));
    assert_figures(&explanation, "store_efficiency", &rungs_with([all, all, Some(0.125), all, all, all]));
    assert_figures(&explanation, "shared_ways", &rungs_with([None, all, None, Some(32.0), all, all]));
    // Each element is read and written once; the naive rung writes a sector for each.
    let bytes = (128 * 64 * 8) as f64;
    assert_figures(&explanation, "floor_bytes", &rungs_with([Some(bytes); 6]));
    let mut moved = [Some(bytes); 6];
    moved[2] = Some((128 * 64 * 36) as f64);
    assert_figures(&explanation, "moved_bytes", &rungs_with(moved));
    let (_, naive) = rungs(&explanation)[2];
    assert_eq!(naive["summary"]["floor_seconds"], Value::from(bytes / 4225e9));
    let (_, padded) = rungs(&explanation)[4];
    let change = padded["change"].as_str().unwrap();
    assert!(change.contains("less memory time") && change.contains("no bank conflicts instead of 32-way"), "{change}");
}

/// Tests the totals of each kernel and launch configuration, which `cargo xtask counters` compares with a GPU's
/// counters.
#[test]
fn launches_are_counted_by_their_configuration() {
    let explanation = json(&["transpose_tile", "--size", "128x64", "--type", "u32"]);
    let kernel = &explanation["rungs"][0]["kernels"][0];
    assert_eq!((&kernel["family"], &kernel["entry"]), (&"transpose_tile".into(), &"transpose_tile_u32".into()));
    let launches = kernel["launches"].as_array().unwrap();
    assert_eq!(launches.len(), 1);
    let launch = &launches[0];
    assert_eq!(launch["grid"], serde_json::json!([4, 2, 1]));
    assert_eq!(launch["block"], serde_json::json!([32, 8, 1]));
    assert_eq!(launch["launches"], 1);
    // The number of requests: one for each row of a tile.
    let requests = 4 * 2 * 32;
    for (memory, kind, figure, value) in [
        ("global", "load", "requests", requests),
        ("global", "load", "sectors", 4 * requests),
        ("global", "store", "requests", requests),
        ("global", "store", "sectors", 4 * requests),
        ("global", "atomic", "requests", 0),
        ("shared", "load", "wavefronts", 32 * requests),
        ("shared", "load", "bank_conflicts", 31 * requests),
        ("shared", "store", "wavefronts", requests),
        ("shared", "store", "bank_conflicts", 0),
    ] {
        assert_eq!(launch[memory][kind][figure], value, "{memory} {kind} {figure}");
    }
    assert_eq!(launch["barriers"], 8);
    // All steps of this scan launch the same kernel on the same grid.
    let explanation = json(&["scan/naive", "--n", "1000"]);
    let launches = explanation["rungs"][0]["kernels"][0]["launches"].as_array().unwrap();
    assert_eq!((launches.len(), &launches[0]["launches"]), (1, &10.into()));
}

#[test]
fn places_come_worst_first_with_their_source_and_a_sentence() {
    for subject in ["transpose", "reduce/neighboured", "life/global", "access_strided"] {
        let explanation = json(&[subject]);
        for (name, rung) in rungs(&explanation) {
            for kernel in rung["kernels"].as_array().unwrap() {
                let sites = kernel["sites"].as_array().unwrap();
                assert!(!sites.is_empty(), "{subject}: {name}");
                let lost =
                    |site: &Value| site["seconds"].as_f64().unwrap() * (1.0 - site["efficiency"].as_f64().unwrap());
                assert!(sites.is_sorted_by(|a, b| lost(a) >= lost(b)), "{subject}: {name}");
                for site in sites {
                    let source = site["source"].as_str().unwrap_or_else(|| panic!("{name}: no source of {site}"));
                    assert!(site["file"].as_str().unwrap().starts_with("gpu/src/") && !source.is_empty());
                    assert!(site["meaning"].as_str().unwrap().len() > 20, "{site}");
                }
                assert!(kernel["resources"]["registers"].as_u64().unwrap() > 0);
                assert!(kernel["occupancy"]["blocks"].as_u64().unwrap() > 0);
            }
        }
    }
    let strided = json(&["access_strided"]);
    let site = &strided["rungs"][0]["kernels"][0]["sites"][0];
    assert_eq!((&site["stride"], &site["efficiency"]), (&8.into(), &0.5.into()));
    let offset = json(&["access_offset"]);
    assert_eq!(
        offset["rungs"][0]["summary"]["load_efficiency"].as_f64().map(|share| (share * 100.0).round()),
        Some(80.0)
    );
}

#[test]
fn the_text_says_why_padding_helps() {
    let text = stdout(&["transpose", "--size", "64x64"]);
    for part in [
        "transpose on H200 SXM5: compute capability 9.0, 132 SMs at 1.98 GHz, 4225 GB/s (measured copy)",
        "each request touches 32 sectors where 4 would do: neighbouring lanes write addresses 256 bytes apart",
        "32-way bank conflict: all lanes of a warp access words of one bank",
        "no bank conflicts instead of 32-way ones",
        "registers per thread, 4,224 B of shared memory per block: ",
        "unsafe { y.store_unchecked(column * height + row,",
    ] {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
    for line in text.lines().filter(|line| !line.starts_with("      ")) {
        assert!(line.chars().count() <= 160 && line.trim_end() == line, "{line:?}");
    }
}

#[test]
fn the_page_stands_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("transpose.html");
    stdout(&["transpose", "--size", "64x64", "--html", path.to_str().unwrap()]);
    let page = fs::read_to_string(&path).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
    for outside in ["http:", "https:", "<script", "<link", "<img", "url(", "@import"] {
        assert!(!page.contains(outside), "{outside}");
    }
    for part in [
        "<title>transpose on H200 SXM5</title>",
        "prefers-color-scheme: dark",
        "name=\"viewport\"",
        "id=\"transpose-padded\"",
        "Each request touches 32 sectors where 4 would do",
        "pub fn transpose_naive&lt;T: Element&gt;",
    ] {
        assert!(page.contains(part), "`{part}` is not in the page");
    }
    // Every element that is opened is closed.
    for element in ["table", "tr", "td", "li", "ul", "dl", "pre", "details", "span", "p", "div", "h2"] {
        let opened = page.matches(&format!("<{element}>")).count() + page.matches(&format!("<{element} ")).count();
        assert_eq!(opened, page.matches(&format!("</{element}>")).count(), "{element}");
    }
}

/// Tests the place of the rungs under the roofs: a tile of 32 x 32 elements takes 32 loads and 32 stores of a warp,
/// which move 4 sectors each, and as many accesses to shared memory.
#[test]
fn the_roofline_has_the_counted_instructions_and_sectors() {
    let explanation = json(&["transpose", "--size", "64x64"]);
    let all = rungs(&explanation);
    let place = |rung: &str| &all.iter().find(|(name, _)| *name == rung).unwrap().1["roofline"];
    let tiles = 4;
    for (rung, instructions, sectors, limit) in [
        ("copy", 64, 8 * 32, "memory"),
        ("naive", 64, 36 * 32, "memory"),
        ("tile", 128, 8 * 32, "load_store"),
        ("padded", 128, 8 * 32, "memory"),
    ] {
        let place = place(rung);
        assert_eq!(
            (&place["instructions"], &place["sectors"]),
            (&(tiles * instructions).into(), &(tiles * sectors).into()),
            "{rung}"
        );
        assert_eq!(place["intensity"].as_f64(), Some(f64::from(instructions) / f64::from(sectors)), "{rung}");
        assert_eq!(place["limit"], limit, "{rung}");
    }
    // 33 wavefronts for each pair of shared accesses, and the two requests to global memory.
    let slower = place("padded")["rate"].as_f64().unwrap() / place("tile")["rate"].as_f64().unwrap();
    assert!(slower > 2.0, "{slower}");
    let room = place("copy")["room"].as_f64().unwrap();
    assert!((room - (8.0 / 4225e9 * 4.0 * 132.0 * 1.98e9 * 32.0 - 2.0)).abs() < 1e-3, "{room}");
    assert!(stdout(&["transpose/copy", "--size", "64x64"]).contains("roofline: 0.25 requests and warp operations per"));
}

#[test]
fn a_rung_is_compared_with_another_by_totals_and_lines() {
    let arguments = ["transpose/padded", "--baseline", "transpose/tile", "--size", "64x64"];
    let explanation = json(&arguments);
    let rung = &explanation["comparison"]["rungs"][0];
    let totals = rung["totals"].as_array().unwrap();
    let total = |what: &str| {
        let change = totals.iter().find(|change| change["what"] == what).unwrap();
        (change["before"].as_u64().unwrap(), change["after"].as_u64().unwrap())
    };
    assert_eq!(total("bank conflicts"), (4 * 31 * 32, 0));
    assert_eq!(total("sectors"), (4 * 256, 4 * 256));
    assert_eq!(total("barriers"), (4, 4));
    let lines = rung["kernels"][0]["lines"].as_array().unwrap();
    let conflict = lines.iter().flat_map(|line| line["counts"].as_array().unwrap());
    let conflict = conflict.into_iter().find(|count| count["what"] == "bank conflicts").unwrap();
    assert_eq!((&conflict["before"], &conflict["after"]), (&(4 * 31 * 32).into(), &0.into()));
    let text = stdout(&arguments);
    for part in
        ["transpose/padded compared with transpose/tile: ", "  transpose_tile_u32 → transpose_padded_u32", "none left"]
    {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
    // A file of the same rung: nothing differs. A file of another one is refused.
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (before, page, broken) = (path("before.json"), path("changes.html"), path("broken.json"));
    fs::write(&before, json(&["transpose/tile", "--size", "64x64"]).to_string()).unwrap();
    fs::write(&broken, "{\"format\": 0}").unwrap();
    let same = stdout(&["transpose/tile", "--size", "64x64", "--baseline", &before]);
    assert!(same.contains("nothing differs: all counts and lines are equal"), "{same}");
    stdout(&[&arguments[..], &["--html", &page]].concat());
    let page = fs::read_to_string(page).unwrap();
    for part in [
        "<h2>transpose/padded compared with transpose/tile</h2>",
        "class=\"gone\"",
        "class=\"new\"",
        "<svg class=\"roofline\"",
    ] {
        assert!(page.contains(part), "`{part}` is not in the page");
    }
    let refused = |arguments: &[&str], code, parts: &[&str]| {
        EXPLAIN.assert_fails(&[arguments, &["--size", "64x64"]].concat(), code, parts);
    };
    refused(&["transpose/padded", "--baseline", &before], 2, &["of transpose/tile, not of transpose/padded"]);
    refused(&["transpose", "--baseline", "transpose/tile"], 2, &["not a name of several rungs"]);
    refused(&["transpose/tile", "--baseline", "transpose"], 2, &["not one that has several rungs"]);
    refused(&["transpose/tile", "--baseline", "no_such"], 2, &["no algorithm, rung or kernel 'no_such'"]);
    refused(&["transpose/tile", "--baseline", &before, "--type", "f64"], 2, &["64x64, f64 (4096 elements)"]);
    refused(&["transpose/tile", "--baseline", &before, "--gpu", "t4"], 2, &["its GPU is H200 SXM5, not T4"]);
    refused(&["transpose/tile", "--baseline", &broken], 1, &["JSON format 0 of another version"]);
    refused(&["transpose/tile", "--baseline", &path("none.json")], 1, &["cannot read the baseline", "none.json"]);
}

/// Tests the last line of the outputs. A test in `cli` follows the suggestions through every ladder.
#[test]
fn the_text_ends_with_the_next_command() {
    let last = |text: String| text.lines().last().unwrap_or_default().to_owned();
    let explained = stdout(&["transpose/tile", "--size", "64x64"]);
    assert_eq!(last(explained), "next: host explain transpose/padded");
    let list = Host(&["list"]);
    let listed = |arguments: &[&str]| last(text(&list.run(arguments).stdout).to_owned());
    assert_eq!(listed(&["transpose"]), "next: host explain transpose/copy");
    assert_eq!(listed(&[]), "next: host list scale");
}

#[test]
fn the_gpu_decides_floor_and_occupancy() {
    let floor = |gpu: &str| {
        json(&["transpose/padded", "--gpu", gpu, "--size", "64x64"])["rungs"][0]["summary"]["floor_seconds"].as_f64()
    };
    assert!(floor("t4").unwrap() > 10.0 * floor("h200").unwrap());
    let explanation = json(&["transpose/padded", "--gpu", "T4", "--size", "64x64"]);
    assert_eq!(explanation["gpu"]["speed"], "datasheet");
    assert_eq!(explanation["rungs"][0]["kernels"][0]["occupancy"]["most_warps"], 32);
}

#[test]
fn rungs_that_do_not_offer_the_type_are_left_out() {
    let explanation = json(&["saxpy", "--type", "f64", "--n", "1000"]);
    assert_eq!(rungs(&explanation).len(), 1);
    assert_eq!(explanation["left_out"].as_array().unwrap().len(), 5);
    EXPLAIN.assert_fails(&["saxpy/monolithic", "--type", "f64"], 2, &["monolithic does not offer f64"]);
}

#[test]
fn what_is_typed_wrong_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    let there = folder.path().to_str().unwrap();
    for (arguments, code, parts) in [
        (&["padde"][..], 2, &["no algorithm, rung or kernel 'padde'", "transpose (copy,", "host list"][..]),
        (&["naive"], 2, &["scan/naive or transpose/naive"]),
        (&["saxpy", "--size", "8x8"], 2, &["--n, not --size"]),
        (&["transpose", "--n", "64"], 2, &["--size"]),
        (&["transpose", "--gpu", "h300"], 2, &["h300", "h200"]),
        (&["transpose", "--op", "sum"], 2, &["no operators to choose from"]),
        (&["reduce", "--op", "average"], 2, &["average", "sum"]),
        (&["life/shared", "--size", "1000x1000"], 2, &["shared memory"]),
        (&["transpose", "--html", there], 1, &["it is a folder"]),
        (&[], 2, &["KERNEL|ALGORITHM"]),
    ] {
        EXPLAIN.assert_fails(arguments, code, parts);
    }
}

#[test]
fn the_help_names_the_gpus() {
    let help = stdout(&["--help"]);
    for part in ["h200", "4225 GB/s (measured copy)", "a100", "datasheet", "Exit code"] {
        assert!(help.contains(part), "{part}: {help}");
    }
}
