//! Writes the reports of launches to the file that an environment variable names.

use crate::fault::Fault;
use crate::raw::notes::Note;

/// The environment variable with the name of the file.
pub const FILE: &str = "GRIDSTRIDE_REPORT";

/// Adds `fault` to the file.
#[cfg(feature = "sarif")]
pub(crate) fn fault(fault: Fault) -> Fault {
    crate::report::collect("error", || crate::report::Finding::of_fault(&fault));
    fault
}

/// Adds `note` to the file if it is a warning.
#[cfg(feature = "sarif")]
pub(crate) fn note(note: &Note) {
    if matches!(note.kind, crate::NoteKind::WarpsApart { .. }) {
        crate::report::collect("warning", || crate::report::Finding::of_note(note));
    }
}

/// Prints once that no file is written.
#[cfg(not(feature = "sarif"))]
pub(crate) fn fault(fault: Fault) -> Fault {
    static SAID: std::sync::Once = std::sync::Once::new();
    if std::env::var_os(FILE).is_some_and(|path| !path.is_empty()) {
        SAID.call_once(|| eprintln!("{FILE}: no report is written: enable the feature `sarif` of `launch`"));
    }
    fault
}

#[cfg(not(feature = "sarif"))]
pub(crate) fn note(_note: &Note) {}
