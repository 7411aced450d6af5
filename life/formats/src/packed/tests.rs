//! Tests of zip archives.

use std::io::Write;

use life::pattern::Pattern;

use crate::{FormatError, read_pattern_bytes};

fn read(bytes: &[u8]) -> Result<Pattern, FormatError> {
    read_pattern_bytes(bytes, None, 1 << 22)
}

/// Returns a zip archive of files with these names and contents.
fn zip(files: &[(&str, &[u8])], method: rawzip::CompressionMethod, is_encrypted: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut archive = rawzip::ZipArchiveWriter::new(&mut bytes);
    archive.new_dir("patterns/").create().unwrap();
    for (name, content) in files {
        let file = archive.new_file(name).compression_method(method).encrypted(is_encrypted);
        let (mut entry, config) = file.start().unwrap();
        let encoder = flate2::write::DeflateEncoder::new(&mut entry, flate2::Compression::best());
        let mut writer = config.wrap(encoder);
        writer.write_all(content).unwrap();
        let (encoder, descriptor) = writer.finish().unwrap();
        encoder.finish().unwrap();
        entry.finish(descriptor).unwrap();
    }
    archive.finish().unwrap();
    bytes
}

#[test]
fn a_zip_archive_of_one_pattern_is_read() {
    use rawzip::CompressionMethod as Method;
    let glider: &[u8] = b"bo$2bo$3o!";
    let cells = |bytes: &[u8]| read(bytes).unwrap().cells().collect::<Vec<_>>();
    let archive = zip(&[("patterns/glider.rle", glider), ("__MACOSX/._glider.rle", b"x")], Method::DEFLATE, false);
    assert_eq!(cells(&archive), cells(glider));
    // Golly's archives have rules, scripts or notes beside a pattern.
    let notes: &[u8] = b"notes";
    let several = [("READ.ME", notes), ("patterns/glider.rle", glider), ("glider.lua", notes), ("Glider.rule", notes)];
    assert_eq!(cells(&zip(&several, Method::DEFLATE, false)), cells(glider));
    // The name in the archive suggests the format.
    assert_eq!(read(&zip(&[("x.cells", b"xx")], Method::DEFLATE, false)).unwrap().population(), 2);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(glider).unwrap();
    let gzip = gzip.finish().unwrap();
    for (archive, parts) in [
        (zip(&[], Method::DEFLATE, false), ["without a file", "give one with a pattern"]),
        (zip(&[("a.rle", glider), ("b.rle", glider)], Method::DEFLATE, false), ["of 2 files", "such as 'a.rle'"]),
        (
            zip(&[("a.txt", glider), ("b.rle", glider), ("c.mc", glider)], Method::DEFLATE, false),
            ["of 3 files", "such as 'b.rle'"],
        ),
        (zip(&[("a.txt", glider), ("b.lua", glider)], Method::DEFLATE, false), ["of 2 files", "such as 'a.txt'"]),
        (zip(&[("ship.lua", b"local g = golly()\n")], Method::DEFLATE, false), ["a Lua script", "use .rle"]),
        (zip(&[("a.rle", glider)], Method::DEFLATE, true), ["'a.rle'", "has a password"]),
        (zip(&[("a.rle", glider)], Method::LZMA, false), ["'a.rle'", "not compressed with deflate"]),
        (zip(&[("a.rle.gz", &gzip)], Method::DEFLATE, false), ["compressed twice", "unzip"]),
        (zip(&[("a.rle", &vec![b' '; 1 << 25])], Method::DEFLATE, false), ["it needs ", "but only 16 MiB are free"]),
    ] {
        let error = read_pattern_bytes(&archive, None, 1 << 24).unwrap_err().to_string();
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    }
    for end in 4..archive.len() {
        assert!(read(&archive[..end]).is_err(), "cut at {end}");
    }
}
