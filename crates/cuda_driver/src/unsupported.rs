//! Replaces the module `library` on platforms for which this crate cannot load a driver.

use crate::{Driver, LoadError};

pub(crate) fn open() -> Result<Driver, LoadError> {
    Err(LoadError::UnsupportedPlatform)
}
