//! The devices that `--device` names.

use std::fmt;
use std::str::FromStr;

use launch::{GroupChoice, ParseGroupChoiceError};

/// The argument of `--device`: the cores, or a choice of devices.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DeviceSpec {
    /// The host's own cores.
    Cpu,
    /// A device or several, or with [`DeviceChoice::Auto`] the host's cores where there is no GPU, unless a kernel is
    /// asked for.
    Device(GroupChoice),
}

/// A text that names no device.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}, or cpu for the processor's own vector instructions")]
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
