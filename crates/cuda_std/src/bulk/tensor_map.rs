//! Tensor maps as kernel parameters, and the copies of boxes.

use core::marker::PhantomData;

use super::{BulkNumber, Reduction};
use crate::barrier::Barrier;
use crate::param::{Argument, KernelParam, Params};
use crate::tensor::{PanelLayout, RowMajorPart};
use crate::{Element, Shared, backend};

/// The maximum number of dimensions of a tensor map.
pub const MAX_DIMENSIONS: usize = 5;

/// A map of a tensor of `D` dimensions in global memory, from which kernels copy boxes to shared memory.
///
/// The host makes it: `device.tensor_map(view, shape)` of the crate `launch`. A kernel takes it by value, and writes
/// the type as `TensorMap<T, D>`. On a GPU it is a parameter of 128 bytes that the threads do not copy
/// (`__grid_constant__`).
///
/// Coordinates count elements, the innermost dimension first. A load's may be negative, and all may be too large:
/// elements outside of the tensor are 0. A box begins at a multiple of 16 bytes: the first coordinate of a box of `f32`
/// is a multiple of 4. The simulator reports other coordinates, which end a kernel on a GPU. The tile in shared memory
/// has the elements of a box in the same order. With a swizzle, the chunks of 16 bytes of the tile change places: the
/// bits of a chunk's number in 128 bytes are combined with the bits of the number of those 128 bytes, by an exclusive
/// disjunction.
///
/// The tile begins at a multiple of 128 bytes, or of eight times the swizzle's width ([`Shared::aligned`]). It has as
/// many elements as the box; with a swizzle, each row of the tile takes the swizzle's width, also if the rows of the
/// box are shorter. The bytes of the whole box arrive at the barrier, also those outside of the tensor.
pub struct TensorMap<'a, T, const D: usize> {
    handle: backend::MapHandle,
    elements: PhantomData<&'a [T]>,
}

/// A map like [`TensorMap`], to whose tensor kernels also copy boxes.
pub struct TensorMapMut<'a, T, const D: usize> {
    handle: backend::MapHandle,
    elements: PhantomData<&'a mut [T]>,
}

