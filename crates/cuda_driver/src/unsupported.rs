//! Replaces the module `library` on platforms for which this crate cannot load a driver.

use std::ffi::c_void;
use std::ptr::NonNull;

use crate::{Driver, LoadError};

/// A library that cannot be loaded.
#[derive(Debug)]
pub(crate) enum Library {}

pub(crate) fn open() -> Result<Driver, LoadError> {
    Err(LoadError::UnsupportedPlatform)
}

pub(crate) fn find(library: &Library, _name: &str) -> Option<NonNull<c_void>> {
    match *library {}
}
