//! Tests `host scale`: exit codes, messages and results.

use crate::common;

use common::Host;

const HOST: Host = Host(&["scale"]);

#[test]
fn all_rungs_are_right_and_measured() {
    for n in ["0", "1", "1_000", "2^10"] {
        for (element, factor) in [("f32", "-0.75"), ("i32", "-7")] {
            let object = HOST.json(&["--n", n, "--type", element, "--factor", factor]);
            assert_eq!((&object["algorithm"], &object["type"]), (&"scale".into(), &element.into()));
            assert_eq!(object["factor"], factor.parse::<f64>().unwrap());
            let kernels = object["kernels"].as_array().unwrap();
            let names: Vec<_> = kernels.iter().map(|kernel| kernel["kernel"].as_str().unwrap()).collect();
            assert_eq!(names, ["one_block", "grid", "vectorised"]);
            for kernel in kernels {
                assert_eq!(kernel["wrong_elements"], 0, "{object}");
                assert_eq!(kernel["gigabytes_per_second"].as_f64().unwrap() > 0.0, n != "0", "{object}");
            }
        }
    }
}

#[test]
fn a_vector_too_long_for_one_block_is_left_to_the_grid() {
    let object = HOST.json(&["--n", "1025"]);
    let kernels = object["kernels"].as_array().unwrap();
    assert_eq!(kernels.iter().map(|kernel| &kernel["kernel"]).collect::<Vec<_>>(), ["grid", "vectorised"]);
    assert!(object["left_out"][0].as_str().unwrap().contains("at most 1024"), "{object}");
    HOST.assert_fails(
        &["--n", "1025", "--rung", "one_block", "--device", "sim"],
        2,
        &["one_block", "1025 elements", "at most 1024", "grid"],
    );
}

#[test]
fn what_is_typed_wrongly_exits_with_2() {
    for (arguments, parts) in [
        (&["--n", "many"][..], &["'many'", "2^20"][..]),
        (&["--rung", "strided"], &["strided", "one_block", "grid", "all"]),
        (&["--type", "f64"], &["f64", "f32 or i32"]),
        (&["--factor", "NaN"], &["NaN", "finite"]),
        (&["--type", "i32", "--factor", "0.5"], &["0.5", "whole number", "i32"]),
    ] {
        HOST.assert_fails(arguments, 2, parts);
    }
}

#[test]
fn a_vector_larger_than_the_memory_is_refused_at_once() {
    HOST.assert_fails(&["--n", "2^50", "--device", "sim"], 1, &["8 PiB are needed", "are free", "--n"]);
}
