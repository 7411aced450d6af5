//! Items that the tests share: a kernel's identity, simulators, and arrays in simulated global memory.
#![allow(dead_code, reason = "each test binary uses its part")]

pub mod clusters;
pub mod races;

use std::marker::PhantomData;
use std::num::NonZeroUsize;
use std::sync::Mutex;

use bytemuck::Pod;
use simt::memory::Scope;
use simt::{KernelInfo, Schedule, Simulator, memory, thread};

/// A kernel without launch bounds.
pub static KERNEL: KernelInfo = KernelInfo::new("test_kernel", module_path!(), file!(), line!());

/// Returns a simulator with `workers` workers and the schedule that `seed` selects.
pub fn simulator(workers: usize, seed: u64) -> Simulator {
    Simulator::new().with_workers(NonZeroUsize::new(workers).unwrap()).with_seed(seed)
}

/// Returns simulators under which a correct kernel must always have the same results. They have one or several workers,
/// and the natural, random and hostile orders.
pub fn simulators() -> Vec<Simulator> {
    let seeded = [(1, 0), (1, 1), (2, 0), (2, 7), (4, 123_456_789)].map(|(workers, seed)| simulator(workers, seed));
    seeded.into_iter().chain(hostile()).collect()
}

/// Returns a simulator with two workers for each hostile order.
pub fn hostile() -> impl Iterator<Item = Simulator> {
    Schedule::HOSTILE.into_iter().map(|schedule| simulator(2, 0).with_schedule(schedule))
}

/// Returns the linear index of the calling thread in the grid, in which `x` varies fastest.
pub fn global_index() -> usize {
    let (block, grid) = (thread::block_idx(), thread::grid_dim());
    let (index, extent) = (thread::thread_idx(), thread::block_dim());
    let block = (block.z as usize * grid.y as usize + block.y as usize) * grid.x as usize + block.x as usize;
    let linear = (index.z as usize * extent.y as usize + index.y as usize) * extent.x as usize + index.x as usize;
    block * extent.count() as usize + linear
}

/// An array in simulated global memory.
pub struct Array<T> {
    memory: memory::Allocation,
    element: PhantomData<T>,
}

impl<T: Pod> Array<T> {
    pub fn new(values: &[T]) -> Self {
        let memory = memory::Allocation::new(size_of_val(values)).unwrap();
        let array = Self { memory, element: PhantomData };
        for (i, &value) in values.iter().enumerate() {
            array.store(i, value);
        }
        array
    }

    pub fn filled(len: usize, value: T) -> Self {
        Self::new(&vec![value; len])
    }

    pub fn len(&self) -> usize {
        self.memory.len() / size_of::<T>()
    }

    pub fn at(&self, i: usize) -> *mut T {
        assert!(i < self.len());
        self.memory.as_ptr().cast::<T>().wrapping_add(i)
    }

    #[track_caller]
    pub fn load(&self, i: usize) -> T {
        // SAFETY: `at` returns an address in the allocation, which lives as long as the array.
        unsafe { memory::load(self.at(i)) }
    }

    #[track_caller]
    pub fn store(&self, i: usize, value: T) {
        // SAFETY: `at` returns an address in the allocation, which lives as long as the array.
        unsafe { memory::store(self.at(i), value) }
    }

    #[track_caller]
    pub fn update(&self, i: usize, f: impl Fn(T) -> T) -> T {
        // SAFETY: `at` returns an address in the allocation, which lives as long as the array.
        unsafe { memory::update(self.at(i), f) }
    }

    #[track_caller]
    pub fn acquire(&self, i: usize) -> T {
        // SAFETY: `at` returns an address in the allocation, which lives as long as the array.
        unsafe { memory::load_scoped(self.at(i), true, Scope::Device) }
    }

    #[track_caller]
    pub fn release(&self, i: usize, value: T) {
        // SAFETY: `at` returns an address in the allocation, which lives as long as the array.
        unsafe { memory::store_scoped(self.at(i), value, true, Scope::Device) }
    }

    #[track_caller]
    pub fn load_relaxed(&self, i: usize) -> T {
        // SAFETY: `at` returns an address in the allocation, which lives as long as the array.
        unsafe { memory::load_scoped(self.at(i), false, Scope::Device) }
    }

    #[track_caller]
    pub fn store_relaxed(&self, i: usize, value: T) {
        // SAFETY: `at` returns an address in the allocation, which lives as long as the array.
        unsafe { memory::store_scoped(self.at(i), value, false, Scope::Device) }
    }

    pub fn to_vec(&self) -> Vec<T> {
        (0..self.len()).map(|i| self.load(i)).collect()
    }
}

/// A list to which threads append, in the order in which the threads run.
#[derive(Default)]
pub struct Trace(Mutex<Vec<usize>>);

impl Trace {
    /// Appends `event` to the list when the turn of the thread's block has come. The events are thus in the schedule's
    /// order.
    pub fn push(&self, event: usize) {
        memory::fence();
        self.0.lock().unwrap().push(event);
    }

    pub fn into_vec(self) -> Vec<usize> {
        self.0.into_inner().unwrap()
    }
}
