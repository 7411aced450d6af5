//! Vectors in host memory: allocation that can fail, and work on all cores.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::thread;

use launch::Element;
use thiserror::Error;

use units::Bytes;

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

crate::debug_as_displayed!(HostMemoryError);

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
