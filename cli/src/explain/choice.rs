//! The GPU to model: one of the table, or one of this machine with the measured speed of its memory.

use anyhow::Context;
use explain::{Gpu, SpeedSource};
use launch::{Device, DeviceChoice, Properties};

use crate::measure::copy_speed;

/// The number of bytes that a copy reads and writes when the memory's speed is measured: more than the caches hold.
const COPY_BYTES: u64 = 1 << 30;

/// The GPU to model, as a user types it.
#[derive(Clone, Copy, Debug)]
pub(super) enum GpuChoice {
    /// A GPU of the table.
    Known(&'static Gpu),
    /// A GPU of this machine.
    Present(DeviceChoice),
}

impl GpuChoice {
    /// Parses the name of a GPU: that of a known one, or `gpu` or `gpu:N` for one of this machine.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text == "gpu" || text.starts_with("gpu:") {
            true => text.parse().map(Self::Present).map_err(|error: launch::ParseChoiceError| error.to_string()),
            false => Gpu::find(text)
                .map(Self::Known)
                .map_err(|error| format!("{error}; or gpu or gpu:N for a GPU of this machine")),
        }
    }

    /// Returns the GPU. Measures the speed of its memory if it is one of this machine.
    ///
    /// # Errors
    /// If the machine has no such GPU, or it fails.
    pub fn gpu(self) -> anyhow::Result<&'static Gpu> {
        match self {
            Self::Known(gpu) => Ok(gpu),
            Self::Present(choice) => {
                let device = Device::open(choice, &[])?;
                let speed = copy_speed(&device, COPY_BYTES)?;
                Ok(Box::leak(Box::new(described(&device.properties()?, speed)?)))
            }
        }
    }
}

/// Returns a GPU with these properties whose memory copies `gigabytes_per_second`.
fn described(properties: &Properties, gigabytes_per_second: f64) -> anyhow::Result<Gpu> {
    let name = &properties.name;
    let (major, minor) = properties.compute_capability.with_context(|| format!("{name} has no compute capability"))?;
    let megahertz = properties.clock_mhz.with_context(|| format!("the driver does not say the clock of {name}"))?;
    Ok(Gpu {
        id: "gpu",
        name: name.clone().leak(),
        arch: 10 * major + minor,
        multiprocessors: properties.multiprocessors,
        megahertz,
        gigabytes_per_second,
        speed: SpeedSource::MeasuredCopy,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gpu_of_this_machine_has_its_own_figures() {
        let mut properties = Device::open(DeviceChoice::Sim, &[]).unwrap().properties().unwrap();
        assert!(described(&properties, 1.0).unwrap_err().to_string().contains("no compute capability"));
        (properties.compute_capability, properties.clock_mhz) = (Some((12, 0)), Some(2000));
        properties.multiprocessors = 7;
        let gpu = described(&properties, 512.0).unwrap();
        let figures = (gpu.arch, gpu.multiprocessors, gpu.megahertz, gpu.gigabytes_per_second, gpu.speed);
        assert_eq!(figures, (120, 7, 2000, 512.0, SpeedSource::MeasuredCopy));
    }

    #[test]
    fn names_are_of_the_table_or_of_this_machine() {
        assert!(matches!(GpuChoice::parse("T4"), Ok(GpuChoice::Known(gpu)) if gpu.id == "t4"));
        assert!(matches!(GpuChoice::parse("gpu:1"), Ok(GpuChoice::Present(DeviceChoice::Gpu(Some(1))))));
        assert!(GpuChoice::parse("gpu:x").unwrap_err().contains("gpu:N"));
        assert!(GpuChoice::parse("h300").unwrap_err().contains("or gpu or gpu:N for a GPU of this machine"));
    }
}
