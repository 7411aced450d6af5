//! Faults as JSON: the message and the fields.

use serde::{Serialize, Serializer};

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
    #[serde(flatten)]
    kind: &'a FaultKind,
}

/// `message` is the [`Display`](std::fmt::Display) form and `kind` the name of the [`FaultKind`] in snake case.
/// `details` has the fields of the kind, and `remedy` is the name of the [`Remedy`]. The other fields are those of the
/// fault.
impl Serialize for Fault {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { kernel, block, thread, location, kind } = self;
        let (message, location) = (self.to_string(), location.as_ref());
        Report { message, kernel, block: *block, thread: *thread, location, remedy: self.remedy(), kind }
            .serialize(serializer)
    }
}

/// Serialises an index as signed: one that has wrapped around began below 0.
pub(crate) fn signed<S: Serializer>(index: &usize, serializer: S) -> Result<S::Ok, S::Error> {
    index.cast_signed().serialize(serializer)
}
