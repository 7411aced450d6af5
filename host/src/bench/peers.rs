//! NVIDIA's libraries beside ours: the program of `bench/peers/`, run as a child process between our own measurements.
//!
//! It makes the same random data of the same seed, and measures as [`meter`](super::meter) does. Its rows have the form of
//! ours. `PROGRAM --about` says what it can measure.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use launch::DeviceChoice;

use super::record::{About, Row};
use super::work::{Rungs, Subject, Work};

/// How to come by the program.
const REMEDY: &str = "cargo xtask bench --build makes it, on a machine with nvcc and a GPU";

/// The peers' program.
#[derive(Clone, Debug)]
pub struct Peers {
    program: PathBuf,
    ordinal: u32,
    about: About,
}

/// How it is to measure.
#[derive(Clone, Copy, Debug)]
pub struct How {
    /// Seed of the data.
    pub seed: u64,
    /// Bytes to read before every run.
    pub flush_bytes: u64,
    /// The fewest runs of a point.
    pub fewest: usize,
    /// The most.
    pub most: usize,
    /// No run begins after this.
    pub time: Duration,
}

impl Peers {
    /// The program at `program`, to run on the device that `choice` names.
    ///
    /// # Errors
    /// When it does not run, or is another program.
    pub fn open(program: &Path, choice: DeviceChoice) -> anyhow::Result<Self> {
        let ordinal = match choice {
            DeviceChoice::Gpu(Some(ordinal)) => ordinal,
            _ => 0,
        };
        // A name alone is a file here, and none to be looked for in PATH.
        let program = std::path::absolute(program).with_context(|| format!("cannot find '{}'", program.display()))?;
        let output = run(&program, [OsStr::new("--about")])?;
        let about = serde_json::from_slice(&output)
            .with_context(|| format!("'{}' is not the peers' program: {REMEDY}", program.display()))?;
        Ok(Self { program, ordinal, about })
    }

    /// What it says of itself.
    pub fn about(&self) -> &About {
        &self.about
    }

    /// Its rows for a work: none where it has no peer of it.
    ///
    /// # Errors
    /// When it fails, or prints something else.
    pub fn measure(&self, work: &Work, how: How) -> anyhow::Result<Vec<Row>> {
        let name = format!("{} {}", work.subject.name(), work.number);
        let is_yardstick = work.subject == Subject::Copy && work.rungs == Rungs::Last;
        if is_yardstick || !self.about.works.contains(&name) {
            return Ok(Vec::new());
        }
        let shapes: Vec<_> = work.shapes.iter().map(ToString::to_string).collect();
        let arguments = [
            work.subject.name().to_owned(),
            work.number.to_owned(),
            work.variant.unwrap_or("-").to_owned(),
            shapes.join(","),
            how.seed.to_string(),
            self.ordinal.to_string(),
            how.flush_bytes.to_string(),
            how.fewest.to_string(),
            how.most.to_string(),
            how.time.as_secs_f64().to_string(),
        ];
        let output = run(&self.program, arguments.iter().map(OsStr::new))?;
        let rows: Vec<Row> = serde_json::from_slice(&output).context("it prints no rows")?;
        for row in &rows {
            let is_asked_for = row.algorithm == work.subject.name()
                && row.number == work.number
                && row.variant.as_deref() == work.variant;
            ensure!(is_asked_for && row.peer.is_some() && !row.last, "it prints a row that nobody asked for: {row:?}");
        }
        Ok(rows)
    }
}

/// Runs it to its end, and gives what it prints.
fn run<'a>(program: &Path, arguments: impl IntoIterator<Item = &'a OsStr>) -> anyhow::Result<Vec<u8>> {
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot run the peers' program '{}': {REMEDY}", program.display()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said.lines().last().unwrap_or_default();
        bail!("'{}' fails, {}: {last}", program.display(), output.status);
    }
    Ok(output.stdout)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::super::work::Scope;
    use super::super::works::works;
    use super::*;

    const HOW: How = How { seed: 7, flush_bytes: 1, fewest: 2, most: 3, time: Duration::from_millis(250) };

    /// A shell script in the program's place.
    fn program(folder: &Path, name: &str, script: &str) -> PathBuf {
        let path = folder.join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn reduce() -> Work {
        works(Subject::find("reduce").unwrap(), Scope { quick: true, simulated: true }).swap_remove(0)
    }

    #[test]
    fn rows_are_asked_for_and_taken() {
        let folder = tempfile::tempdir().unwrap();
        let script = r#"
            if [ "$1" = --about ]; then
                echo '{"compiler": "nvcc 13.0", "cub": "3.0", "cublas": "13.0", "works": ["reduce f32"]}'
            else
                echo "$@" > "$0.arguments"
                echo '[{"algorithm": "reduce", "peer": "CUB", "type": "f32", "size": 1024, "bytes": 4096, "runs": 3,
                    "median_us": 5, "low_us": 4, "high_us": 6, "gbps": 0.8, "series_us": 2.5}]'
            fi"#;
        let path = program(folder.path(), "peers", script);
        let peers = Peers::open(&path, DeviceChoice::Gpu(Some(3))).unwrap();
        assert_eq!(peers.about().cub, "3.0");
        let rows = peers.measure(&reduce(), HOW).unwrap();
        assert_eq!((rows.len(), rows[0].name(), rows[0].median_us), (1, "CUB", 5.0));
        assert_eq!((rows[0].host_us, rows[0].series_us), (None, Some(2.5)));
        let arguments = fs::read_to_string(folder.path().join("peers.arguments")).unwrap();
        assert_eq!(arguments.trim(), "reduce f32 - 1024,4096 7 3 1 2 3 0.25");
        let scale = works(Subject::find("scale").unwrap(), Scope { quick: true, simulated: true }).swap_remove(0);
        assert_eq!(peers.measure(&scale, HOW).unwrap(), []);
    }

    #[test]
    fn what_is_no_such_program_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let failing = program(folder.path(), "failing", "echo one >&2; echo no GPU >&2; exit 3");
        let other = program(folder.path(), "other", "echo hello");
        for (path, parts) in [
            (folder.path().join("none"), &["cannot run", "none", "cargo xtask bench --build"][..]),
            (failing, &["failing' fails", "no GPU"]),
            (other, &["other' is not the peers' program"]),
        ] {
            let message = format!("{:#}", Peers::open(&path, DeviceChoice::Auto).unwrap_err());
            for part in parts {
                assert!(message.contains(part), "{part}: {message}");
            }
        }
        let script = r#"[ "$1" = --about ] && echo '{"compiler": "", "cub": "", "cublas": "", "works": ["reduce f32"]}' || echo '[{"algorithm": "scan", "peer": "CUB", "type": "f32", "size": 1, "bytes": 1, "runs": 1, "median_us": 1, "low_us": 1, "high_us": 1, "gbps": 1}]'"#;
        let peers = Peers::open(&program(folder.path(), "wrong", script), DeviceChoice::Auto).unwrap();
        let message = format!("{:#}", peers.measure(&reduce(), HOW).unwrap_err());
        assert!(message.contains("nobody asked for"), "{message}");
    }
}
