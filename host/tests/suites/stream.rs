//! Tests `host stream` without a GPU: messages and exit codes.

use crate::common;

use common::Host;

const HOST: Host = Host(&[]);
#[test]
fn the_simulator_has_no_link() {
    for program in ["device", "async", "streams", "mapped"] {
        let parts = ["the simulator has none", "--device gpu", "NVIDIA GPU"];
        HOST.assert_fails(&["stream", program, "--device", "sim"], 2, &parts);
    }
    // Without a GPU the command runs on the simulator, and fails. With a GPU, it prints a result.
    let arguments = ["stream", "async", "--n", "100_003", "--runs", "1"];
    let output = HOST.run(&arguments);
    if String::from_utf8_lossy(&output.stderr).contains("device: simulator") {
        HOST.assert_fails(&arguments, 2, &["the simulator has none"]);
    } else {
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("over the link"), "{output:?}");
    }
}

#[test]
fn what_is_typed_wrongly_exits_with_2() {
    for (arguments, parts) in [
        (&["stream"][..], &["subcommand", "device", "async", "streams", "mapped"][..]),
        (&["stream", "asynk"], &["asynk", "async"]),
        (&["stream", "async", "--streams", "4"], &["--streams"]),
        (&["stream", "streams", "--streams", "0"], &["'0'", "--streams", "1..=256"]),
        (&["stream", "streams", "--streams", "257"], &["1..=256"]),
        (&["stream", "streams", "--plot", "a.gif"], &["a.gif", ".svg", ".png"]),
        (&["stream", "async", "--plot", "a.svg"], &["--plot"]),
        (&["stream", "device", "--n", "lots"], &["lots", "2^20"]),
        (&["stream", "device", "--runs", "0"], &["--runs", "1..=1000"]),
        (&["stream", "mapped", "--device", "tpu"], &["tpu", "auto"]),
    ] {
        HOST.assert_fails(arguments, 2, parts);
    }
}

#[test]
fn help_is_a_result() {
    let output = HOST.run(&["stream", "--help"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0));
    for part in ["device", "async", "streams", "mapped", "Usage: host stream", "of link"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(HOST.run(&["stream", "streams", "--help"]).status.code(), Some(0));
}
