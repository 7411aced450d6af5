//! A run as it is kept: what it ran on, and a row for each point; read from and written to JSON.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context;
use serde::{Deserialize, Serialize};

use crate::files::WholeFile;

/// All that a run found.
#[derive(Clone, PartialEq, Serialize, Deserialize, Debug, Default)]
pub struct Recording {
    /// "NVIDIA H200" or "simulator".
    pub device: String,
    /// Whether it is the simulator, whose times are those of a CPU.
    pub simulated: bool,
    /// The driver's version, or the CUDA version that it supports where nobody tells more.
    pub driver: Option<String>,
    /// The day, as in 2026-11-21.
    pub date: String,
    /// The compiler of the kernels' PTX.
    pub compiler: Option<String>,
    /// The version of this program.
    pub version: String,
    /// The revision of the sources, if `cargo xtask bench` recorded it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// The device's attributes.
    pub machine: Machine,
    /// What nvidia-smi says before and after, where it is there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clocks: Vec<Clocks>,
    /// The peers' library, if one took part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peers: Option<About>,
    /// Seed of the data.
    pub seed: u64,
    /// Whether it measured a few sizes alone.
    pub quick: bool,
    /// Bytes read before every run, so that the caches hold none of its data; 0 where they were not flushed.
    pub flush_bytes: u64,
    /// Calls of a series, where there are rows with such a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series_calls: Option<usize>,
    /// The device's own copy of 2^28 f32, or as many as were measured, in GB/s of 10⁹ bytes read and written.
    pub copy_gbps: f64,
    /// Memory clock × bus width, two transfers per cycle, in GB/s.
    pub datasheet_gbps: Option<f64>,
    /// The points.
    pub rows: Vec<Row>,
    /// What was not measured, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// Attributes of a device, as the driver tells them.
#[derive(Clone, PartialEq, Serialize, Deserialize, Debug, Default)]
pub struct Machine {
    /// "9.0".
    pub compute_capability: Option<String>,
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// Global memory, in bytes.
    pub memory_bytes: u64,
    /// Second-level cache, in bytes.
    pub l2_bytes: Option<u64>,
    /// The SMs' highest clock.
    pub sm_clock_mhz: Option<u32>,
    /// The memory's clock.
    pub memory_clock_mhz: Option<u32>,
    /// Width of the bus to it.
    pub memory_bus_bits: Option<u32>,
}

/// Clocks at a moment of the run.
#[derive(Clone, PartialEq, Serialize, Deserialize, Debug)]
pub struct Clocks {
    /// When: "before" or "after".
    pub when: String,
    /// The SMs', in MHz.
    pub sm_mhz: u32,
    /// The memory's, in MHz.
    pub memory_mhz: u32,
}

/// What the peers' library says of itself.
#[derive(Clone, PartialEq, Serialize, Deserialize, Debug, Default)]
pub struct About {
    /// "nvcc 13.0".
    pub compiler: String,
    /// CUB's version.
    pub cub: String,
    /// cuBLAS's version.
    pub cublas: String,
    /// What it measures: "saxpy f32", …
    pub works: Vec<String>,
}

/// One point: a rung, or a peer, at a size.
#[derive(Clone, PartialEq, Serialize, Deserialize, Debug, Default)]
pub struct Row {
    /// "saxpy".
    pub algorithm: String,
    /// The rung, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rung: Option<String>,
    /// The peer, if it is one: "CUB", "cuBLAS", "cudaMemcpy".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<String>,
    /// Whether it is the rung that runs where none is named.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub last: bool,
    /// The element type: "f32".
    #[serde(rename = "type")]
    pub number: String,
    /// "inclusive" or "exclusive".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// Width and height of a matrix or board: "16384x16384".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<String>,
    /// Elements; of Life, cells.
    pub size: u64,
    /// Bytes that the work cannot do without reading and writing.
    pub bytes: u64,
    /// Timed runs.
    pub runs: usize,
    /// The median of their times by device events, in microseconds; of Life, for one generation.
    pub median_us: f64,
    /// The first quartile.
    pub low_us: f64,
    /// The third quartile.
    pub high_us: f64,
    /// `bytes` over the median, in units of 10⁹ per second.
    pub gbps: f64,
    /// The median as the host sees it: launch and wait, by its clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_us: Option<f64>,
    /// The median of what a call takes in a series: calls launched one after the other between two device events, each on
    /// memory of its own that no cache holds, divided by their number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series_us: Option<f64>,
    /// How the kernel was set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setting: Option<String>,
}

impl Row {
    /// The rung's or the peer's name.
    pub fn name(&self) -> &str {
        self.rung.as_deref().or(self.peer.as_deref()).unwrap_or("?")
    }

