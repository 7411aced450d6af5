//! The rates of rungs in the recordings.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use ::program::recordings;
use anyhow::{Context, Result};
use workbench::algorithm::Unit;
use workbench::bench::{MeasuredPoint, Recording, subject};

use crate::bench::rung_rows::{self, RungRow};
use crate::bench::tables::{exponent, rate, share, size_text, updates};
use crate::bench::{RESULTS, newest};

/// The folder of the recordings of single algorithms, in [`RESULTS`].
const OF_ALGORITHMS: &str = "algorithms";

/// The rate of each recorded rung, in words, by its name, such as `reduce/shuffle`.
pub(super) struct Rates(BTreeMap<String, String>);

impl Rates {
    /// Reads the newest recording of all algorithms, and the recordings of single algorithms for the rungs that it
    /// lacks.
    ///
    /// # Errors
    /// If a recording cannot be read.
    pub fn read(root: &Path) -> Result<Self> {
        let folder = root.join(RESULTS);
        let mut rates = BTreeMap::new();
        if let Some((_, recording)) = newest(&folder)? {
            add(&recording, &mut rates);
        }
        let folder = folder.join(OF_ALGORITHMS);
        let entries = fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))?;
        let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
        // The names contain the date, and the first rate stays.
        paths.sort();
        for path in paths.iter().rev() {
            add(&recordings::read(path)?, &mut rates);
        }
        Ok(Self(rates))
    }

    /// Returns the rate of `subject`, such as `reduce/shuffle`, in words; `None` if it is not recorded.
    pub fn of(&self, subject: &str) -> Option<&str> {
        self.0.get(subject).map(String::as_str)
    }
}

/// Adds the rates of a recording to `rates`, except for rungs that are already there.
fn add(recording: &Recording, rates: &mut BTreeMap<String, String>) {
    let rows = rung_rows::all(recording);
    for row in rows.iter().filter(|row| !row.is_peer) {
        rates.entry(format!("{}/{}", row.algorithm, row.name)).or_insert_with(|| of_bytes(row, &rows, recording));
    }
    let of_life = recording.rows.iter().filter(|row| subject::unit(row) == Unit::Cells && row.peer.is_none());
    let mut largest: BTreeMap<&str, &MeasuredPoint> = BTreeMap::new();
    for row in of_life {
        let kept = largest.entry(row.name()).or_insert(row);
        *kept = if row.size > kept.size { row } else { kept };
    }
    for (rung, row) in largest {
        let (speed, size) = (exponent(updates(row)), size_text(row));
        let text = format!("{speed} cells per second at {size} on an {}", recording.device);
        rates.entry(format!("{}/{rung}", row.algorithm)).or_insert(text);
    }
}

/// Returns the rate of a rung that moves bytes or multiplies matrices. The last rung has the rate of its peer, too.
fn of_bytes(row: &RungRow<'_>, rows: &[RungRow<'_>], recording: &Recording) -> String {
    let speed = |row: &RungRow<'_>| match row.teraflops {
        Some(teraflops) => format!("{} TFLOP/s", rate(teraflops)),
        None => format!("{} GB/s", rate(row.gbps)),
    };
    let mut text = format!("{} at {} on an {}", speed(row), row.size, recording.device);
    if row.teraflops.is_none() {
        text += &format!(", {} of its copy", share(row.gbps, recording));
    }
    if let Some(step) = row.step {
        text += &format!("; {step:.2} × as fast as the rung before");
    }
    let of_ladder = || rows.iter().filter(|other| (other.algorithm, other.variant) == (row.algorithm, row.variant));
    let is_last = of_ladder().rfind(|other| !other.is_peer) == Some(row);
    if let Some(peer) = of_ladder().find(|peer| is_last && peer.is_peer && peer.size == row.size) {
        text += &format!("; {}: {}", peer.name, speed(peer));
    }
    text
}
