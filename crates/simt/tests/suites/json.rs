//! Tests the serialisation of faults to JSON.
#![expect(clippy::if_same_then_else, reason = "the same operation at different lines is what is tested")]

use serde_json::{Value, json};
use simt::{Checks, Fault, LaunchConfig, Step, thread};

use crate::common::{Array, KERNEL, simulator};

/// Returns the fault of `kernel` in a block of 64 threads, and its JSON. Checks the JSON's message and removes it.
#[track_caller]
fn json_of(kernel: impl Fn() + Sync) -> (Fault, Value) {
    let simulator = simulator(1, 0).with_checks(Checks::STRICT);
    let fault = simulator.launch(&KERNEL, LaunchConfig::new(1, 64), kernel).unwrap_err();
    let mut json = serde_json::to_value(&fault).unwrap();
    let message = json.as_object_mut().unwrap().remove("message");
    assert_eq!(message, Some(fault.to_string().into()));
    (fault, json)
}

fn x(x: u32) -> Value {
    json!({ "x": x, "y": 0, "z": 0 })
}

fn here(fault: &Fault) -> Value {
    let at = fault.location.as_ref().unwrap();
    json!({ "file": file!(), "line": at.line, "column": at.column })
}

#[test]
fn a_race_has_both_sides() {
    let cells = Array::<u32>::filled(1, 0);
    let (fault, json) = json_of(|| match thread::thread_idx().x {
        0 => cells.store(0, 1),
        32 => drop(cells.load(0)),
        _ => {}
    });
    let (at, details) = (here(&fault), &json["details"]);
    let mut there = at.clone();
    there["line"] = (at["line"].as_u64().unwrap() - 1).into();
    there["column"] = details["there"]["location"]["column"].clone();
    let address = details["element"]["address"].clone();
    let race = json!({
        "space": "global",
        "element": { "array": null, "element_type": null, "index": address, "address": address },
        "here": { "block": x(0), "thread": x(32), "location": at, "access": "load" },
        "there": { "block": x(0), "thread": x(0), "location": there, "access": "store" },
        "bytes": 4,
        "remedy": "block_barrier",
    });
    let expected = json!({
        "kernel": KERNEL.name, "block": x(0), "thread": x(32), "location": at, "remedy": "block_barrier", "kind": "race",
        "details": race,
    });
    assert_eq!(json, expected);
}

#[test]
fn a_barrier_that_is_not_reached_names_a_missing_thread() {
    let (_, json) = json_of(|| {
        if thread::thread_idx().x != 3 {
            thread::sync_threads();
        }
    });
    let missing = json!({ "thread": x(3), "activity": "exited", "location": null });
    assert_eq!((&json["kind"], &json["remedy"]), (&"barrier_not_reached".into(), &"barrier_for_all".into()));
    assert_eq!(json["details"], json!({ "waiting": 63, "exited": 1, "missing": missing }));
}

#[test]
fn ways_have_calls_and_iterations() {
    let meet = || thread::sync_threads_count(true);
    let (_, json) = json_of(|| {
        let outer = Step::new();
        outer.enter();
        outer.again();
        if thread::thread_idx().x == 1 {
            Step::new().enter().leave(meet());
        } else {
            Step::new().enter().leave(meet());
        }
    });
    assert_eq!(json["kind"], "barrier_apart");
    let [first, last] = ["loop", "call"]
        .map(|step| json["details"]["ways"][0].as_array().unwrap().iter().position(|at| at.get(step).is_some()));
    assert_eq!((first, last), (Some(0), Some(1)), "{json}");
    assert_eq!(json["details"]["ways"][0][0]["loop"]["iteration"], 1);
}

#[test]
fn a_panic_has_its_message() {
    let (_, json) = json_of(|| panic!("no such row"));
    assert_eq!((&json["kind"], &json["details"]), (&"panic".into(), &"no such row".into()));
}

#[test]
fn an_index_below_zero_is_written_so() {
    let kind = simt::FaultKind::OutOfBounds {
        space: simt::Space::Shared,
        array: Some("tile"),
        element_type: Some("f32"),
        index: 1_usize.wrapping_sub(2),
        len: 4,
    };
    let details = json!({ "space": "shared", "array": "tile", "element_type": "f32", "index": -1, "len": 4 });
    assert_eq!(serde_json::to_value(&kind).unwrap(), json!({ "kind": "out_of_bounds", "details": details }));
}
