//! `bench`: builds the peers' program, has `host bench` measure, and records a run in `bench/results/` and README.md.
//!
//! README's figures stand between marks, `<!-- bench:NAME -->` and `<!-- /bench:NAME -->`, and come from the newest recording:
//! nobody types one.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::workspace::Workspace;
use recording::Recording;

pub mod peers;
pub mod readme;
pub mod recording;
pub mod tables;
#[cfg(test)]
mod tests;

/// Where recordings are kept, in the workspace.
pub const RESULTS: &str = "bench/results";

/// Where README's plots are.
const DOCS: &str = "docs";

/// What the command line asks for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Build the peers' program, and nothing else.
    pub build: bool,
    /// The compiler; without it the one that is found.
    pub nvcc: Option<PathBuf>,
    /// What the peers' program is compiled for: "native", or "sm_90".
    pub arch: String,
    /// Record the run: that of a file, or one that is made now.
    pub record: Option<Option<PathBuf>>,
    /// Measure few sizes.
    pub quick: bool,
    /// A built `host`; without it cargo builds it.
    pub host: Option<PathBuf>,
}

/// Does what `options` say.
///
/// # Errors
/// If a program fails, a run cannot be read, or README.md has not the marks.
pub fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    if options.build {
        return build_peers(workspace, options).map(drop);
    }
    match &options.record {
        Some(Some(file)) => record(workspace, options, file),
        recorded => {
            let file = measure(workspace, options)?;
            if recorded.is_some() { record(workspace, options, &file) } else { Ok(()) }
        }
    }
}

/// Builds the peers' program, if there is a compiler, and says what became of it.
fn build_peers(workspace: &Workspace, options: &Options) -> Result<Option<PathBuf>> {
    let built = peers::build(workspace, options.nvcc.as_deref(), &options.arch)?;
    match &built {
        Some(program) => println!("built {}; use it as host bench --peers {0}", program.display()),
        None => println!("there is no nvcc, so that the peers' columns are left out: {}", peers::REMEDY),
    }
    Ok(built)
}

/// Has `host bench` measure on this machine's GPU, beside the peers where they can be built. Gives the file.
fn measure(workspace: &Workspace, options: &Options) -> Result<PathBuf> {
    let peers = build_peers(workspace, options)?;
    let host = host(workspace, options)?;
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

/// Keeps a run, and writes README's figures and plots from the newest that there is.
fn record(workspace: &Workspace, options: &Options, file: &Path) -> Result<()> {
    let root = workspace.root();
    let mut recording = Recording::read(file)?;
    recording.check()?;
    if !recording.has_revision() {
        recording.set_revision(&revision(root)?);
    }
    let kept = PathBuf::from(RESULTS).join(recording.file_name());
    let newest = newest(&root.join(RESULTS))?.filter(|other| other.recording.date() > recording.date());
    let (shown, shown_path) = match &newest {
        Some(other) => (&other.recording, PathBuf::from(RESULTS).join(&other.name)),
        None => (&recording, kept.clone()),
    };
    // Nothing is written unless all can be.
    let readme = root.join("README.md");
    let text = fs::read_to_string(&readme).with_context(|| format!("cannot read {}", readme.display()))?;
    let plots = plots(workspace, options, if newest.is_some() { root.join(&shown_path) } else { file.to_owned() })?;
    let names: Vec<String> = plots.iter().map(|(name, _)| name.clone()).collect();
    let text = readme::rewrite(&text, &tables::all(shown, &shown_path.display().to_string(), &names)?)?;
    fs::create_dir_all(root.join(RESULTS)).with_context(|| format!("cannot make {RESULTS}"))?;
    write(&root.join(&kept), recording.text()?.as_bytes())?;
    for (name, bytes) in plots {
        write(&root.join(DOCS).join(name), &bytes)?;
    }
    write(&readme, text.as_bytes())?;
    println!("recorded {}; README.md shows {}", kept.display(), shown_path.display());
    Ok(())
}

/// A recording that is kept.
struct Kept {
    name: OsString,
    recording: Recording,
}

/// The newest recording in a folder.
fn newest(folder: &Path) -> Result<Option<Kept>> {
    let mut newest: Option<Kept> = None;
    let Ok(entries) = fs::read_dir(folder) else { return Ok(None) };
    for entry in entries {
        let entry = entry.with_context(|| format!("cannot list {}", folder.display()))?;
        if entry.path().extension().is_some_and(|extension| extension == "json") {
            let recording = Recording::read(&entry.path())?;
            if newest.as_ref().is_none_or(|newest| recording.date() > newest.recording.date()) {
                newest = Some(Kept { name: entry.file_name(), recording });
            }
        }
    }
    Ok(newest)
}

/// The plots of a recording as `host bench` draws them: their names and contents.
fn plots(workspace: &Workspace, options: &Options, file: PathBuf) -> Result<Vec<(String, Vec<u8>)>> {
    let host = host(workspace, options)?;
    let folder = folder(workspace)?.join("plots");
    // What an earlier run left is none of this one's.
    let _ = fs::remove_dir_all(&folder);
    let output = Command::new(&host)
        .args(["bench", "--from"])
        .arg(&file)
        .arg("--plot")
        .arg(&folder)
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot run {}", host.display()))?;
    if !output.status.success() {
        bail!("host bench --from fails: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let mut plots = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let path = entry.with_context(|| format!("cannot list {}", folder.display()))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.ends_with(".svg") {
            plots.push((name, fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?));
        }
    }
    plots.sort();
    Ok(plots)
}

/// The folder for what is built and measured.
fn folder(workspace: &Workspace) -> Result<PathBuf> {
    let folder = workspace.target_dir()?.join("bench");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    Ok(folder)
}

/// The `host` to run: the one that is given, or else one that cargo builds as its users do.
fn host(workspace: &Workspace, options: &Options) -> Result<PathBuf> {
    if let Some(path) = &options.host {
        return std::path::absolute(path).with_context(|| format!("cannot find {}", path.display()));
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let status = Command::new(cargo)
        .args(["build", "--release", "--quiet", "--package", "host"])
        .current_dir(workspace.root())
        .stdin(Stdio::null())
        .status()
        .context("cannot run cargo")?;
    ensure!(status.success(), "host does not build");
    Ok(workspace.target_dir()?.join("release").join(format!("host{}", std::env::consts::EXE_SUFFIX)))
}

/// The revision of the sources, with a note where they were changed since.
fn revision(root: &Path) -> Result<String> {
    let git = |arguments: &[&str]| -> Result<String> {
        let output = Command::new("git").args(arguments).current_dir(root).output().context("cannot run git")?;
        ensure!(output.status.success(), "git {} fails: {}", arguments.join(" "), output.status);
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let revision = git(&["rev-parse", "--short=12", "HEAD"])?;
    let changed = git(&["status", "--porcelain", "--untracked-files=no", "--", "gpu", "host", "crates"])?;
    Ok(if changed.is_empty() { revision } else { format!("{revision} and changes") })
}

/// Writes a file whole: what stood there stays until all is there.
fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let new = path.with_file_name(name);
    fs::write(&new, bytes)
        .and_then(|()| fs::rename(&new, path))
        .with_context(|| format!("cannot write {}", path.display()))
}
