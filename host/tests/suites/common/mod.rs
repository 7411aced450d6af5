//! Starts the program as its users do, for the tests of the commands.
#![allow(dead_code, reason = "not every test uses all of it")]

use std::process::{Command, Output};

use serde_json::Value;

/// The program `host`, with the arguments at the start of every command line of a test.
pub struct Host(pub &'static [&'static str]);

impl Host {
    /// Runs one command line to its end.
    pub fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_host")).args(self.0).args(arguments).output().unwrap()
    }

    /// Runs a command that succeeds in the simulator, and returns its JSON object.
    #[track_caller]
    pub fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(&[arguments, &["--device", "sim", "--json"]].concat());
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", text(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Asserts that a command fails with `code`. It must print nothing on standard output and one error on standard
    /// error: a last line `error: …` that contains all of `parts`.
    #[track_caller]
    pub fn assert_fails(&self, arguments: &[&str], code: i32, parts: &[&str]) {
        let output = self.run(arguments);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
        assert!(output.stdout.is_empty() && stderr.matches("error: ").count() == 1, "{arguments:?}: {stderr}");
        let last = stderr.lines().last().unwrap_or_default();
        assert!(last.starts_with("error: "), "{arguments:?}: {stderr}");
        for part in parts {
            assert!(last.contains(part), "{arguments:?}: `{part}` is not in: {last}");
        }
    }
}

/// Returns the output of a program as text.
pub fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// Returns the names of the kernels in a report.
pub fn kernels(report: &Value) -> Vec<&str> {
    report["kernels"].as_array().unwrap().iter().map(|kernel| kernel["kernel"].as_str().unwrap()).collect()
}
