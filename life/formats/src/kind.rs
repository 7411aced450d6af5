//! The formats, and how files are named by them.

use std::fmt;
use std::path::Path;

use super::error::FormatError;

/// A file format for boards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Format {
    /// Run length encoded, `.rle`: read and written.
    Rle,
    /// Plaintext, `.cells`: read and written.
    Cells,
    /// Life 1.05 and 1.06, `.lif` and `.life`: both are read, the latter is written.
    Life,
    /// A macrocell, `.mc`: read and written.
    Macrocell,
    /// MCell's, `.mcl`: read only.
    Mcell,
    /// An apgcode, which no extension says: read only.
    Apgcode,
    /// A picture, `.png`: read and written.
    Png,
    /// An animated picture of every generation, `.gif`: written only.
    Gif,
}

impl Format {
    /// The format that the path's extension says, in either case; the one before `.gz` where that can be compressed.
    ///
    /// # Errors
    /// [`FormatError::Unknown`] for another extension or none; the message lists those accepted.
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

/// True if a path ends with `.gz`.
pub fn is_compressed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"))
}

/// The extension, with its dot.
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
