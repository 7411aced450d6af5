//! Tests `host list` on the kernels of this workspace.

use std::process::{Command, Stdio};

use serde_json::Value;
use workbench::catalogue;

use crate::common;

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
    for module in catalogue::MODULES.iter().map(|module| module.path) {
        let summary = catalogue::SUMMARIES.iter().find(|(path, _)| *path == module);
        let (_, summary) = summary.unwrap_or_else(|| panic!("{module} has no entry in SUMMARIES"));
        assert!(is_sentence(summary), "{module}: {summary:?}: write it in `kernels!`");
    }
}

#[test]
fn every_rung_is_listed_in_a_table_that_fits() {
    let text = list(&[]);
    for line in text.lines() {
        assert!(line.chars().count() <= 100 && line.trim_end() == line, "{line:?}");
    }
    for algorithm in catalogue::ALGORITHMS {
        let first = text.lines().position(|line| line.split(' ').next() == Some(algorithm.name()));
        let mut rest = text.lines().skip(first.unwrap_or_else(|| panic!("{}: {text}", algorithm.name())));
        for rung in algorithm.rungs() {
            let has_rung = |line: &str| line.split_whitespace().take(2).any(|word| word == rung.name);
            assert!(rest.any(has_rung), "{} {}", algorithm.name(), rung.name);
        }
        // The table has the whole idea, on any number of lines.
        let words: Vec<&str> = text.split_whitespace().collect();
        let last = algorithm.rungs().iter().map(|rung| rung.idea.split(' ').next_back().unwrap());
        assert!(last.into_iter().all(|word| words.contains(&word)), "{}", algorithm.name());
    }
    let mut look_back = text.lines().filter(|line| line.contains("look_back "));
    assert!(look_back.any(|line| line.contains("f32 f64")), "{text}");
}

#[test]
fn the_kernels_of_an_algorithm_are_listed_in_lines_that_fit() {
    for module in catalogue::MODULES.iter().map(|module| module.path) {
        let name = module.rsplit("::").next().unwrap();
        let text = list(&[name]);
        for line in text.lines() {
            assert!(line.chars().count() <= 160 && line.trim_end() == line, "{line:?}");
        }
        let heading = format!("{name}: ");
        assert_eq!(text.lines().filter(|line| line.starts_with(&heading)).count(), 1, "{heading}");
        for kernel in catalogue::kernels().filter(|kernel| module.contains(kernel.module)) {
            let starts = |line: &str| line.strip_prefix("  ").is_some_and(|rest| rest.starts_with(kernel.family));
            assert!(text.lines().any(starts), "{}", kernel.family);
        }
    }
}

#[test]
fn an_algorithm_that_there_is_not_is_answered_with_those_that_there_are() {
    common::Host(&["list"]).assert_fails(
        &["reduse"],
        2,
        &["no algorithm 'reduse'", "reduce", "sort_cluster or transpose"],
    );
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
    for algorithm in json["algorithms"].as_array().unwrap() {
        let rungs = algorithm["rungs"].as_array().unwrap();
        assert!(rungs.iter().all(|rung| rung["idea"].as_str().unwrap().ends_with('.')), "{rungs:?}");
    }
    let one: Value = serde_json::from_str(&list(&["scan", "--json"])).unwrap();
    assert_eq!(one["algorithms"].as_array().unwrap().len(), 1);
    assert_eq!(one["algorithms"][0]["rungs"][0]["rung"], "naive_block");
}
