//! Reads and writes recordings of `host bench` as JSON files, and draws their plots.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::Context;
use serde::Serialize;
use workbench::bench::Recording;

use crate::files::WholeFile;

pub mod plots;

/// Reads a recording that [`write`](fn@write) wrote.
///
/// # Errors
/// If the file cannot be read, or is not a recording.
pub fn read(path: &Path) -> anyhow::Result<Recording> {
    let shown = path.display();
    let text = fs::read_to_string(path).with_context(|| format!("cannot read '{shown}'"))?;
    serde_json::from_str(&text).with_context(|| {
        let program = units::program();
        format!("'{shown}' is not a recording of `{program} bench --json`: measure again, or name another file")
    })
}

/// Writes the result of a benchmark as JSON, whole or not at all.
///
/// # Errors
/// If the file cannot be written.
pub fn write(result: &impl Serialize, file: &WholeFile) -> anyhow::Result<()> {
    let mut text = serde_json::to_string_pretty(result).context("cannot express the result as JSON")?;
    text.push('\n');
    let mut out = file.create()?;
    out.write_all(text.as_bytes()).with_context(|| file.failed())?;
    file.keep(out)
}

/// Returns descriptions of the recording's driver, compute capability and multiprocessors, as parts of a sentence.
pub fn machine(Recording { driver, machine, .. }: &Recording) -> Vec<String> {
    let mut parts = Vec::new();
    parts.extend(driver.as_ref().map(|driver| format!("driver {driver}")));
    parts.extend(machine.compute_capability.as_ref().map(|capability| format!("compute capability {capability}")));
    let clock = machine.sm_clock_mhz.map_or(String::new(), |mhz| format!(" at up to {mhz} MHz"));
    parts.push(format!("{} SMs{clock}", machine.multiprocessors));
    parts
}

#[cfg(test)]
mod tests {
    use workbench::bench::MeasuredPoint;

    use super::*;

    #[test]
    fn a_recording_that_was_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        let row = MeasuredPoint { algorithm: "saxpy".into(), rung: Some("vectorised".into()), ..Default::default() };
        let row = MeasuredPoint { size: 1 << 28, series_us: Some(2.5), ..row };
        let peer = MeasuredPoint { rung: None, peer: Some("cuBLAS".into()), size: 1000, ..row.clone() };
        let board = MeasuredPoint { shape: Some("64x64".into()), series_us: None, ..row.clone() };
        let board = MeasuredPoint { algorithm: "life".into(), ..board };
        assert_eq!([&row, &peer, &board].map(MeasuredPoint::size_text), ["2^28", "1000", "64x64"]);
        let recording = Recording { device: "GPU X".into(), rows: vec![row, board, peer], ..Recording::default() };
        assert_eq!(recording.groups().iter().map(Vec::len).collect::<Vec<_>>(), [2, 1]);
        write(&recording, &WholeFile::new(&path)).unwrap();
        assert_eq!(read(&path).unwrap(), recording);
        let json: serde_json::Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        assert!(json["rows"][0].get("peer").is_none() && json["rows"][0].get("type").is_some(), "{json}");
        // Fields without a value are left out, as in recordings from before they existed.
        assert_eq!((&json["rows"][0]["series_us"], json["rows"][1].get("series_us")), (&2.5.into(), None), "{json}");
        assert!(json.get("series_calls").is_none(), "{json}");
    }

    #[test]
    fn another_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("other.json");
        fs::write(&path, "{\"device\": 3}").unwrap();
        let message = format!("{:#}", read(&path).unwrap_err());
        assert!(message.contains("other.json' is not a recording of `host bench --json`"), "{message}");
        let message = format!("{:#}", read(&folder.path().join("none.json")).unwrap_err());
        assert!(message.contains("cannot read"), "{message}");
    }
}
