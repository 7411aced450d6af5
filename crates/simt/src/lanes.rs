//! The threads of a block, and their positions in warps.

use crate::geometry::Dim3;

/// The number of lanes of a warp.
pub(crate) const LANES: u32 = 32;
/// The maximum number of threads per block.
pub(crate) const MAX_THREADS: usize = 1024;
/// The maximum number of warps per block.
pub(crate) const MAX_WARPS: usize = MAX_THREADS / LANES as usize;

/// A thread of a block: its linear index, in which `x` varies fastest, and its three-dimensional index, with 16 bits
/// per number. Both indices are in one word, because the scheduler reads and writes the current thread very often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Thread(u64);

impl Thread {
    /// The first thread of any block.
    pub(crate) const FIRST: Self = Self(0);

    #[inline]
    fn new(linear: u32, index: Dim3) -> Self {
        Self(u64::from(linear) | u64::from(index.x) << 16 | u64::from(index.y) << 32 | u64::from(index.z) << 48)
    }

    /// Returns the thread's linear index, in which `x` varies fastest.
    #[inline]
    pub(crate) fn linear(self) -> u32 {
        self.0 as u32 & 0xFFFF
    }

    #[inline]
    pub(crate) fn index(self) -> Dim3 {
        Dim3 { x: (self.0 >> 16) as u32 & 0xFFFF, y: (self.0 >> 32) as u32 & 0xFFFF, z: (self.0 >> 48) as u32 }
    }

    #[inline]
    pub(crate) fn warp(self) -> usize {
        (self.linear() / LANES) as usize % MAX_WARPS
    }

    #[inline]
    pub(crate) fn lane(self) -> u32 {
        self.linear() % LANES
    }

    /// Returns the mask with the bit of this thread's lane.
    #[inline]
    pub(crate) fn bit(self) -> u32 {
        1 << self.lane()
    }
}

/// Returns the indices of the bits that are set in `lanes`.
#[inline]
pub(crate) fn bits(mut lanes: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = lanes.trailing_zeros();
        lanes &= lanes.wrapping_sub(1);
        (lane < LANES).then_some(lane as usize)
    })
}

/// The extent of a block in threads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    pub(crate) dim: Dim3,
    pub(crate) threads: u32,
    /// The factors `⌈2²⁰ / x⌉` and `⌈2²⁰ / y⌉`. Multiplying by one of them and shifting by 20 bits replaces a division.
    inverse: [u32; 2],
}

impl Extent {
    /// Makes the extent `dim` of a block of at most [`MAX_THREADS`] threads.
    pub(crate) fn new(dim: Dim3) -> Self {
        let inverse = [dim.x, dim.y].map(|extent| (1_u32 << 20).div_ceil(extent));
        Self { dim, threads: dim.count() as u32, inverse }
    }

    /// Returns the thread with the linear index `linear`.
    #[inline]
    pub(crate) fn thread(&self, linear: u32) -> Thread {
        let Dim3 { x, y, .. } = self.dim;
        let index = if x == self.threads {
            Dim3 { x: linear, y: 0, z: 0 }
        } else {
            // The quotients are exact, because `linear · extent < 2²⁰` for up to 1024 threads.
            let rows = (linear * self.inverse[0]) >> 20;
            let layers = (rows * self.inverse[1]) >> 20;
            Dim3 { x: linear - rows * x, y: rows - layers * y, z: layers }
        };
        Thread::new(linear, index)
    }

    /// Returns all threads of the block in the order of their linear indices.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Thread> {
        (0..self.threads).map(|linear| self.thread(linear))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_numbered_as_geometry_has_it() {
        for x in 1..=1024 {
            for y in (1..=1024 / x).filter(|y| y < &20 || y % 7 == 0) {
                let dim = Dim3::new(x, y, (1024 / (x * y)).min(64));
                for thread in Extent::new(dim).iter() {
                    assert_eq!(thread.index(), dim.index(thread.linear().into()), "{dim}");
                }
            }
        }
    }
}
