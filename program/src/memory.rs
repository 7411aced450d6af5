//! Checks the free memory of this host and of a device.

use launch::Device;
pub use simt::memory::available;
use thiserror::Error;
use units::Bytes;

/// The error of a host or a device that has too little memory. Its text names the needed and the free bytes.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct TooLittleMemory(pub String);

/// Fails if `needed` bytes are more than the device has free.
///
/// # Errors
/// [`TooLittleMemory`] if the device has too little memory. The error names both sizes and `remedy`.
pub fn check_memory(device: &Device, needed: u64, remedy: &str) -> anyhow::Result<()> {
    let free = device.properties()?.memory_free_bytes;
    if needed > free {
        let name = device.name();
        let (needed, free) = (Bytes(needed), Bytes(free));
        return Err(TooLittleMemory(format!("{needed} are needed on {name}, and {free} are free: {remedy}")).into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_much_memory_is_refused_with_both_numbers() {
        let device = Device::open(launch::DeviceChoice::Sim, &[]).unwrap();
        assert!(check_memory(&device, 1 << 20, "").is_ok());
        let message = check_memory(&device, 1 << 60, "use fewer elements with --n").unwrap_err().to_string();
        assert!(message.contains("1 EiB") && message.contains("free: use fewer elements with --n"), "{message}");
    }
}
