//! The text of source lines, if the sources can be read.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use simt::SourceLocation;

/// The workspace in which this crate was built. The file names that the compiler records are relative to the compiled
/// workspace.
const WORKSPACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The text of each source file read so far, by the file's name, or `None` if the file cannot be read.
static FILES: Mutex<BTreeMap<String, Option<String>>> = Mutex::new(BTreeMap::new());

/// Returns the source line at `location`, trimmed, or `None` if the file cannot be read or has no such line.
pub(super) fn line(location: &SourceLocation) -> Option<String> {
    let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    let text = files.entry(location.file.clone()).or_insert_with(|| source_text(&location.file));
    let index = usize::try_from(location.line).ok()?.checked_sub(1)?;
    text.as_ref()?.lines().nth(index).map(|line| line.trim().to_owned())
}

/// Returns the text of a source file, or `None` if it cannot be read. `file` is the name that the compiler recorded. A
/// relative name is looked up in the working folder, in the folders around it, and in the workspace of this crate.
pub fn source_text(file: &str) -> Option<String> {
    // Tests run in their package's folder, which is below the workspace's.
    let here = env::current_dir().unwrap_or_default();
    here.ancestors().chain([Path::new(WORKSPACE)]).find_map(|folder| fs::read_to_string(folder.join(file)).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_sources_are_found() {
        let here = std::panic::Location::caller();
        let at = |line| SourceLocation { file: here.file().to_owned(), line, column: 1 };
        assert_eq!(line(&at(here.line())).as_deref(), Some("let here = std::panic::Location::caller();"));
        assert_eq!(line(&at(0)), None);
        assert_eq!(line(&at(100_000)), None);
        assert_eq!(line(&SourceLocation { file: "no/such.rs".to_owned(), line: 1, column: 1 }), None);
    }
}
