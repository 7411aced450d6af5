//! The buffer from which a kernel made a pointer.

use crate::region::{Region, Space};

/// A buffer to which pointers may point: an array in global memory, or a shared array.
#[derive(Clone, Copy, Debug)]
pub(super) struct Buffer {
    pub(super) space: Space,
    pub(super) array: Option<&'static str>,
    /// The host address of the buffer's first byte, also for shared memory.
    pub(super) start: usize,
    pub(super) bytes: usize,
    pub(super) element: usize,
}

impl From<&Region> for Buffer {
    fn from(region: &Region) -> Self {
        let &Region { name, start, bytes, element, .. } = region;
        Self { space: Space::Global, array: Some(name), start, bytes, element: element.max(1) }
    }
}

impl Buffer {
    #[inline]
    pub(super) fn contains(&self, address: usize) -> bool {
        address.wrapping_sub(self.start) < self.bytes
    }

    pub(super) fn holds(&self, address: usize, bytes: usize) -> bool {
        self.contains(address) && bytes <= self.bytes - (address - self.start)
    }
}
