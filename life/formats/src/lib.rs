//! Files of cellular automata: the formats that are read and written, and how a format is recognised.
//!
//! [`read_pattern_bytes`] reads any of them. Each format has a module with `parse`, and `write` where it is also
//! written.

#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)]

use std::io::Read;

use life::pattern::Pattern;

pub mod apgcode;
pub mod lif;
pub mod macrocell;
pub mod mcell;
pub mod picture;
pub mod plaintext;
pub mod rle;

mod about;
mod cells;
mod cursor;
mod detect;
mod error;
mod kind;
mod text;

pub use about::About;
pub use error::FormatError;
pub use kind::{Format, is_compressed};

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
        Format::Life => lif::parse(text, limit),
        Format::Macrocell => macrocell::parse(text, limit),
        Format::Mcell => mcell::parse(text, limit),
        Format::Apgcode => apgcode::parse(text, limit),
        Format::Png | Format::Gif => {
            let others = "nor does it begin as a pattern does that is read";
            Err(FormatError::Refused(format!("it is not what {format} says, {others}: is it damaged?")))
        }
    }
}

/// The pattern in a file's bytes, by what is in them and, where that does not say, in the format of `named`. It takes
/// at most `limit` bytes of memory beside them, decompressed bytes among them. Bytes that are no UTF-8, as comments in
/// old files have them, are read as U+FFFD.
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
    if bytes.strip_prefix(detect::BYTE_ORDER_MARK).unwrap_or(bytes).trim_ascii().is_empty() {
        return Err(FormatError::Refused("it is empty".into()));
    }
    if bytes.starts_with(detect::PNG) {
        return picture::parse(bytes, limit);
    }
    if let Some(what) = detect::unsupported(bytes) {
        return Err(FormatError::Refused(format!(
            "it is {what}, which is not read: .rle, .cells, .lif, .mc, .mcl (each also .gz), .png and apgcodes are"
        )));
    }
    let text = text::with_newlines(String::from_utf8_lossy(bytes));
    let limit = match &text {
        std::borrow::Cow::Borrowed(_) => limit,
        std::borrow::Cow::Owned(text) => limit.saturating_sub(text.capacity() as u64),
    };
    let format = detect::of_text(&text, named);
    read_text(&text, format, limit)
}

#[cfg(test)]
mod tests;
