//! Tests the report files that test programs write for editors and CI.
#![expect(clippy::if_same_then_else, reason = "the test needs the same operation at different lines")]

use std::path::{Path, PathBuf};
use std::process::Command;

use reports::FILE;
use serde_json::Value;
use simt::{Checks, KernelInfo, LaunchConfig, Simulator, shared, thread};

static KERNEL: KernelInfo = KernelInfo::new("test_kernel", module_path!(), file!(), line!());

/// The environment variable that is set in the child process, which runs the faulty launches.
const ROLE: &str = "GRIDSTRIDE_TEST_ROLE";

fn simulator() -> Simulator {
    Simulator::new().with_reporter(reports::collect)
}

/// Launches two faulty kernels, the first under several schedules, and a kernel whose warps reach a barrier through two
/// calls.
#[test]
fn faulty_launches() {
    if std::env::var_os(ROLE).is_none() {
        return;
    }
    let config = LaunchConfig::new(1, 64).shared_bytes(64);
    for seed in 0..3 {
        let simulator = simulator().with_seed(seed).with_checks(Checks::default());
        let race = || shared::store(0, thread::thread_idx().x);
        assert!(simulator.launch(&KERNEL, config, race).is_err());
    }
    assert!(simulator().launch(&KERNEL, config, || panic!("no such row")).is_err());
    let strict = simulator().with_checks(Checks::STRICT);
    let by_two_calls = || {
        if thread::thread_idx().x < 32 {
            simt::Step::new().enter().leave(meet());
        } else {
            simt::Step::new().enter().leave(meet());
        }
    };
    strict.launch(&KERNEL, config, by_two_calls).unwrap();
}

fn meet() -> u32 {
    thread::sync_threads_count(true)
}

fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Runs [`faulty_launches`] in a child process, which reports to `file`. Returns the output of the child process.
fn run(file: &Path) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let output = command.args(["--exact", "faulty_launches", "--nocapture"]).env(FILE, file).env(ROLE, "1").output();
    let output = output.unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{text}");
    text
}

fn read(file: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

#[test]
fn a_file_of_sarif_has_each_mistake_once_from_all_programs() {
    let file = folder().join("faults.sarif");
    let _ = std::fs::remove_file(&file);
    run(&file);
    run(&file);
    let log = read(&file);
    let results = log["runs"][0]["results"].as_array().unwrap();
    let of = |key: &str| results.iter().map(|result| result[key].as_str().unwrap()).collect::<Vec<_>>();
    assert_eq!(of("ruleId"), ["data-race", "panic", "warps-by-two-ways"], "{log:#}");
    assert_eq!(of("level"), ["error", "error", "warning"]);
    assert_eq!(log["runs"][0]["tool"]["driver"]["rules"].as_array().map(Vec::len), Some(3));
    let race = &results[0];
    assert!(race["message"]["text"].as_str().unwrap().contains("several threads make one store"), "{log:#}");
    let line = include_str!("report.rs").lines().position(|line| line.contains("let race = ")).unwrap() + 1;
    for places in ["locations", "relatedLocations"] {
        let place = &race[places][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], file!(), "{log:#}");
        assert_eq!(place["region"]["startLine"], line);
    }
}

#[test]
fn any_other_file_has_an_array_of_findings() {
    let file = folder().join("faults.json");
    let _ = std::fs::remove_file(&file);
    run(&file);
    run(&file);
    let all = read(&file);
    let kinds: Vec<&Value> = all.as_array().unwrap().iter().map(|finding| &finding["kind"]).collect();
    assert_eq!(kinds, ["data race", "panic", "warps by two ways"], "{all:#}");
    assert_eq!(all[2]["name"], "warps by different call paths");
    assert_eq!((&all[0]["fault"]["kind"], &all[0]["fault"]["remedy"]), (&"race".into(), &"one_thread".into()));
    let text = all[0]["here"]["text"].as_str().unwrap();
    assert!(text.starts_with("let race = "), "{text}");
}

#[test]
fn a_file_that_is_no_report_stays() {
    for (name, text) in [("other.sarif", "[1]"), ("other.json", "{}"), ("none.sarif", "no JSON")] {
        let file = folder().join(name);
        std::fs::write(&file, text).unwrap();
        let said = run(&file);
        assert!(said.contains("GRIDSTRIDE_REPORT: cannot add a report to ") && said.contains(name), "{said}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    }
    let said = run(Path::new("no/such/folder/faults.sarif"));
    assert!(said.contains("cannot add a report to no/such/folder/faults.sarif"), "{said}");
}
