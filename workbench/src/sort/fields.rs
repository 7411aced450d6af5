//! A sort of structures by two of their fields, for the case and for the explanation of the kernel that copies fields.

use cuda_std::{DeviceCopy, Pod, Zeroable};
use launch::{Buffer, Device};

use crate::algorithm::{Options, Other, Shape};
use crate::case::bits;
use crate::error::WorkbenchError;
use gridstride::error::AlgorithmError;
use gridstride::sort::FieldSorter;

/// The kernel that copies fields and structures.
pub(super) const GATHER: Other = Other {
    name: "gather",
    idea: "Copies one field of structures, or whole structures, in the order of indices.",
    families: &["sort_gather"],
    shape: Shape::Vector(1 << 16),
    options: &[],
    run: |device: &Device, shape: Shape, _: &Options| -> Result<(), WorkbenchError> {
        Ok(sort_by_fields(device, &structures(shape.elements())).map(drop)?)
    },
};

/// A structure of 12 bytes.
#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(C)]
pub(super) struct Structure {
    pub(super) major: i32,
    pub(super) index: u32,
    pub(super) minor: u32,
}

// SAFETY: the fields are plain integers without padding.
unsafe impl Zeroable for Structure {}
// SAFETY: the fields are plain integers without padding.
unsafe impl Pod for Structure {}

gridstride::sort_fields!(Structure: major, minor descending);

/// Returns `n` random structures, many of which have equal fields.
pub(super) fn structures(n: usize) -> Vec<Structure> {
    let structure = |index| Structure {
        major: (bits(index) % 5) as i32 - 2,
        index: index as u32,
        minor: (bits(index) >> 32) as u32 % 3,
    };
    (0..n).map(structure).collect()
}

/// Returns the sorted structures.
pub(super) fn sort_by_fields(device: &Device, structures: &[Structure]) -> Result<Buffer<Structure>, AlgorithmError> {
    let (x, mut y) = (device.upload(structures)?, device.alloc(structures.len())?);
    FieldSorter::new(device, structures.len())?.sort_into(device.queue(), &x, &mut y)?;
    Ok(y)
}
