//! Vectors of random numbers: each element a function of the seed and its index, so that no copy has to be kept for a
//! check; and work on all cores.

use std::marker::PhantomData;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::thread;

use launch::{Buffer, Device, Element};
use thiserror::Error;

use crate::algorithm::Fact;
use crate::bytes::Bytes;
use crate::numbers::Number;

/// One of the vectors that belong to a seed.
#[derive(Clone, Copy, Debug)]
pub struct RandomVector<T> {
    key: u64,
    elements: PhantomData<fn() -> T>,
}

impl<T: Number> RandomVector<T> {
    /// The vector of that number for `seed`.
    pub fn new(seed: u64, vector: u64) -> Self {
        Self { key: mix(mix(seed).wrapping_add(vector)), elements: PhantomData }
    }

    /// Element `index`.
    pub fn element(self, index: usize) -> T {
        T::from_random(self.bits(index))
    }

    /// The 64 random bits that element `index` is made of.
    pub fn bits(self, index: usize) -> u64 {
        mix(self.key.wrapping_add((index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)))
    }

    /// Fills `out` with the elements from the first on, on all cores.
    pub fn fill(self, out: &mut [T]) {
        fill_with(out, |index| self.element(index));
    }
}

/// Sets every element of `out` to what `element` gives for its index, on all cores.
pub fn fill_with<T: Send>(out: &mut [T], element: impl Fn(usize) -> T + Sync) {
    let part = part_length(out.len());
    // Each is locked once, by the thread whose part it is.
    let parts: Vec<Mutex<&mut [T]>> = out.chunks_mut(part).map(Mutex::new).collect();
    on_all_cores(parts.len(), &|number| {
        let mut out = parts[number].lock().unwrap_or_else(PoisonError::into_inner);
        for (index, value) in out.iter_mut().enumerate() {
            *value = element(number * part + index);
        }
    });
}

/// What `work` gives for each part of `0..len`, one part per core, in order.
pub fn in_parts<R: Send>(len: usize, work: impl Fn(Range<usize>) -> R + Sync) -> Vec<R> {
    let part = part_length(len);
    let results: Vec<Mutex<Option<R>>> = (0..len.div_ceil(part)).map(|_| Mutex::default()).collect();
    on_all_cores(results.len(), &|number| {
        let start = number * part;
        let result = work(start..(start + part).min(len));
        *results[number].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
    });
    results.into_iter().filter_map(|result| result.into_inner().unwrap_or_else(PoisonError::into_inner)).collect()
}

/// Calls `work` with each number below `parts`, each but the first in a thread of its own. Not generic: what is done on all
/// cores has many types, and starting threads is much code.
fn on_all_cores(parts: usize, work: &(dyn Fn(usize) + Sync)) {
    thread::scope(|scope| {
        for number in 1..parts {
            scope.spawn(move || work(number));
        }
        if parts > 0 {
            work(0);
        }
    });
}

/// The host has too little memory for a vector.
#[derive(Clone, PartialEq, Eq, Error)]
#[error("{elements} elements need {} of memory on the host, which are not to be had: {remedy}", Bytes(*bytes))]
pub struct HostMemoryError {
    /// Elements of the vector.
    pub elements: usize,
    /// Its bytes.
    pub bytes: u64,
    /// What to do.
    pub remedy: &'static str,
}

debug_as_displayed!(HostMemoryError);

/// What to do about a lack of memory.
pub const REMEDY: &str = "ask for less with --n or --size";

/// The same elements in memory of their own.
///
/// # Errors
/// When the device has too little memory.
pub fn copied<T: Element>(x: &Buffer<T>) -> Result<Buffer<T>, launch::Error> {
    let mut copy = x.device().alloc(x.len())?;
    copy.copy_from(x)?;
    Ok(copy)
}

/// A buffer that has `elements` from element `from` on.
///
/// # Errors
/// When the device has too little memory.
pub fn uploaded_from<T: Element>(device: &Device, from: usize, elements: &[T]) -> Result<Buffer<T>, launch::Error> {
    let mut buffer = device.alloc(elements.len().saturating_add(from))?;
    buffer.upload_range(from, elements)?;
    Ok(buffer)
}

/// What a title says of vectors that begin with element `from` of their buffers.
pub fn from_element(from: usize) -> String {
    if from == 0 { String::new() } else { format!(", from element {from}") }
}

/// The same for a report.
pub fn from_fact(from: usize) -> Option<(&'static str, Fact)> {
    (from > 0).then_some(("from", Fact::Count(from as u64)))
}

/// Zeroed memory for `n` elements, on the host.
///
/// # Errors
/// When the host has not that much; `remedy` says what to do.
pub fn host_memory<T: Element>(n: usize, remedy: &'static str) -> Result<Vec<T>, HostMemoryError> {
    let mut host = Vec::new();
    let bytes = (n as u64).saturating_mul(size_of::<T>() as u64);
    host.try_reserve_exact(n).map_err(|_| HostMemoryError { elements: n, bytes, remedy })?;
    host.resize(n, T::zeroed());
    Ok(host)
}

/// Elements of each core's part. Few elements are one part: to start a thread takes as long as thousands of them.
fn part_length(length: usize) -> usize {
    const FEW: usize = 4096;
    if length <= FEW {
        return length.max(1);
    }
    let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    length.div_ceil(cores)
}

/// The output function of SplitMix64: every bit of the result depends on every bit of `value`.
fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_spread_over_their_range() {
        for vector in 0..2 {
            let input = RandomVector::<f32>::new(1, vector);
            let values: Vec<f32> = (0..100_000).map(|index| input.element(index)).collect();
            assert!(values.iter().all(|value| (-1.0..1.0).contains(value)));
            let mean = values.iter().map(|&value| f64::from(value)).sum::<f64>() / 1e5;
            let square = values.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>() / 1e5;
            assert!(mean.abs() < 0.01 && (square - 1.0 / 3.0).abs() < 0.01, "{mean} {square}");
        }
        let first = |seed, vector| RandomVector::<u64>::new(seed, vector).element(0);
        assert!(first(1, 0) != first(2, 0) && first(1, 0) != first(1, 1) && first(0, 1) != first(1, 0));
    }

    #[test]
    fn every_element_is_filled_and_visited_once() {
        for length in [0, 1, 2, 3, 4096, 4097, 10_001] {
            let mut filled = vec![0; length];
            RandomVector::<u32>::new(9, 0).fill(&mut filled);
            assert!((0..length).all(|index| filled[index] == RandomVector::<u32>::new(9, 0).element(index)));
            let visited: Vec<usize> = in_parts(length, |part| part.collect::<Vec<_>>()).into_iter().flatten().collect();
            assert_eq!(visited, (0..length).collect::<Vec<_>>());
        }
    }
}
