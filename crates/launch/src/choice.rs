//! Parses a user's choice of a device.

use std::fmt;
use std::str::FromStr;

/// The device to use, as a user types it: `auto`, `gpu`, `gpu:N` or `sim`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum DeviceChoice {
    /// GPU 0 if it can be used, otherwise the simulator.
    #[default]
    Auto,
    /// The GPU with this ordinal (0 if `None`), and no other device.
    Gpu(Option<u32>),
    /// The simulator.
    Sim,
}

/// The error for an unknown device name. `Debug` writes the text of `Display`, because `main` and `unwrap` print errors
/// by `Debug`.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown device {given:?}: use auto, gpu, gpu:N (N counts from 0) or sim")]
pub struct ParseChoiceError {
    given: String,
}

simt::debug_as_display!(ParseChoiceError);

impl FromStr for DeviceChoice {
    type Err = ParseChoiceError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || ParseChoiceError { given: text.to_owned() };
        match text {
            "auto" => Ok(Self::Auto),
            "gpu" => Ok(Self::Gpu(None)),
            "sim" => Ok(Self::Sim),
            _ => text.strip_prefix("gpu:").and_then(number).map(|ordinal| Self::Gpu(Some(ordinal))).ok_or_else(error),
        }
    }
}

/// Parses a number that consists of digits only; `parse` alone would accept "+1".
pub(crate) fn number(text: &str) -> Option<u32> {
    text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Gpu(None) => f.write_str("gpu"),
            Self::Gpu(Some(ordinal)) => write!(f, "gpu:{ordinal}"),
            Self::Sim => f.write_str("sim"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::DeviceChoice;

    #[test]
    fn parsing_inverts_printing() {
        for choice in [
            DeviceChoice::Auto,
            DeviceChoice::Gpu(None),
            DeviceChoice::Gpu(Some(0)),
            DeviceChoice::Gpu(Some(7)),
            DeviceChoice::Sim,
        ] {
            assert_eq!(choice.to_string().parse(), Ok(choice));
        }
    }

    #[test]
    fn the_error_of_a_wrong_name_lists_the_accepted_ones() {
        for text in
            ["", "cuda", "GPU", "gpu:", "gpu:x", "gpu:-1", "gpu:+1", "gpu:4294967296", "gpu: 1", "sim:0", "auto "]
        {
            let message = text.parse::<DeviceChoice>().unwrap_err().to_string();
            assert!(message.contains(&format!("{text:?}")), "{message}");
            assert!(message.contains("auto, gpu, gpu:N") && message.contains("sim"), "{message}");
        }
    }
}
