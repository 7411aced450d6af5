//! Which atomic writes of other threads each thread has observed, ordered or not. So a report can say which side of a
//! message lacks its fence, or its barrier.

use super::clock::Clocks;
use super::stamp::Stamp;
use crate::lanes::LANES;
use crate::remedy::Remedy;
use crate::watch::{Access, MemoryOrder};

/// The last atomic write of another thread that a thread has read.
#[derive(Clone, Copy)]
struct Message {
    from: Stamp,
    /// By an acquiring load, or before a fence.
    is_acquired: bool,
}

/// The last message of each thread of a block.
#[derive(Default)]
pub(super) struct Messages {
    last: Vec<Option<Message>>,
    is_used: bool,
}

impl Messages {
    pub(super) fn begin(&mut self, threads: u32) {
        if std::mem::take(&mut self.is_used) || self.last.len() != threads as usize {
            self.last.clear();
            self.last.resize(threads as usize, None);
        }
    }

    /// `thread` makes the atomic `access`, as `stamp`, and has found the atomic write `found`.
    #[inline]
    pub(super) fn note(&mut self, thread: u32, stamp: &Stamp, found: Option<Stamp>, access: Access) {
        if let Some(from) = found
            && (from.block, from.thread()) != (stamp.block, stamp.thread())
        {
            let is_acquired = matches!(access, Access::AtomicLoad(MemoryOrder::AcquireRelease, _));
            self.last[thread as usize] = Some(Message { from, is_acquired });
            self.is_used = true;
        }
    }

    /// `thread` makes a fence.
    #[inline]
    pub(super) fn fence(&mut self, thread: u32) {
        if let Some(message) = &mut self.last[thread as usize] {
            message.is_acquired = true;
        }
    }

    /// What is missing where threads have told each other of `earlier` by an atomic write, and `thread`, of the block
    /// of `clocks`, is not ordered after it all the same. Nothing, where none has been told. What `thread` itself has
    /// read counts first.
    pub(super) fn remedy(&self, thread: u32, earlier: &Stamp, clocks: &Clocks) -> Option<Remedy> {
        let told = |reader: u32| {
            let message = self.last.get(reader as usize)?.filter(|message| is_later(message, earlier))?;
            Some((reader, message))
        };
        let others = || (0..self.last.len() as u32).filter(|&other| other != thread).filter_map(told);
        let is_other_block = earlier.block != clocks.block;
        // Within a block a barrier between the two serves as well, but where warps communicate, each by one lane for
        // all.
        let is_for_warp = |reader| is_one_warp(reader, thread) && !is_one_warp(thread, earlier.thread());
        let is_for_others = |&(reader, Message { from, .. }): &(u32, Message)| {
            is_other_block || is_for_warp(reader) && is_one_warp(from.thread(), earlier.thread())
        };
        if let Some(own) = told(thread) {
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

/// Whether the message is of a write that may come after `earlier`: by its thread, or another of its block.
fn is_later(message: &Message, earlier: &Stamp) -> bool {
    message.from.block == earlier.block && message.from.epoch >= earlier.epoch
}

/// What is missing if another thread than that of `earlier` has made the write that `reader` has read, and has not had
/// `earlier` in its past.
fn before_release((reader, Message { from, .. }): (u32, Message), earlier: &Stamp, clocks: &Clocks) -> Option<Remedy> {
    // A barrier between the two would have ended the epoch, and what the write releases would have the earlier access
    // in it.
    let is_released = clocks.heard_of(reader, from.block, from.thread()) >= from.epoch;
    let has_barrier = from.epoch > earlier.epoch && !is_released;
    if from.thread() == earlier.thread() || has_barrier || clocks.is_pending(reader, earlier) {
        return None;
    }
    let is_of_warp = is_one_warp(from.thread(), earlier.thread());
    Some(if is_of_warp { Remedy::WarpBeforeRelease } else { Remedy::BarrierBeforeRelease })
}

/// Which side lacks its fence.
fn fences((_, message): &(u32, Message), thread: u32, earlier: &Stamp, clocks: &Clocks) -> Remedy {
    match (clocks.is_pending(thread, earlier), message.is_acquired) {
        (true, _) => Remedy::Acquire,
        (false, true) => Remedy::Release,
        (false, false) => Remedy::ReleaseAndAcquire,
    }
}
