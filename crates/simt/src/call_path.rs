//! The call path of a thread as it appears in reports.

use std::fmt;

use crate::source::SourceLocation;

/// The calls and loops that a thread is in, the outermost first. A loop is listed if it may contain a barrier. A call
/// inside a branch is listed if it may reach a barrier. Code that is neither a kernel nor device code is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct CallPath(pub Vec<CallStep>);

/// A call or a loop that a thread is in.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
pub enum CallStep {
    /// The call at this source line.
    Call(SourceLocation),
    /// The loop that begins at this source line.
    Loop {
        /// The line of the loop.
        at: SourceLocation,
        /// The number of the loop's iteration, counted from 1.
        iteration: u64,
    },
}

impl fmt::Display for CallStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call(at) => write!(f, "by the call at {at}"),
            Self::Loop { at, iteration } => write!(f, "in iteration {iteration} of the loop at {at}"),
        }
    }
}

impl fmt::Display for CallPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("directly");
        }
        for (i, step) in self.0.iter().enumerate() {
            write!(f, "{}{step}", if i == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}
