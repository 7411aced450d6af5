//! Finds the driver's version and the GPU's clock rates with `nvidia-smi`, and the name of the compiler that built the
//! kernels.

use std::process::Command;

use launch::Device;
use workbench::MODULES;
use workbench::bench::Clocks;

/// Returns the driver's version; without `nvidia-smi`, the CUDA version that the driver supports.
pub(super) fn driver(device: &Device) -> Result<Option<String>, launch::Error> {
    if let Some(version) = query(device, "driver_version").and_then(|values| values.into_iter().next()) {
        return Ok(Some(version));
    }
    Ok(device.properties()?.driver.map(|version| format!("CUDA {version}")))
}

/// Returns the compiler that the embedded PTX names.
pub(super) fn compiler() -> Option<String> {
    MODULES.first()?.images.first()?.compiler()
}

/// Returns the present clock rates, if `nvidia-smi` reports them.
pub(super) fn clocks(device: &Device, when: &str) -> Option<Clocks> {
    let values = query(device, "clocks.sm,clocks.mem")?;
    let [sm, memory] = values.as_slice() else { return None };
    Some(Clocks { when: when.to_owned(), sm_mhz: sm.parse().ok()?, memory_mhz: memory.parse().ok()? })
}

/// Queries `nvidia-smi` for properties of the first GPU with the device's name.
fn query(device: &Device, properties: &str) -> Option<Vec<String>> {
    // Only NVIDIA's GPUs have a compute capability.
    device.properties().ok()?.compute_capability?;
    let list = format!("--query-gpu=name,{properties}");
    let output = Command::new("nvidia-smi").args([list.as_str(), "--format=csv,noheader,nounits"]).output().ok()?;
    parse(std::str::from_utf8(&output.stdout).ok().filter(|_| output.status.success())?, device.name())
}

/// Returns the values in the first line of `text` that describes a GPU named `name`.
fn parse(text: &str, name: &str) -> Option<Vec<String>> {
    text.lines().find_map(|line| {
        let mut values = line.split(',').map(|value| value.trim().to_owned());
        (values.next()? == name).then(|| values.collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_the_device_is_read() {
        let text = "NVIDIA T4, 535.1, 1590\nNVIDIA H200, 580.95.05, 1980\n";
        assert_eq!(parse(text, "NVIDIA H200").unwrap(), ["580.95.05", "1980"]);
        assert_eq!(parse(text, "NVIDIA H100"), None);
        assert_eq!(parse("Failed to initialize NVML", "NVIDIA H200"), None);
    }
}
