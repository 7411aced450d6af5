//! What launches report to a file as well, where the environment names one.

use crate::fault::Fault;
use crate::raw::notes::Note;

/// The environment variable that names the file.
pub const FILE: &str = "GRIDSTRIDE_REPORT";

/// Adds `fault` to the file.
#[cfg(feature = "sarif")]
pub(crate) fn fault(fault: Fault) -> Fault {
    crate::report::collect("error", || crate::report::Finding::of_fault(&fault));
    fault
}

/// Adds `note` to the file if it warns.
#[cfg(feature = "sarif")]
pub(crate) fn note(note: &Note) {
    if matches!(note.kind, crate::NoteKind::WarpsApart { .. }) {
        crate::report::collect("warning", || crate::report::Finding::of_note(note));
    }
}

/// Says that no file is written, once.
#[cfg(not(feature = "sarif"))]
pub(crate) fn fault(fault: Fault) -> Fault {
    static SAID: std::sync::Once = std::sync::Once::new();
    if std::env::var_os(FILE).is_some_and(|path| !path.is_empty()) {
        SAID.call_once(|| eprintln!("{FILE}: nothing is written: add the feature `sarif` to the dependency `launch`"));
    }
    fault
}

#[cfg(not(feature = "sarif"))]
pub(crate) fn note(_note: &Note) {}
