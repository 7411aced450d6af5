//! Finds or builds the program `host` for a task.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use xtask::workspace::{self, Workspace};

/// The cargo profile for a program that measures.
pub(crate) const RELEASE: &str = "release";

/// The cargo profile for all other programs.
pub(crate) const DEV: &str = "dev";

/// Returns the path of `host`: `given`, or the program that cargo builds with `profile`.
pub(crate) fn path(workspace: &Workspace, given: Option<&Path>, profile: &str) -> Result<PathBuf> {
    if let Some(path) = given {
        // The path must be absolute, because the program may run in another folder.
        return std::path::absolute(path).with_context(|| format!("cannot find {}", path.display()));
    }
    let status = workspace::cargo()
        .args(["build", "--quiet", "--package", "host", "--profile", profile])
        .current_dir(workspace.root())
        .status()
        .context("cannot run cargo")?;
    ensure!(status.success(), "cargo cannot build host");
    let folder = if profile == DEV { "debug" } else { profile };
    Ok(workspace.target_dir().join(folder).join(format!("host{}", std::env::consts::EXE_SUFFIX)))
}
