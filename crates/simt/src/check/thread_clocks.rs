//! The vector clocks of a thread, which atomics and fences change.

use super::vector_clock::VectorClock;

/// The vector clocks of a thread: the accesses that the thread knows, and the accesses that the thread publishes, by
/// atomics and fences.
///
/// Barriers and warp operations join all clocks of the threads that meet. The joined clocks include `fenced` and
/// `pending`, because PTX has one order of all fences of a scope. A fence before a barrier therefore also orders
/// another thread's atomic write after the barrier. A fence after a barrier also orders another thread's atomic read
/// before the barrier.
#[derive(Clone, Debug, Default)]
pub(super) struct VectorClocks {
    /// The accesses that happened before the thread's next access.
    pub(super) known: VectorClock,
    /// The value of `known` at the thread's last fence of device scope. The thread's atomic writes publish this clock.
    pub(super) fenced: VectorClock,
    /// The value of `known` at the thread's last fence of block scope, if no fence of device scope followed. The
    /// thread's atomic writes publish this clock to their block.
    pub(super) fenced_in_block: Option<VectorClock>,
    /// The clocks that the thread has read atomically but not yet acquired. These clocks join `known` at the next fence
    /// of device scope.
    pub(super) pending: VectorClock,
    /// The clocks that the thread has read atomically from writes of its own block but not yet acquired. These clocks
    /// join `known` at the next fence of any scope.
    pub(super) pending_in_block: VectorClock,
    /// The thread's last atomic read of an address for which clocks were published.
    pub(super) last_read: Option<LastRead>,
    /// Earlier relaxed reads whose clocks the thread has not acquired, joined for each address.
    pub(super) earlier_reads: Vec<LastRead>,
}

/// The maximum number of addresses in [`VectorClocks::earlier_reads`].
const MAX_EARLIER_READS: usize = 16;
/// Stands for the addresses of further reads. An acquiring load of any address then acquires their clocks.
const ANY_ADDRESS: usize = usize::MAX;

/// An atomic read, with the clocks of its address.
#[derive(Clone, Debug)]
pub(super) struct LastRead {
    pub(super) address: usize,
    /// The clocks published at the address: first the clock for all threads of the device, then the clock for the
    /// block.
    pub(super) held: [VectorClock; 2],
    /// True if the thread has acquired the clocks in `held`.
    pub(super) is_known: bool,
}

impl VectorClocks {
    /// Returns the accesses that the thread knew at its last fence of any scope.
    pub(super) fn fenced_in_block(&self) -> &VectorClock {
        self.fenced_in_block.as_ref().unwrap_or(&self.fenced)
    }

    /// Makes these clocks, which are joined from those of several threads, the clocks of a thread whose own fences
    /// publish `fenced`. The fences of the other threads count for the block only.
    pub(super) fn keep_fence(&mut self, fenced: &VectorClock) {
        if !self.fenced.is_same(fenced) {
            self.fenced_in_block = Some(self.fenced_in_block().clone());
            self.fenced = fenced.clone();
        }
    }

    /// Keeps `last`, a read that was the thread's last one, until an acquiring load of its address or a fence.
    pub(super) fn keep_read(&mut self, last: LastRead) {
        if last.is_known || last.held.iter().all(VectorClock::is_empty) {
            return;
        }
        let is_full = self.earlier_reads.len() >= MAX_EARLIER_READS;
        let index = self.earlier_reads.iter().position(|read| read.address == last.address);
        match index.or_else(|| is_full.then_some(0)) {
            Some(index) => {
                let read = &mut self.earlier_reads[index];
                if read.address != last.address {
                    read.address = ANY_ADDRESS;
                }
                read.held.iter_mut().zip(&last.held).for_each(|(held, last)| held.join(last));
            }
            None => self.earlier_reads.push(last),
        }
    }

    /// Acquires the clocks that relaxed reads of `address` have read. `for_device` is false if the acquiring load has
    /// block scope.
    pub(super) fn acquire_reads(&mut self, address: usize, for_device: bool) {
        let known = &mut self.known;
        self.earlier_reads.retain(|read| {
            let is_read = read.address == address || read.address == ANY_ADDRESS;
            if is_read {
                read.held[usize::from(!for_device)..].iter().for_each(|held| known.join(held));
            }
            !(is_read && for_device)
        });
    }

    /// Forgets the relaxed reads, because a fence has acquired their clocks.
    pub(super) fn forget_reads(&mut self) {
        self.last_read = None;
        self.earlier_reads.clear();
    }

    pub(super) fn join(&mut self, other: &Self) {
        // If both sides have published all that they know, `known` and `fenced` are equal and are joined only once.
        let is_known = |fenced: [&VectorClock; 2]| fenced[0].is_same(&self.known) && fenced[1].is_same(&other.known);
        let all_fenced = is_known([&self.fenced, &other.fenced]);
        let all_in_block = is_known([self.fenced_in_block(), other.fenced_in_block()]);
        self.known.join(&other.known);
        if self.fenced_in_block.is_some() || other.fenced_in_block.is_some() {
            self.fenced_in_block = Some(if all_in_block {
                self.known.clone()
            } else {
                let mut fenced = self.fenced_in_block().clone();
                fenced.join(other.fenced_in_block());
                fenced
            });
        }
        if all_fenced {
            self.fenced = self.known.clone();
        } else {
            self.fenced.join(&other.fenced);
        }
        self.pending.join(&other.pending);
        self.pending_in_block.join(&other.pending_in_block);
    }
}
