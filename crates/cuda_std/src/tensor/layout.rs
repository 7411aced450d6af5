//! Matrices in memory: a view of their elements and a leading dimension.

use crate::{DeviceCopy, Global, GlobalMut, Shared};

/// The elements of a matrix in global or shared memory.
pub trait Elements<T>: Clone {
    /// Loads element `index`.
    #[track_caller]
    fn load(&self, index: usize) -> T;
}

/// The elements of a matrix that a kernel may write.
pub trait ElementsMut<T>: Elements<T> {
    /// Sets element `index`.
    #[track_caller]
    fn store(&self, index: usize, value: T);
}

macro_rules! elements {
    ($($view:ty)*) => {$(
        impl<T: DeviceCopy> Elements<T> for $view {
            #[inline(always)]
            #[track_caller]
            fn load(&self, index: usize) -> T {
                (*self).load(index)
            }
        }
    )*};
}

macro_rules! elements_mut {
    ($($view:ty)*) => {$(
        impl<T: DeviceCopy> ElementsMut<T> for $view {
            #[inline(always)]
            #[track_caller]
            fn store(&self, index: usize, value: T) {
                (*self).store(index, value);
            }
        }
    )*};
}

/// A matrix in memory whose rows are contiguous: the view of its elements, and the number of elements from the start of
/// a row to the start of the next one (the leading dimension).
#[derive(Clone, Copy, Debug)]
pub struct RowMajor<V>(pub V, pub usize);

/// A matrix in memory whose columns are contiguous: the view of its elements, and the number of elements from the start
/// of a column to the start of the next one (the leading dimension).
#[derive(Clone, Copy, Debug)]
pub struct ColumnMajor<V>(pub V, pub usize);

/// A matrix in memory: [`RowMajor`] or [`ColumnMajor`].
pub trait Layout: Clone {
    /// The view of the elements.
    type View;

    /// True if the rows are contiguous, and false if the columns are.
    const HAS_ROWS: bool;

    /// Returns the view of the elements.
    fn view(&self) -> &Self::View;

    /// Returns the index of an element in the view.
    fn index(&self, row: usize, column: usize) -> usize;
}

macro_rules! layout {
    ($layout:ident $has_rows:literal) => {
        impl<V: Clone> Layout for $layout<V> {
            type View = V;

            const HAS_ROWS: bool = $has_rows;

            #[inline(always)]
            fn view(&self) -> &V {
                &self.0
            }

            #[inline(always)]
            fn index(&self, row: usize, column: usize) -> usize {
                let (outer, inner) = if $has_rows { (row, column) } else { (column, row) };
                outer * self.1 + inner
            }
        }
    };
}

layout! { RowMajor true }
layout! { ColumnMajor false }
elements! { Global<'_, T> GlobalMut<'_, T> Shared<T> }
elements_mut! { GlobalMut<'_, T> Shared<T> }
