//! Decompresses gzip files, and zip archives of one file or one pattern.

use std::io::{self, Read};
use std::path::Path;

use flate2::bufread::{DeflateDecoder, MultiGzDecoder};
use rawzip::{CompressionMethod, ZipArchive};

use super::detect::{GZIP, ZIP};
use super::error::FormatError;
use super::format::Format;
use super::text::shorten;

/// The decompressed content of a file.
pub(super) struct Unpacked {
    pub(super) bytes: Vec<u8>,
    /// The format that the name in an archive suggests.
    pub(super) named: Option<Format>,
}

/// Decompresses `bytes`. Returns `None` if they are not compressed. The function uses at most `limit` bytes of memory.
///
/// # Errors
/// [`FormatError::Refused`] for an archive of several files unless the name of exactly one says that it is a pattern,
/// and for an archive with a password or an unusual compression. [`FormatError::Picture`] for damaged data.
/// [`FormatError::TooLarge`] if `limit` is too small.
pub(super) fn unpack(bytes: &[u8], limit: u64) -> Result<Option<Unpacked>, FormatError> {
    let unpacked = if is_zip(bytes) {
        only_file(bytes, limit)?
    } else if bytes.starts_with(GZIP) {
        Unpacked { bytes: decompress(MultiGzDecoder::new(bytes), limit)?, named: None }
    } else {
        return Ok(None);
    };
    if unpacked.bytes.starts_with(GZIP) || is_zip(&unpacked.bytes) {
        refuse!("it is compressed twice: decompress it once with gunzip or unzip");
    }
    Ok(Some(unpacked))
}

fn is_zip(bytes: &[u8]) -> bool {
    ZIP.iter().any(|begin| bytes.starts_with(begin))
}

/// Decompresses the only file of a zip archive, or the only one that is named as a pattern.
fn only_file(bytes: &[u8], limit: u64) -> Result<Unpacked, FormatError> {
    let archive = ZipArchive::from_slice(bytes).map_err(damaged)?;
    let (mut entries, mut first, mut first_named) = (archive.entries(), None, None);
    let (mut files, mut named) = (0u64, 0u64);
    while let Some(entry) = entries.next_entry().map_err(damaged)? {
        // macOS adds files with its own attributes.
        if entry.is_dir() || entry.file_path().as_ref().starts_with(b"__MACOSX/") {
            continue;
        }
        files += 1;
        let name = String::from_utf8_lossy(entry.file_path().as_ref()).into_owned();
        if Format::from_path(Path::new(&name)).is_ok() {
            named += 1;
            first_named.get_or_insert(entry);
        } else {
            first.get_or_insert(entry);
        }
    }
    let Some(entry) = first_named.or(first) else {
        refuse!("it is a zip archive without a file: give one with a pattern")
    };
    let path = entry.file_path();
    let name = String::from_utf8_lossy(path.as_ref());
    let shown = shorten(&name);
    if files > 1 && named != 1 {
        refuse!("it is a zip archive of {files} files: unpack it with unzip and give one of them, such as '{shown}'");
    }
    if entry.flags().is_encrypted() {
        refuse!("'{shown}' in the zip archive has a password: unpack it with unzip and give the file");
    }
    let file = archive.get_entry(entry.wayfinder()).map_err(damaged)?;
    let bytes = match entry.compression_method() {
        CompressionMethod::STORE => decompress(file.verifying_reader(file.data()), limit)?,
        CompressionMethod::DEFLATE => decompress(file.verifying_reader(DeflateDecoder::new(file.data())), limit)?,
        _ => refuse!(
            "'{shown}' in the zip archive is not compressed with deflate: unpack it with unzip and give the file"
        ),
    };
    Ok(Unpacked { bytes, named: Format::from_path(Path::new(&*name)).ok() })
}

/// Reads all that `decoder` returns.
fn decompress(mut decoder: impl Read, limit: u64) -> Result<Vec<u8>, FormatError> {
    // While a vector grows, the old and the new allocation exist at the same time. Together they need three times the
    // old size.
    const GROWING: u64 = 3;
    let most = limit / GROWING;
    let mut plain = Vec::new();
    decoder.by_ref().take(most.saturating_add(1)).read_to_end(&mut plain).map_err(damaged)?;
    if plain.len() as u64 > most {
        // To find the decompressed length, the rest of the data must be decompressed, too.
        let more = io::copy(&mut decoder, &mut io::sink()).unwrap_or(0);
        let needed = more.saturating_add(plain.len() as u64).saturating_mul(GROWING);
        return Err(FormatError::TooLarge { needed, free: limit });
    }
    plain.shrink_to_fit();
    Ok(plain)
}

fn damaged(error: impl std::fmt::Display) -> FormatError {
    FormatError::Picture(error.to_string())
}

#[cfg(test)]
mod tests;
