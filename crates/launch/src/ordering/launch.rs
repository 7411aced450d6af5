//! Launches, of which it is known afterwards which of the mutable views they have written.

use simt::Region;

use super::{Actor, StreamAccess};
use crate::backend::BackendStream;
use crate::error::Error;

/// Has `launch` launch in `stream`, unless what the views `regions` show races with what was asked before.
///
/// # Safety
/// The regions must be memory of the stream's device.
pub(crate) unsafe fn launch(
    actor: Actor,
    stream: &dyn BackendStream,
    told: StreamAccess,
    regions: &[Region],
    launch: impl FnOnce() -> Result<(), Error>,
) -> Result<(), Error> {
    let regions = || regions.iter().filter(|region| region.bytes > 0);
    let access = |region: &Region, is_write| {
        let bytes = region.start..region.start + region.bytes;
        (bytes, StreamAccess { array: Some(region.name), is_write, ..told })
    };
    actor.access(&regions().map(|region| access(region, false)).collect::<Vec<_>>())?;
    let contents = |region: &Region| {
        let mut contents = vec![0_u8; region.bytes];
        let start = std::ptr::with_exposed_provenance(region.start);
        // SAFETY: the caller's word; the vector has as many bytes.
        unsafe { stream.download(contents.as_mut_ptr(), start, region.bytes, region.element) }.map(|()| contents)
    };
    let mut before = Vec::new();
    for region in regions().filter(|region| region.is_writable) {
        before.push((region, contents(region)?));
    }
    launch()?;
    let mut written = Vec::new();
    for (region, before) in before {
        if contents(region)? != before {
            written.push(access(region, true));
        }
    }
    Ok(actor.access(&written)?)
}
