//! Tests the message for a project without an archive for `-lcuda`, and tests that the remedy in the message works.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Builds the project in `folder` with the variable `CUDA_LIBRARY_PATH` unset.
fn build(folder: &Path) -> Output {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--offline"]).current_dir(folder).env_remove("CUDA_LIBRARY_PATH");
    cargo.env("CARGO_TARGET_DIR", folder.join("target")).output().unwrap()
}

/// Creates a project in `folder` whose build script uses this crate with `features`.
fn make_project(folder: &Path, features: &str) {
    let manifest = format!(
        "[package]\nname = \"mine\"\nedition = \"2024\"\n\n[workspace]\n\n[build-dependencies]\ncuda_stub = {{ package = \"gridstride-cuda-stub\", path = {:?}, features = [{features}] }}\n",
        env!("CARGO_MANIFEST_DIR")
    );
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    fs::write(folder.join("build.rs"), "fn main() -> std::io::Result<()> { cuda_stub::announce_archive() }\n").unwrap();
    fs::create_dir(folder.join("src")).unwrap();
    fs::write(folder.join("src/main.rs"), "fn main() {}\n").unwrap();
}

/// Returns true if this machine has a CUDA toolkit, and prints that the test is skipped.
fn has_toolkit() -> bool {
    let has_toolkit = Path::new("/usr/local/cuda/lib64").is_dir() || Path::new("/opt/cuda/lib64").is_dir();
    if has_toolkit {
        println!("skipped: this machine has a CUDA toolkit, so that nothing is missing");
    }
    has_toolkit
}

/// Tests that the message comes before the build of `cust_raw` fails, which has no remedy. Cargo's order depends on how
/// many units depend on each crate, so a changed dependency can delay the message.
#[test]
fn the_message_appears_before_slow_crates_are_compiled() {
    if has_toolkit() {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let output = launch_without_variable(scratch.path(), &["--features", "cust"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{said}");
    assert!(said.contains("CUDA_LIBRARY_PATH is not set"), "{said}");
    assert!(!said.contains("Checking rayon v"), "it comes after a slow crate: {said}");
}

/// Checks `launch` with the arguments `features` in the folder `scratch`, where cargo does not find the workspace's
/// `.cargo/`.
fn launch_without_variable(scratch: &Path, features: &[&str]) -> Output {
    Command::new(env!("CARGO"))
        .args(["check", "--package", "gridstride-launch", "--offline", "--locked", "--jobs", "2", "--manifest-path"])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.toml"))
        .args(features)
        .current_dir(scratch)
        .env_remove("CUDA_LIBRARY_PATH")
        .env("CARGO_TARGET_DIR", scratch.join("target"))
        .output()
        .unwrap()
}

/// Tests that a crate which only builds PTX needs no archive, because it does not link.
#[test]
fn a_crate_that_does_not_link_needs_nothing() {
    let scratch = tempfile::tempdir().unwrap();
    make_project(scratch.path(), "");
    let output = build(scratch.path());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_remedy_is_printed_and_works() {
    if has_toolkit() {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    make_project(folder, "\"linking\"");

    let output = build(folder);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{said}");
    assert!(said.contains("CUDA_LIBRARY_PATH is not set, and there is no CUDA toolkit"), "{said}");
    let remedy: Vec<&str> =
        said.lines().map(str::trim).filter(|line| line.starts_with("mkdir ") || line.starts_with("printf ")).collect();
    assert_eq!(remedy.len(), 3, "{said}");
    assert!(Command::new("sh").args(["-ec", &remedy.join("\n")]).current_dir(folder).status().unwrap().success());
    let output = build(folder);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
