//! Copies from global to shared memory that proceed while the thread does other work.
//!
//! # Design
//!
//! From sm_80 on, an asynchronous copy is `cp.async`. For older GPUs it is a load and a store. The target features of
//! the compilation decide between them.
//!
//! In the simulator, the destination of an asynchronous copy counts as written from the start of the copy. Readers see
//! it as uninitialised until the wait. The value arrives at the wait. The checks therefore report a kernel that reads
//! the destination too early or that overwrites elements which other threads still read.

use crate::barrier::Barrier;
use crate::{Element, Global, GlobalMut, Shared, backend};

/// A thread's asynchronous copies from global to shared memory, 16 bytes each (`cp.async`).
///
/// An asynchronous copy needs no register, and the thread does not stall. It does other work and [waits](Self::wait)
/// later. [`commit`](Self::commit) puts all copies that were begun since the last `commit` into one group. Groups
/// complete in order.
///
/// A copy is in progress from [`copy`](Self::copy) until the thread has waited for the copy's group. During that time
/// no thread may access the copy's 16 bytes of shared memory. After the wait this thread sees the copied bytes;
/// other threads see them after a barrier. A copy for which no thread waits may never arrive.
///
/// GPUs before sm_80 lack asynchronous copies; for them `copy` is a load and a store. `cuda_builder` prints a warning,
/// or also builds for sm_80. The simulator reads the value at `copy`, marks the destination as uninitialised, and
/// writes it at the wait. The checks report a read before the wait; without checks such a read returns garbage.
///
/// ```
/// use cuda_std::{AsyncCopies, Global, GlobalMut, kernel, shared_array, thread};
///
/// /// Copies `x` to `y` through shared memory, four elements per thread. Needs blocks of 64 threads.
/// #[kernel(max_threads = 64)]
/// pub fn copy(x: Global<u32>, y: GlobalMut<u32>) {
///     let vectors = shared_array![[u32; 4]; 64];
///     let (thread, i) = (thread::index_in_block() as usize, thread::index_1d());
///     let mut copies = AsyncCopies::new();
///     copies.copy(x, i, vectors, thread);
///     copies.commit();
///     copies.wait::<0>();
///     y.store_vec(i, vectors.load(thread));
/// }
/// # fn main() {}
/// ```
#[derive(Debug, Default)]
pub struct AsyncCopies(backend::Copies);

impl AsyncCopies {
    /// Creates a value with no copies in progress.
    #[inline(always)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins to copy elements `N·index..N·index + N` of `from`, 16 bytes in total, to element `slot` of `to`.
    ///
    /// `from` must start at a multiple of 16 bytes, as a whole buffer does.
    #[inline(always)]
    #[track_caller]
    pub fn copy<T: Element, const N: usize>(
        &mut self,
        from: Global<'_, T>,
        index: usize,
        to: Shared<[T; N]>,
        slot: usize,
    ) {
        from.check_vec(index, N);
        to.check(slot);
        // SAFETY: both indices were checked.
        unsafe { self.begin(from, index, to, slot) }
    }

    /// Begins the same copy as [`copy`](Self::copy), but from a buffer that the kernel also writes.
    ///
    /// If any thread, including this one, writes the elements before this thread has waited for the copy, the old or
    /// the new value may arrive. The simulator reads the elements at the call. It reports unordered writes of other
    /// threads, but not of the calling thread.
    #[inline(always)]
    #[track_caller]
    pub fn copy_written<T: Element, const N: usize>(
        &mut self,
        from: GlobalMut<'_, T>,
        index: usize,
        to: Shared<[T; N]>,
        slot: usize,
    ) {
        // SAFETY: this is the same memory; `copy` reads each element once.
        let from = unsafe { Global::from_raw_parts(from.as_ptr(), from.len(), from.device()) };
        self.copy(from, index, to, slot);
    }

