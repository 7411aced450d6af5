//! Tests `host check` on correct and on faulty kernels.

use crate::common;

use common::{Host, text};
use serde_json::Value;

const HOST: Host = Host(&["check"]);

/// Returns the JSON object of a check that exits with `code`.
#[track_caller]
fn json(arguments: &[&str], code: i32) -> Value {
    let output = HOST.run(&[arguments, &["--json"]].concat());
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn names(report: &Value) -> Vec<&str> {
    report["kernels"].as_array().unwrap().iter().map(|kernel| kernel["kernel"].as_str().unwrap()).collect()
}

#[test]
fn right_kernels_have_a_line_each() {
    let output = HOST.run(&["scale", "saxpy_monolithic"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let out = text(&output.stdout);
    assert!(out.starts_with("check in 8 orders of the threads: natural, last-first, random:1"), "{out}");
    for kernel in ["scale_one_block", "scale_grid", "scale_vectorised", "scale_unaligned", "saxpy_monolithic"] {
        let line = out.lines().find(|line| line.trim_start().starts_with(kernel));
        assert!(line.is_some_and(|line| line.trim_end().ends_with("ok")), "{kernel}: {out}");
    }
    assert!(out.trim_end().lines().last().unwrap().starts_with("5 kernels: nothing found"), "{out}");
}

#[test]
fn json_counts_what_was_checked() {
    let report = json(&["reduce_shuffle", "--schedule", "last-first", "--schedule", "random:7", "--strict"], 0);
    assert_eq!(names(&report), ["reduce_shuffle"]);
    assert_eq!(report["schedules"], serde_json::json!(["last-first", "random:7"]));
    assert_eq!(report["strict"], true);
    let kernel = &report["kernels"][0];
    assert_eq!(kernel["algorithm"], "reduce");
    assert!(kernel["faults"].as_array().unwrap().is_empty());
    let count = |name: &str| kernel[name].as_u64().unwrap();
    assert!(count("cases") >= 3 && count("launches") >= 2 * count("cases") && count("threads") > 1000, "{report}");
}

#[test]
fn rungs_and_instances_are_known() {
    assert_eq!(names(&json(&["work_efficient", "--schedule", "natural"], 0)).len(), 3);
    assert_eq!(names(&json(&["scale_grid_f32", "--schedule", "natural"], 0)), ["scale_grid"]);
    // The name selects three rungs: those of matmul, scan and transpose.
    let naive = json(&["naive", "--schedule", "natural"], 0);
    assert_eq!(names(&naive), ["matmul_naive", "scan_naive_step", "transpose_naive"]);
}

#[test]
fn a_race_is_shown_with_both_lines() {
    let report = json(&["tile_unsynchronised"], 1);
    let faults = report["kernels"][0]["faults"].as_array().unwrap();
    assert_eq!(faults.len(), 1, "{report}");
    let fault = &faults[0];
    assert_eq!((&fault["kind"], &fault["kernel"]), (&"data race".into(), &"tile_unsynchronised".into()));
    assert_eq!(fault["schedules"].as_array().unwrap().len(), 8);
    assert!(fault["element"].as_str().unwrap().starts_with("tile["), "{fault}");
    assert!(fault["remedy"].as_str().unwrap().contains("put thread::sync_threads between"), "{fault}");
    for side in ["here", "there"] {
        let side = &fault[side];
        assert_eq!(side["file"], "gpu/src/faults/tile.rs");
        assert!(side["text"].as_str().unwrap().contains("// fault: "), "{side}");
        assert_eq!(side["block"].as_array().unwrap().len(), 3);
        assert_eq!(side["thread"].as_array().unwrap().len(), 3);
    }
    assert_ne!(fault["here"]["line"], fault["there"]["line"]);
    let (whole, message) = (&fault["fault"], fault["message"].as_str().unwrap());
    assert_eq!(
        (&whole["kind"], &whole["details"]["remedy"]),
        (&"race".into(), &"warp_synchronisation".into()),
        "{whole}"
    );
    assert!(message.ends_with(whole["message"].as_str().unwrap()), "{message} {whole}");
}

#[test]
fn every_faulty_kernel_is_found_out() {
    let output = HOST.run(&["faults", "--schedule", "natural", "--schedule", "interleaved:5"]);
    assert_eq!(output.status.code(), Some(1));
    let (out, error) = (text(&output.stdout), text(&output.stderr));
    let kernels = gpu::faults::KERNELS;
    for kernel in kernels {
        assert!(out.contains(&format!("\n{}: ", kernel.family)), "{} is not at fault: {out}", kernel.family);
    }
    for part in
        ["data race", "barrier not reached", "wrong result", "misaligned", "gpu/src/faults/prefix.rs", " | ", "put "]
    {
        assert!(out.contains(part), "{part}: {out}");
    }
    let last = error.lines().last().unwrap();
    assert_eq!(last, format!("error: {0} of {0} kernels are at fault", kernels.len()));
}

#[test]
fn sarif_has_a_result_a_fault_with_both_places() {
    let output = HOST.run(&["prefix_in_place", "--sarif", "--schedule", "natural"]);
    assert_eq!(output.status.code(), Some(1));
    let log: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    assert_eq!(run["tool"]["driver"]["rules"][0]["id"], "data-race");
    let [result] = &run["results"].as_array().unwrap()[..] else { panic!("{log:#}") };
    assert_eq!((&result["ruleId"], &result["level"]), (&"data-race".into(), &"error".into()));
    assert!(result["message"]["text"].as_str().unwrap().contains("data race on `sums["), "{log:#}");
    for places in ["locations", "relatedLocations"] {
        let place = &result[places][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "gpu/src/faults/prefix.rs", "{log:#}");
        assert!(place["region"]["startLine"].as_u64().is_some_and(|line| line > 1), "{log:#}");
    }
    let none = HOST.run(&["naive_block", "--sarif", "--schedule", "natural"]);
    let log: serde_json::Value = serde_json::from_slice(&none.stdout).unwrap();
    assert_eq!((none.status.code(), log["runs"][0]["results"].as_array().map(Vec::len)), (Some(0), Some(0)));
}

#[test]
fn what_is_typed_wrongly_exits_with_2() {
    for (arguments, parts) in [
        (&["reduce_shufle"][..], &["'reduce_shufle'", "reduce_shuffle", "host list", "probe, reduce", "all"][..]),
        (&["scan", "sacn"], &["'sacn'", "scan"]),
        (&["--schedule", "backwards"], &["backwards", "last-first", "random:1"]),
        (&["--device", "gpu"], &["--device"]),
    ] {
        HOST.assert_fails(arguments, 2, parts);
    }
}

#[test]
fn barriers_are_left_out_one_at_a_time() {
    let report = json(&["reduce_unrolled_last_warp", "--mutate-barriers"], 0);
    let entries = report["synchronisations"].as_array().unwrap();
    let kinds: Vec<&str> = entries.iter().map(|entry| entry["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["barrier", "barrier", "barrier", "warp synchronisation"]);
    for entry in entries {
        assert_eq!(entry["kernel"], "reduce_unrolled_last_warp");
        assert!(entry["reported"]["kind"].is_string(), "{entry}");
        assert!(entry["reported"]["message"].as_str().unwrap().contains("gpu/src/reduce/"), "{entry}");
    }
    let output = HOST.run(&["naive_block", "--mutate-barriers"]);
    let out = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{out}");
    assert!(out.contains("gpu/src/scan/naive_block.rs:") && out.contains("2 synchronisations"), "{out}");
}

#[test]
fn hints_are_asked_for_and_change_no_exit_code() {
    let report = json(&["reduce_unrolled_last_warp", "--redundant"], 0);
    assert_eq!(report["redundant"].as_array().map(Vec::len), Some(0), "{report}");
    assert!(json(&["scale_grid", "--schedule", "natural"], 0).get("redundant").is_none());
    let output = HOST.run(&["naive_block", "--redundant"]);
    assert!(text(&output.stdout).contains("hints: none; if any one synchronisation is deleted"));
    assert_eq!(output.status.code(), Some(0));
    HOST.assert_fails(&["scan", "--redundant", "--mutate-barriers"], 2, &["--redundant", "--mutate-barriers"]);
}

#[test]
fn more_orders_are_tried_when_they_are_asked_for() {
    let report = json(&["hand_over", "--thorough=0.5", "--schedule", "natural"], 0);
    let tried = &report["thorough"];
    assert_eq!((&tried["seconds_per_kernel"], &tried["cases"]), (&0.5.into(), &1.into()), "{report}");
    assert!(tried["orders"].as_u64().is_some_and(|orders| orders > 8), "{report}");
    let of_kernel = &report["kernels"][0]["thorough"];
    assert_eq!((&of_kernel["orders"], &of_kernel["choices"]), (&tried["orders"], &tried["choices"]), "{report}");
    assert!(of_kernel["exhausted"].is_boolean() && of_kernel["all_choices"].is_boolean(), "{report}");
    // The threads do not communicate by atomics, so the search has no orders to try beyond the hostile ones.
    let report = json(&["scale_grid", "--thorough"], 0);
    assert_eq!(report["thorough"]["exhausted"], report["thorough"]["cases"], "{report}");
    assert_eq!(report["thorough"]["orders"], 8 * report["thorough"]["cases"].as_u64().unwrap(), "{report}");
    let output = HOST.run(&["hand_over", "--schedule", "held:1:1.0.1,0.0.2"]);
    assert!(text(&output.stdout).starts_with("check in 1 order of the threads: held:1:1.0.1,0.0.2\n"));
    HOST.assert_fails(&["scan", "--thorough=soon"], 2, &["soon", "a number of seconds"]);
}
