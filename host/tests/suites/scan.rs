//! Tests `host scan`: exit codes, messages, and the texts on standard output and standard error.

use crate::common;

use common::{Host, kernels};

const HOST: Host = Host(&["scan"]);

#[test]
fn every_kernel_is_right_and_measured() {
    for n in ["0", "1", "1000"] {
        for kind in [&[][..], &["--exclusive"]] {
            let object = HOST.json(&[&["--n", n, "--seed", "3"], kind].concat());
            assert_eq!(kernels(&object), ["naive_block", "naive", "work_efficient", "look_back", "pipelined"]);
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

/// Asserts that a rung runs with every type and operator. The conformance suite tests its results at all lengths.
fn goes_with_every_type_and_operator(kernel: &str) {
    for number in ["f32", "f64", "i32", "u32", "i64", "u64"] {
        for operator in ["sum", "product", "min", "max"] {
            let kind = if operator == "max" { &["--exclusive"][..] } else { &[] };
            let options = ["--n", "1000", "--type", number, "--op", operator, "--rung", kernel];
            let object = HOST.json(&[&options, kind].concat());
            assert_eq!((&object["type"], &object["operator"]), (&number.into(), &operator.into()));
            assert_eq!(kernels(&object), [kernel]);
        }
    }
}

#[test]
fn the_look_back_goes_with_every_type_and_operator() {
    goes_with_every_type_and_operator("look_back");
}

#[test]
fn the_pipeline_goes_with_every_type_and_operator() {
    goes_with_every_type_and_operator("pipelined");
}

#[test]
fn halves_and_operators_that_propagate_nan_run_by_the_look_back() {
    for (number, operator, bytes) in
        [("f16", "sum", 4), ("bf16", "sum", 4), ("f32", "minimum", 8), ("f64", "maximum", 16)]
    {
        let object = HOST.json(&["--n", "9000", "--type", number, "--op", operator, "--exclusive"]);
        assert_eq!((&object["type"], &object["operator"]), (&number.into(), &operator.into()));
        assert_eq!((kernels(&object), &object["bytes"]), (vec!["look_back"], &(9000 * bytes).into()), "{object}");
    }
}

#[test]
fn kernels_that_do_not_offer_it_are_left_out_with_the_reason() {
    let object = HOST.json(&["--n", "2000", "--type", "i32"]);
    assert_eq!(kernels(&object), ["naive", "work_efficient", "look_back", "pipelined"]);
    let reasons = object["left_out"].as_array().unwrap();
    assert!(reasons.len() == 1 && reasons[0].as_str().unwrap().contains("2000 elements"), "{object}");
    let output = HOST.run(&["--n", "100", "--op", "min", "--device", "sim"]);
    let text = String::from_utf8(output.stdout).unwrap();
    for part in [
        "inclusive scan, min of f32, n = 100 on simulator",
        "look_back",
        "left out: naive_block, which offers ",
        "of copy",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.contains("left out: naive and work_efficient, which offer sum of f32, f64 and i32\n"), "{text}");
}

#[test]
fn what_is_typed_wrongly_exits_with_2() {
    for (arguments, parts) in [
        (&["--n", "lots"][..], &["lots", "2^20"][..]),
        (&["--rung", "lookback"], &["lookback", "look_back", "or all"]),
        (&["--type", "f8"], &["f8", "f32", "u64", "bf16"]),
        (&["--type", "f16", "--op", "min"], &["min of f16", "sum of f32, f64, i32, u32, i64, u64, f16 and bf16"]),
        (&["--type", "i32", "--op", "maximum"], &["maximum of i32", "minimum and maximum of f32 and f64"]),
        (&["--type", "f16", "--device", "sim:2"], &["sum of f16", "one device"]),
        (&["--op", "mean"], &["mean", "sum", "max"]),
        (&["--rung", "naive_block", "--n", "1025"], &["naive_block", "1025 elements", "at most 1024"]),
        (&["--rung", "naive", "--op", "min"], &["naive", "min of f32", "sum of f32, f64 and i32"]),
        (&["--rung", "work_efficient", "--type", "u64", "--n", "4"], &["work_efficient", "sum of u64"]),
    ] {
        HOST.assert_fails(arguments, 2, parts);
    }
}

#[test]
fn more_memory_than_there_is_exits_with_1() {
    HOST.assert_fails(&["--n", "2^50", "--device", "sim"], 1, &["12 PiB", "free", "--n"]);
    HOST.assert_fails(&["--n", "2^63", "--type", "f64", "--rung", "look_back", "--device", "sim"], 1, &["free", "--n"]);
}
