//! `host list` over the kernels that there are.

use std::process::{Command, Stdio};

use serde_json::Value;
use workbench::catalogue;

fn list(arguments: &[&str]) -> String {
    let output =
        Command::new(env!("CARGO_BIN_EXE_host")).arg("list").args(arguments).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_kernel_and_algorithm_says_in_a_sentence_what_it_does() {
    let is_sentence = |text: &str| text.len() > 10 && text.ends_with('.') && !text.contains(" \n");
    for kernel in catalogue::kernels() {
        assert!(is_sentence(kernel.summary), "{}:{}: {}: {:?}", kernel.file, kernel.line, kernel.name, kernel.summary);
    }
    for module in catalogue::MODULES {
        let summary = catalogue::SUMMARIES.iter().find(|(path, _)| *path == module.path);
        let (_, summary) = summary.unwrap_or_else(|| panic!("{} has no entry in SUMMARIES", module.path));
        assert!(is_sentence(summary), "{}: {summary:?}: write it in `kernels!`", module.path);
    }
}

#[test]
fn every_kernel_is_listed_in_lines_that_fit() {
    let text = list(&[]);
    for line in text.lines() {
        assert!(line.chars().count() <= 160 && line.trim_end() == line, "{line:?}");
    }
    for kernel in catalogue::kernels() {
        let starts = |line: &str| line.strip_prefix("  ").is_some_and(|rest| rest.starts_with(kernel.family));
        assert!(text.lines().any(starts), "{}", kernel.family);
    }
    for module in catalogue::MODULES {
        let heading = format!("{}: ", module.path.rsplit("::").next().unwrap());
        assert_eq!(text.lines().filter(|line| line.starts_with(&heading)).count(), 1, "{heading}");
    }
}

#[test]
fn json_has_every_entry() {
    let json: Value = serde_json::from_str(&list(&["--json"])).unwrap();
    let rungs = json["algorithms"].as_array().unwrap().iter().flat_map(|a| a["kernels"].as_array().unwrap());
    let entries = rungs.flat_map(|rung| rung["instances"].as_array().unwrap());
    let mut listed: Vec<&str> = entries.map(|entry| entry["name"].as_str().unwrap()).collect();
    let mut built: Vec<&str> = catalogue::kernels().map(|kernel| kernel.name).collect();
    listed.sort_unstable();
    built.sort_unstable();
    assert_eq!(listed, built);
}
