//! Checks that a run can be recorded, and names the file of the recording.

use anyhow::{Result, ensure};
use workbench::bench::Recording;

/// Fails if the run `recording` must not be recorded.
///
/// # Errors
/// If the run is simulated or empty, if its date is malformed, or if a row belongs to neither a rung nor a peer.
pub fn check(recording: &Recording) -> Result<()> {
    ensure!(
        !recording.simulated,
        "the run is of the simulator, whose times say nothing about a GPU: run host bench on a machine with a GPU"
    );
    ensure!(
        !recording.rows.is_empty() && recording.copy_gbps > 0.0,
        "the run has no measurements: run host bench again"
    );
    for row in &recording.rows {
        ensure!(row.rung.is_some() != row.peer.is_some(), "a row is neither of a rung nor of a peer: {row:?}");
    }
    let date = recording.date.as_bytes();
    let is_date = date.len() == 10
        && date
            .iter()
            .enumerate()
            .all(|(at, byte)| if matches!(at, 4 | 7) { *byte == b'-' } else { byte.is_ascii_digit() });
    ensure!(is_date, "the date of the run, {}, is not of the form 2026-11-21", recording.date);
    Ok(())
}

/// Returns the text of the recording. Its fields are sorted by name, so that a new field changes no other line.
///
/// # Errors
/// If the recording cannot be expressed as JSON.
pub fn text(recording: &Recording) -> Result<String> {
    Ok(serde_json::to_string_pretty(&serde_json::to_value(recording)?)? + "\n")
}

/// Returns the name of the recording's file, such as `nvidia-h200-2026-11-21.json`.
pub fn file_name(recording: &Recording) -> String {
    let lower = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = recording.device.chars().map(lower).collect();
    let parts: Vec<&str> = name.split('-').filter(|part| !part.is_empty()).collect();
    format!("{}-{}.json", parts.join("-"), recording.date)
}
