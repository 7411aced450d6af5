//! `bench`: builds the library that calls NVIDIA's functions (the peers), runs `host bench`, and records the run in
//! `bench/results/`, README.md and docs/figures.md.
//!
//! The figures of both documents are between the marks `<!-- bench:NAME -->` and `<!-- /bench:NAME -->`. This task
//! writes them from the newest recording. Nobody types them by hand.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use ::program::files::WholeFile;
use ::program::recordings::{self, plots};
use anyhow::{Context, Result, ensure};
use workbench::bench::Recording;
use xtask::records::BenchOptions;
use xtask::workspace::Workspace;

use crate::program;

pub mod figures;
pub mod peers;
pub mod recording;
pub mod rung_rows;
pub mod tables;
#[cfg(test)]
mod tests;

/// The folder of the recordings, in the workspace.
pub const RESULTS: &str = "bench/results";

/// The folder of the plots, in the workspace.
const DOCS: &str = "docs";

/// Runs the task that `options` select.
///
/// # Errors
/// If a program fails, a run cannot be read, or a file lacks its marks.
pub fn run(workspace: &Workspace, options: &BenchOptions) -> Result<()> {
    if options.build {
        return build_peers(workspace, options).map(drop);
    }
    match &options.record {
        Some(Some(file)) => record(workspace, file),
        recorded => {
            let file = measure(workspace, options)?;
            if recorded.is_some() { record(workspace, &file) } else { Ok(()) }
        }
    }
}

/// Builds the library of the peers if an nvcc is found, and prints the outcome. Returns the path of the library.
fn build_peers(workspace: &Workspace, options: &BenchOptions) -> Result<Option<PathBuf>> {
    let built = peers::build(workspace, options.nvcc.as_deref(), &options.arch)?;
    match &built {
        Some(library) => println!("built {}; use it as host bench --peers {0}", library.display()),
        None => println!("no nvcc was found, so the columns of the peers are left out: {}", peers::REMEDY),
    }
    Ok(built)
}

/// Runs `host bench` on this machine's GPU. Also measures the peers if their library can be built. Returns the path of
/// the recording.
fn measure(workspace: &Workspace, options: &BenchOptions) -> Result<PathBuf> {
    let peers = build_peers(workspace, options)?;
    let host = program::path(workspace, options.host.as_deref(), program::RELEASE)?;
    let file = folder(workspace)?.join("run.json");
    let mut command = Command::new(&host);
    command.args(["bench", "--device", "gpu", "--json"]).arg(&file);
    if options.quick {
        command.arg("--quick");
    }
    if let Some(peers) = peers {
        command.arg("--peers").arg(peers);
    }
    let status = command.status().with_context(|| format!("cannot run {}", host.display()))?;
    ensure!(status.success(), "host bench fails: {status}");
    Ok(file)
}

/// Records a run, and writes the figures and plots of the newest recording.
fn record(workspace: &Workspace, file: &Path) -> Result<()> {
    let root = workspace.root();
    let mut recording = recordings::read(file)?;
    recording::check(&recording)?;
    if recording.revision.is_none() {
        recording.revision = Some(revision(root)?);
    }
    let kept = PathBuf::from(RESULTS).join(recording::file_name(&recording));
    let newest = newest(&root.join(RESULTS))?.filter(|(_, other)| other.date > recording.date);
    let (shown_path, shown) = match &newest {
        Some((path, other)) => (path, other),
        None => (&kept, &recording),
    };
    // All texts and plots are made before the first file is written.
    let plots = plots(&folder(workspace)?.join("plots"), shown)?;
    let names: Vec<String> = plots.iter().map(|(name, _)| name.clone()).collect();
    let parts = tables::all(shown, &shown_path.display().to_string(), &names)?;
    let mut documents = Vec::new();
    for document in figures::DOCUMENTS {
        let path = root.join(document.0);
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        documents.push((path, figures::rewrite(document, &text, &parts)?));
    }
    fs::create_dir_all(root.join(RESULTS)).with_context(|| format!("cannot make {RESULTS}"))?;
    write(&root.join(&kept), recording::text(&recording)?.as_bytes())?;
    for (name, bytes) in plots {
        write(&root.join(DOCS).join(name), &bytes)?;
    }
    for (path, text) in documents {
        write(&path, text.as_bytes())?;
    }
    println!("recorded {}; README.md and docs/figures.md show {}", kept.display(), shown_path.display());
    Ok(())
}

/// Returns the newest recording, and its path from the root of the workspace.
pub(crate) fn newest(folder: &Path) -> Result<Option<(PathBuf, Recording)>> {
    let mut newest: Option<(PathBuf, Recording)> = None;
    let Ok(entries) = fs::read_dir(folder) else { return Ok(None) };
    for entry in entries {
        let entry = entry.with_context(|| format!("cannot list {}", folder.display()))?;
        if entry.path().extension().is_some_and(|extension| extension == "json") {
            let recording = recordings::read(&entry.path())?;
            if newest.as_ref().is_none_or(|(_, newest)| recording.date > newest.date) {
                newest = Some((Path::new(RESULTS).join(entry.file_name()), recording));
            }
        }
    }
    Ok(newest)
}

/// Draws the plots of a recording into `folder`. Returns their names and contents.
fn plots(folder: &Path, recording: &Recording) -> Result<Vec<(String, Vec<u8>)>> {
    plots::check(folder)?;
    let mut plots = Vec::new();
    for path in plots::write(recording, folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.ends_with(".svg") {
            plots.push((name, fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?));
        }
    }
    plots.sort();
    Ok(plots)
}

/// Returns the folder for the peers' library and for new recordings.
fn folder(workspace: &Workspace) -> Result<PathBuf> {
    let folder = workspace.target_dir().join("bench");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    Ok(folder)
}

/// Returns the git revision of the sources, with a note if they have uncommitted changes.
fn revision(root: &Path) -> Result<String> {
    let git = |arguments: &[&str]| -> Result<String> {
        let output = Command::new("git").args(arguments).current_dir(root).output().context("cannot run git")?;
        ensure!(output.status.success(), "git {} fails: {}", arguments.join(" "), output.status);
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let revision = git(&["rev-parse", "--short=12", "HEAD"])?;
    let changed = git(&[
        "status",
        "--porcelain",
        "--untracked-files=no",
        "--",
        "gpu",
        "gridstride",
        "workbench",
        "program",
        "cli",
        "host",
        "crates",
    ])?;
    Ok(if changed.is_empty() { revision } else { format!("{revision} and changes") })
}

/// Writes a file whole: the old file stays until the new one is complete.
fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let file = WholeFile::new(path);
    let mut out = file.create()?;
    out.write_all(bytes).with_context(|| file.failed())?;
    file.keep(out)
}
