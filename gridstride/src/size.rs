//! The width and height of a matrix or board.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// The width and height of a matrix or board, written `WxH`. Each side is a number such as `4096`, `4_096` or `2^12`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Size {
    /// The number of columns, at least 1.
    pub width: usize,
    /// The number of rows, at least 1.
    pub height: usize,
}

/// The error that parsing returns for a text that is not a size.
#[derive(Clone, PartialEq, Eq, Error)]
#[error("{0}; a size is width x height, such as 640x480")]
pub struct SizeTextError(String);

crate::debug_as_displayed!(SizeTextError);

impl FromStr for Size {
    type Err = SizeTextError;

    fn from_str(text: &str) -> Result<Self, SizeTextError> {
        let (width, height) =
            text.split_once(['x', 'X', '×']).ok_or_else(|| SizeTextError("there is no 'x' in the text".into()))?;
        let side = |text: &str, name: &str| {
            let text = text.trim();
            if text.is_empty() {
                return Err(SizeTextError(format!("the text has no {name}")));
            }
            match units::parse_count(text) {
                Ok(0) => Err(SizeTextError(format!("the {name} is 0, but must be at least 1"))),
                Ok(side) => Ok(side),
                Err(why) => Err(SizeTextError(format!("the {name} '{text}': {why}"))),
            }
        };
        let size = Self { width: side(width, "width")?, height: side(height, "height")? };
        if size.width.checked_mul(size.height).is_none() {
            return Err(SizeTextError(format!("{size} has too many cells")));
        }
        Ok(size)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
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
        assert_eq!("2^12x4_096".parse(), size(4096, 4096));
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
            ("-4x4", "'-4': it is not a whole number"),
            ("+4x4", "'+4': it is not a whole number"),
            ("4x4x4", "'4x4': it is not a whole number"),
            ("1.5x2", "'1.5': it is not a whole number"),
            ("2^64x2", "'2^64': it is too large"),
            ("99999999999999999999x2", "too large"),
            ("18446744073709551615x2", "too many cells"),
        ] {
            let message = text.parse::<Size>().unwrap_err().to_string();
            assert!(message.contains(reason) && message.contains("640x480"), "{text}: {message}");
        }
    }
}
