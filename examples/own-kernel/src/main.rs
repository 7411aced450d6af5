//! Counts the bytes of a file, on a GPU or in the simulator: `cargo run -- README.md`.

use launch::{Device, DeviceChoice, LaunchConfig, PtxImage, PtxModule};

const PTX: &str = include_str!(concat!(env!("OUT_DIR"), "/kernels.ptx"));
/// Where to find the kernels of the crate `kernels` for a GPU.
const MODULES: &[PtxModule] = &[PtxModule { path: "kernels", images: &[PtxImage { arch: 70, ptx: PTX }] }];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let choice = if PTX.is_empty() { DeviceChoice::Sim } else { DeviceChoice::Auto };
    let device = Device::open(choice, MODULES)?;
    println!("{}", device.summary());
    let bytes = match std::env::args_os().nth(1) {
        Some(path) => std::fs::read(path)?,
        None => include_bytes!("main.rs").to_vec(),
    };
    let mut counts: Vec<_> = histogram(&device, &bytes)?.into_iter().zip(0..=u8::MAX).collect();
    counts.sort_unstable_by(|one, other| other.cmp(one));
    for (count, byte) in counts.iter().take(8).filter(|(count, _)| *count > 0) {
        println!("{:>6} {count:>10}", format!("{:?}", char::from(*byte)));
    }
    Ok(())
}

/// How often each byte occurs.
fn histogram(device: &Device, bytes: &[u8]) -> Result<Vec<u32>, launch::Error> {
    let input = device.upload(bytes)?;
    let mut counts = device.zeroed(256)?;
    // Blocks of 256 threads; enough of them for a large GPU, and no more than there is work for.
    let blocks = bytes.len().div_ceil(256).clamp(1, 1024) as u32;
    device.launch(LaunchConfig::new(blocks, 256), kernels::histogram(input.view(), counts.view_mut()))?;
    counts.download()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_counted() -> Result<(), launch::Error> {
        let device = Device::open(DeviceChoice::Sim, MODULES)?;
        [0, 1, 255, 256, 257, 300_000].into_iter().try_for_each(|length| check(&device, length))
    }

    /// Data races, reads of what nobody wrote, and whatever depends on the order of threads and blocks.
    #[test]
    fn no_order_of_the_threads_changes_that() -> Result<(), launch::Error> {
        for device in launch::checked_devices() {
            for length in [1, 257, 3000] {
                check(&device, length)?;
            }
        }
        Ok(())
    }

    fn check(device: &Device, length: u32) -> Result<(), launch::Error> {
        let bytes: Vec<u8> = (0..length).map(|i| (i % 7 * (i % 41)) as u8).collect();
        let mut expected = vec![0; 256];
        bytes.iter().for_each(|&byte| expected[usize::from(byte)] += 1);
        assert_eq!(histogram(device, &bytes)?, expected, "{length} bytes, {}", device.summary());
        Ok(())
    }
}
