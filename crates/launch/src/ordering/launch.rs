//! Launches under the race checker, which compares memory before and after a launch to find the mutable views that the
//! launch wrote.
//!
//! # Design
//!
//! A store of an equal value leaves no trace in this comparison. Once a launch has changed a view, the checker
//! therefore counts the view as written by every later launch of that kernel.

use simt::Region;

use super::{Actor, StreamAccess, is_known_to_write, note_that_it_writes};
use crate::backend::BackendStream;
use crate::error::Error;

/// Checks the accesses of a launch to `regions`, and calls `launch` if no access races with earlier work. Afterwards
/// the checker records which regions the launch has written.
///
/// # Safety
/// The regions must be memory of the device of `actor`.
pub(crate) unsafe fn launch(
    actor: Actor,
    stream: &dyn BackendStream,
    stream_access: StreamAccess,
    regions: &[Region],
    launch: impl FnOnce() -> Result<(), Error>,
) -> Result<(), Error> {
    let regions = || regions.iter().filter(|region| region.bytes > 0);
    let access = |region: &Region, is_write| {
        let bytes = region.start..region.start + region.bytes;
        (bytes, StreamAccess { array: Some(region.name), is_write, ..stream_access })
    };
    let is_known = |region: &Region| region.is_writable && is_known_to_write(&stream_access, region.name);
    actor.access(&regions().map(|region| access(region, is_known(region))).collect::<Vec<_>>())?;
    let contents = |region: &Region| {
        let mut contents = vec![0_u8; region.bytes];
        let start = std::ptr::with_exposed_provenance(region.start);
        // SAFETY: the caller guarantees that the region is the device's memory; the vector has as many bytes.
        unsafe { stream.download(contents.as_mut_ptr(), start, region.bytes, region.element) }.map(|()| contents)
    };
    let mut before = Vec::new();
    for region in regions().filter(|region| region.is_writable && !is_known(region)) {
        before.push((region, contents(region)?));
    }
    launch()?;
    let mut written = Vec::new();
    for (region, before) in before {
        let after = contents(region)?;
        let mut changed =
            (region.start..).zip(before.iter().zip(&after)).filter(|(_, (old, new))| old != new).peekable();
        if changed.peek().is_none() {
            continue;
        }
        written.push(access(region, true));
        // If two views contain a changed byte, it is unknown which of them wrote it.
        let is_of_another = |address: usize| {
            let others = regions().filter(|other| other.is_writable && other.name != region.name);
            others.into_iter().any(|other| (other.start..other.start + other.bytes).contains(&address))
        };
        if changed.any(|(address, _)| !is_of_another(address)) {
            note_that_it_writes(&stream_access, region.name);
        }
    }
    Ok(actor.access(&written)?)
}
