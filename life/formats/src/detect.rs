//! Recognises the format of a file from its content.

use super::apgcode;
use super::format::Format;

/// The first bytes of a gzip file.
pub(super) const GZIP: &[u8] = b"\x1f\x8b";

/// The first bytes of a zip archive, and of one without files.
pub(super) const ZIP: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];

/// The byte order mark, with which a UTF-8 text may begin.
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The first bytes of a PNG.
pub(super) const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

/// Returns the name of the format of `bytes` if this crate recognises the format but does not support it.
pub(super) fn unsupported(bytes: &[u8]) -> Option<&'static str> {
    const BINARY: [(&[u8], &str); 10] = [
        (b"GIF8", "a GIF"),
        (b"\xff\xd8\xff", "a JPEG"),
        (b"BM", "a bitmap (BMP)"),
        (b"RIFF", "a RIFF file"),
        (b"BZh", "a bzip2 file"),
        (b"\xfd7zXZ", "an xz file"),
        (b"\x28\xb5\x2f\xfd", "a Zstandard file"),
        (b"%PDF", "a PDF"),
        (b"\xff\xfe", "a UTF-16 text"),
        (b"\xfe\xff", "a UTF-16 text"),
    ];
    const RULES: [(&[u8], &str); 6] = [
        (b"3D version", "a 3-D pattern (.rle3)"),
        (b"@RULE", "a Golly rule (.rule)"),
        (b"@TABLE", "a Golly rule (.rule)"),
        (b"@TREE", "a Golly rule (.rule)"),
        (b"n_states", "a Golly rule table (.table)"),
        (b"num_states", "a Golly rule tree (.tree)"),
    ];
    const TEXT: [(&[u8], &str); 5] = [
        (b"<!DOCTYPE", "an HTML page"),
        (b"<html", "an HTML page"),
        (b"#!", "a script"),
        (b"--", "a Lua script"),
        (b"local ", "a Lua script"),
    ];
    let text = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes).trim_ascii_start();
    let of = |bytes: &[u8], known: &[(&[u8], &'static str)]| {
        known
            .iter()
            .find(|(begin, _)| bytes.get(..begin.len()).is_some_and(|start| start.eq_ignore_ascii_case(begin)))
            .map(|&(_, what)| what)
    };
    // Comments may precede the first line of these files.
    let is_rest = |line: &&[u8]| !line.is_empty() && !line.starts_with(b"#");
    let rest = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).find(is_rest).unwrap_or_default();
    of(bytes, &BINARY).or_else(|| of(text, &TEXT)).or_else(|| of(rest, &RULES))
}

/// Returns the format of a text. `named` is the format that the file's name suggests, but unambiguous content takes
/// precedence over `named`. The function returns a picture format only if `named` is that format and the content is
/// ambiguous.
pub(super) fn of_text(text: &str, named: Option<Format>) -> Format {
    let text = text.trim_start_matches('\u{feff}');
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.clone().next().unwrap_or_default();
    let begins =
        [("[M2]", Format::Macrocell), ("#MCell", Format::Mcell), ("#Life", Format::Life), ("!", Format::Cells)];
    if let Some((_, format)) = begins.into_iter().find(|(begin, _)| first.starts_with(begin)) {
        return format;
    }
    if apgcode::is_one(text) {
        return Format::Apgcode;
    }
    let body = lines.clone().find(|line| !line.starts_with('#')).unwrap_or_default();
    let header = body.strip_prefix(['x', 'X']).is_some_and(|rest| rest.trim_start().starts_with('='));
    if header {
        return Format::Rle;
    }
    if let Some(format) = named {
        return format;
    }
    let has_comments = first.starts_with('#');
    let rows = body.bytes().all(|byte| matches!(byte, b'.' | b'*' | b'O'));
    let numbers =
        body.split_whitespace().count() == 2 && body.split_whitespace().all(|word| word.parse::<i64>().is_ok());
    if numbers || (has_comments && rows && body.contains(['*', '.']) && lines.any(|line| line.starts_with("#P"))) {
        return Format::Life;
    }
    // A plaintext pattern contains neither counts nor row ends.
    if has_comments || text.contains(['$', '!', 'b']) { Format::Rle } else { Format::Cells }
}
