//! The recording of a run of `host bench`: the device and the measured points.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// The recording of a run of `host bench`: the device and the measured points.
#[derive(Clone, PartialEq, Serialize, Deserialize, Debug, Default)]
pub struct Recording {
    /// The name of the device, such as "NVIDIA H200" or "simulator".
    pub device: String,
    /// True if the device is the simulator, whose times are CPU times.
    pub simulated: bool,
    /// The version of the driver, or the CUDA version that the driver supports if its own version is unknown.
    pub driver: Option<String>,
    /// The date of the run, such as 2026-11-21.
    pub date: String,
    /// The name and version of the compiler that produced the kernels' PTX.
    pub compiler: Option<String>,
    /// The version of this program.
    pub version: String,
    /// The revision of the sources, if `cargo xtask bench` recorded it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// The attributes of the device, as the driver reports them.
    pub machine: Machine,
    /// The clocks before and after the run, if nvidia-smi reports them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clocks: Vec<Clocks>,
    /// The library that measures peers such as CUB, if peers were measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peers: Option<PeersAbout>,
    /// The seed of the random inputs.
    pub seed: u64,
    /// True if the run measured only a few sizes.
    pub quick: bool,
    /// The number of bytes that are read before every timed run to flush the caches; 0 if the caches were not flushed.
    pub flush_bytes: u64,
    /// The number of calls in a series, if a point has a time for a series.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series_calls: Option<usize>,
    /// The speed of the driver's copy within the device's memory, at the largest measured size of at most 2^28 `f32`.
    /// The unit is 10⁹ bytes per second; read and written bytes both count.
    pub copy_gbps: f64,
    /// The peak speed of the memory in GB/s: the memory clock times the bus width, with two transfers per cycle.
    pub datasheet_gbps: Option<f64>,
    /// The measured points, in the order of measurement.
    pub rows: Vec<MeasuredPoint>,
    /// One text for each point that was not measured. The text names the point and the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// The attributes of a device, as the driver reports them.
#[derive(Clone, PartialEq, Serialize, Deserialize, Debug, Default)]
pub struct Machine {
    /// The compute capability, such as "9.0".
    pub compute_capability: Option<String>,
    /// The number of multiprocessors of the device.
    pub multiprocessors: u32,
    /// The size of the global memory in bytes.
    pub memory_bytes: u64,
    /// The size of the second-level cache in bytes.
    pub l2_bytes: Option<u64>,
    /// The highest clock rate of the multiprocessors, in MHz.
    pub sm_clock_mhz: Option<u32>,
    /// The clock rate of the memory, in MHz.
    pub memory_clock_mhz: Option<u32>,
    /// The width of the memory bus in bits.
    pub memory_bus_bits: Option<u32>,
}

/// The clocks of a device before or after a run.
#[derive(Clone, PartialEq, Serialize, Deserialize, Debug)]
pub struct Clocks {
    /// The time of the reading: "before" or "after".
    pub when: String,
    /// The clock rate of the multiprocessors, in MHz.
    pub sm_mhz: u32,
    /// The clock rate of the memory, in MHz.
    pub memory_mhz: u32,
}

/// The library of peers: implementations by NVIDIA, such as CUB, with which the rungs are compared.
#[derive(Clone, PartialEq, Serialize, Deserialize, Debug, Default)]
pub struct PeersAbout {
    /// The compiler, such as "nvcc 13.0".
    pub compiler: String,
    /// The version of CUB.
    pub cub: String,
    /// The version of cuBLAS.
    pub cublas: String,
    /// The computations that the library measures, such as "saxpy f32".
    pub works: Vec<String>,
}

/// A measured point: the times of a rung or peer at one size.
#[derive(Clone, PartialEq, Serialize, Deserialize, Debug, Default)]
pub struct MeasuredPoint {
    /// The name of the algorithm, such as "saxpy".
    pub algorithm: String,
    /// The name of the rung, if a rung was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rung: Option<String>,
    /// The name of the peer, if a peer was measured: "CUB", "cuBLAS" or "cudaMemcpy".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<String>,
    /// True if the rung is a default rung.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub last: bool,
    /// The name of the element type, such as "f32".
    #[serde(rename = "type")]
    pub number: String,
    /// The variant of the problem, such as "inclusive".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The width and height of a matrix or board, such as "16384x16384".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<String>,
    /// The number of elements, or of cells of a board.
    pub size: u64,
    /// The number of bytes that the computation must read and write.
    pub bytes: u64,
    /// The number of timed runs.
    pub runs: usize,
    /// The median time of the runs by device events, in microseconds. In Life, this is the time of one generation.
    pub median_us: f64,
    /// The first quartile of the runs' times, in microseconds.
    pub low_us: f64,
    /// The third quartile of the runs' times, in microseconds.
    pub high_us: f64,
    /// `bytes` divided by the median, in 10⁹ bytes per second.
    pub gbps: f64,
    /// The median time by the host's clock in microseconds, from the launch to the end of the wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_us: Option<f64>,
    /// The median time per call in a series, in microseconds. The calls of a series are launched one after the other
    /// between two device events. Each call uses separate memory that no cache holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series_us: Option<f64>,
    /// The settings with which the kernel was launched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setting: Option<String>,
}

impl MeasuredPoint {
    /// Returns the name of the rung or the peer.
    pub fn name(&self) -> &str {
        self.rung.as_deref().or(self.peer.as_deref()).unwrap_or("?")
    }

    /// Returns the algorithm, element type and variant. A benchmark compares points that agree in these three.
    pub fn group(&self) -> (&str, &str, Option<&str>) {
        (&self.algorithm, &self.number, self.variant.as_deref())
    }

    /// Returns the size of the point as text, such as "2^28" or "640x480".
    pub fn size_text(&self) -> String {
        match &self.shape {
            Some(shape) => shape.clone(),
            None if self.size.is_power_of_two() => format!("2^{}", self.size.ilog2()),
            None => self.size.to_string(),
        }
    }
}

impl Recording {
    /// Returns the points in groups, in the order of measurement. The points of one group are compared with each other.
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

/// Returns the current date in UTC, such as "2026-11-21".
pub fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    date(seconds / 86_400)
}

/// Returns the date of day number `day`, counted from 1970-01-01 as day 0.
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
