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
    whole_line(location).map(|line| line.trim().to_owned())
}

/// Returns the kind of access that the method called at `location` makes, such as "load" for `x.load(i)`. Returns
/// `None` if the file cannot be read, or if the access is not made by such a method.
pub fn access_at(location: &SourceLocation) -> Option<&'static str> {
    let line = whole_line(location)?;
    let column = usize::try_from(location.column).ok()?.checked_sub(1)?;
    let method: String = line.chars().skip(column).take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let kinds = [("load", "load"), ("store", "store"), ("atomic", "atomic update"), ("fetch", "atomic update")];
    kinds.into_iter().find(|(start, _)| method.starts_with(start)).map(|(_, kind)| kind)
}

/// Returns the source line at `location`.
fn whole_line(location: &SourceLocation) -> Option<String> {
    let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    let text = files.entry(location.file.clone()).or_insert_with(|| source_text(&location.file));
    let index = usize::try_from(location.line).ok()?.checked_sub(1)?;
    text.as_ref()?.lines().nth(index).map(str::to_owned)
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

    #[test]
    fn the_method_at_a_column_names_the_access() {
        let load = std::panic::Location::caller();
        let at = |column| access_at(&SourceLocation { file: load.file().to_owned(), line: load.line(), column });
        assert_eq!((at(13), at(9), at(0), at(400)), (Some("load"), None, None, None));
    }
}
