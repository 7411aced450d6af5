//! Tracks the initialised bytes of a simulator's global memory.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The allocations of a simulator that checks launches, by address. Each allocation records its initialised bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct MemoryMap(Arc<Mutex<BTreeMap<usize, Arc<Written>>>>);

impl MemoryMap {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<usize, Arc<Written>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an allocation of `bytes` uninitialised bytes at `start`.
    pub(crate) fn add(&self, start: usize, bytes: usize) -> Arc<Written> {
        let written = Arc::new(Written::new(start, bytes));
        self.lock().insert(start, Arc::clone(&written));
        written
    }

    pub(crate) fn remove(&self, start: usize) {
        self.lock().remove(&start);
    }

    /// Returns the allocations that overlap the `bytes` bytes at `start`.
    pub(crate) fn overlapping(&self, start: usize, bytes: usize) -> Vec<Arc<Written>> {
        let allocations = self.lock();
        let before_end = allocations.range(..start.saturating_add(bytes)).rev().map(|(_, written)| written);
        before_end.take_while(|written| written.start + written.bytes > start).map(Arc::clone).collect()
    }
}

/// The initialised bytes of an allocation, one bit per byte.
#[derive(Debug)]
pub(crate) struct Written {
    start: usize,
    bytes: usize,
    bits: Box<[AtomicU64]>,
}

impl Written {
    fn new(start: usize, bytes: usize) -> Self {
        Self { start, bytes, bits: (0..bytes.div_ceil(64)).map(|_| AtomicU64::new(0)).collect() }
    }

    #[inline]
    pub(crate) fn contains(&self, address: usize) -> bool {
        address.wrapping_sub(self.start) < self.bytes
    }

    /// Returns the words that contain the bits of the `bytes` bytes at `address`, each with a mask of these bits.
    /// Ignores bytes outside of the allocation.
    fn masks(&self, address: usize, bytes: usize) -> impl Iterator<Item = (&AtomicU64, u64)> {
        let first = address.saturating_sub(self.start);
        let end = address.saturating_add(bytes).saturating_sub(self.start).min(self.bytes);
        let words = if end > first { first / 64..end.div_ceil(64) } else { 0..0 };
        words.map(move |word| {
            let low = first.saturating_sub(word * 64);
            let high = (end - word * 64).min(64);
            (&self.bits[word], (u64::MAX >> (64 - (high - low))) << low)
        })
    }

    /// Marks the `bytes` bytes at `address` as initialised. Ignores bytes outside of the allocation.
    pub(crate) fn set(&self, address: usize, bytes: usize) {
        for (word, mask) in self.masks(address, bytes) {
            word.fetch_or(mask, Ordering::Relaxed);
        }
    }

    /// Notes that the bytes of `from` were copied over the bytes of this allocation, up to the shorter length. A byte
    /// of this allocation becomes initialised if the copied byte is initialised, and uninitialised otherwise.
    pub(crate) fn copy(&self, from: &Self) {
        let bytes = self.bytes.min(from.bytes);
        for (word, mask) in self.masks(self.start, bytes) {
            word.fetch_and(!mask, Ordering::Relaxed);
        }
        for ((word, mask), from) in self.masks(self.start, bytes).zip(&from.bits) {
            word.fetch_or(from.load(Ordering::Relaxed) & mask, Ordering::Relaxed);
        }
    }

    /// Returns true if all of the `bytes` bytes at `address` are initialised. Ignores bytes outside of the allocation.
    pub(crate) fn is_all_set(&self, address: usize, bytes: usize) -> bool {
        self.masks(address, bytes).all(|(word, mask)| word.load(Ordering::Relaxed) & mask == mask)
    }

    /// Returns the word that contains the bits of an aligned access of up to 16 bytes, and the mask of these bits.
    #[inline]
    fn mask_of_access(&self, address: usize, bytes: usize) -> (&AtomicU64, u64) {
        let first = address - self.start;
        (&self.bits[first / 64], (u64::MAX >> (64 - bytes)) << (first % 64))
    }

    /// Marks the bytes of an aligned write of up to 16 bytes as initialised.
    #[inline]
    pub(crate) fn set_access(&self, address: usize, bytes: usize) {
        let (word, mask) = self.mask_of_access(address, bytes);
        if word.load(Ordering::Relaxed) & mask != mask {
            word.fetch_or(mask, Ordering::Relaxed);
        }
    }

    /// Returns true if all bytes of an aligned read of up to 16 bytes are initialised.
    #[inline]
    pub(crate) fn is_access_set(&self, address: usize, bytes: usize) -> bool {
        let (word, mask) = self.mask_of_access(address, bytes);
        word.load(Ordering::Relaxed) & mask == mask
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_initialised_where_its_source_is() {
        let (from, to) = (Written::new(1024, 200), Written::new(4096, 200));
        from.set(1024 + 60, 10);
        from.set(1024 + 199, 1);
        to.set(4096, 200);
        to.copy(&from);
        for offset in 0..200 {
            assert_eq!(to.is_all_set(4096 + offset, 1), matches!(offset, 60..70 | 199), "{offset}");
        }
        // Bytes beyond the end of a shorter source do not change.
        let short = Written::new(8192, 65);
        short.set(8192, 65);
        to.copy(&short);
        for offset in 0..200 {
            assert_eq!(to.is_all_set(4096 + offset, 1), matches!(offset, 0..70 | 199), "{offset}");
        }
    }
}
