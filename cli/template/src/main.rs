//! Counts how often each byte value occurs in this file, on a GPU or in the simulator.

use launch::{Device, DeviceChoice, Error, LaunchConfig};

fn main() -> Result<(), Error> {
    let device = Device::open(DeviceChoice::Auto, launch::include_ptx!("sample_kernels"))?;
    println!("{}", device.summary());
    let counts = histogram(&device, include_bytes!("main.rs"))?;
    let mut counts: Vec<_> = (0..=u8::MAX).map(char::from).zip(counts).collect();
    counts.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    for (byte, count) in &counts[..8] {
        println!("{count:>6} {byte:?}");
    }
    Ok(())
}

/// Returns the number of occurrences of each byte value in `bytes`.
fn histogram(device: &Device, bytes: &[u8]) -> Result<Vec<u32>, Error> {
    let input = device.upload(bytes)?;
    let mut counts = device.zeroed(256)?;
    // There is one block per 256 bytes, but at most 1024 blocks, which fill a large GPU.
    let blocks = bytes.len().div_ceil(256).clamp(1, 1024) as u32;
    let call = sample_kernels::histogram(input.view(), counts.view_mut());
    device.launch(LaunchConfig::new(blocks, 256), call)?;
    counts.download()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests the kernel on devices that check for data races and uninitialised reads. Each device
    /// runs threads and blocks in another order.
    #[test]
    fn every_byte_is_counted() -> Result<(), Error> {
        for device in launch::checked_devices() {
            for length in [0, 1, 255, 257, 3000] {
                let bytes: Vec<u8> = (0..length).map(|i| (i % 7 * (i % 41)) as u8).collect();
                let mut expected = vec![0; 256];
                for &byte in &bytes {
                    expected[usize::from(byte)] += 1;
                }
                assert_eq!(histogram(&device, &bytes)?, expected, "{length} bytes");
            }
        }
        Ok(())
    }
}
