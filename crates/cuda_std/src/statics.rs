//! Constant, global and shared memory that a kernel crate declares with `#[address_space(…)]`.
//!
//! # Design
//!
//! A static in constant or global memory is an ordinary `static` with its initial value. The host finds it in the PTX
//! by its symbol, and `cuda_builder` moves constants to `.const`. Each simulated device copies the initial value at the
//! first use.

use core::fmt;

use crate::backend::{self, StaticPlace};
use crate::{DeviceCopy, GlobalMut, Shared};

/// An array of `len` elements in constant memory. Kernels only read it. The host writes it by `launch`'s
/// `Device::set_static`.
///
/// ```
/// use cuda_std::{GlobalMut, address_space, kernel, thread};
///
/// #[address_space(constant)]
/// static WEIGHTS: [f32; 3] = [0.25, 0.5, 0.25];
///
/// #[kernel]
/// pub fn weigh(y: GlobalMut<f32>) {
///     let i = thread::index_1d();
///     y.store(i, WEIGHTS.load(i % 3));
/// }
/// # fn main() {}
/// ```
///
/// Each device has its own elements, which start with the declared values. Constant memory is fastest if all lanes of a
/// warp read the same element. All constants of a module may have at most 64 KiB.
pub struct Constant<T: 'static> {
    place: StaticPlace<T>,
    len: usize,
}

/// An array of `len` elements in global memory that exists as long as the device. Kernels read and write it.
///
/// ```
/// use cuda_std::{address_space, kernel};
///
/// #[address_space(global)]
/// static mut LAUNCHES: u32 = 0;
///
/// #[kernel]
/// pub fn count() {
///     LAUNCHES.view().atomic_add(0, 1);
/// }
/// # fn main() {}
/// ```
///
/// Each device has its own elements, which start with the declared values. The host accesses them by `launch`'s
/// `Device::read_static` and `Device::set_static`.
pub struct GlobalStatic<T: 'static> {
    place: StaticPlace<T>,
    len: usize,
}

/// An array in shared memory that is declared outside of a kernel, so that several functions can use it.
///
/// ```
/// use cuda_std::{GlobalMut, address_space, kernel, thread};
///
/// /// The array is not initialised; the initial value is ignored.
/// #[address_space(shared)]
/// static mut TILE: [u32; 32] = [0; 32];
///
/// fn neighbour(thread: usize) -> u32 {
///     TILE.get().load((thread + 1) % 32)
/// }
///
/// #[kernel(max_threads = 32)]
/// pub fn rotate(y: GlobalMut<u32>) {
///     let thread = thread::thread_idx_x() as usize;
///     TILE.get().store(thread, y.load(thread));
///     thread::sync_threads();
///     y.store(thread, neighbour(thread));
/// }
/// # fn main() {}
/// ```
pub struct SharedStatic<T> {
    array: fn() -> Shared<T>,
}

macro_rules! of_places {
    ($($name:ident)*) => {$(
        impl<T: DeviceCopy> $name<T> {
            /// Creates a static of the `len` elements at `place`.
            ///
            /// # Safety
            /// There must be `len` elements at `place`, each a valid `T`.
            #[doc(hidden)]
            pub const unsafe fn new(place: StaticPlace<T>, len: usize) -> Self {
                Self { place, len }
            }

            /// Returns the number of elements.
            #[inline(always)]
            pub const fn len(&self) -> usize {
                self.len
            }

            /// Returns true if the static has no elements.
            #[inline(always)]
            pub const fn is_empty(&self) -> bool {
                self.len == 0
            }

            /// Returns the static's address and its description for the host.
            #[doc(hidden)]
            pub fn place(&'static self) -> &'static StaticPlace<T> {
                &self.place
            }
        }

        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).field("len", &self.len).finish_non_exhaustive()
            }
        }
    )*};
}

of_places! { Constant GlobalStatic }

impl<T: DeviceCopy> Constant<T> {
    /// Loads element `index` (`ld.const`).
    #[inline(always)]
    #[track_caller]
    pub fn load(&'static self, index: usize) -> T {
        let pointer = self.place.pointer();
        if index >= self.len {
            backend::out_of_bounds_global(pointer as usize, index, self.len);
        }
        // SAFETY: the index was checked.
        unsafe { backend::constant_load(pointer.wrapping_add(index)) }
    }
}

impl<T: DeviceCopy> GlobalStatic<T> {
    /// Returns a view of the elements. Only kernels may call this.
    #[inline(always)]
    #[track_caller]
    pub fn view(&'static self) -> GlobalMut<'static, T> {
        // SAFETY: the elements exist as long as the device.
        unsafe { GlobalMut::from_raw_parts(self.place.pointer().cast_mut(), self.len, backend::static_owner()) }
    }
}

impl<T: DeviceCopy> SharedStatic<T> {
    #[doc(hidden)]
    pub const fn new(array: fn() -> Shared<T>) -> Self {
        Self { array }
    }

    /// Returns the block's array. Only kernels may call this.
    #[inline(always)]
    pub fn get(&self) -> Shared<T> {
        (self.array)()
    }
}

impl<T> fmt::Debug for SharedStatic<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedStatic").finish_non_exhaustive()
    }
}