    /// Begins the same copy as [`copy`](Self::copy), but without checks on a GPU.
    ///
    /// # Safety
    /// `N·index + N` must be at most the length of `from`. `from` must start at a multiple of 16 bytes. `slot` must be
    /// below the length of `to`.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn copy_unchecked<T: Element, const N: usize>(
        &mut self,
        from: Global<'_, T>,
        index: usize,
        to: Shared<[T; N]>,
        slot: usize,
    ) {
        if backend::CHECKS_EVERY_ACCESS {
            from.check_vec(index, N);
            to.check(slot);
        }
        // SAFETY: the caller guarantees that the indices are in bounds.
        unsafe { self.begin(from, index, to, slot) }
    }

    /// Begins to copy elements `first..first + N` of `from`, 16 bytes in total, to element `slot` of `to`, one
    /// element at a time. Elements past the end of `from` become zero.
    ///
    /// `from` may start at any element. Each element is a separate asynchronous copy and must have at least 4 bytes.
    #[inline(always)]
    #[track_caller]
    pub fn copy_by_elements<T: Element, const N: usize>(
        &mut self,
        from: Global<'_, T>,
        first: usize,
        to: Shared<[T; N]>,
        slot: usize,
    ) {
        to.check(slot);
        // SAFETY: `slot` was checked.
        unsafe { self.copy_by_elements_unchecked(from, first, to, slot) }
    }

    /// Begins the same copies as [`copy_by_elements`](Self::copy_by_elements), but without checks on a GPU.
    ///
    /// # Safety
    /// `slot` must be below the length of `to`.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn copy_by_elements_unchecked<T: Element, const N: usize>(
        &mut self,
        from: Global<'_, T>,
        first: usize,
        to: Shared<[T; N]>,
        slot: usize,
    ) {
        const {
            assert!(size_of::<[T; N]>() == 16, "an asynchronous copy must have 16 bytes: choose `N` accordingly");
            assert!(align_of::<T>() >= 4, "the element of an asynchronous copy must have at least 4 bytes");
        }
        if backend::CHECKS_EVERY_ACCESS {
            to.check(slot);
        }
        let count = from.len().saturating_sub(first).min(N) as u32;
        // SAFETY: `count` elements follow `first` in `from`, and the caller guarantees that `slot` is in bounds.
        unsafe { self.0.begin_by_elements::<T, N>(from.as_ptr().wrapping_add(first), count, to.address_of(slot)) }
    }

    /// Begins to copy elements `first..first + count` of `from` to element `slot` of `to`, and sets the remaining
    /// elements of the slot to zero (`cp.async` with a source size). A copy with `count` 0 reads nothing.
    ///
    /// The slot has 4, 8 or 16 bytes. Element `first` must be at a multiple of these bytes unless `count` is 0.
    #[inline(always)]
    #[track_caller]
    pub fn copy_padded<T: Element, const N: usize>(
        &mut self,
        from: Global<'_, T>,
        [first, count]: [usize; 2],
        to: Shared<[T; N]>,
        slot: usize,
    ) {
        to.check(slot);
        // SAFETY: `slot` was checked, and `checked` returns elements that `from` has.
        unsafe { self.copy_padded_unchecked(from, Self::checked::<T, N>(from, first, count), to, slot) }
    }

    /// Begins the same copy as [`copy_padded`](Self::copy_padded), but without checks on a GPU.
    ///
    /// # Safety
    /// `count` must be at most `N`. If it is not 0, `first + count` must be at most the length of `from`, and element
    /// `first` at a multiple of the slot's bytes. `slot` must be below the length of `to`.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn copy_padded_unchecked<T: Element, const N: usize>(
        &mut self,
        from: Global<'_, T>,
        [first, count]: [usize; 2],
        to: Shared<[T; N]>,
        slot: usize,
    ) {
        const {
            assert!(
                matches!(size_of::<[T; N]>(), 4 | 8 | 16),
                "a copy must have 4, 8 or 16 bytes: choose `N` accordingly"
            );
        }
        if backend::CHECKS_EVERY_ACCESS {
            Self::checked::<T, N>(from, first, count);
            to.check(slot);
        }
        // SAFETY: the caller guarantees that the elements are in bounds and aligned.
        unsafe { self.0.begin_padded::<T, N>(from.as_ptr().wrapping_add(first), count as u32, to.address_of(slot)) }
    }

    /// Returns `first` and `count`, after a check that `from` has these elements and that they are aligned.
    #[inline(always)]
    #[track_caller]
    fn checked<T: Element, const N: usize>(from: Global<'_, T>, first: usize, count: usize) -> [usize; 2] {
        if count != 0 {
            let part = from.part(first, count);
            backend::check_vec_alignment(part.as_ptr() as usize, size_of::<[T; N]>());
        }
        [first, count.min(N)]
    }

    /// # Safety
    /// The conditions of [`copy_unchecked`](Self::copy_unchecked) must hold.
    #[inline(always)]
    #[track_caller]
    unsafe fn begin<T: Element, const N: usize>(
        &mut self,
        from: Global<'_, T>,
        index: usize,
        to: Shared<[T; N]>,
        slot: usize,
    ) {
        const { assert!(size_of::<[T; N]>() == 16, "an asynchronous copy must have 16 bytes: choose `N` accordingly") };
        // SAFETY: the caller guarantees that the indices are in bounds.
        unsafe { self.0.begin(from.as_ptr().add(index * N).cast(), to.address_of(slot)) }
    }

    /// Puts all copies that were begun since the last `commit` into one group. If no copy was begun, the group is
    /// empty.
    #[inline(always)]
    pub fn commit(&mut self) {
        self.0.commit();
    }

    /// Waits until at most the last `PENDING` groups are still in progress. All earlier groups have then arrived.
    #[inline(always)]
    #[track_caller]
    pub fn wait<const PENDING: usize>(&mut self) {
        self.0.wait::<PENDING>();
    }

    /// Arrives at `barrier` as soon as all copies that this thread has begun are complete, without waiting for them
    /// (`cp.async.mbarrier.arrive.noinc`). Threads that wait for the phase of the barrier then see the copied bytes,
    /// and need neither [`wait`](Self::wait) nor a block barrier. The barrier's count includes this arrival.
    ///
    /// The simulator completes the copies at this call. It does not report an access of this thread between the call
    /// and its wait for the phase.
    #[doc(alias = "__mbarrier_cp_async_arrive_noinc")]
    #[inline(always)]
    #[track_caller]
    pub fn arrive(&mut self, barrier: Barrier) {
        self.0.arrive(barrier.address());
    }
}
