//! The file formats: which one a path or a text is in.

use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

use gridstride::bytes::Bytes;
use thiserror::Error;

use gridstride::life::pattern::{ParseError, Pattern};

pub mod apgcode;
pub mod image;
pub mod life;
pub mod macrocell;
pub mod mcell;
pub mod plaintext;
pub mod rle;

mod cells;
mod cursor;
mod detect;

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

/// What a board's file says beside its cells.
#[derive(Clone, Debug)]
pub struct About {
    /// What it is called.
    pub name: Option<String>,
    /// The rule, with its topology.
    pub rule: String,
    /// The generation.
    pub generation: u64,
    /// Where the board's upper left corner is on the plane, as (column, row).
    pub origin: (i64, i64),
}

impl About {
    /// A board of Life that is a torus, in the middle of the plane, as Golly places it.
    pub fn torus((width, height): (usize, usize), generation: u64) -> Self {
        let before = |side: usize| 0i64.saturating_sub_unsigned(side as u64 / 2);
        let rule = format!("B3/S23:T{width},{height}");
        Self { name: None, rule, generation, origin: (before(width), before(height)) }
    }
}

/// Why a file is not read or written.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The path's extension is none of those known.
    #[error(
        "{}: the extension says the format, and must be .rle, .cells, .lif, .life or .mc, each also with .gz behind it, \
         or .png or .gif",
        path.display()
    )]
    Unknown {
        /// The path as given.
        path: PathBuf,
    },
    /// What it is, and that it is not supported.
    #[error("{0}")]
    Refused(String),
    /// The text is malformed.
    #[error(transparent)]
    Malformed(#[from] ParseError),
    /// A picture or a compressed file is broken.
    #[error("the file is broken: {0}")]
    Picture(String),
    /// The pattern takes more memory than there is.
    #[error("it needs {} of memory, and {} are free", Bytes(*needed), Bytes(*free))]
    TooLarge {
        /// Bytes that it needs.
        needed: u64,
        /// Bytes that there are.
        free: u64,
    },
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

    /// The format of a text without a path, such as standard input.
    pub fn detect(text: &str) -> Self {
        detect::of_text(text, None)
    }
}

/// Whether a path ends with `.gz`.
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

/// The pattern that `text` gives in this format, if it takes no more memory than there is.
///
/// # Errors
/// [`FormatError::Malformed`] with line and column, or [`FormatError::Refused`] for a picture.
pub fn read_pattern(text: &str, format: Format) -> Result<Pattern, FormatError> {
    read_text(text, format, u64::MAX)
}

fn read_text(text: &str, format: Format, limit: u64) -> Result<Pattern, FormatError> {
    match format {
        Format::Rle => rle::parse(text, limit),
        Format::Cells => plaintext::parse(text, limit),
        Format::Life => life::parse(text, limit),
        Format::Macrocell => macrocell::parse(text, limit),
        Format::Mcell => mcell::parse(text, limit),
        Format::Apgcode => apgcode::parse(text, limit),
        Format::Png | Format::Gif => Err(FormatError::Refused(format!("a text is no {format} file"))),
    }
}

/// The pattern in a file's bytes, by what is in them and, where that does not say, in the format of `named`. It takes at most
/// `limit` bytes of memory beside them, decompressed bytes among them. Bytes that are no UTF-8, as comments in old files have
/// them, are read as U+FFFD.
///
/// # Errors
/// [`FormatError::Refused`] for what is known and not supported, else what is wrong with it.
pub fn read_pattern_bytes(bytes: &[u8], named: Option<Format>, limit: u64) -> Result<Pattern, FormatError> {
    if bytes.starts_with(detect::GZIP) {
        let mut plain = Vec::new();
        // A list of bytes has grown out of one half as large, and has room for as many again.
        const GROWING: u64 = 3;
        let most = limit / GROWING;
        let mut decoder = flate2::read::MultiGzDecoder::new(bytes).take(most.saturating_add(1));
        decoder.read_to_end(&mut plain).map_err(|error| FormatError::Picture(error.to_string()))?;
        if plain.len() as u64 > most {
            // How much more there is nobody knows who has not decompressed it.
            let more = std::io::copy(&mut decoder.into_inner(), &mut std::io::sink()).unwrap_or(0);
            let needed = more.saturating_add(plain.len() as u64).saturating_mul(GROWING);
            return Err(FormatError::TooLarge { needed, free: limit });
        }
        plain.shrink_to_fit();
        let taken = plain.len() as u64;
        if plain.starts_with(detect::GZIP) {
            return Err(FormatError::Refused("it is compressed twice: decompress it once".into()));
        }
        return read_pattern_bytes(&plain, named, limit - taken);
    }
    if bytes.starts_with(detect::PNG) {
        return image::parse(bytes, limit);
    }
    if let Some(what) = detect::unsupported(bytes) {
        return Err(FormatError::Refused(format!(
            "it is {what}, which is not read: .rle, .cells, .lif, .mc, .mcl (each also .gz), .png and apgcodes are"
        )));
    }
    let text = with_newlines(String::from_utf8_lossy(bytes));
    let limit = match &text {
        std::borrow::Cow::Borrowed(_) => limit,
        std::borrow::Cow::Owned(text) => limit.saturating_sub(text.capacity() as u64),
    };
    let format = detect::of_text(&text, named);
    read_text(&text, format, limit)
}

/// `text` with a newline for each carriage return that ends a line by itself, as in files of old Macintoshes.
fn with_newlines(text: std::borrow::Cow<'_, str>) -> std::borrow::Cow<'_, str> {
    let is_end = |pair: &[u8]| pair[0] == b'\r' && !matches!(pair[1], b'\r' | b'\n');
    if !text.ends_with('\r') && !text.as_bytes().windows(2).any(is_end) {
        return text;
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = &text[..];
    while let Some(at) = rest.find('\r') {
        let (line, end) = rest.split_at(at);
        rest = end.trim_start_matches('\r');
        plain.push_str(line);
        if !rest.starts_with('\n') {
            plain.extend(std::iter::repeat_n('\n', end.len() - rest.len()));
        }
    }
    plain.push_str(rest);
    plain.into()
}

/// `text` without what is not to be printed, if anything is left.
fn printable(text: &str) -> Option<String> {
    let text: String = text.trim().chars().filter(|character| !character.is_control()).collect();
    (!text.is_empty()).then_some(text)
}

/// A text as a message quotes it: printable, and not too long.
fn shorten(text: &str) -> String {
    const LONGEST: usize = 40;
    let mut short: String = text.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if text.chars().nth(LONGEST).is_some() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests;
