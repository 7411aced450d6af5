//! Parses the argument of `--device`.

use std::fmt;
use std::str::FromStr;

use launch::GroupChoice;

/// The argument of `--device`: the CPU, or a choice of one or more devices.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DeviceSpec {
    /// The host's cores.
    Cpu,
    /// One or more devices. [`DeviceChoice::Auto`](launch::DeviceChoice::Auto) selects the CPU if there is no GPU and
    /// `--rung` is absent.
    Device(GroupChoice),
}

impl FromStr for DeviceSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "cpu" => Ok(Self::Cpu),
            _ => {
                let choice = text.parse::<GroupChoice>().map(Self::Device);
                choice.map_err(|error| format!("{error}, or cpu for the processor's vector instructions"))
            }
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
