//! Records the last *message* of each thread: the last atomic write by another thread whose value the thread has read.
//! If a fence or a barrier is missing, the report of a race can then state whether the writer or the reader lacks it.

use super::clock::Clocks;
use super::stamp::Stamp;
use crate::faults::remedy::Remedy;
use crate::lanes::LANES;
use crate::watch::{Access, MemoryOrder};

/// A message: an atomic write whose value a thread has read.
#[derive(Clone, Copy)]
struct Message {
    from: Stamp,
    /// True if the reader used an acquiring load, or has executed a fence since the read.
    is_acquired: bool,
}

/// The last message that each thread of a block has read.
#[derive(Default)]
pub(super) struct Messages {
    last: Vec<Option<Message>>,
    is_used: bool,
    /// True if a thread has read a value that was written at another source site.
    is_between_sites: bool,
}

impl Messages {
    pub(super) fn begin(&mut self, threads: u32) {
        self.is_between_sites = false;
        if std::mem::take(&mut self.is_used) || self.last.len() != threads as usize {
            self.last.clear();
            self.last.resize(threads as usize, None);
        }
    }

    /// Records that `thread` has read the value of the atomic write `found`, if any. `stamp` is the access that read
    /// the value, and `access` is its kind.
    #[inline]
    pub(super) fn note(&mut self, thread: u32, stamp: &Stamp, found: Option<Stamp>, access: Access) {
        if let Some(from) = found
            && (from.block, from.thread()) != (stamp.block, stamp.thread())
        {
            let is_acquired = matches!(access, Access::AtomicLoad(MemoryOrder::AcquireRelease, _));
            self.last[thread as usize] = Some(Message { from, is_acquired });
            self.is_used = true;
            self.is_between_sites |= from.site() != stamp.site();
        }
    }

    /// Records that `thread` has executed a fence.
    #[inline]
    pub(super) fn fence(&mut self, thread: u32) {
        if let Some(message) = &mut self.last[thread as usize] {
            message.is_acquired = true;
        }
    }

    /// Returns the last atomic write by another thread that `thread` has read.
    pub(super) fn last(&self, thread: u32) -> Option<Stamp> {
        Some(self.last.get(thread as usize)?.as_ref()?.from)
    }

    /// Returns true if every value that a thread has read was written at the source site of the read. So it is if
    /// threads count by an atomic update, which publishes nothing.
    pub(super) fn only_count(&self) -> bool {
        !self.is_between_sites
    }

    /// Returns the synchronisation that is missing between the access `earlier` and `thread`, if an atomic write was
    /// meant to publish `earlier`. Returns `None` if no thread of the block of `clocks` has read such a write. A write
    /// that `thread` itself has read takes precedence over writes that other threads have read.
    pub(super) fn remedy(&self, thread: u32, earlier: &Stamp, clocks: &Clocks) -> Option<Remedy> {
        let message_after = |reader: u32| {
            let message = self.last.get(reader as usize)?.filter(|message| is_later(message, earlier))?;
            Some((reader, message))
        };
        let others = || (0..self.last.len() as u32).filter(|&other| other != thread).filter_map(message_after);
        let is_other_block = earlier.block != clocks.block;
        // Within a block a barrier is enough, unless each warp communicates through one of its lanes.
        let is_for_warp = |reader| is_one_warp(reader, thread) && !is_one_warp(thread, earlier.thread());
        let is_for_others = |&(reader, Message { from, .. }): &(u32, Message)| {
            is_other_block || is_for_warp(reader) && is_one_warp(from.thread(), earlier.thread())
        };
        if let Some(own) = message_after(thread) {
            let lacks_meeting = if is_for_others(&own) { before_release(own, earlier, clocks) } else { None };
            let is_between_two = is_other_block || own.1.from.thread() == earlier.thread();
            return lacks_meeting.or_else(|| is_between_two.then(|| fences(&own, thread, earlier, clocks)));
        }
        let has_acquired = |&(reader, _): &(u32, Message)| {
            let knows = clocks.has_learnt(reader, earlier.block, earlier.thread(), earlier.epoch);
            knows && (is_other_block || is_for_warp(reader))
        };
        if let Some((reader, _)) = others().find(has_acquired) {
            let is_of_warp = is_one_warp(reader, thread);
            return Some(if is_of_warp { Remedy::WarpAfterAcquire } else { Remedy::BarrierAfterAcquire });
        }
        let other = others().find(is_for_others)?;
        before_release(other, earlier, clocks)
            .or_else(|| is_other_block.then(|| fences(&other, thread, earlier, clocks)))
    }
}

fn is_one_warp(thread: u32, other: u32) -> bool {
    thread / LANES == other / LANES
}

/// Returns true if the message is a write by the block of `earlier` that may have been made after `earlier`.
fn is_later(message: &Message, earlier: &Stamp) -> bool {
    message.from.block == earlier.block && message.from.epoch >= earlier.epoch
}

/// Returns a remedy if the writer of the message did not synchronise, before the write, with the thread that made
/// `earlier`. Returns `None` if that thread is the writer. `reader` is the thread that has read the message.
fn before_release((reader, Message { from, .. }): (u32, Message), earlier: &Stamp, clocks: &Clocks) -> Option<Remedy> {
    // A barrier between the two would have ended the epoch, and the write would have released the earlier access.
    let is_released = clocks.latest_known(reader, from.block, from.thread()) >= from.epoch;
    let has_barrier = from.epoch > earlier.epoch && !is_released;
    if from.thread() == earlier.thread() || has_barrier || clocks.is_pending(reader, earlier) {
        return None;
    }
    let is_of_warp = is_one_warp(from.thread(), earlier.thread());
    Some(if is_of_warp { Remedy::WarpBeforeRelease } else { Remedy::BarrierBeforeRelease })
}

/// Returns the remedy for a missing fence of the writer, of the reader, or of both.
fn fences((_, message): &(u32, Message), thread: u32, earlier: &Stamp, clocks: &Clocks) -> Remedy {
    match (clocks.is_pending(thread, earlier), message.is_acquired) {
        (true, _) => Remedy::Acquire,
        (false, true) => Remedy::Release,
        (false, false) => Remedy::ReleaseAndAcquire,
    }
}
