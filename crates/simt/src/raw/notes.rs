//! What checked launches could not check.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::geometry::KernelInfo;
use crate::source::SourceLocation;

/// What a checked launch could not check: a function that was handed a pointer or a slice and is not marked as device code.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Note {
    /// The kernel.
    pub kernel: &'static KernelInfo,
    /// Where the function is called.
    pub location: SourceLocation,
    /// The function.
    pub function: &'static str,
    /// What it is handed, where that has a name.
    pub array: Option<&'static str>,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kernel, location, function, array } = self;
        write!(f, "kernel `{}`, at {location}: not checked: what `{function}` accesses", kernel.name)?;
        if let Some(array) = array {
            write!(f, " of `{array}`")?;
        }
        f.write_str("; mark it with `#[cuda_std::device]`")
    }
}

/// Where a simulator that checks launches notes what it could not check: once per launch and place in the source. Without
/// one it prints each note to the standard error.
#[derive(Clone, Debug, Default)]
pub struct Notes(Arc<Mutex<Vec<Note>>>);

impl Notes {
    /// None.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes all notes so far.
    pub fn take(&self) -> Vec<Note> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn push(&self, note: Note) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(note);
    }
}
