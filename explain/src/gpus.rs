//! The GPUs for which minimum times and occupancies are computed.

use std::fmt;

use serde::Serialize;

use units::alternatives;

/// A GPU, with the figures from which times and occupancies are computed.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Gpu {
    /// The short name of the GPU, which [`find`](Self::find) takes.
    #[serde(skip)]
    pub id: &'static str,
    /// The full name of the GPU.
    pub name: &'static str,
    /// The compute capability without its point: 90 is 9.0.
    #[serde(rename = "compute_capability", serialize_with = "capability")]
    pub arch: u32,
    /// The number of streaming multiprocessors.
    pub multiprocessors: u32,
    /// The highest clock rate of the multiprocessors, in MHz.
    pub megahertz: u32,
    /// The speed of the GPU's memory in GB/s; a GB is 10⁹ bytes.
    pub gigabytes_per_second: f64,
    /// The source of the memory's speed.
    pub speed: SpeedSource,
}

/// The source of the figure for the speed of a GPU's memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SpeedSource {
    /// The measured speed of `cudaMemcpy` within the GPU's memory, which counts read and written bytes.
    MeasuredCopy,
    /// The peak speed in the datasheet. A copy reaches 85 to 93 % of this speed.
    Datasheet,
}

impl fmt::Display for SpeedSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::MeasuredCopy => "measured copy",
            Self::Datasheet => "datasheet",
        })
    }
}

fn capability<S: serde::Serializer>(arch: &u32, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{}.{}", arch / 10, arch % 10))
}

impl Gpu {
    /// The short name of the GPU that `host explain` uses by default.
    pub const DEFAULT: &'static str = "h200";

    /// Returns the GPU with the name [`DEFAULT`](Self::DEFAULT).
    pub fn default_gpu() -> &'static Self {
        Self::find(Self::DEFAULT).unwrap_or(&Self::ALL[0])
    }

    /// All GPUs that the explanations know. Multiprocessors, clocks and peak speeds are from NVIDIA's datasheets and
    /// architecture whitepapers. The speeds of the H100 and the H200 were measured by `cudaMemcpy`:
    /// those are the project's own machines, whose runs are in `bench/results`.
    pub const ALL: &'static [Self] = &[
        Self::datasheet("v100", "Tesla V100 SXM2", 70, 80, 1530, 900.0),
        Self::datasheet("t4", "T4", 75, 40, 1590, 320.0),
        Self::datasheet("a100", "A100 SXM4 80 GB", 80, 108, 1410, 2039.0),
        Self::datasheet("a10", "A10", 86, 72, 1695, 600.0),
        Self::datasheet("rtx3090", "GeForce RTX 3090", 86, 82, 1695, 936.0),
        Self::datasheet("l4", "L4", 89, 58, 2040, 300.0),
        Self::datasheet("l40s", "L40S", 89, 142, 2520, 864.0),
        Self::datasheet("rtx4090", "GeForce RTX 4090", 89, 128, 2520, 1008.0),
        Self { speed: SpeedSource::MeasuredCopy, ..Self::datasheet("h100", "H100 SXM5 80 GB", 90, 132, 1980, 3035.0) },
        Self { speed: SpeedSource::MeasuredCopy, ..Self::datasheet("h200", "H200 SXM5", 90, 132, 1980, 4225.0) },
        Self::datasheet("b200", "B200", 100, 148, 1965, 8000.0),
        Self::datasheet("rtx5090", "GeForce RTX 5090", 120, 170, 2407, 1792.0),
    ];

    const fn datasheet(
        id: &'static str,
        name: &'static str,
        arch: u32,
        multiprocessors: u32,
        megahertz: u32,
        gigabytes_per_second: f64,
    ) -> Self {
        Self { id, name, arch, multiprocessors, megahertz, gigabytes_per_second, speed: SpeedSource::Datasheet }
    }

    /// Returns the GPU with the short name `name`, in upper or lower case.
    ///
    /// # Errors
    /// [`UnknownGpu`] if no GPU has this name.
    pub fn find(name: &str) -> Result<&'static Self, UnknownGpu> {
        Self::ALL.iter().find(|gpu| gpu.id.eq_ignore_ascii_case(name)).ok_or_else(|| UnknownGpu(name.to_owned()))
    }

    /// Returns a `Gpu` with only those resources that a grid of `blocks` blocks can use. One block uses one
    /// multiprocessor, to which the L2 cache delivers 64 bytes per clock. A grid of several blocks counts as a full
    /// grid, which uses all multiprocessors.
    pub fn used_by(&self, blocks: u64) -> Self {
        if blocks > 1 {
            return *self;
        }
        let of_one = 64.0 * f64::from(self.megahertz) / 1e3;
        Self { multiprocessors: 1, gigabytes_per_second: self.gigabytes_per_second.min(of_one), ..*self }
    }

    /// Returns the time in seconds that the GPU's memory needs to move `bytes` bytes.
    pub fn memory_seconds(&self, bytes: u64) -> f64 {
        bytes as f64 / (self.gigabytes_per_second * 1e9)
    }

    /// Returns the time in seconds that the GPU's shared memories need for `wavefronts` wavefronts. Each multiprocessor
    /// serves one wavefront per clock.
    pub fn shared_seconds(&self, wavefronts: u64) -> f64 {
        wavefronts as f64 / self.clocks_per_second()
    }

    /// Returns the number of clocks of all multiprocessors in a second.
    pub(crate) fn clocks_per_second(&self) -> f64 {
        f64::from(self.multiprocessors) * f64::from(self.megahertz) * 1e6
    }
}

impl fmt::Display for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: compute capability {}.{}, {} SMs at {:.2} GHz, {:.0} GB/s ({})",
            self.name,
            self.arch / 10,
            self.arch % 10,
            self.multiprocessors,
            f64::from(self.megahertz) / 1e3,
            self.gigabytes_per_second,
            self.speed
        )
    }
}

/// The error of [`Gpu::find`] if no GPU has the given name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownGpu(pub String);

impl fmt::Display for UnknownGpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = Gpu::ALL.iter().map(|gpu| gpu.id).collect();
        write!(f, "no GPU is called '{}': use {}", self.0, alternatives(&names))
    }
}

impl std::error::Error for UnknownGpu {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::occupancy::Multiprocessor;

    #[test]
    fn every_gpu_has_what_its_figures_need() {
        for gpu in Gpu::ALL {
            assert_eq!(Gpu::find(&gpu.id.to_uppercase()), Ok(gpu));
            assert!(Multiprocessor::of(gpu.arch).is_some(), "{gpu}");
        }
        let message = Gpu::find("h300").unwrap_err().to_string();
        assert!(message.contains("'h300'") && message.contains("h200"), "{message}");
        assert_eq!(Gpu::find(Gpu::DEFAULT).map(|gpu| gpu.arch), Ok(90));
    }

    #[test]
    fn times_are_bytes_and_wavefronts_over_speeds() {
        let gpu = Gpu::find("h200").unwrap();
        assert_eq!(gpu.memory_seconds(4_225_000_000_000), 1.0);
        assert_eq!(gpu.shared_seconds(132 * 1980 * 1_000_000), 1.0);
        assert_eq!(gpu.used_by(2), *gpu);
        let one = gpu.used_by(1);
        assert_eq!((one.multiprocessors, one.gigabytes_per_second), (1, 64.0 * 1.98));
        assert_eq!(
            gpu.to_string(),
            "H200 SXM5: compute capability 9.0, 132 SMs at 1.98 GHz, 4225 GB/s (measured copy)"
        );
    }
}
