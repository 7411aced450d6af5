//! Tests `host saxpy`: exit codes, messages and results.

use crate::common;

use common::Host;

const HOST: Host = Host(&["saxpy"]);

#[test]
fn doubles_are_for_the_last_rung() {
    let object = HOST.json(&["--n", "10_001", "--type", "f64", "--a", "-0.1"]);
    assert_eq!((&object["type"], &object["bytes"]), (&"f64".into(), &(24 * 10_001).into()));
    assert_eq!(object["a"], -0.1);
    let kernels = object["kernels"].as_array().unwrap();
    assert_eq!(kernels.len(), 1);
    assert_eq!(kernels[0]["kernel"], "vectorised");
    assert_eq!(kernels[0]["wrong_elements"], 0);
    assert_eq!(object["left_out"].as_array().unwrap().len(), 5, "{object}");
    HOST.assert_fails(
        &["--type", "f64", "--rung", "unrolled_4", "--device", "sim"],
        2,
        &["unrolled_4", "does not offer f64", "offers f32"],
    );
}

#[test]
fn what_is_typed_wrongly_exits_with_2() {
    for (arguments, parts) in [
        (&["--type", "i32"][..], &["i32", "f32 or f64"][..]),
        (&["--a", "1e300"], &["1e300", "f32", "--type f64"]),
        (&["--rung", "unrolled"], &["unrolled_2", "vectorised", "all"]),
    ] {
        HOST.assert_fails(arguments, 2, parts);
    }
}

#[test]
fn vectors_larger_than_the_memory_are_refused_at_once() {
    HOST.assert_fails(&["--n", "2^50", "--device", "sim"], 1, &["8 PiB are needed", "are free", "--n"]);
}
