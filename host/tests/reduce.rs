//! `host reduce` as its users meet it: exit codes, messages, and the fields of its JSON object.

use std::process::{Command, Output};

use serde_json::Value;

fn host(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_host")).arg("reduce").args(arguments).output().unwrap()
}

/// Runs a command that succeeds in the simulator and gives its JSON object.
fn json(arguments: &[&str]) -> Value {
    let output = host(&[arguments, &["--device", "sim", "--json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The names of the kernels that were measured.
fn kernels(object: &Value) -> Vec<&str> {
    object["kernels"].as_array().unwrap().iter().map(|kernel| kernel["kernel"].as_str().unwrap()).collect()
}

#[test]
fn every_rung_is_measured_and_right() {
    for n in ["0", "1", "1_000", "2^15"] {
        let object = json(&["--n", n, "--seed", "3"]);
        assert_eq!(
            kernels(&object),
            [
                "neighboured",
                "interleaved",
                "unrolled_2",
                "unrolled_4",
                "unrolled_8",
                "unrolled_last_warp",
                "completely_unrolled",
                "shuffle",
                "grid_stride"
            ]
        );
        assert_eq!((&object["type"], &object["operator"], &object["seed"]), (&"f32".into(), &"sum".into(), &3.into()));
        assert_eq!(object["bytes"], object["n"].as_u64().unwrap() * 4);
        assert!(object["copy_gigabytes_per_second"].as_f64().unwrap() > 0.0, "{object}");
        assert!(object.get("left_out").is_none(), "{object}");
        for kernel in object["kernels"].as_array().unwrap() {
            assert!(kernel["of_bound"].as_f64().unwrap() <= 1.0 && kernel["wrong"].is_null(), "{object}");
            assert!(kernel["runs"].as_u64().unwrap() >= 5 && kernel["seconds"].as_f64().unwrap() > 0.0, "{object}");
            assert_eq!(kernel["gigabytes_per_second"].as_f64().unwrap() > 0.0, n != "0", "{object}");
            assert_eq!(kernel["share_of_copy"].as_f64().unwrap() > 0.0, n != "0", "{object}");
        }
    }
}

#[test]
fn every_type_and_operator_is_offered_by_some_rung() {
    for number in ["f32", "f64", "i32", "u32", "i64", "u64"] {
        for operator in ["sum", "product", "min", "max"] {
            let object = json(&["--n", "1000", "--type", number, "--op", operator]);
            let measured = kernels(&object);
            assert_eq!(measured.last(), Some(&"grid_stride"), "{number} {operator}");
            let left_out = object["left_out"].as_array().map_or(0, Vec::len);
            assert_eq!(measured.len() + left_out, 9, "{object}");
            let bytes = if number.ends_with("64") { 8000 } else { 4000 };
            assert_eq!(object["bytes"], bytes, "{object}");
        }
    }
}

#[test]
fn the_table_says_what_was_left_out() {
    let output = host(&["--n", "500", "--type", "i32", "--op", "max", "--device", "sim"]);
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{stdout}");
    for part in [
        "max of i32, n = 500",
        "grid_stride",
        "GB/s",
        "completely_unrolled and shuffle, which offer sum of f32 and i32",
    ] {
        assert!(stdout.contains(part), "{part}: {stdout}");
    }
    let output = host(&["--n", "500", "--kernel", "shuffle", "--device", "sim"]);
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(stdout.contains("shuffle") && !stdout.contains("neighboured"), "{stdout}");
}

/// Asserts that a command fails with `code`, nothing on standard output, and `error: …` with `parts` in its last line.
#[track_caller]
fn assert_fails(arguments: &[&str], code: i32, parts: &[&str]) {
    let output = host(arguments);
    let stderr = String::from_utf8(output.stderr).unwrap();
    let last = stderr.lines().last().unwrap_or_default();
    assert_eq!(output.status.code(), Some(code), "{stderr}");
    assert!(last.starts_with("error: ") && !stderr.contains("panicked"), "{stderr}");
    for part in parts {
        assert!(last.contains(part), "{part}: {stderr}");
    }
    assert!(output.stdout.is_empty(), "{arguments:?}");
}

#[test]
fn what_is_typed_wrongly_exits_with_2() {
    assert_fails(&["--kernel", "shuffle", "--op", "min"], 2, &["shuffle", "min of f32", "sum of f32 and i32"]);
    assert_fails(&["--kernel", "unrolled_8", "--type", "f64"], 2, &["unrolled_8", "sum of f64", "sum of f32 and i32"]);
    assert_fails(&["--kernel", "unrolled"], 2, &["'unrolled'", "unrolled_2", "grid_stride", "all"]);
    assert_fails(&["--op", "mean"], 2, &["'mean'", "sum, product, min or max"]);
    assert_fails(&["--type", "f16"], 2, &["'f16'", "f32, f64"]);
    assert_fails(&["--n", "many"], 2, &["'many'", "2^20"]);
}

#[test]
fn too_many_elements_are_refused_before_anything_is_done() {
    let parts = ["are needed on simulator", "are free", "--n"];
    assert_fails(&["--n", "2^50", "--device", "sim"], 1, &parts);
    assert_fails(&["--n", "2^63", "--type", "u64", "--op", "min", "--device", "sim"], 1, &parts);
}
