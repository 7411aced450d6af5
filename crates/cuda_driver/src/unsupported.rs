//! Stands in for `library` on a platform for which this crate cannot load a driver.

use crate::{Driver, LoadError};

pub(crate) fn open() -> Result<Driver, LoadError> {
    Err(LoadError::UnsupportedPlatform)
}
