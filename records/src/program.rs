//! Finds or builds the program `host` for a task.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use xtask::workspace::{self, Workspace};

/// The profile that cargo builds it with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Profile {
    /// The profile of `cargo build`.
    Dev,
    /// The profile of `cargo build --release`, for measurements.
    Release,
}

/// Returns the path of the program: `given`, or the one that cargo builds.
pub(crate) fn path(workspace: &Workspace, given: Option<&Path>, profile: Profile) -> Result<PathBuf> {
    if let Some(path) = given {
        // The program may run in another folder.
        return std::path::absolute(path).with_context(|| format!("cannot find {}", path.display()));
    }
    let (name, folder) = match profile {
        Profile::Dev => ("dev", "debug"),
        Profile::Release => ("release", "release"),
    };
    let status = workspace::cargo()
        .args(["build", "--quiet", "--package", "host", "--profile", name])
        .current_dir(workspace.root())
        .status()
        .context("cannot run cargo")?;
    ensure!(status.success(), "cargo cannot build host");
    Ok(workspace.target_dir().join(folder).join(format!("host{}", std::env::consts::EXE_SUFFIX)))
}
