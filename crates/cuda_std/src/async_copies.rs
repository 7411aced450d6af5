//! Copies from global to shared memory that go on while the thread does other work.
//!
//! # Design
//!
//! From sm_80 on a copy is `cp.async`, before that a load and a store. The compiler's target features choose.
//!
//! In the simulator a copy's destination counts as written, and as unwritten to readers, from the moment the copy
//! begins. Its value arrives at the wait. A kernel that reads too early, or copies over elements that other threads
//! still read, is therefore reported.

use crate::{Element, Global, GlobalMut, Shared, backend};

/// A thread's asynchronous copies from global to shared memory, 16 bytes each (`cp.async`).
///
/// A copy needs no register and nobody waits for it: the thread does other work, and later [waits](Self::wait). The
/// copies that were begun since the last [`commit`](Self::commit) become a group, and groups are waited for in their
/// order.
///
/// A copy is under way from [`copy`](Self::copy) on until its group has been waited for. In between nobody may read or
/// write its 16 bytes of shared memory. Then this thread sees them; other threads see them after a barrier. A copy that
/// is not waited for may never arrive.
///
/// GPUs before sm_80 have no such copies: there `copy` loads and stores. `cuda_builder` says so, or builds for sm_80 as
/// well. In the simulator the value is read at `copy`, which leaves nothing in its place, and written when its group is
/// waited for and no earlier: a kernel that reads before that is reported by the checks, and finds nonsense without
/// them.
///
/// ```
/// use cuda_std::{AsyncCopies, Global, GlobalMut, kernel, shared_array, thread};
///
/// /// `y` = `x`, a vector of four per thread, through shared memory. Blocks of 64 threads.
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
    /// None under way.
    #[inline(always)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins to copy elements `N·index..N·index + N` of `from`, 16 bytes, to element `slot` of `to`.
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

    /// As [`copy`](Self::copy), from a buffer that the kernel also writes.
    ///
    /// What is written there before the copy has been waited for, by this thread too, may or may not be copied. The
    /// simulator, which reads at once, reports it of other threads that write without an order, and not of this one.
    #[inline(always)]
    #[track_caller]
    pub fn copy_written<T: Element, const N: usize>(
        &mut self,
        from: GlobalMut<'_, T>,
        index: usize,
        to: Shared<[T; N]>,
        slot: usize,
    ) {
        // SAFETY: the same elements, of which one is read here, once.
        let from = unsafe { Global::from_raw_parts(from.as_ptr(), from.len(), from.device()) };
        self.copy(from, index, to, slot);
    }

    /// As [`copy`](Self::copy), unchecked on a GPU.
    ///
    /// # Safety
    /// `N·index + N` must be at most the length of `from`, which must start at a multiple of 16 bytes, and `slot` be
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
        // SAFETY: the caller vouches for the indices.
        unsafe { self.begin(from, index, to, slot) }
    }

    /// Begins to copy elements `first..first + N` of `from`, 16 bytes, to element `slot` of `to`: one by one, as far as
    /// `from` goes, and zeros in the place of those past its end.
    ///
    /// `from` may start anywhere. It takes as many copies as there are elements, and elements of at least 4 bytes.
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

    /// As [`copy_by_elements`](Self::copy_by_elements), unchecked on a GPU.
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
            assert!(size_of::<[T; N]>() == 16, "an asynchronous copy has 16 bytes");
            assert!(align_of::<T>() >= 4, "an asynchronous copy of an element has at least 4 bytes");
        }
        if backend::CHECKS_EVERY_ACCESS {
            to.check(slot);
        }
        let count = from.len().saturating_sub(first).min(N) as u32;
        // SAFETY: so many elements follow in `from`; the caller vouches for `slot`.
        unsafe { self.0.begin_by_elements::<T, N>(from.as_ptr().wrapping_add(first), count, to.address_of(slot)) }
    }

    /// # Safety
    /// As for [`copy_unchecked`](Self::copy_unchecked).
    #[inline(always)]
    #[track_caller]
    unsafe fn begin<T: Element, const N: usize>(
        &mut self,
        from: Global<'_, T>,
        index: usize,
        to: Shared<[T; N]>,
        slot: usize,
    ) {
        const { assert!(size_of::<[T; N]>() == 16, "an asynchronous copy has 16 bytes") };
        // SAFETY: the caller vouches for the indices.
        unsafe { self.0.begin(from.as_ptr().add(index * N).cast(), to.address_of(slot)) }
    }

    /// Makes a group of the copies begun since the last `commit`; of none, an empty group.
    #[inline(always)]
    pub fn commit(&mut self) {
        self.0.commit();
    }

    /// Waits until at most the last `PENDING` groups are under way, and all before them have arrived.
    #[inline(always)]
    #[track_caller]
    pub fn wait<const PENDING: usize>(&mut self) {
        self.0.wait::<PENDING>();
    }
}
