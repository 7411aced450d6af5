//! Makes the names of numbered files.

use std::path::{Path, PathBuf};

/// Returns `path` with `number` in place of the field `%d` or `%05d`. For `%05d`, `number` gets at least five digits.
/// Returns `None` if the file name has no such field or has another `%`.
pub fn name(path: &Path, number: u64) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let (before, rest) = name.split_once('%')?;
    let (digits, after) = rest.split_once('d')?;
    let width = if digits.is_empty() { 1 } else { digits.strip_prefix('0')?.parse::<usize>().ok()? };
    (width <= 20 && !after.contains('%')).then(|| path.with_file_name(format!("{before}{number:0width$}{after}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board_file::BoardFile;
    use program::error::UsageError;

    #[test]
    fn a_number_has_its_place() {
        for (path, expected) in [("a%d.png", Some("a12.png")), ("a%5d.png", None), ("a.png", None), ("%0099d", None)] {
            assert_eq!(name(Path::new(path), 12).as_deref(), expected.map(Path::new), "{path}");
        }
    }

    #[test]
    fn a_number_has_one_form() {
        for name in ["x/c%s.png", "c%d%d.png", "c%5d.png", "100%.png", "c%.png"] {
            let UsageError(text) = BoardFile::new(Path::new(name)).unwrap_err();
            assert!(text.contains(name) && text.contains("%05d"), "{text}");
        }
        for name in ["c%d.png", "%020d.png", "100%/c.png", "100%.rle"] {
            BoardFile::new(Path::new(name)).unwrap();
        }
    }
}
