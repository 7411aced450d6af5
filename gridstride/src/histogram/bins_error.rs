//! The error for bins that a histogram does not support.

use thiserror::Error;

/// The error that is returned if a histogram does not support the requested bins or number of keys. The text of the
/// error says which values are supported.
#[derive(Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct BinsError(pub(crate) String);

crate::debug_as_displayed!(BinsError);
