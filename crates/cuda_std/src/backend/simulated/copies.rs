//! Asynchronous copies in the simulator. Each value arrives as late as possible, at the wait.

extern crate std;

use std::vec::Vec;

use simt::{memory, shared};

use crate::Element;

/// The asynchronous copies of a thread.
#[derive(Debug, Default)]
pub struct Copies {
    /// The copies in progress, the oldest first.
    pending: Vec<Pending>,
    /// The number of groups that the thread has committed.
    groups: usize,
}

#[derive(Debug)]
struct Pending {
    group: usize,
    to: u32,
    value: u128,
}

impl Copies {
    /// # Safety
    /// `from` must be valid for an access of 16 bytes.
    #[track_caller]
    pub unsafe fn begin(&mut self, from: *const [u32; 4], to: u32) {
        // SAFETY: the caller guarantees a valid source.
        let value = unsafe { memory::load(from.cast()) };
        self.begin_with(value, to);
    }

    /// # Safety
    /// `from` must be valid for accesses of `count` elements. `N` elements have 16 bytes.
    #[track_caller]
    pub unsafe fn begin_by_elements<T: Element, const N: usize>(&mut self, from: *const T, count: u32, to: u32) {
        let mut vector = [T::zeroed(); N];
        for (i, element) in vector.iter_mut().enumerate().take(count as usize) {
            // SAFETY: the caller guarantees a valid source.
            *element = unsafe { memory::load(from.add(i)) };
        }
        self.begin_with(bytemuck::cast(vector), to);
    }

    #[track_caller]
    fn begin_with(&mut self, value: u128, to: u32) {
        shared::discard(to);
        self.pending.push(Pending { group: self.groups, to, value });
    }

    pub fn commit(&mut self) {
        self.groups += 1;
    }

    #[track_caller]
    pub fn wait<const PENDING: usize>(&mut self) {
        let arrived = self.pending.partition_point(|copy| copy.group + PENDING < self.groups);
        for index in 0..arrived {
            let Pending { to, value, .. } = self.pending[index];
            shared::fill(to, value);
        }
        self.pending.drain(..arrived);
    }

    #[track_caller]
    pub fn arrive(&mut self, barrier: u32) {
        for Pending { to, value, .. } in self.pending.drain(..) {
            shared::fill(to, value);
        }
        super::barrier_arrive(barrier);
    }
}
