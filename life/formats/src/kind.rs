//! The formats and their file extensions.

use std::fmt;
use std::path::Path;

use super::error::FormatError;

/// A file format for patterns and boards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Format {
    /// Run-length encoded, `.rle`: read and written.
    Rle,
    /// Plaintext, `.cells`: read and written.
    Cells,
    /// Life 1.05 and 1.06, `.lif` and `.life`: both are read, 1.06 is written.
    Life,
    /// Macrocell, `.mc`: read and written.
    Macrocell,
    /// MCell, `.mcl`: read only.
    Mcell,
    /// An apgcode, which has no extension: read only.
    Apgcode,
    /// A picture, `.png`: read and written.
    Png,
    /// An animated picture of every generation, `.gif`: written only.
    Gif,
}

impl Format {
    /// Returns the format of the path's extension, in upper or lower case. An extension `.gz` is removed first.
    ///
    /// # Errors
    /// [`FormatError::Unknown`] for any other extension, or none. Its message lists the accepted extensions.
    pub fn from_path(path: &Path) -> Result<Self, FormatError> {
        let plain = if is_compressed(path) { path.with_extension("") } else { path.to_owned() };
        let extension = plain.extension().unwrap_or_default().to_ascii_lowercase();
        let format = match extension.to_str() {
            Some("rle") => Self::Rle,
            Some("cells") => Self::Cells,
            Some("lif" | "life") => Self::Life,
            Some("mc") => Self::Macrocell,
            Some("mcl") => Self::Mcell,
            Some("png") if plain == path => Self::Png,
            Some("gif") if plain == path => Self::Gif,
            _ => return Err(FormatError::Unknown { path: path.to_owned() }),
        };
        Ok(format)
    }
}

/// Returns true if the path ends with `.gz`.
pub fn is_compressed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"))
}

/// Writes the extension with its dot.
impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rle => ".rle",
            Self::Cells => ".cells",
            Self::Life => ".lif",
            Self::Macrocell => ".mc",
            Self::Mcell => ".mcl",
            Self::Apgcode => "apgcode",
            Self::Png => ".png",
            Self::Gif => ".gif",
        })
    }
}
