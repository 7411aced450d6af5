//! `host scan` as its users meet it: exit codes, messages, and what comes out where.

use std::process::{Command, Output};

use serde_json::Value;

fn host(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_host")).arg("scan").args(arguments).output().unwrap()
}

/// Runs a command on the simulator that succeeds and gives its JSON object.
fn json(arguments: &[&str]) -> Value {
    let output = host(&[arguments, &["--device", "sim", "--json"]].concat());
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {error}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn names(object: &Value) -> Vec<&str> {
    object["kernels"].as_array().unwrap().iter().map(|kernel| kernel["kernel"].as_str().unwrap()).collect()
}

/// Asserts that a command fails with `code`, nothing on standard output, and one line `error: …` with `parts`.
#[track_caller]
fn assert_fails(arguments: &[&str], code: i32, parts: &[&str]) {
    let output = host(arguments);
    let error = String::from_utf8(output.stderr).unwrap();
    let last = error.lines().last().unwrap_or_default();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {error}");
    assert!(last.starts_with("error: ") && !error.contains("panicked"), "{error}");
    for part in parts {
        assert!(last.contains(part), "{part}: {last}");
    }
    assert!(output.stdout.is_empty());
}

#[test]
fn every_kernel_is_right_and_measured() {
    for n in ["0", "1", "1000"] {
        for kind in [&[][..], &["--exclusive"]] {
            let object = json(&[&["--n", n, "--seed", "3"], kind].concat());
            assert_eq!(names(&object), ["naive_block", "naive", "work_efficient", "look_back"]);
            assert_eq!(object["n"], n.parse::<u64>().unwrap());
            assert_eq!(object["bytes"], 8 * n.parse::<u64>().unwrap());
            assert_eq!(object["exclusive"], !kind.is_empty());
            assert_eq!((&object["type"], &object["operator"]), (&"f32".into(), &"sum".into()));
            for kernel in object["kernels"].as_array().unwrap() {
                assert!(kernel["of_bound"].as_f64().unwrap() <= 1.0 && kernel["wrong"].is_null(), "{object}");
                assert!(kernel["runs"].as_u64().unwrap() >= 5 && kernel["seconds"].is_number(), "{object}");
            }
        }
    }
}

#[test]
fn every_type_goes_with_every_operator() {
    for number in ["f32", "f64", "i32", "u32", "i64", "u64"] {
        for operator in ["sum", "product", "min", "max"] {
            let kind = if operator == "max" { &["--exclusive"][..] } else { &[] };
            let options = ["--n", "9000", "--type", number, "--op", operator, "--kernel", "look_back"];
            let object = json(&[&options, kind].concat());
            assert_eq!((&object["type"], &object["operator"]), (&number.into(), &operator.into()));
            assert_eq!(names(&object), ["look_back"]);
        }
    }
}

#[test]
fn kernels_that_do_not_offer_it_are_left_out_with_the_reason() {
    let object = json(&["--n", "2000", "--type", "i32"]);
    assert_eq!(names(&object), ["naive", "work_efficient", "look_back"]);
    let reasons = object["left_out"].as_array().unwrap();
    assert!(reasons.len() == 1 && reasons[0].as_str().unwrap().contains("2000 elements"), "{object}");
    let output = host(&["--n", "100", "--op", "min", "--device", "sim"]);
    let text = String::from_utf8(output.stdout).unwrap();
    for part in [
        "inclusive scan, min of f32, n = 100 on simulator",
        "look_back",
        "left out: naive_block, which offers ",
        "of copy",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.contains("left out: naive and work_efficient, which offer the sum of f32, i32 and f64\n"), "{text}");
}

#[test]
fn what_is_typed_wrongly_exits_with_2() {
    for (arguments, parts) in [
        (&["--n", "lots"][..], &["lots", "2^20"][..]),
        (&["--kernel", "lookback"], &["lookback", "look_back", "or all"]),
        (&["--type", "f16"], &["f16", "f32", "u64"]),
        (&["--op", "mean"], &["mean", "sum", "max"]),
        (&["--kernel", "naive_block", "--n", "1025"], &["naive_block", "1025 elements", "up to 1024"]),
        (&["--kernel", "naive", "--op", "min"], &["naive", "min of f32", "the sum of f32, i32 and f64"]),
        (&["--kernel", "work_efficient", "--type", "u64", "--n", "4"], &["work_efficient", "sum of u64"]),
    ] {
        assert_fails(arguments, 2, parts);
    }
}

#[test]
fn more_memory_than_there_is_exits_with_1() {
    assert_fails(&["--n", "2^50", "--device", "sim"], 1, &["12 PiB", "free", "--n"]);
    assert_fails(&["--n", "2^63", "--type", "f64", "--kernel", "look_back", "--device", "sim"], 1, &["free", "--n"]);
}
