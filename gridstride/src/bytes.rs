//! How a number of bytes is written.

use std::fmt;

/// A number of bytes in binary units: `512 B`, `227 KiB`, `139.8 GiB`.
pub struct Bytes(pub u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
        let Some(power) = self.0.checked_ilog2().map(|bits| bits / 10).filter(|&power| power > 0) else {
            return write!(f, "{} B", self.0);
        };
        let unit = units[power as usize - 1];
        if self.0.is_multiple_of(1 << (10 * power)) {
            write!(f, "{} {unit}", self.0 >> (10 * power))
        } else {
            write!(f, "{:.1} {unit}", self.0 as f64 / 1024f64.powi(power as i32))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_binary_units() {
        for (bytes, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1 KiB"),
            (227 << 10, "227 KiB"),
            (1536, "1.5 KiB"),
            (139 << 30 | 3 << 28, "139.8 GiB"),
            (u64::MAX, "16.0 EiB"),
        ] {
            assert_eq!(Bytes(bytes).to_string(), text);
        }
    }
}
