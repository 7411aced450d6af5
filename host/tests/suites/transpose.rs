//! Tests `host transpose`: exit codes, messages and results.

use crate::common;

use common::{Host, text};

const HOST: Host = Host(&["transpose"]);

const KERNELS: [&str; 6] = ["copy", "copy_tile", "naive", "tile", "padded", "vectorised"];

#[test]
fn every_rung_is_right_and_measured_for_every_type() {
    for (element, bytes) in [("f32", 4), ("f64", 8), ("u8", 1), ("u16", 2), ("u32", 4), ("u64", 8)] {
        let object = HOST.json(&["--size", "160x131", "--type", element, "--seed", "3"]);
        assert_eq!(object["algorithm"], "transpose");
        assert_eq!(object["device"], "simulator");
        assert_eq!((&object["width"], &object["height"], &object["seed"]), (&160.into(), &131.into(), &3.into()));
        assert_eq!(object["type"], element);
        assert_eq!(object["bytes"], 2 * bytes * 160 * 131);
        let kernels = object["kernels"].as_array().unwrap();
        let names: Vec<_> = kernels.iter().map(|kernel| kernel["kernel"].as_str().unwrap()).collect();
        assert_eq!(names, KERNELS);
        for kernel in kernels {
            assert_eq!(kernel["wrong_elements"], 0, "{object}");
            assert!(kernel["wrong"].is_null(), "{object}");
            for positive in ["seconds", "gigabytes_per_second", "share_of_copy"] {
                assert!(kernel[positive].as_f64().unwrap() > 0.0, "{positive}: {object}");
            }
        }
    }
}

#[test]
fn one_rung_is_shown_as_a_table() {
    let output = HOST.run(&["--size", "33x65", "--rung", "padded", "--device", "sim"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let table = text(&output.stdout);
    for part in ["transpose, f32, 33x65 on simulator", "padded", "of copy", "wrong"] {
        assert!(table.contains(part), "{part}: {table}");
    }
    assert!(!table.contains("vectorised"), "{table}");
    assert!(text(&output.stderr).starts_with("device: simulator"));
}

#[test]
fn the_default_is_all_rungs_on_8192_by_8192_singles() {
    let help = HOST.run(&["--help"]);
    let help = text(&help.stdout);
    for part in ["8192x8192", "[default: all]", "[default: f32]", "copy_tile", "u16"] {
        assert!(help.contains(part), "{part}: {help}");
    }
}

#[test]
fn what_is_typed_wrongly_exits_with_2() {
    for (arguments, parts) in [
        (&["--size", "16"][..], &["'16'", "--size", "640x480"][..]),
        (&["--size", "0x16"], &["width is 0"]),
        (&["--rung", "cublas"], &["cublas", "naive", "vectorised", "all"]),
        (&["--type", "i128"], &["i128", "f32", "u64"]),
        (&["--device", "tpu"], &["tpu", "sim"]),
        (&["--seed", "x"], &["'x'", "--seed"]),
    ] {
        HOST.assert_fails(arguments, 2, parts);
    }
}

#[test]
fn a_matrix_larger_than_the_memory_is_refused_at_once() {
    for (size, needed) in
        [("4000000x4000000", "116.4 TiB are needed"), ("4294967296x4294967295", "16.0 EiB are needed")]
    {
        HOST.assert_fails(&["--size", size, "--device", "sim"], 1, &[needed, "are free", "--size"]);
    }
}
