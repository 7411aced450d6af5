//! The file formats and their extensions.

use std::fmt;
use std::path::Path;

use super::error::FormatError;

/// A file format for patterns and boards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Format {
    /// Run-length encoded text, `.rle`, which can be read and written.
    Rle,
    /// Plaintext with a character per cell, `.cells`, which can be read and written.
    Cells,
    /// Life 1.05 and 1.06, `.lif` and `.life`. Both versions can be read, and version 1.06 can be written.
    Life,
    /// Macrocell, a quadtree, `.mc`, which can be read and written.
    Macrocell,
    /// The format of the program MCell, `.mcl`, which can only be read.
    Mcell,
    /// An apgcode, which has no extension and can only be read.
    Apgcode,
    /// A picture, `.png`, which can be read and written.
    Png,
    /// An animated picture of every generation, `.gif`, which can only be written.
    Gif,
}

/// The extensions of all formats. The first extension of a format is also the format's name.
const EXTENSIONS: [(&str, Format); 8] = [
    ("rle", Format::Rle),
    ("cells", Format::Cells),
    ("lif", Format::Life),
    ("life", Format::Life),
    ("mc", Format::Macrocell),
    ("mcl", Format::Mcell),
    ("png", Format::Png),
    ("gif", Format::Gif),
];

impl Format {
    /// Returns the format that the path's extension stands for, in upper or lower case. An extension `.gz` is removed
    /// first.
    ///
    /// # Errors
    /// [`FormatError::Unknown`] if the path has no extension, or if the extension stands for no format. The message
    /// lists the accepted extensions.
    pub fn from_path(path: &Path) -> Result<Self, FormatError> {
        let plain = if is_compressed(path) { path.with_extension("") } else { path.to_owned() };
        let extension = plain.extension().unwrap_or_default().to_ascii_lowercase();
        match EXTENSIONS.iter().find(|(known, _)| extension == *known) {
            Some(&(_, format)) if plain == path || !matches!(format, Self::Png | Self::Gif) => Ok(format),
            _ => Err(FormatError::Unknown { path: path.to_owned() }),
        }
    }
}

/// Returns true if the path ends with `.gz`.
pub fn is_compressed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"))
}

/// Prints the format's extension with its dot.
impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match EXTENSIONS.iter().find(|(_, format)| format == self) {
            Some((extension, _)) => write!(f, ".{extension}"),
            None => f.write_str("apgcode"),
        }
    }
}
