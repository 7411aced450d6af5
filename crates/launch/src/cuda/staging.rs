//! Copies of much pageable memory, to a GPU and back: several threads copy it by way of page-locked memory.
//!
//! The driver does the same with one thread, which is slower than the link.

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
use crate::backend::{Allocated, Moment, PageLock};
use crate::error::Error;

/// Fewer bytes are left to the driver: threads take a while to start.
pub(super) const LEAST: usize = 8 << 20;

/// Bytes of a copy between page-locked memory and the GPU.
const CHUNK: usize = 2 << 20;

/// The most threads. Each has two chunks of page-locked memory, one of which it fills while the other is copied.
const THREADS: usize = 6;

/// Page-locked memory for copies, once there was one.
#[derive(Default)]
pub(super) struct Staging(Mutex<Option<Allocated>>);

/// The chunks of a copy that no thread has taken yet.
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

/// Where a thread's two chunks begin.
#[derive(Clone, Copy)]
struct Slots([*mut u8; 2]);

// SAFETY: one thread uses them.
unsafe impl Send for Slots {}

/// An address of the host's memory, of which threads access chunks that are all different.
#[derive(Clone, Copy)]
struct Host(*mut u8);

// SAFETY: as said there.
unsafe impl Sync for Host {}

impl Host {
    fn at(&self, chunk: &Range<usize>) -> *mut u8 {
        self.0.wrapping_add(chunk.start)
    }
}

impl Staging {
    /// Copies `from` to the device, after what its own stream was asked before, and waits until it is done. `false`
    /// where that cannot be done so.
    ///
    /// # Safety
    /// At `to` must be as many bytes of the context's memory, which nobody else accesses.
    pub(super) unsafe fn upload(
        &self,
        context: &Arc<Context>,
        to: u64,
        from: &[MaybeUninit<u8>],
    ) -> Result<bool, Error> {
        let host = Host(from.as_ptr().cast_mut().cast());
        self.by_threads(context, from.len(), |chunks, Slots(slots)| {
            let mut under_way = [const { None::<Moment> }; 2];
            for turn in (0..2).cycle() {
                let Some(chunk) = chunks.next() else { break };
                if let Some(copied) = under_way[turn].take() {
                    // SAFETY: it is of this context.
                    unsafe { events::finish(context, &copied) }?;
                }
                // SAFETY: `from` has this chunk; the slot is this thread's, has as many bytes, and is not copied any
                // more.
                unsafe { ptr::copy_nonoverlapping(host.at(&chunk), slots[turn], chunk.len()) };
                // SAFETY: there is room, says the caller; the slot stays as it is until the event after it has
                // happened.
                unsafe { sys::copy_to_device_in(context.stream(), to + chunk.start as u64, slots[turn], chunk.len()) }
                    .map_err(|code| cannot(context, "upload", from.len(), code))?;
                under_way[turn] = Some(GpuEvent::record_order(context, context.stream())?);
            }
            Ok(())
        })
    }

    /// Copies `bytes` bytes from the device, after what its own stream was asked before, and waits until it is done.
    /// `false` where that cannot be done so.
    ///
    /// # Safety
    /// At `from` must be that many bytes of the context's memory, which nobody writes; `to` must be valid for writing
    /// them.
    pub(super) unsafe fn download(
        &self,
        context: &Arc<Context>,
        to: *mut u8,
        from: u64,
        bytes: usize,
    ) -> Result<bool, Error> {
        let host = Host(to);
        self.by_threads(context, bytes, |chunks, Slots(slots)| {
            let mut under_way = [const { None::<(Moment, Range<usize>)> }; 2];
            let mut is_last = 0;
            for turn in (0..2).cycle() {
                if let Some((copied, chunk)) = under_way[turn].take() {
                    // SAFETY: it is of this context.
                    unsafe { events::finish(context, &copied) }?;
                    // SAFETY: `to` has room for this chunk, which is this thread's; the slot holds it.
                    unsafe { ptr::copy_nonoverlapping(slots[turn], host.at(&chunk), chunk.len()) };
                }
                let Some(chunk) = chunks.next() else {
                    // The other slot may still be under way.
                    is_last += 1;
                    if is_last == 2 {
                        break;
                    }
                    continue;
                };
                // SAFETY: the bytes are there, says the caller; nobody accesses the slot until the event has happened.
                unsafe { sys::copy_to_host_in(context.stream(), slots[turn], from + chunk.start as u64, chunk.len()) }
                    .map_err(|code| cannot(context, "download", bytes, code))?;
                under_way[turn] = Some((GpuEvent::record_order(context, context.stream())?, chunk));
            }
            Ok(())
        })
    }

    /// Lets several threads copy chunks of `bytes` bytes until there are none left, and waits for all of it. `false`
    /// where another copy has the page-locked memory, or there is none.
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
            // Where a thread cannot be had, the others copy its chunks.
            let others: Vec<_> = (1..threads).map_while(|thread| spawn(thread).ok()).collect();
            let own = copy(slots(0));
            others.into_iter().fold(own, |all, other| match other.join() {
                Ok(result) => all.and(result),
                Err(panic) => std::panic::resume_unwind(panic),
            })
        });
        // Also after a failure: the next copy overwrites the page-locked memory.
        let waited = context.synchronize();
        copied.and(waited).map(|()| true)
    }
}

fn cannot(context: &Context, what: &str, bytes: usize, code: Code) -> Error {
    context.error(code, || format!("{what} {bytes} bytes"), "")
}
