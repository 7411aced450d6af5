//! A project without the library's folder is told what to do, and that helps.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Builds the project in `folder` as its user would, who has not set the variable.
fn build(folder: &Path) -> Output {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--offline"]).current_dir(folder).env_remove("CUDA_LIBRARY_PATH");
    cargo.env("CARGO_TARGET_DIR", folder.join("target")).output().unwrap()
}

#[test]
fn the_remedy_is_said_and_helps() {
    if Path::new("/usr/local/cuda/lib64").is_dir() || Path::new("/opt/cuda/lib64").is_dir() {
        println!("skipped: this machine has a CUDA toolkit, so that nothing is missing");
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    let manifest = format!(
        "[package]\nname = \"mine\"\nedition = \"2024\"\n\n[workspace]\n\n[build-dependencies]\ncuda_stub = {{ path = {:?} }}\n",
        env!("CARGO_MANIFEST_DIR")
    );
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    fs::write(folder.join("build.rs"), "fn main() { cuda_stub::announce_archive() }\n").unwrap();
    fs::create_dir(folder.join("src")).unwrap();
    fs::write(folder.join("src/main.rs"), "fn main() {}\n").unwrap();

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
