//! Copies large pageable memory to a GPU and back by several threads, through page-locked memory.
//!
//! The driver copies pageable memory with one thread, which is slower than the link.
//!
//! # Design
//!
//! Each thread has two chunks of page-locked memory. Only one copy at a time uses threads; the driver makes all other
//! copies.

use std::mem::MaybeUninit;
use std::num::NonZero;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::{ptr, thread};

use super::context::Context;
use super::events::{self, GpuEvent};
use super::page_locked::PageLockedMemory;
use super::sys::{self, Code};
use crate::error::Error;
use crate::objects::{Allocated, BackendEvent, PageLock};

/// The minimum number of bytes for a copy by threads. The driver makes smaller copies, because starting threads takes
/// time.
pub(super) const MIN_STAGED_BYTES: usize = 8 << 20;

/// The number of bytes of each copy between page-locked memory and the GPU.
const CHUNK: usize = 2 << 20;

/// The maximum number of threads. Each thread has two page-locked chunks. The thread fills one chunk while the GPU
/// copies the other.
const THREADS: usize = 6;

/// Page-locked memory for copies, allocated by the first copy.
#[derive(Default)]
pub(super) struct Staging(Mutex<Option<Allocated>>);

/// The chunks of a copy that no thread has claimed yet.
struct Chunks {
    bytes: usize,
    next: AtomicUsize,
}

impl Chunks {
    fn next(&self) -> Option<Range<usize>> {
        let start = self.next.fetch_add(CHUNK, Ordering::Relaxed);
        (start < self.bytes).then(|| start..self.bytes.min(start + CHUNK))
    }
}

/// The addresses of the two page-locked chunks of a thread.
#[derive(Clone, Copy)]
struct Slots([*mut u8; 2]);

// SAFETY: only one thread uses the chunks.
unsafe impl Send for Slots {}

/// The start of the host memory of a copy. Each thread accesses different chunks of it.
#[derive(Clone, Copy)]
struct Host(*mut u8);

// SAFETY: `Chunks::next` returns each chunk to one thread only.
unsafe impl Sync for Host {}

impl Host {
    fn at(&self, chunk: &Range<usize>) -> *mut u8 {
        self.0.wrapping_add(chunk.start)
    }
}

impl Staging {
    /// Copies `from` to the device, ordered as work of the device's own stream, and waits for the copy to finish.
    /// Returns false, without copying, if no page-locked memory is free.
    ///
    /// # Safety
    /// `to` must point to `from.len()` bytes of the context's memory, which no other code accesses during the call.
    pub(super) unsafe fn upload(
        &self,
        context: &Arc<Context>,
        to: u64,
        from: &[MaybeUninit<u8>],
    ) -> Result<bool, Error> {
        let host = Host(from.as_ptr().cast_mut().cast());
        self.by_threads(context, from.len(), |chunks, Slots(slots)| {
            let mut under_way = [const { None::<BackendEvent> }; 2];
            for turn in (0..2).cycle() {
                let Some(chunk) = chunks.next() else { break };
                if let Some(copied) = under_way[turn].take() {
                    // SAFETY: the event was recorded in this context.
                    unsafe { events::finish(context, &copied) }?;
                }
                // SAFETY: `from` contains this chunk. The slot is this thread's, is large enough, and its last copy is
                // done.
                unsafe { ptr::copy_nonoverlapping(host.at(&chunk), slots[turn], chunk.len()) };
                // SAFETY: the caller guarantees the bytes at `to`. The slot is not changed before the event after this
                // copy.
                unsafe { sys::copy_to_device_in(context.stream(), to + chunk.start as u64, slots[turn], chunk.len()) }
                    .map_err(|code| cannot(context, "upload", from.len(), code))?;
                under_way[turn] = Some(GpuEvent::record_order(context, context.stream())?);
            }
            Ok(())
        })
    }

    /// Copies `bytes` bytes from the device, ordered as work of the device's own stream, and waits for the copy to
    /// finish. Returns false, without copying, if no page-locked memory is free.
    ///
    /// # Safety
    /// `from` must point to `bytes` bytes of the context's memory, which no other code writes during the call. `to`
    /// must be valid for writes of that size.
    pub(super) unsafe fn download(
        &self,
        context: &Arc<Context>,
        to: *mut u8,
        from: u64,
        bytes: usize,
    ) -> Result<bool, Error> {
        let host = Host(to);
        self.by_threads(context, bytes, |chunks, Slots(slots)| {
            let mut under_way = [const { None::<(BackendEvent, Range<usize>)> }; 2];
            let mut is_last = 0;
            for turn in (0..2).cycle() {
                if let Some((copied, chunk)) = under_way[turn].take() {
                    // SAFETY: the event was recorded in this context.
                    unsafe { events::finish(context, &copied) }?;
                    // SAFETY: `to` has space for this chunk, which no other thread has, and the slot contains it.
                    unsafe { ptr::copy_nonoverlapping(slots[turn], host.at(&chunk), chunk.len()) };
                }
                let Some(chunk) = chunks.next() else {
                    // The copy of the other slot may still be running.
                    is_last += 1;
                    if is_last == 2 {
                        break;
                    }
                    continue;
                };
                // SAFETY: the caller guarantees the bytes at `from`. The slot is not accessed before the event after
                // this copy.
                unsafe { sys::copy_to_host_in(context.stream(), slots[turn], from + chunk.start as u64, chunk.len()) }
                    .map_err(|code| cannot(context, "download", bytes, code))?;
                under_way[turn] = Some((GpuEvent::record_order(context, context.stream())?, chunk));
            }
            Ok(())
        })
    }

    /// Copies all `bytes` bytes by several threads, chunk by chunk, and waits for the copies. Returns false if another
    /// copy uses the page-locked memory, or if no such memory can be allocated.
    fn by_threads(
        &self,
        context: &Arc<Context>,
        bytes: usize,
        work: impl Fn(&Chunks, Slots) -> Result<(), Error> + Sync,
    ) -> Result<bool, Error> {
        let Ok(mut memory) = self.0.try_lock() else { return Ok(false) };
        if memory.is_none() {
            *memory = PageLockedMemory::allocate(context, 2 * THREADS * CHUNK, PageLock::Copies).ok();
        }
        let Some(start) = memory.as_ref().and_then(|memory| memory.on_host) else { return Ok(false) };
        let threads = thread::available_parallelism().map_or(1, NonZero::get).min(THREADS);
        let chunks = Chunks { bytes, next: AtomicUsize::new(0) };
        let slots = |thread: usize| Slots([0, 1].map(|slot| start.as_ptr().wrapping_add((2 * thread + slot) * CHUNK)));
        let copy = |slots| {
            context.enter()?;
            work(&chunks, slots)
        };
        let copied = thread::scope(|scope| {
            let spawn = |thread| {
                thread::Builder::new().spawn_scoped(scope, {
                    let (copy, slots) = (&copy, slots(thread));
                    move || copy(slots)
                })
            };
            // If a thread cannot be started, the other threads copy its chunks.
            let others: Vec<_> = (1..threads).map_while(|thread| spawn(thread).ok()).collect();
            let own = copy(slots(0));
            others.into_iter().fold(own, |all, other| match other.join() {
                Ok(result) => all.and(result),
                Err(panic) => std::panic::resume_unwind(panic),
            })
        });
        // Waits also after an error, because the next copy overwrites the page-locked memory.
        let waited = context.synchronize();
        copied.and(waited).map(|()| true)
    }
}

fn cannot(context: &Context, what: &str, bytes: usize, code: Code) -> Error {
    context.error(code, || format!("{what} {bytes} bytes"), "")
}
