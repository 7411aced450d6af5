//! Tests the course that `host learn` writes, and the commands in it that build nothing. `ci/more.sh course` also
//! builds one and checks an exercise.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::common::{Host, text};

const HOST: Host = Host(&["learn"]);

/// Writes a course to a new folder.
fn course() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let output = HOST.run(&[folder.path().to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    folder
}

/// Runs `host learn` in the folder of a course.
fn learn(folder: &Path, arguments: &[&str]) -> Output {
    let mut host = Command::new(env!("CARGO_BIN_EXE_host"));
    host.current_dir(folder).arg("learn").args(arguments).output().unwrap()
}

#[track_caller]
fn assert_says(folder: &Path, arguments: &[&str], code: i32, parts: &[&str]) {
    let output = learn(folder, arguments);
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stdout}{stderr}");
    for part in parts {
        assert!([stdout, stderr].iter().any(|said| said.contains(part)), "{arguments:?}: {part}: {stdout}{stderr}");
    }
}

#[test]
fn a_course_is_written_and_the_next_steps_are_said() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("deep/course");
    let output = HOST.run(&[folder.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    for part in [&format!("cd {}", folder.display()), "cargo run", "exercises/01_index/index.rs"] {
        assert!(said.contains(part), "{said}");
    }
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().canonicalize().unwrap();
    let source = format!("learn = {{ package = \"gridstride-learn\", path = \"{}/learn\" }}", root.display());
    assert!(manifest.contains(&source), "{manifest}");
    for file in ["README.md", ".cargo/config.toml", "src/main.rs", "exercises/14_race/race.rs"] {
        assert!(folder.join(file).is_file(), "{file}");
    }
    // It is not written twice.
    HOST.assert_fails(&[folder.to_str().unwrap()], 2, &["is not empty", "does not exist yet"]);
    HOST.assert_fails(&[], 2, &["no course", "learn DIR"]);
    HOST.assert_fails(&["--list"], 2, &["no course", "learn DIR"]);
    HOST.assert_fails(&["x", "--git", "u", "--path", "p"], 2, &["cannot be used with"]);
}

#[test]
fn exercises_are_listed_hinted_at_and_reset() {
    let course = course();
    let folder = course.path();
    assert_says(folder, &["--list"], 0, &["Indices and grids\n", "  01 index", "One barrier too few"]);
    assert_says(folder, &["--hint"], 0, &["hint 1 of 2"]);
    assert_says(folder, &["--hint", "1"], 0, &["hint 1 of 2", "hint 2 of 2"]);
    assert_says(folder, &["--solution", "race"], 2, &["after a try", "14_race/race.rs"]);
    assert_says(folder, &["--solution", "nothing"], 2, &["no exercise is called 'nothing'", "--list"]);
    assert_says(folder, &["--list", "--hint"], 2, &["cannot be used with"]);
    let kernel = folder.join("exercises/14_race/race.rs");
    let original = fs::read_to_string(&kernel).unwrap();
    fs::write(&kernel, "mine").unwrap();
    assert_says(folder, &["--reset", "race"], 0, &["is as it was", "race.rs.old"]);
    assert_eq!(fs::read_to_string(&kernel).unwrap(), original);
    assert_eq!(fs::read_to_string(folder.join("exercises/14_race/race.rs.old")).unwrap(), "mine");
    fs::write(folder.join("progress.json"), "?").unwrap();
    assert_says(folder, &["--list"], 1, &["cannot read progress.json", "begin again"]);
}

/// Tests a check with a `cargo` that compiles nothing: its program prints an outcome.
#[cfg(unix)]
#[test]
fn an_exercise_is_checked_once_and_as_json() {
    use std::os::unix::fs::PermissionsExt;
    let course = course();
    let folder = course.path();
    let script = |name: &str, lines: &str| {
        let path = folder.join(name);
        fs::write(&path, format!("#!/bin/sh\n{lines}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    };
    let program =
        script("program", r#"echo '{"is_passed":false,"text":"out of bounds","score":null,"pictures":null}'"#);
    let message = r#"{"target":{"name":"index"},"executable":"PROGRAM"}"#.replace("PROGRAM", program.to_str().unwrap());
    let cargo = script("cargo", &format!("echo '{message}'"));
    let run = |arguments: &[&str]| {
        let mut host = Command::new(env!("CARGO_BIN_EXE_host"));
        host.current_dir(folder).env("CARGO", &cargo).arg("learn").args(arguments).output().unwrap()
    };
    let output = run(&["--once"]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stdout);
    assert!(said.starts_with("01 index: Indices and grids – One") && said.contains("out of bounds"), "{said}");
    let output = run(&["--json", "index"]);
    assert_eq!(output.status.code(), Some(1));
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&value["passed"], &value["exercises"][0]["name"]), (&0.into(), &"index".into()));
    assert_eq!(value["exercises"][0]["text"], "out of bounds");
    assert_eq!(value["exercises"][0]["reference"]["bank_conflicts"], 0);
    // The check of an untouched file is no try.
    assert_eq!(value["exercises"][0]["tries"], 0);
    fs::write(folder.join("exercises/01_index/index.rs"), "mine").unwrap();
    script("cargo", "echo 'error[E0425]: cannot find' >&2; exit 101");
    let output = run(&["--once"]);
    assert!(output.status.code() == Some(1) && text(&output.stdout).contains("E0425"), "{}", text(&output.stdout));
    assert_says(folder, &["--solution"], 0, &["thread::block_idx_x()"]);
}
