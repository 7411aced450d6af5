//! Flags that several commands share, and how their values are written.

use std::fmt;
use std::str::FromStr;

use clap::Args;
use launch::{Device, DeviceChoice};
use thiserror::Error;

use crate::modules::MODULES;
use crate::report;

/// Which device the kernels run on.
#[derive(Args, Clone, Copy, Debug)]
pub struct DeviceOption {
    /// Device to run on: auto, gpu, gpu:N or sim
    #[arg(long, value_name = "DEVICE", default_value = "auto", value_parser = parse_device)]
    pub device: DeviceChoice,
}

impl DeviceOption {
    /// Opens the device, and says on standard error in one line which one it is.
    ///
    /// # Errors
    /// When a GPU was asked for and cannot be used.
    pub fn open(self) -> anyhow::Result<Device> {
        let device = Device::open(self.device, MODULES)?;
        report::note(&device.summary());
        Ok(device)
    }
}

fn parse_device(text: &str) -> Result<DeviceChoice, String> {
    text.parse::<DeviceChoice>().map_err(|error| error.to_string())
}

/// A width and a height, written `WxH`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Size {
    /// Columns, at least 1.
    pub width: usize,
    /// Rows, at least 1.
    pub height: usize,
}

/// Why a text is no size.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{0}; a size is width x height, such as 640x480")]
pub struct SizeTextError(String);

impl FromStr for Size {
    type Err = SizeTextError;

    fn from_str(text: &str) -> Result<Self, SizeTextError> {
        let (width, height) =
            text.split_once(['x', 'X', '×']).ok_or_else(|| SizeTextError("there is no 'x' in it".into()))?;
        let side = |text: &str, name: &str| {
            let text = text.trim();
            if text.is_empty() {
                return Err(SizeTextError(format!("it has no {name}")));
            }
            if !text.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(SizeTextError(format!("the {name} '{text}' is not a whole number")));
            }
            match text.parse::<usize>() {
                Ok(0) => Err(SizeTextError(format!("the {name} is 0, it must be at least 1"))),
                Ok(side) => Ok(side),
                Err(_) => Err(SizeTextError(format!("the {name} {text} is too large"))),
            }
        };
        let size = Self { width: side(width, "width")?, height: side(height, "height")? };
        if size.width.checked_mul(size.height).is_none() {
            return Err(SizeTextError(format!("{size} is too many cells")));
        }
        Ok(size)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}

/// Reads a count: `1000000`, `1_000_000` or `2^20`.
///
/// # Errors
/// What is wrong with it, and examples.
pub fn parse_count(text: &str) -> Result<usize, String> {
    let examples = "write it as 1000000, 1_000_000 or 2^20";
    let number = |text: &str| {
        let digits: String = text.trim().chars().filter(|&c| c != '_').collect();
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(format!("it is not a whole number; {examples}"));
        }
        digits.parse::<usize>().map_err(|_| format!("it is too large; {examples}"))
    };
    match text.split_once('^') {
        None => number(text),
        Some((base, exponent)) => {
            let exponent = u32::try_from(number(exponent)?).unwrap_or(u32::MAX);
            number(base)?.checked_pow(exponent).ok_or_else(|| format!("it is too large; {examples}"))
        }
    }
}

/// Reads a share from 0 to 1.
///
/// # Errors
/// What is wrong with it, and an example.
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
    fn sizes() {
        let size = |width, height| Ok(Size { width, height });
        for text in ["640x480", "640X480", "640×480", " 640 x 480 "] {
            assert_eq!(text.parse(), size(640, 480), "{text}");
        }
        assert_eq!("1x1".parse(), size(1, 1));
        assert_eq!("4294967296x3".parse(), size(1 << 32, 3));
    }

    #[test]
    fn a_wrong_size_is_explained_with_an_example() {
        for (text, reason) in [
            ("", "there is no 'x'"),
            ("64", "there is no 'x'"),
            ("x", "no width"),
            ("64x", "no height"),
            ("0x4", "the width is 0"),
            ("4x0", "the height is 0"),
            ("-4x4", "'-4' is not a whole number"),
            ("+4x4", "'+4' is not a whole number"),
            ("4x4x4", "'4x4' is not a whole number"),
            ("1.5x2", "'1.5' is not a whole number"),
            ("99999999999999999999x2", "too large"),
            ("18446744073709551615x2", "too many cells"),
        ] {
            let message = text.parse::<Size>().unwrap_err().to_string();
            assert!(message.contains(reason) && message.contains("640x480"), "{text}: {message}");
        }
    }

    #[test]
    fn counts() {
        for (text, count) in
            [("0", 0), ("1000", 1000), ("1_000_000", 1_000_000), ("2^28", 1 << 28), ("10^6", 1_000_000)]
        {
            assert_eq!(parse_count(text), Ok(count), "{text}");
        }
        for text in ["", "_", "-1", "1.5", "1e6", "2^", "^2", "2^64", "99999999999999999999", "2^99999999999", "1 000"]
        {
            let message = parse_count(text).unwrap_err();
            assert!(message.contains("2^20"), "{text}: {message}");
        }
    }

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
