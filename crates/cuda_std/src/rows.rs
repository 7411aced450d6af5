//! Rows of two-dimensional arrays: views and shared arrays whose elements are arrays.

use crate::{DeviceCopy, ElementIndex, Global, GlobalMut, Shared, backend};

impl<T: DeviceCopy, const N: usize> Shared<[T; N]> {
    /// Returns row `index`, the `N` elements of the array at this index. In a kernel, `tile[1][2]` is
    /// `tile.row(1).load(2)`.
    #[inline(always)]
    #[track_caller]
    pub fn row(self, index: impl ElementIndex) -> Shared<T> {
        let address = self.checked_address(index.index());
        // SAFETY: the row is in this array.
        unsafe { Shared::from_raw_parts(address, N as u32) }
    }
}

macro_rules! views {
    ($($view:ident)*) => {$(
        impl<'a, T: DeviceCopy, const N: usize> $view<'a, [T; N]> {
            /// Returns row `index`, the `N` elements of the array at this index. In a kernel, `x[1][2]` is
            /// `x.row(1).load(2)`.
            #[inline(always)]
            #[track_caller]
            pub fn row(&self, index: impl ElementIndex) -> $view<'a, T> {
                let index = index.index();
                if index >= self.len() {
                    backend::out_of_bounds_global(self.as_ptr() as usize, index, self.len());
                }
                // SAFETY: the row is in this view.
                unsafe { $view::from_raw_parts(self.as_ptr().wrapping_add(index).cast(), N, self.device()) }
            }
        }
    )*};
}

views! { Global GlobalMut }
