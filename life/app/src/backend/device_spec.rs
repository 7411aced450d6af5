//! The argument of `--device`.

use std::fmt;
use std::str::FromStr;

use launch::{GroupChoice, ParseGroupChoiceError};

/// The argument of `--device`: the CPU, or a choice of devices.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DeviceSpec {
    /// The host's cores.
    Cpu,
    /// One device or several. [`DeviceChoice::Auto`](launch::DeviceChoice::Auto) is the CPU if there is no GPU and
    /// `--rung` is absent.
    Device(GroupChoice),
}

/// The error for a text that is not a device.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}, or cpu for the processor's vector instructions")]
pub struct ParseDeviceSpecError(ParseGroupChoiceError);

impl FromStr for DeviceSpec {
    type Err = ParseDeviceSpecError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "cpu" => Ok(Self::Cpu),
            _ => text.parse().map(Self::Device).map_err(ParseDeviceSpecError),
        }
    }
}

impl fmt::Display for DeviceSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => f.write_str("cpu"),
            Self::Device(choice) => choice.fmt(f),
        }
    }
}
