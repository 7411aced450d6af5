//! Tests `host reduce`: exit codes, messages, and the fields of its JSON object.

use crate::common;

use common::{Host, kernels};

const HOST: Host = Host(&["reduce"]);

#[test]
fn every_rung_is_measured_and_right() {
    for n in ["0", "1", "1_000", "2^15"] {
        let object = HOST.json(&["--n", n, "--seed", "3"]);
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
        let propagating = if number.starts_with('f') { &["minimum", "maximum"][..] } else { &[] };
        for &operator in ["sum", "product", "min", "max"].iter().chain(propagating) {
            let object = HOST.json(&["--n", "1000", "--type", number, "--op", operator]);
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
    let output = HOST.run(&["--n", "500", "--type", "i32", "--op", "max", "--device", "sim"]);
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
    let output = HOST.run(&["--n", "500", "--rung", "shuffle", "--device", "sim"]);
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(stdout.contains("shuffle") && !stdout.contains("neighboured"), "{stdout}");
}

#[test]
fn what_is_typed_wrongly_exits_with_2() {
    HOST.assert_fails(&["--rung", "shuffle", "--op", "min"], 2, &["shuffle", "min of f32", "sum of f32 and i32"]);
    HOST.assert_fails(
        &["--rung", "unrolled_8", "--type", "f64"],
        2,
        &["unrolled_8", "sum of f64", "sum of f32 and i32"],
    );
    HOST.assert_fails(&["--rung", "unrolled"], 2, &["'unrolled'", "unrolled_2", "grid_stride", "all"]);
    HOST.assert_fails(&["--op", "mean"], 2, &["'mean'", "sum, product, min, max, minimum, maximum, argmin or argmax"]);
    let parts = ["minimum of i32", "min and max of f32", "minimum and maximum of f32 and f64"];
    HOST.assert_fails(&["--op", "minimum", "--type", "i32"], 2, &parts);
    HOST.assert_fails(&["--type", "f8"], 2, &["'f8'", "f32, f64"]);
    HOST.assert_fails(&["--n", "many"], 2, &["'many'", "2^20"]);
}

#[test]
fn too_many_elements_are_refused_before_anything_is_done() {
    let parts = ["are needed on simulator", "are free", "--n"];
    HOST.assert_fails(&["--n", "2^50", "--device", "sim"], 1, &parts);
    HOST.assert_fails(&["--n", "2^63", "--type", "u64", "--op", "min", "--device", "sim"], 1, &parts);
}
