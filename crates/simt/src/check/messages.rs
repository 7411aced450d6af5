//! Which atomic writes of other threads each thread has observed, ordered or not. So a report can say which side of a message
//! lacks its fence.

use super::stamp::Stamp;
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

    /// Whether a thread of this block, `block`, has read what the thread of `earlier`, or another of its block, wrote after
    /// `earlier`; if so, whether that was acquired. `thread` itself is asked first, and then the threads that it may have met.
    pub(super) fn tells_of(&self, thread: u32, earlier: &Stamp, block: u32) -> Option<bool> {
        let is_later = |message: &&Message| {
            let from = &message.from;
            let is_its_own = from.thread() == earlier.thread();
            from.block == earlier.block && from.epoch >= earlier.epoch && (is_its_own || earlier.block != block)
        };
        let own = self.last[thread as usize].as_ref().filter(is_later);
        let others = || if earlier.block == block { None } else { self.last.iter().flatten().find(is_later) };
        own.or_else(others).map(|message| message.is_acquired)
    }
}
