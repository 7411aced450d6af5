//! Calls many crates in a kernel, and compares the results with those of the same calls on the CPU.

use crates_kernels::{NAMES, call, call_crate};
use launch::{Device, DeviceChoice, Error, LaunchConfig, PtxModule};

const PTX: &[PtxModule] = launch::include_ptx!("crates_kernels");

fn main() -> Result<(), Error> {
    let device = Device::open(DeviceChoice::Auto, PTX)?;
    println!("{}", device.summary());
    for (which, name) in (0..).zip(NAMES) {
        match wrong(&device, which)? {
            None => println!("{name}: ok"),
            Some((x, found, expected)) => println!("{name}({x}) is {found}, and {expected} on the CPU"),
        }
    }
    Ok(())
}

/// Calls the crate number `which` for 1000 numbers. Returns the first number whose result differs from that of the CPU,
/// with both results.
fn wrong(device: &Device, which: u32) -> Result<Option<(u32, u32, u32)>, Error> {
    let numbers: Vec<u32> = (0..1000).collect();
    let (x, mut y) = (device.upload(&numbers)?, device.zeroed(numbers.len())?);
    device.launch(LaunchConfig::new(8, 64), call_crate(which, x.view(), y.view_mut()))?;
    let results = numbers.iter().zip(y.download()?).map(|(&x, found)| (x, found, call(which, x)));
    Ok(results.into_iter().find(|(_, found, expected)| found != expected))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_crate_gives_the_same_in_a_kernel() -> Result<(), Error> {
        for device in launch::checked_devices().chain(Device::open(DeviceChoice::Auto, PTX)) {
            for (which, name) in (0..).zip(NAMES) {
                assert_eq!(wrong(&device, which)?, None, "{name} on {}", device.summary());
            }
        }
        Ok(())
    }
}