    /// What is compared with each other: algorithm, type and variant.
    pub fn group(&self) -> (&str, &str, Option<&str>) {
        (&self.algorithm, &self.number, self.variant.as_deref())
    }

    /// The size as it is written: "2^28", or a shape.
    pub fn size_text(&self) -> String {
        match &self.shape {
            Some(shape) => shape.clone(),
            None if self.size.is_power_of_two() => format!("2^{}", self.size.ilog2()),
            None => self.size.to_string(),
        }
    }
}

impl Recording {
    /// Reads what [`write`](Self::write) wrote.
    ///
    /// # Errors
    /// When the file cannot be read, or is not of that form.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let shown = path.display();
        let text = fs::read_to_string(path).with_context(|| format!("cannot read '{shown}'"))?;
        serde_json::from_str(&text).with_context(|| {
            format!("'{shown}' is not what host bench --json writes: measure again, or name another file")
        })
    }

    /// Writes it, whole or not at all.
    ///
    /// # Errors
    /// What prevents it.
    pub fn write(&self, file: &WholeFile) -> anyhow::Result<()> {
        let mut text = serde_json::to_string_pretty(self).context("cannot express the result as JSON")?;
        text.push('\n');
        let mut out = file.create()?;
        out.write_all(text.as_bytes()).with_context(|| file.failed())?;
        file.keep(out)
    }

    /// The groups of rows that are compared with each other, in their order.
    pub fn groups(&self) -> Vec<Vec<&Row>> {
        let mut groups: Vec<Vec<&Row>> = Vec::new();
        for row in &self.rows {
            match groups.iter_mut().find(|group| group[0].group() == row.group()) {
                Some(group) => group.push(row),
                None => groups.push(vec![row]),
            }
        }
        groups
    }
}

/// Today, by UTC: "2026-11-21".
pub fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    date(seconds / 86_400)
}

/// The date of a day, counted from 1970-01-01.
fn date(mut day: u64) -> String {
    let is_leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut year = 1970;
    while day >= 365 + u64::from(is_leap(year)) {
        day -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 1;
    for length in lengths {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    format!("{year:04}-{month:02}-{:02}", day + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_from_1970() {
        for (day, text) in [(0, "1970-01-01"), (11_016, "2000-02-29"), (19_722, "2023-12-31"), (20_778, "2026-11-21")] {
            assert_eq!(date(day), text);
        }
    }

    #[test]
    fn what_was_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        let row = Row { algorithm: "saxpy".into(), rung: Some("vectorised".into()), size: 1 << 28, ..Row::default() };
        let row = Row { series_us: Some(2.5), ..row };
        let peer = Row { rung: None, peer: Some("cuBLAS".into()), size: 1000, ..row.clone() };
        let board = Row { algorithm: "life".into(), shape: Some("64x64".into()), series_us: None, ..row.clone() };
        assert_eq!([&row, &peer, &board].map(Row::size_text), ["2^28", "1000", "64x64"]);
        let recording = Recording { device: "GPU X".into(), rows: vec![row, board, peer], ..Recording::default() };
        assert_eq!(recording.groups().iter().map(Vec::len).collect::<Vec<_>>(), [2, 1]);
        recording.write(&WholeFile::new(&path)).unwrap();
        assert_eq!(Recording::read(&path).unwrap(), recording);
        let json: serde_json::Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        assert!(json["rows"][0].get("peer").is_none() && json["rows"][0].get("type").is_some(), "{json}");
        // What was not measured is not there, as in recordings from before it was.
        assert_eq!((&json["rows"][0]["series_us"], json["rows"][1].get("series_us")), (&2.5.into(), None), "{json}");
        assert!(json.get("series_calls").is_none(), "{json}");
    }

    #[test]
    fn what_is_no_recording_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("other.json");
        fs::write(&path, "{\"device\": 3}").unwrap();
        let message = format!("{:#}", Recording::read(&path).unwrap_err());
        assert!(message.contains("other.json' is not what host bench --json writes"), "{message}");
        let message = format!("{:#}", Recording::read(&folder.path().join("none.json")).unwrap_err());
        assert!(message.contains("cannot read"), "{message}");
    }
}
