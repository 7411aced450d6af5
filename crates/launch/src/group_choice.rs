//! Parses a user's choice of one or several devices.

use std::fmt;
use std::str::FromStr;

use crate::choice::{DeviceChoice, number};

/// The maximum number of simulated devices. A larger number is probably a typing error.
const MAX_SIMULATED: u32 = 1024;

/// The devices to use, as a user types them. Each text that is valid for a
/// [`DeviceChoice`] is valid here, too, and selects one device. `gpu:all` selects all
/// GPUs, and `gpu:0,2` these GPUs in this order. `sim:N` selects N simulated devices, each with its own memory, and
/// `sim:NxM` limits the memory of each to M MiB.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GroupChoice(pub(crate) Members);

/// The members of a group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Members {
    One(DeviceChoice),
    AllGpus,
    /// The ordinals of at least two different GPUs.
    Gpus(Vec<u32>),
    /// The number of simulated devices (at least one), and the limit of each device's memory in MiB, if there is one.
    Simulated(u32, Option<u32>),
}

impl Default for GroupChoice {
    fn default() -> Self {
        DeviceChoice::default().into()
    }
}

impl From<DeviceChoice> for GroupChoice {
    fn from(choice: DeviceChoice) -> Self {
        Self(Members::One(choice))
    }
}

impl GroupChoice {
    /// Returns the device if the choice is a single [`DeviceChoice`].
    pub fn as_one(&self) -> Option<DeviceChoice> {
        match self.0 {
            Members::One(choice) => Some(choice),
            _ => None,
        }
    }
}

/// The error for an invalid choice of devices. `Debug` writes the text of `Display`, because `main` and `unwrap` print
/// errors by `Debug`.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{reason} {given:?}: use auto, gpu, gpu:N (N counts from 0), gpu:N,M,…, gpu:all, sim or sim:COUNT (sim:COUNTxN: \
    with N MiB each)"
)]
pub struct ParseGroupChoiceError {
    given: String,
    reason: Reason,
}

#[derive(Clone, PartialEq, Eq)]
enum Reason {
    Unknown,
    Twice(u32),
    Count,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("unknown device"),
            Self::Twice(ordinal) => write!(f, "GPU {ordinal} is named twice in device"),
            Self::Count => write!(f, "not between 1 and {MAX_SIMULATED} simulated devices in device"),
        }
    }
}

simt::debug_as_display!(ParseGroupChoiceError);

impl FromStr for GroupChoice {
    type Err = ParseGroupChoiceError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = |reason| ParseGroupChoiceError { given: text.to_owned(), reason };
        if let Ok(choice) = text.parse::<DeviceChoice>() {
            return Ok(choice.into());
        }
        if text == "gpu:all" {
            return Ok(Self(Members::AllGpus));
        }
        if let Some(count) = text.strip_prefix("sim:") {
            let (count, mebibytes) = count.split_once('x').map_or((count, None), |(count, each)| (count, Some(each)));
            let mebibytes = mebibytes.map(|text| number(text).filter(|&each| each > 0));
            let (Some(count), false) = (number(count), mebibytes == Some(None)) else {
                return Err(error(Reason::Unknown));
            };
            let in_range = (1..=MAX_SIMULATED).contains(&count);
            let members = Members::Simulated(count, mebibytes.flatten());
            return if in_range { Ok(Self(members)) } else { Err(error(Reason::Count)) };
        }
        let ordinals = text.strip_prefix("gpu:").ok_or_else(|| error(Reason::Unknown))?;
        let ordinals: Option<Vec<u32>> = ordinals.split(',').map(number).collect();
        let ordinals = ordinals.ok_or_else(|| error(Reason::Unknown))?;
        let mut sorted = ordinals.clone();
        sorted.sort_unstable();
        match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(twice) => Err(error(Reason::Twice(twice[0]))),
            None => Ok(Self(Members::Gpus(ordinals))),
        }
    }
}

impl fmt::Display for GroupChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Members::One(choice) => choice.fmt(f),
            Members::AllGpus => f.write_str("gpu:all"),
            Members::Simulated(count, None) => write!(f, "sim:{count}"),
            Members::Simulated(count, Some(mebibytes)) => write!(f, "sim:{count}x{mebibytes}"),
            Members::Gpus(ordinals) => {
                let ordinals: Vec<String> = ordinals.iter().map(u32::to_string).collect();
                write!(f, "gpu:{}", ordinals.join(","))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::GroupChoice;

    fn parse(text: &str) -> Result<GroupChoice, String> {
        text.parse::<GroupChoice>().map_err(|error| error.to_string())
    }

    #[test]
    fn parsing_inverts_printing() {
        for text in [
            "auto",
            "gpu",
            "gpu:0",
            "gpu:7",
            "sim",
            "gpu:all",
            "gpu:0,2",
            "gpu:3,0,11",
            "sim:1",
            "sim:1024",
            "sim:3x64",
        ] {
            assert_eq!(parse(text).map(|choice| choice.to_string()), Ok(text.to_owned()));
        }
        assert_eq!(parse("gpu:3").map(|choice| choice.as_one().is_some()), Ok(true));
        assert_eq!(parse("gpu:3,4").map(|choice| choice.as_one().is_some()), Ok(false));
    }

    #[test]
    fn the_error_of_a_wrong_name_lists_the_accepted_ones() {
        let unknown = [
            "",
            "cuda",
            "gpu:",
            "gpu:,",
            "gpu:0,",
            "gpu:,0",
            "gpu:0,,1",
            "gpu:0, 1",
            "gpu:0,+1",
            "gpu:0,x",
            "gpu:ALL",
            "gpu:0,4294967296",
            "sim:",
            "sim:x",
            "sim:-1",
            "sim:+1",
            "sim:1,2",
            "sim:2x",
            "sim:x2",
            "sim:2x0",
            "sim:2x3x4",
            "auto,gpu",
        ];
        let others = [
            ("gpu:1,0,1", "GPU 1 is named twice"),
            ("gpu:0,0", "GPU 0 is named twice"),
            ("sim:0", "not between 1 and 1024"),
            ("sim:1025", "not between 1 and 1024"),
        ];
        for (text, begin) in unknown.map(|text| (text, "unknown device")).into_iter().chain(others) {
            let message = parse(text).expect_err(text);
            assert!(message.starts_with(begin) && message.contains(&format!("{text:?}")), "{message}");
            assert!(message.contains("gpu:N (N counts from 0), gpu:N,M,…, gpu:all, sim or sim:COUNT"), "{message}");
        }
    }
}
