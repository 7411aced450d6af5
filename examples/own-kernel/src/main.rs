//! Counts the bytes of this file, on a GPU or in the simulator.

use explain::{Case, CaseResult, Commands, Run};
use launch::{Buffer, Device, DeviceChoice, Error, LaunchConfig, PtxModule};

const PTX: &[PtxModule] = launch::include_ptx!("sample_kernels");

fn main() -> Result<(), Error> {
    // `cargo run -- check`, `-- explain` and `-- bench` run the kernel of this case, and end here.
    Commands::new(PTX).case(Case::new("histogram", case)).run();

    let device = Device::open(DeviceChoice::Auto, PTX)?;
    println!("{}", device.summary());
    let bytes = include_bytes!("main.rs");
    let mut counts = device.zeroed(256)?;
    histogram(&device.upload(bytes)?, &mut counts)?;
    let counts = counts.download()?;
    let mut counts: Vec<_> = (0..=u8::MAX).map(char::from).zip(counts).collect();
    counts.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    for (byte, count) in &counts[..8] {
        println!("{count:>6} {byte:?}");
    }
    Ok(())
}

/// Adds to `counts` how often each byte of `bytes` occurs.
fn histogram(bytes: &Buffer<u8>, counts: &mut Buffer<u32>) -> Result<(), Error> {
    // Blocks of 256 threads; enough of them for a large GPU, and no more than there is work for.
    let blocks = bytes.len().div_ceil(256).clamp(1, 1024) as u32;
    let call = sample_kernels::histogram(bytes.view(), counts.view_mut());
    bytes.device().launch(LaunchConfig::new(blocks, 256), call)
}

/// Runs the kernel once on `run.n()` bytes. The commands choose the device and the number.
fn case(run: &Run) -> CaseResult {
    let bytes: Vec<u8> = (0..run.n()).map(|i| (i % 7 * (i % 41)) as u8).collect();
    let (input, mut counts) = (run.device().upload(&bytes)?, run.device().zeroed(256)?);
    // `bench` repeats this launch, and counts the bytes that it must move at least: each byte once.
    run.measure(bytes.len(), || histogram(&input, &mut counts))?;
    run.expect("counts", &counts, || {
        let mut expected = vec![0; 256];
        for &byte in &bytes {
            expected[usize::from(byte)] += 1;
        }
        expected
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests the kernel on devices that look for data races and uninitialised reads, each in another
    /// order of threads and blocks.
    #[test]
    fn every_byte_is_counted() {
        Case::new("histogram", case).assert_passes();
    }

    /// Holds the kernel to a budget: each load brings bytes that are all used, and a block waits twice.
    #[test]
    fn memory_is_read_once_and_barriers_are_few() -> Result<(), Error> {
        let profile = explain::profile(|device| {
            let bytes = device.upload(&[7; 100_000])?;
            histogram(&bytes, &mut device.zeroed(256)?)
        })?;
        assert_eq!(profile.summary.load_efficiency, Some(1.0), "{profile}");
        profile.assert_barriers(2);
        Ok(())
    }
}
