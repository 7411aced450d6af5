//! Memory that a kernel crate declares once, by `#[address_space(…)]`: constant, global and shared.
//!
//! # Design
//!
//! A static in constant or global memory is an ordinary `static` of the crate with its initial value. The PTX has it
//! under its symbol, by which the host finds it; `cuda_builder` moves constants to `.const`. Each simulated device
//! copies the initial value into memory of its own at the first use.

use core::fmt;

use crate::backend::{self, StaticPlace};
use crate::{DeviceCopy, GlobalMut, Shared};

/// `len` elements of constant memory, which kernels read and only the host writes: `launch`'s `Device::set_static`.
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
/// Each device has its own, which begin as they are declared. Constant memory is at its best where all lanes of a warp
/// read the same element, and holds 64 KiB together.
pub struct Constant<T: 'static> {
    place: StaticPlace<T>,
    len: usize,
}

/// `len` elements of global memory that are there as long as the device, for kernels to read and write.
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
/// Each device has its own, which begin as they are given. The host reads and writes them by `launch`'s
/// `Device::read_static` and `Device::set_static`.
pub struct GlobalStatic<T: 'static> {
    place: StaticPlace<T>,
    len: usize,
}

/// An array in shared memory that is declared outside of a kernel, so that several functions use the same one.
///
/// ```
/// use cuda_std::{GlobalMut, address_space, kernel, thread};
///
/// /// Not initialised: what is on the right is not read.
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
            /// `len` elements at `place`.
            ///
            /// # Safety
            /// The place must have as many, each a value of `T`.
            #[doc(hidden)]
            pub const unsafe fn new(place: StaticPlace<T>, len: usize) -> Self {
                Self { place, len }
            }

            /// How many elements it has.
            #[inline(always)]
            pub const fn len(&self) -> usize {
                self.len
            }

            /// Whether it has no element.
            #[inline(always)]
            pub const fn is_empty(&self) -> bool {
                self.len == 0
            }

            /// What is known of it where it is declared.
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
    /// Element `index` (`ld.const`).
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
    /// The elements, in a kernel.
    #[inline(always)]
    #[track_caller]
    pub fn view(&'static self) -> GlobalMut<'static, T> {
        // SAFETY: the elements are there as long as the device.
        unsafe { GlobalMut::from_raw_parts(self.place.pointer().cast_mut(), self.len, backend::static_owner()) }
    }
}

impl<T: DeviceCopy> SharedStatic<T> {
    #[doc(hidden)]
    pub const fn new(array: fn() -> Shared<T>) -> Self {
        Self { array }
    }

    /// The block's array, in a kernel.
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
