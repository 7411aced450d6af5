//! Reads and writes the file formats of cellular automata, and recognises the format of a file.
//!
//! [`read_pattern_bytes`] reads every supported format. Each format has a module with a function `parse`. If the crate
//! can also write the format, the module contains functions that write it.

#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)]

use std::borrow::Cow;

use life::pattern::Pattern;

/// Returns [`FormatError::Refused`] with a formatted message from the function in which the macro is used.
macro_rules! refuse {
    ($($argument:tt)*) => {
        return Err(FormatError::Refused(format!($($argument)*)))
    };
}

pub mod apgcode;
pub mod lif;
pub mod macrocell;
pub mod mcell;
pub mod picture;
pub mod plaintext;
pub mod rle;

mod collectors;
mod cursor;
mod detect;
mod error;
mod format;
mod metadata;
mod packed;
mod text;

pub use error::FormatError;
pub use format::{Format, is_compressed};
pub use metadata::Metadata;

/// Reads a pattern from `text` in format `format`, without a memory limit.
///
/// # Errors
/// [`FormatError::Malformed`] if `text` is malformed. [`FormatError::Refused`] if `format` is a picture format or
/// `text` has no pattern.
pub fn read_pattern(text: &str, format: Format) -> Result<Pattern, FormatError> {
    read_text(text, format, u64::MAX)
}

/// The pattern of a file, as cells or as a tree of squares.
#[derive(Debug)]
pub enum Contents {
    /// The cells of a pattern.
    Pattern(Pattern),
    /// The tree of a macrocell file.
    Tree(macrocell::Tree),
}

impl Contents {
    /// Returns the cells as a pattern.
    ///
    /// # Errors
    /// [`FormatError::TooLarge`] if a tree and its cells need more than `limit` bytes.
    pub fn into_pattern(self, limit: u64) -> Result<Pattern, FormatError> {
        match self {
            Self::Pattern(pattern) => Ok(pattern),
            Self::Tree(tree) => tree.pattern(limit),
        }
    }
}

fn read_text(text: &str, format: Format, limit: u64) -> Result<Pattern, FormatError> {
    match format {
        Format::Rle => rle::parse(text, limit),
        Format::Cells => plaintext::parse(text, limit),
        Format::Life => lif::parse(text, limit),
        Format::Macrocell => macrocell::parse(text, limit),
        Format::Mcell => mcell::parse(text, limit),
        Format::Apgcode => apgcode::parse(text, limit),
        Format::Png | Format::Gif => {
            let others = "and the content is not a pattern in any supported format either";
            Err(FormatError::Refused(format!(
                "it is named {format}, but is not such a picture, {others}: check the file"
            )))
        }
    }
}

/// Reads a pattern from the bytes of a file. The content determines the format. If the content fits several formats,
/// the function uses `named`, which is the format that the file's name suggests.
///
/// The function uses at most `limit` bytes of memory in addition to `bytes`, including decompressed data. Bytes that
/// are not valid UTF-8 are read as U+FFFD. Such bytes occur in comments of old files. LifeViewer's scripts, which stand
/// between `[[` and `]]`, are ignored.
///
/// # Errors
/// [`FormatError::Refused`] if the file has an unsupported format or no pattern. Any other [`FormatError`] describes
/// what is wrong with the file.
pub fn read_pattern_bytes(bytes: &[u8], named: Option<Format>, limit: u64) -> Result<Pattern, FormatError> {
    let (contents, limit) = contents(bytes, named, limit)?;
    contents.into_pattern(limit)
}

/// Reads the bytes of a file like [`read_pattern_bytes`], but returns the tree of a macrocell file without the cells.
///
/// # Errors
/// Fails in the same cases as [`read_pattern_bytes`].
pub fn read_contents(bytes: &[u8], named: Option<Format>, limit: u64) -> Result<Contents, FormatError> {
    contents(bytes, named, limit).map(|(contents, _)| contents)
}

/// Returns the contents of a file, and the limit for memory in addition to the decompressed text.
fn contents(bytes: &[u8], named: Option<Format>, limit: u64) -> Result<(Contents, u64), FormatError> {
    if let Some(unpacked) = packed::unpack(bytes, limit)? {
        let limit = limit.saturating_sub(unpacked.bytes.len() as u64);
        return contents(&unpacked.bytes, unpacked.named.or(named), limit);
    }
    const EMPTY: &str = "it is empty: give a file with a pattern";
    if bytes.strip_prefix(detect::BYTE_ORDER_MARK).unwrap_or(bytes).trim_ascii().is_empty() {
        refuse!("{EMPTY}");
    }
    if bytes.starts_with(detect::PNG) {
        return Ok((Contents::Pattern(picture::parse(bytes, limit)?), limit));
    }
    if let Some(what) = detect::unsupported(bytes) {
        refuse!(
            "it is {what}, which is not supported: use .rle, .cells, .lif, .mc, .mcl (also .gz or .zip), .png or an \
             apgcode"
        );
    }
    let own_bytes = |text: &Cow<'_, str>| if let Cow::Owned(text) = text { text.capacity() as u64 } else { 0 };
    let text = text::with_newlines(String::from_utf8_lossy(bytes));
    let mut plain = text::without_scripts(&text, ' ');
    if plain.trim_start_matches('\u{feff}').trim().is_empty() {
        refuse!("{EMPTY}");
    }
    let format = detect::of_text(&plain, named);
    if format == Format::Cells && matches!(plain, Cow::Owned(_)) {
        // In plaintext, a blank line would be a row of dead cells.
        plain = text::without_scripts(&text, '!');
    }
    let limit = limit.saturating_sub(own_bytes(&text)).saturating_sub(own_bytes(&plain));
    let contents = match format {
        Format::Macrocell => Contents::Tree(macrocell::Tree::parse(&plain, limit)?),
        format => Contents::Pattern(read_text(&plain, format, limit)?),
    };
    Ok((contents, limit))
}

#[cfg(test)]
mod tests;
