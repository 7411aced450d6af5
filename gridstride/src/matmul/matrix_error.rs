//! The error for matrices that cannot be multiplied.

use thiserror::Error;

/// The error that is returned if a matrix does not fit its memory, or if matrices cannot be multiplied. The text of the
/// error says what was given and what is allowed.
#[derive(Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct MatrixError(pub(crate) String);

crate::debug_as_displayed!(MatrixError);
