//! The file formats: which one a path or a text is in.

use std::fmt;
use std::path::{Path, PathBuf};

use thiserror::Error;

pub mod plaintext;
pub mod rle;

use gridstride::life::pattern::{ParseError, Pattern};

/// A file format for boards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Format {
    /// Run length encoded, `.rle`: read and written.
    Rle,
    /// Plaintext, `.cells`: read and written.
    Cells,
    /// A picture, `.png`: written only.
    Png,
    /// An animated picture of every generation, `.gif`: written only.
    Gif,
}

/// Why a file is not read or written.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The path's extension is none of those known.
    #[error("{}: the extension says the format, and must be .rle, .cells, .png or .gif (the last two for output only)", path.display())]
    Unknown {
        /// The path as given.
        path: PathBuf,
    },
    /// A format that is written only.
    #[error("a {0} file holds a picture, which is written and not read: give a pattern as .rle or .cells")]
    NotRead(Format),
    /// The text is malformed.
    #[error(transparent)]
    Malformed(#[from] ParseError),
}

impl Format {
    /// The format that the path's extension says, in either case.
    ///
    /// # Errors
    /// [`FormatError::Unknown`] for another extension or none; the message lists those accepted.
    pub fn from_path(path: &Path) -> Result<Self, FormatError> {
        let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
        match extension.to_str() {
            Some("rle") => Ok(Self::Rle),
            Some("cells") => Ok(Self::Cells),
            Some("png") => Ok(Self::Png),
            Some("gif") => Ok(Self::Gif),
            _ => Err(FormatError::Unknown { path: path.to_owned() }),
        }
    }

    /// The format of a text without a path, such as standard input: run length encoded when its first line that is not
    /// blank starts with `#` or with a header's `x =`, plaintext otherwise.
    pub fn detect(text: &str) -> Self {
        let text = text.trim_start_matches('\u{feff}').trim_start();
        let header = text.strip_prefix(['x', 'X']).is_some_and(|rest| rest.trim_start().starts_with('='));
        if header || text.starts_with('#') { Self::Rle } else { Self::Cells }
    }
}

/// The extension, with its dot.
impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rle => ".rle",
            Self::Cells => ".cells",
            Self::Png => ".png",
            Self::Gif => ".gif",
        })
    }
}

/// The pattern that `text` gives in this format.
///
/// # Errors
/// [`FormatError::Malformed`] with line and column, or [`FormatError::NotRead`] for a picture.
pub fn read_pattern(text: &str, format: Format) -> Result<Pattern, FormatError> {
    match format {
        Format::Rle => Ok(rle::parse(text)?),
        Format::Cells => Ok(plaintext::parse(text)?),
        Format::Png | Format::Gif => Err(FormatError::NotRead(format)),
    }
}

/// [`read_pattern`] of a file's bytes, in the format that they look like where none is given. Bytes that are no UTF-8,
/// as comments in old files have them, are read as U+FFFD.
///
/// # Errors
/// Those of [`read_pattern`].
pub fn read_pattern_bytes(bytes: &[u8], format: Option<Format>) -> Result<Pattern, FormatError> {
    match format {
        Some(picture @ (Format::Png | Format::Gif)) => Err(FormatError::NotRead(picture)),
        _ => {
            let text = String::from_utf8_lossy(bytes);
            read_pattern(&text, format.unwrap_or_else(|| Format::detect(&text)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_says_the_format() {
        for (path, format) in [("a.rle", Format::Rle), ("b/c.d.CELLS", Format::Cells), ("x.png", Format::Png)] {
            assert_eq!(Format::from_path(Path::new(path)), Ok(format));
        }
        for path in ["a.lif", "rle", ".rle", "a", "", "-"] {
            let error = Format::from_path(Path::new(path)).unwrap_err();
            assert_eq!(error, FormatError::Unknown { path: path.into() });
            assert!(error.to_string().contains("must be .rle, .cells, .png or .gif"), "{error}");
        }
    }

    #[test]
    fn a_text_shows_its_format() {
        for text in ["#N a\nx = 1", "x=1,y=1\no!", "\u{feff}\r\n  X = 1, y = 1\n!", "x\t= 1"] {
            assert_eq!(Format::detect(text), Format::Rle, "{text:?}");
        }
        for text in ["", "!Name: x\nO", ".O.\n", "x", "xO"] {
            assert_eq!(Format::detect(text), Format::Cells, "{text:?}");
        }
    }

    #[test]
    fn bytes_are_read_in_the_format_they_look_like() {
        let block = Pattern::from_cells([(0, 0), (1, 0), (0, 1), (1, 1)]);
        assert_eq!(read_pattern_bytes(b"x = 2, y = 2\n2o$2o!", None), Ok(block.clone()));
        assert_eq!(read_pattern_bytes(b"OO\r\nOO\r\n", None), Ok(block.clone()));
        assert_eq!(read_pattern_bytes(b"#C caf\xe9\nx = 2, y = 2\n2o$2o!", Some(Format::Rle)), Ok(block));
        let error = read_pattern_bytes(b"\x89PNG", Some(Format::Png)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a .png file holds a picture, which is written and not read: give a pattern as .rle or .cells"
        );
        let error = read_pattern("x = 2", Format::Cells).unwrap_err();
        assert_eq!((error.to_string().split(':').next()), Some("line 1, column 1"));
    }
}
