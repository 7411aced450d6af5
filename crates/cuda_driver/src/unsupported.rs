//! A platform without a driver that could be loaded.

use crate::{Driver, LoadError};

pub(crate) fn open() -> Result<Driver, LoadError> {
    Err(LoadError::UnsupportedPlatform)
}
