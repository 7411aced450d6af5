//! What of a run can be kept, and under which name.

use anyhow::{Result, ensure};
use workbench::bench::Recording;

/// Whether a run can be recorded.
///
/// # Errors
/// If it is of the simulator, or empty, or its date is none, or a row is not of a rung or of a peer.
pub fn check(recording: &Recording) -> Result<()> {
    ensure!(
        !recording.simulated,
        "the run is of the simulator, whose times say nothing of a GPU: run host bench on a machine with one"
    );
    ensure!(!recording.rows.is_empty() && recording.copy_gbps > 0.0, "the run has no measurements");
    for row in &recording.rows {
        ensure!(row.rung.is_some() != row.peer.is_some(), "a row is not of a rung or of a peer: {row:?}");
    }
    let date = recording.date.as_bytes();
    let is_date = date.len() == 10
        && date
            .iter()
            .enumerate()
            .all(|(at, byte)| if matches!(at, 4 | 7) { *byte == b'-' } else { byte.is_ascii_digit() });
    ensure!(is_date, "its date, {}, is not of the form 2026-11-21", recording.date);
    Ok(())
}

/// What is kept: with its fields by their names, so that a new field changes no other line.
///
/// # Errors
/// If it cannot be expressed as JSON, such as a number that is none.
pub fn text(recording: &Recording) -> Result<String> {
    Ok(serde_json::to_string_pretty(&serde_json::to_value(recording)?)? + "\n")
}

/// The name to keep it under: `nvidia-h200-2026-11-21.json`.
pub fn file_name(recording: &Recording) -> String {
    let lower = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = recording.device.chars().map(lower).collect();
    let parts: Vec<&str> = name.split('-').filter(|part| !part.is_empty()).collect();
    format!("{}-{}.json", parts.join("-"), recording.date)
}
