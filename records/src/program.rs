//! The program `host`, where a task runs it.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use xtask::workspace::{self, Workspace};

/// How cargo builds it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Profile {
    /// As `cargo build` does.
    Dev,
    /// As its users do who measure with it.
    Release,
}

/// The path of the one that is `given`, or else of one that cargo builds.
pub(crate) fn path(workspace: &Workspace, given: Option<&Path>, profile: Profile) -> Result<PathBuf> {
    if let Some(path) = given {
        // It may run in another folder.
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
    ensure!(status.success(), "host does not build");
    Ok(workspace.target_dir().join(folder).join(format!("host{}", std::env::consts::EXE_SUFFIX)))
}
