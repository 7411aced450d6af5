//! A run of `host bench` as it is kept: its device, and its measured points.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// A run: its device, and the points that were measured.
#[derive(Clone, PartialEq, Serialize, Deserialize, Debug, Default)]
pub struct Recording {
    /// "NVIDIA H200" or "simulator".
    pub device: String,
    /// True for the simulator, whose times are those of a CPU.
    pub simulated: bool,
    /// The driver's version; where it is not known, the CUDA version that it supports.
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
    /// The clocks before and after, if nvidia-smi reports them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clocks: Vec<Clocks>,
    /// The peers' library, if one took part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peers: Option<PeersAbout>,
    /// Seed of the data.
    pub seed: u64,
    /// True if it measured only a few sizes.
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
    /// The measured points.
    pub rows: Vec<MeasuredPoint>,
    /// Points that were not measured, each with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// Attributes of a device, as the driver reports them.
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

/// The peers' library.
#[derive(Clone, PartialEq, Serialize, Deserialize, Debug, Default)]
pub struct PeersAbout {
    /// "nvcc 13.0".
    pub compiler: String,
    /// CUB's version.
    pub cub: String,
    /// cuBLAS's version.
    pub cublas: String,
    /// The works that it has: "saxpy f32", …
    pub works: Vec<String>,
}

/// A measured point: a rung or a peer at a size.
#[derive(Clone, PartialEq, Serialize, Deserialize, Debug, Default)]
pub struct MeasuredPoint {
    /// "saxpy".
    pub algorithm: String,
    /// The rung, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rung: Option<String>,
    /// The peer, if it is one: "CUB", "cuBLAS", "cudaMemcpy".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<String>,
    /// True for the rung that runs by default.
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
    /// The median of what a call takes in a series: calls launched one after the other between two device events, each
    /// on memory of its own that no cache holds, divided by their number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series_us: Option<f64>,
    /// The setting of the kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setting: Option<String>,
}

impl MeasuredPoint {
    /// Returns the name of the rung or the peer.
    pub fn name(&self) -> &str {
        self.rung.as_deref().or(self.peer.as_deref()).unwrap_or("?")
    }

    /// Returns algorithm, type and variant: points of one group are compared with each other.
    pub fn group(&self) -> (&str, &str, Option<&str>) {
        (&self.algorithm, &self.number, self.variant.as_deref())
    }

    /// Returns the size as it is written: "2^28", or a shape.
    pub fn size_text(&self) -> String {
        match &self.shape {
            Some(shape) => shape.clone(),
            None if self.size.is_power_of_two() => format!("2^{}", self.size.ilog2()),
            None => self.size.to_string(),
        }
    }
}

impl Recording {
    /// Returns the groups of points that are compared with each other, in their order.
    pub fn groups(&self) -> Vec<Vec<&MeasuredPoint>> {
        let mut groups: Vec<Vec<&MeasuredPoint>> = Vec::new();
        for row in &self.rows {
            match groups.iter_mut().find(|group| group[0].group() == row.group()) {
                Some(group) => group.push(row),
                None => groups.push(vec![row]),
            }
        }
        groups
    }
}

/// Returns the date of today by UTC: "2026-11-21".
pub fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    date(seconds / 86_400)
}

/// Returns the date of a day, counted from 1970-01-01.
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
}
