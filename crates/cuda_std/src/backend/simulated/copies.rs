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
    value: Value,
}

/// The value of a copy, in its size.
#[derive(Clone, Copy, Debug)]
enum Value {
    Four(u32),
    Eight(u64),
    Sixteen(u128),
}

impl Value {
    /// Marks the destination of the copy as uninitialised.
    #[track_caller]
    fn discard(self, to: u32) {
        match self {
            Self::Four(_) => shared::discard::<u32>(to),
            Self::Eight(_) => shared::discard::<u64>(to),
            Self::Sixteen(_) => shared::discard::<u128>(to),
        }
    }

    /// Writes the value to the destination.
    #[track_caller]
    fn fill(self, to: u32) {
        match self {
            Self::Four(value) => shared::fill(to, value),
            Self::Eight(value) => shared::fill(to, value),
            Self::Sixteen(value) => shared::fill(to, value),
        }
    }
}

impl Copies {
    /// # Safety
    /// `from` must be valid for an access of 16 bytes.
    #[track_caller]
    pub unsafe fn begin(&mut self, from: *const [u32; 4], to: u32) {
        // SAFETY: the caller guarantees a valid source.
        let value = unsafe { memory::load(from.cast()) };
        self.begin_with(Value::Sixteen(value), to);
    }

    /// # Safety
    /// `from` must be valid for accesses of `count` elements. `N` elements have 4, 8 or 16 bytes.
    #[track_caller]
    pub unsafe fn begin_padded<T: Element, const N: usize>(&mut self, from: *const T, count: u32, to: u32) {
        // SAFETY: the caller guarantees a valid source, also for one access if all elements are read.
        unsafe {
            match size_of::<T>() * count as usize {
                16 => self.begin(from.cast(), to),
                _ => self.begin_by_elements::<T, N>(from, count, to),
            }
        }
    }

    /// # Safety
    /// `from` must be valid for accesses of `count` elements. `N` elements have 4, 8 or 16 bytes.
    #[track_caller]
    pub unsafe fn begin_by_elements<T: Element, const N: usize>(&mut self, from: *const T, count: u32, to: u32) {
        let mut vector = [T::zeroed(); N];
        for (i, element) in vector.iter_mut().enumerate().take(count as usize) {
            // SAFETY: the caller guarantees a valid source.
            *element = unsafe { memory::load(from.add(i)) };
        }
        let value = match size_of::<[T; N]>() {
            4 => Value::Four(bytemuck::pod_read_unaligned(bytemuck::bytes_of(&vector))),
            8 => Value::Eight(bytemuck::pod_read_unaligned(bytemuck::bytes_of(&vector))),
            _ => Value::Sixteen(bytemuck::pod_read_unaligned(bytemuck::bytes_of(&vector))),
        };
        self.begin_with(value, to);
    }

    #[track_caller]
    fn begin_with(&mut self, value: Value, to: u32) {
        value.discard(to);
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
            value.fill(to);
        }
        self.pending.drain(..arrived);
    }

    #[track_caller]
    pub fn arrive(&mut self, barrier: u32) {
        for Pending { to, value, .. } in self.pending.drain(..) {
            value.fill(to);
        }
        super::barrier_arrive(barrier);
    }
}
