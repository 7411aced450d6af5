//! Defines the options that several commands share, and the parsers of their values.

use clap::Args;
pub use gridstride::Size;
use launch::{Device, DeviceChoice, Group, GroupChoice};
pub use units::{number_in, parse_count, parse_number};
use workbench::MODULES;

use crate::error::UsageError;
use crate::{ranks, report};

/// The option `--device` of a command that runs on one device.
#[derive(Args, Clone, Copy, Debug)]
pub struct DeviceOption {
    /// Device to run on: auto, gpu, gpu:N or sim
    #[arg(long, value_name = "DEVICE", default_value = "auto", value_parser = parse_device)]
    pub device: DeviceChoice,
}

impl DeviceOption {
    /// Opens the device, and prints a line on standard error that names it.
    ///
    /// # Errors
    /// If a GPU is named and cannot be used.
    pub fn open(self) -> anyhow::Result<Device> {
        let device = Device::open(self.device, MODULES)?;
        report::note(&device.summary());
        Ok(device)
    }
}

fn parse_device(text: &str) -> Result<DeviceChoice, String> {
    text.parse::<DeviceChoice>().map_err(|error| match text.parse::<GroupChoice>() {
        Ok(several) => only_one(&several),
        Err(_) => error.to_string(),
    })
}

/// The option `--device` of a command that may run on several devices.
#[derive(Args, Clone, Debug)]
pub struct GroupOption {
    /// Device or devices to run on: auto, gpu, gpu:N, gpu:N,M,…, gpu:all, sim or sim:COUNT
    #[arg(long, value_name = "DEVICE", default_value = "auto", value_parser = parse_devices)]
    pub device: GroupChoice,
}

impl GroupOption {
    /// Opens the only device, for work that cannot use several.
    ///
    /// # Errors
    /// [`UsageError`] if several devices are named; another error if a GPU is named and cannot be used.
    pub fn open_one(&self) -> anyhow::Result<Device> {
        let device = self.device.as_one().ok_or_else(|| UsageError(only_one(&self.device)))?;
        DeviceOption { device }.open()
    }

    /// Opens the devices of this rank. Rank 0 prints a line on standard error that names its devices.
    ///
    /// # Errors
    /// If a GPU is named and cannot be used.
    pub fn open(&self) -> anyhow::Result<Group> {
        let communicator = ranks::communicator();
        let group = Group::open(&ranks::devices(&self.device, communicator), MODULES)?;
        let summary = group.summary();
        report::note(&match communicator.size() {
            1 => summary,
            size => format!("{summary}, rank 0 of {size}"),
        });
        Ok(group)
    }
}

/// Returns the error of a command that runs on one device only.
fn only_one(several: &GroupChoice) -> String {
    format!("'{several}' may be several devices, and this command runs on one: use auto, gpu, gpu:N or sim")
}

fn parse_devices(text: &str) -> Result<GroupChoice, String> {
    text.parse::<GroupChoice>().map_err(|error| error.to_string())
}

/// Parses a share from 0 to 1.
///
/// # Errors
/// A message that says what is wrong, with an example.
pub fn parse_share(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("it must be a number from 0 to 1, such as 0.25".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares() {
        assert_eq!(parse_share("0"), Ok(0.0));
        assert_eq!(parse_share("1"), Ok(1.0));
        assert_eq!(parse_share(".25"), Ok(0.25));
        for text in ["", "-0.1", "1.1", "NaN", "inf", "25%"] {
            assert!(parse_share(text).is_err(), "{text}");
        }
    }
}
