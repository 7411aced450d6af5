//! Runs a test in a separate process, in which `libcuda.so.1` is the stand-in driver of `driver.rs`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::{env, fs};

use launch::Error;

pub mod kernels;

/// Runs `check` in another process with the stand-in driver. That process runs the calling test `name` again.
///
/// Returns the lines of the driver's log. In the other process, returns `None`.
pub fn with_driver(
    name: &str,
    environment: &[(&str, &str)],
    check: impl FnOnce() -> Result<(), Error>,
) -> Option<Vec<String>> {
    with_driver_in(driver_folder, name, environment, check)
}

/// Runs `check` like [`with_driver`], but with the `libcuda.so.1` of another folder.
pub fn with_driver_in<P: AsRef<Path>>(
    folder: impl FnOnce() -> P,
    name: &str,
    environment: &[(&str, &str)],
    check: impl FnOnce() -> Result<(), Error>,
) -> Option<Vec<String>> {
    let output = outcome(folder, name, environment, check)?;
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && text.contains("1 passed"), "{text}{errors}");
    Some(errors.lines().filter_map(|line| line.strip_prefix("driver: ")).map(str::to_owned).collect())
}

/// Runs `check` like [`with_driver`] and returns the exit status and output of the other process. In the other process,
/// returns `None`.
pub fn outcome_with_driver(
    name: &str,
    environment: &[(&str, &str)],
    check: impl FnOnce() -> Result<(), Error>,
) -> Option<Output> {
    outcome(driver_folder, name, environment, check)
}

fn outcome<P: AsRef<Path>>(
    folder: impl FnOnce() -> P,
    name: &str,
    environment: &[(&str, &str)],
    check: impl FnOnce() -> Result<(), Error>,
) -> Option<Output> {
    const VARIABLE: &str = "LAUNCH_TEST_STAND_IN";
    if env::var_os(VARIABLE).is_some() {
        check().expect("no error");
        return None;
    }
    let output = Command::new(env::current_exe().expect("this program has a path"))
        .args(["--exact", name])
        .env("LD_LIBRARY_PATH", folder().as_ref())
        .env(VARIABLE, "1")
        .envs(environment.iter().copied())
        .output()
        .expect("this program runs");
    Some(output)
}

/// Returns the folder with the stand-in driver, which is compiled when it is first needed.
fn driver_folder() -> &'static PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = new_folder("stand_in");
        compile(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suites/stand_in/driver.rs")), &folder);
        folder
    })
}

/// Creates and returns a folder for a driver's library.
pub fn new_folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(env!("CARGO_CRATE_NAME")).join(name);
    fs::create_dir_all(&folder).expect("a folder for the library");
    folder
}

/// Compiles `source` to the `libcuda.so.1` of `folder`.
pub fn compile(source: &Path, folder: &Path) {
    let status = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
        .args(["--edition", "2024", "--crate-type", "cdylib", "--crate-name", "stand_in", "-o"])
        .arg(folder.join("libcuda.so.1"))
        .arg(source)
        .status()
        .expect("rustc runs");
    assert!(status.success());
}
