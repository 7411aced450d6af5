//! The stand-in driver's functions for launches with clusters.

use std::ffi::c_void;

use super::{answer, launch, log};

/// `CUlaunchAttribute`.
#[repr(C)]
pub struct Attribute {
    id: u32,
    _padding: u32,
    value: [u32; 16],
}

/// `CUlaunchConfig`.
#[repr(C)]
pub struct Config {
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    stream: usize,
    attributes: *const Attribute,
    attributes_len: u32,
}

impl Config {
    /// Returns the identifiers of the attributes and their first three numbers.
    ///
    /// # Safety
    /// The attributes must exist.
    unsafe fn attributes(&self) -> Vec<(u32, [u32; 3])> {
        // SAFETY: the caller guarantees that the attributes exist.
        let all = unsafe { std::slice::from_raw_parts(self.attributes, self.attributes_len as usize) };
        let first = |attribute: &Attribute| {
            assert!(attribute.value[3..].iter().all(|&number| number == 0));
            (attribute.id, [attribute.value[0], attribute.value[1], attribute.value[2]])
        };
        all.iter().map(first).collect()
    }
}

/// The error of a launch whose cluster is too large.
const INVALID_CLUSTER_SIZE: i32 = 912;

functions! {
    cuLaunchKernelEx(
        config: *const Config, function: usize, parameters: *const *const c_void, extra: *const c_void
    ) {
        assert!(extra.is_null());
        let attributes = (*config).attributes();
        let Config { grid, block, shared, stream, .. } = *config;
        log(&format!("attributes {attributes:?}"));
        if attributes.iter().any(|(id, size)| *id == 4 && size.iter().product::<u32>() == 16) {
            return Err(INVALID_CLUSTER_SIZE);
        }
        launch(function, [grid.iter().product(), block.iter().product()], shared, stream, parameters)
    }
    cuOccupancyMaxActiveClusters(clusters: *mut i32, _function: usize, config: *const Config) {
        let attributes = (*config).attributes();
        let [(4, size)] = attributes[..] else { panic!("{attributes:?}") };
        *clusters = match size.iter().product::<u32>() {
            16 => return Err(INVALID_CLUSTER_SIZE),
            blocks => (32 / blocks) as i32,
        };
        Ok(())
    }
}
