//! Serialises faults to JSON, with their message and fields.

use serde::{Serialize, Serializer};

use crate::faults::older::OlderValue;
use crate::faults::remedy::Remedy;
use crate::faults::{Fault, FaultKind};
use crate::geometry::Dim3;
use crate::source::SourceLocation;

#[derive(Serialize)]
struct Report<'a> {
    message: String,
    kernel: &'static str,
    block: Option<Dim3>,
    thread: Option<Dim3>,
    location: Option<&'a SourceLocation>,
    remedy: Option<Remedy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    older: Option<&'a OlderValue>,
    #[serde(flatten)]
    kind: &'a FaultKind,
}

/// The JSON object has the fault's kernel, block, thread and location. `message` is the [`Display`](std::fmt::Display)
/// form, `kind` is the name of the [`FaultKind`] in snake case, and `details` has the fields of the kind. `remedy` is
/// the name of the [`Remedy`]. `older` is there only if the fault has one.
impl Serialize for Fault {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { kernel, block, thread, location, kind, older } = self;
        let (message, location) = (self.to_string(), location.as_ref());
        let (remedy, older) = (self.remedy(), older.as_deref());
        Report { message, kernel, block: *block, thread: *thread, location, remedy, older, kind }.serialize(serializer)
    }
}

/// Serialises an index as a signed number, because an index that has wrapped around is meant to be negative.
pub(crate) fn signed<S: Serializer>(index: &usize, serializer: S) -> Result<S::Ok, S::Error> {
    index.cast_signed().serialize(serializer)
}
