//! Functions for vectors in host memory: allocations that return an error on failure, and computations on all cores.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::thread;

use launch::Element;
use thiserror::Error;

use units::Bytes;

/// Sets each element of `out` to `element(index)`, on all cores.
pub fn fill_with<T: Send>(out: &mut [T], element: impl Fn(usize) -> T + Sync) {
    fill_segments(out, &|first, segment| {
        for (index, value) in segment.iter_mut().enumerate() {
            *value = element(first + index);
        }
    });
}

/// Divides `out` into one segment per core. For each segment, calls `fill` with the index of the segment's first
/// element and the segment itself. The argument `fill` is a `dyn Fn`, so this function is compiled once per `T` and not
/// once per closure.
fn fill_segments<T: Send>(out: &mut [T], fill: &(dyn Fn(usize, &mut [T]) + Sync)) {
    let len = segment_length(out.len());
    // Only the thread that fills a segment locks the segment's mutex, once.
    let segments: Vec<Mutex<&mut [T]>> = out.chunks_mut(len).map(Mutex::new).collect();
    on_all_cores(segments.len(), &|number| {
        fill(number * len, &mut segments[number].lock().unwrap_or_else(PoisonError::into_inner));
    });
}

/// Divides `0..len` into one segment per core, calls `work` on each, and returns the results in order.
pub fn in_parts<R: Send>(len: usize, work: impl Fn(Range<usize>) -> R + Sync) -> Vec<R> {
    in_segments(len, &work)
}

/// Does the work of [`in_parts`]. The argument `work` is a `dyn Fn`, so this function is compiled once per `R` and not
/// once per closure.
fn in_segments<R: Send>(len: usize, work: &(dyn Fn(Range<usize>) -> R + Sync)) -> Vec<R> {
    let segment = segment_length(len);
    let results: Vec<Mutex<Option<R>>> = (0..len.div_ceil(segment)).map(|_| Mutex::default()).collect();
    on_all_cores(results.len(), &|number| {
        let start = number * segment;
        let result = work(start..(start + segment).min(len));
        *results[number].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
    });
    let mut all = Vec::with_capacity(results.len());
    for result in results {
        all.extend(result.into_inner().unwrap_or_else(PoisonError::into_inner));
    }
    all
}

/// Calls `work` with each number below `parts`, one thread per number. The calling thread executes number 0. The
/// function is not generic, so that the code that starts threads is compiled only once.
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

/// The error of a failed allocation in host memory.
#[derive(Clone, PartialEq, Eq, Error)]
#[error("the host cannot allocate {} for {elements} elements: {remedy}", Bytes(*bytes))]
pub struct HostMemoryError {
    /// The number of elements to allocate.
    pub elements: usize,
    /// The number of bytes to allocate.
    pub bytes: u64,
    /// The advice at the end of the message, such as "choose a smaller --n".
    pub remedy: &'static str,
}

crate::debug_as_displayed!(HostMemoryError);

/// Returns zeroed host memory for `n` elements.
///
/// # Errors
/// Returns [`HostMemoryError`] if the allocation fails. The text of the error ends with `remedy`.
pub fn host_memory<T: Element>(n: usize, remedy: &'static str) -> Result<Vec<T>, HostMemoryError> {
    let mut host = Vec::new();
    let bytes = (n as u64).saturating_mul(size_of::<T>() as u64);
    host.try_reserve_exact(n).map_err(|_| HostMemoryError { elements: n, bytes, remedy })?;
    host.resize(n, T::zeroed());
    Ok(host)
}

/// Returns the length of the segments into which `length` elements are divided, one per core. If there are at most a
/// few thousand elements, all of them form one segment, because starting a thread takes as long as processing them.
fn segment_length(length: usize) -> usize {
    const FEW: usize = 4096;
    if length <= FEW {
        return length.max(1);
    }
    let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    length.div_ceil(cores)
}