/// The methods that both maps share.
macro_rules! maps {
    ($($Map:ident $is_writable:literal)*) => {$(
        impl<T, const D: usize> Clone for $Map<'_, T, D> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<T, const D: usize> Copy for $Map<'_, T, D> {}

        // SAFETY: the map only describes memory, whose elements are plain data.
        unsafe impl<T: Element, const D: usize> Send for $Map<'_, T, D> {}
        // SAFETY: as for `Send`.
        unsafe impl<T: Element, const D: usize> Sync for $Map<'_, T, D> {}

        impl<T: Element, const D: usize> $Map<'_, T, D> {
            /// Creates a map from its handle.
            ///
            /// # Safety
            /// The handle must describe a tensor of `D` dimensions of elements of type `T` in memory that is borrowed
            /// as long as the map lives.
            #[doc(hidden)]
            #[inline(always)]
            pub unsafe fn from_handle(handle: backend::MapHandle) -> Self {
                const { assert!(D >= 1 && D <= MAX_DIMENSIONS, "a tensor map has 1 to 5 dimensions") };
                Self { handle, elements: PhantomData }
            }

            /// Begins to copy the box at the coordinates `at` to `to`. The bytes of the whole box arrive at `barrier`.
            #[doc(alias = "cp.async.bulk.tensor")]
            #[inline(always)]
            #[track_caller]
            pub fn load(&self, at: [i32; D], to: Shared<T>, barrier: Barrier) {
                // SAFETY: the host has checked the map. `to` is checked by the simulator.
                unsafe { backend::map_load(self.handle, at, to.address_of(0), to.len(), barrier.address(), None) }
            }

            /// Begins to copy the box at the coordinates `at` to the array that corresponds to `to` in each block of
            /// the cluster whose rank has a bit in `ranks`, as [`load_multicast`](super::load_multicast) does.
            #[inline(always)]
            #[track_caller]
            pub fn load_multicast(&self, at: [i32; D], to: Shared<T>, barrier: Barrier, ranks: u16) {
                let address = to.address_of(0);
                // SAFETY: the host has checked the map. `to` is checked by the simulator.
                unsafe { backend::map_load(self.handle, at, address, to.len(), barrier.address(), Some(ranks)) }
            }

            /// Begins to copy a matrix to the rows `to` of a [`SharedTile`](crate::tensor::SharedTile): the elements of
            /// the two innermost dimensions from the coordinates `at` on. The box of the map has the columns of a panel
            /// and as many rows as `to`, and its swizzle is the layout's. Each panel is one copy, and the bytes of all
            /// copies arrive at `barrier`.
            ///
            /// A map with another box or swizzle is a fault in the simulator. On a GPU the elements are then at wrong
            /// places.
            #[inline(always)]
            #[track_caller]
            pub fn load_rows<const R: usize, const ROWS: usize, const COLUMNS: usize, L: PanelLayout>(
                &self,
                at: [i32; D],
                to: RowMajorPart<T, R, ROWS, COLUMNS, L>,
                barrier: Barrier,
            ) {
                for (at, panel) in self.panels(at, to) {
                    self.load(at, panel, barrier);
                }
            }

            /// Begins to copy the same elements as [`load_rows`](Self::load_rows) to the corresponding rows in each
            /// block of the cluster whose rank has a bit in `ranks`.
            #[inline(always)]
            #[track_caller]
            pub fn load_rows_multicast<const R: usize, const ROWS: usize, const COLUMNS: usize, L: PanelLayout>(
                &self,
                at: [i32; D],
                to: RowMajorPart<T, R, ROWS, COLUMNS, L>,
                barrier: Barrier,
                ranks: u16,
            ) {
                for (at, panel) in self.panels(at, to) {
                    self.load_multicast(at, panel, barrier, ranks);
                }
            }

            /// Returns the coordinates and elements of each panel of `rows`.
            #[inline(always)]
            #[track_caller]
            fn panels<const R: usize, const ROWS: usize, const COLUMNS: usize, L: PanelLayout>(
                &self,
                at: [i32; D],
                rows: RowMajorPart<T, R, ROWS, COLUMNS, L>,
            ) -> impl Iterator<Item = ([i32; D], Shared<T>)> + use<T, D, R, ROWS, COLUMNS, L> {
                const {
                    assert!(D >= 2, "a tile has two dimensions");
                    assert!(R <= 256, "a box has at most 256 rows: copy the rows in parts");
                }
                let panel_columns = RowMajorPart::<T, R, ROWS, COLUMNS, L>::PANEL;
                backend::check_map_tile(self.handle, [panel_columns, R], L::SWIZZLE);
                (0..RowMajorPart::<T, R, ROWS, COLUMNS, L>::PANELS).map(move |panel| {
                    let mut at = at;
                    at[0] += (panel * panel_columns) as i32;
                    (at, rows.panel(panel))
                })
            }

            /// Prefetches the box at the coordinates `at` to the L2 cache. The simulator only checks the coordinates.
            #[inline(always)]
            #[track_caller]
            pub fn prefetch(&self, at: [i32; D]) {
                // SAFETY: the host has checked the map.
                unsafe { backend::map_prefetch(self.handle, at) }
            }

            /// Prefetches the map itself, before its first use. The simulator does not prefetch.
            #[doc(alias = "prefetch.tensormap")]
            #[inline(always)]
            pub fn prefetch_map(&self) {
                backend::map_prefetch_map(self.handle);
            }
        }

        // SAFETY: `Head` is the whole map. `encode` appends one parameter. `#[kernel]` gives the body the parameter's
        // address and does not call `from_parts`.
        unsafe impl<T: Element, const D: usize> KernelParam for $Map<'_, T, D> {
            type Head = backend::MapParameter;
            type Tail = ();

            #[inline(always)]
            unsafe fn from_parts(head: Self::Head, _tail: ()) -> Self {
                // SAFETY: the host has encoded a map of this type.
                unsafe { Self::from_handle(backend::map_of_parameter::<T>(head)) }
            }
        }

        // SAFETY: `encode` appends one parameter and records the device and the memory.
        unsafe impl<T: Element, const D: usize> Argument for $Map<'_, T, D> {
            type For<'a> = $Map<'a, T, D>;

            #[inline]
            fn encode(self, name: &'static str, params: &mut Params) {
                backend::encode_map(self.handle, name, size_of::<T>(), $is_writable, params);
            }
        }
    )*};
}

maps! {
    TensorMap false
    TensorMapMut true
}

impl<T: Element, const D: usize> TensorMapMut<'_, T, D> {
    /// Begins to copy the tile `from` to the box at the coordinates `at`, as part of the calling thread's next group.
    /// Elements outside of the tensor are not written. No coordinate is negative.
    #[inline(always)]
    #[track_caller]
    pub fn store(&self, from: Shared<T>, at: [i32; D]) {
        // SAFETY: the host has checked the map. `from` is checked by the simulator.
        unsafe { backend::map_store(self.handle, at, from.address_of(0), from.len()) }
    }

    /// Begins to combine the tile `from` with the elements of the box at the coordinates `at`, as
    /// [`reduce`](super::reduce) does.
    #[doc(alias = "cp.reduce.async.bulk.tensor")]
    #[inline(always)]
    #[track_caller]
    pub fn reduce<R: Reduction<T>>(&self, _reduction: R, from: Shared<T>, at: [i32; D])
    where
        T: BulkNumber,
    {
        // SAFETY: the host has checked the map. `from` is checked by the simulator.
        unsafe { backend::map_reduce::<T, R, D>(self.handle, at, from.address_of(0), from.len()) }
    }
}
