//! Matrices in shared memory in the layouts that tensor cores and tensor maps read.
//!
//! # Design
//!
//! A tile is cut into panels: 16, 32, 64 or 128 bytes of each row, with all rows of a panel one after the other. These
//! bytes are the width of the layout, and of a box that a tensor map with this swizzle copies. The units of 16 bytes
//! change their places within 8 rows: bits 4 to 6 of a byte's address are combined with bits 7 to 9, as many as the
//! width needs. Eight rows of a column of units are then in different banks.
//!
//! The type has the layout, so that a product or a copy with another one does not compile.

use core::marker::PhantomData;

use crate::{Element, Shared, backend};

/// The layout of a [`SharedTile`].
pub trait PanelLayout: Copy + 'static {
    /// The width of a panel in bytes.
    const WIDTH: u32;
    /// The layout's number in the descriptor of a matrix (PTX ISA, "Matrix descriptor format").
    const CODE: u64;
    /// The width of the swizzle in bytes, or 0 if there is none.
    const SWIZZLE: u32 = if Self::CODE == 0 { 0 } else { Self::WIDTH };
}

macro_rules! layouts {
    ($($(#[$doc:meta])* $name:ident $width:literal $code:literal)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl PanelLayout for $name {
            const WIDTH: u32 = $width;
            const CODE: u64 = $code;
        }
    )*};
}

layouts! {
    /// Panels of 16 bytes per row, in the order of the rows.
    Plain16 16 0
    /// Panels of 32 bytes per row, whose units of 16 bytes are swizzled.
    Swizzle32 32 3
    /// Panels of 64 bytes per row, whose units of 16 bytes are swizzled.
    Swizzle64 64 2
    /// Panels of 128 bytes per row, whose units of 16 bytes are swizzled.
    Swizzle128 128 1
}

/// A matrix of `ROWS` × `COLUMNS` elements in the block's shared memory, in the layout `L`. The elements of a row are
/// contiguous within a panel.
#[derive(Debug)]
pub struct SharedTile<T, const ROWS: usize, const COLUMNS: usize, L> {
    address: u32,
    elements: PhantomData<(*mut T, L)>,
}

impl<T, const ROWS: usize, const COLUMNS: usize, L> Clone for SharedTile<T, ROWS, COLUMNS, L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, const ROWS: usize, const COLUMNS: usize, L> Copy for SharedTile<T, ROWS, COLUMNS, L> {}

impl<T: Element, const ROWS: usize, const COLUMNS: usize, L: PanelLayout> SharedTile<T, ROWS, COLUMNS, L> {
    /// The size of the tile in bytes.
    pub const BYTES: usize = ROWS * COLUMNS * size_of::<T>();
    /// The number of elements of the tile.
    pub const LEN: usize = ROWS * COLUMNS;
    /// The alignment of the tile in bytes: the size of 8 rows of a panel, which is 128 bytes at least.
    pub const ALIGNMENT: u32 = 8 * L::WIDTH;
    /// The number of columns of a panel.
    const PANEL: usize = L::WIDTH as usize / size_of::<T>();
    /// The size of a panel in bytes.
    pub(crate) const PANEL_BYTES: u32 = ROWS as u32 * L::WIDTH;

    /// Returns the tile whose first element is element `first` of `array`.
    ///
    /// `array` must have at least [`LEN`](Self::LEN) elements from there on, and the tile must begin at a multiple of
    /// [`ALIGNMENT`](Self::ALIGNMENT) bytes. Dynamic shared memory begins at
    /// a multiple of 1024 bytes in a module that has products of warpgroups or tensor maps; an array begins at one
    /// after [`Shared::aligned`]. [`end_of`](Self::end_of) returns where the next tile may begin. Another address ends
    /// the kernel with an error.
    #[inline(always)]
    #[track_caller]
    pub fn at(array: Shared<T>, first: usize) -> Self {
        const {
            assert!(ROWS.is_multiple_of(8), "the number of rows must be a multiple of 8");
            assert!(COLUMNS.is_multiple_of(Self::PANEL), "the columns must fill whole panels of the layout's width");
        }
        array.check(first + Self::LEN - 1);
        let address = array.address_of(first);
        backend::check_vec_alignment(address as usize, Self::ALIGNMENT as usize);
        Self { address, elements: PhantomData }
    }

    /// Returns the same tile as [`at`](Self::at), but without checks on a GPU.
    ///
    /// # Safety
    /// The conditions of [`at`](Self::at) must hold.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn at_unchecked(array: Shared<T>, first: usize) -> Self {
        if backend::CHECKS_EVERY_ACCESS {
            return Self::at(array, first);
        }
        Self { address: array.address_of(first), elements: PhantomData }
    }

    /// Returns `COUNT` tiles, one after the other, of which the first begins at element `first` of `array`, such as the
    /// stages of a pipeline. The conditions of [`at`](Self::at) hold for all of them.
    #[inline(always)]
    #[track_caller]
    pub fn array_at<const COUNT: usize>(array: Shared<T>, first: usize) -> SharedTiles<T, ROWS, COLUMNS, L, COUNT> {
        const { assert!(COUNT > 0 && (Self::BYTES as u32).is_multiple_of(Self::ALIGNMENT)) };
        array.check(first + COUNT * Self::LEN - 1);
        SharedTiles(Self::at(array, first))
    }

    /// Returns the same tile. If it is in dynamic shared memory, the simulator's reports call it `name`.
    ///
    /// In a kernel, `let left = SharedTile::<…>::at(dynamic_shared(), 0);` names the tile `left` without this call.
    #[inline(always)]
    pub fn named(self, name: &'static str) -> Self {
        backend::name_dynamic::<T>(name, self.address, Self::LEN);
        self
    }

    /// Returns the index of the first element behind a tile that begins at element `first` of an array.
    #[inline(always)]
    pub const fn end_of(first: usize) -> usize {
        first + Self::LEN
    }

    /// Returns the address of an element, before the swizzle of its bits.
    #[inline(always)]
    const fn linear(self, row: usize, column: usize) -> u32 {
        let (panel, within) = (column / Self::PANEL, column % Self::PANEL);
        self.address + panel as u32 * Self::PANEL_BYTES + row as u32 * L::WIDTH + (within * size_of::<T>()) as u32
    }

    /// Returns the element's address in shared memory.
    #[inline(always)]
    #[track_caller]
    fn place(self, row: usize, column: usize) -> Shared<T> {
        if row >= ROWS || column >= COLUMNS {
            backend::out_of_bounds_shared(self.address, row * COLUMNS + column, Self::LEN);
        }
        let linear = self.linear(row, column);
        let swizzled = linear ^ (linear >> 3 & (L::WIDTH - 16));
        // SAFETY: the element is in the tile, which `at` has checked.
        unsafe { Shared::from_raw_parts(swizzled, 1) }
    }

    /// Loads an element.
    #[inline(always)]
    #[track_caller]
    pub fn load(self, row: usize, column: usize) -> T {
        // SAFETY: `place` has checked the indices.
        unsafe { self.place(row, column).load_unchecked(0) }
    }

    /// Sets an element.
    #[inline(always)]
    #[track_caller]
    pub fn store(self, row: usize, column: usize, value: T) {
        // SAFETY: `place` has checked the indices.
        unsafe { self.place(row, column).store_unchecked(0, value) }
    }

    /// Returns `R` rows of the tile from row `first` on, a multiple of 8, as a factor of a product.
    #[inline(always)]
    #[track_caller]
    pub fn rows<const R: usize>(self, first: usize) -> RowMajorPart<T, R, ROWS, COLUMNS, L> {
        const { assert!(R.is_multiple_of(8)) };
        if !first.is_multiple_of(8) || first + R > ROWS {
            backend::out_of_bounds_shared(self.address, (first + R) * COLUMNS, Self::LEN);
        }
        RowMajorPart { tile: self, first: first as u32 }
    }

    /// Returns the transpose of `R` columns of the tile from column `first` on, as a factor of a product: a matrix of
    /// `R` × `ROWS` elements. `first` is a multiple of the columns of a panel.
    #[inline(always)]
    #[track_caller]
    pub fn transposed<const R: usize>(self, first: usize) -> TransposedPart<T, R, ROWS, COLUMNS, L> {
        if !first.is_multiple_of(Self::PANEL) || first + R > COLUMNS {
            backend::out_of_bounds_shared(self.address, first + R, COLUMNS);
        }
        TransposedPart { tile: self, first: first as u32 }
    }
}

/// Tiles in the block's shared memory, one after the other, see [`SharedTile::array_at`].
#[derive(Debug)]
pub struct SharedTiles<T, const ROWS: usize, const COLUMNS: usize, L, const COUNT: usize>(
    SharedTile<T, ROWS, COLUMNS, L>,
);

impl<T, const ROWS: usize, const COLUMNS: usize, L, const COUNT: usize> Clone
    for SharedTiles<T, ROWS, COLUMNS, L, COUNT>
{
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, const ROWS: usize, const COLUMNS: usize, L, const COUNT: usize> Copy
    for SharedTiles<T, ROWS, COLUMNS, L, COUNT>
{
}

impl<T: Element, const ROWS: usize, const COLUMNS: usize, L: PanelLayout, const COUNT: usize>
    SharedTiles<T, ROWS, COLUMNS, L, COUNT>
{
    /// Returns the same tiles, and gives all of them one name, like [`SharedTile::named`].
    #[inline(always)]
    pub fn named(self, name: &'static str) -> Self {
        backend::name_dynamic::<T>(name, self.0.address, COUNT * SharedTile::<T, ROWS, COLUMNS, L>::LEN);
        self
    }

    /// Returns tile `index`, which must be below `COUNT`.
    #[inline(always)]
    #[track_caller]
    pub fn get(self, index: usize) -> SharedTile<T, ROWS, COLUMNS, L> {
        if index >= COUNT {
            backend::out_of_bounds_shared(self.0.address, index, COUNT);
        }
        let bytes = SharedTile::<T, ROWS, COLUMNS, L>::BYTES as u32;
        SharedTile { address: self.0.address + index as u32 * bytes, elements: PhantomData }
    }
}

/// A matrix in shared memory of `R` × `K` elements, as a factor of a product whose sums run over `K`.
pub trait Factor<T, const R: usize, const K: usize>: Copy {
    /// True if the elements of a column are contiguous, which tensor cores read for 16-bit floats alone.
    const IS_TRANSPOSED: bool;

    /// Returns the descriptor of the columns from `k` on. An instruction reads 32 bytes of each row.
    fn descriptor(self, k: usize) -> u64;
}

/// Returns the descriptor of a matrix in shared memory (PTX ISA, "Matrix descriptor format"). `leading` and `stride`
/// are the distances in bytes that the layout needs.
#[inline(always)]
const fn descriptor<L: PanelLayout>(address: u32, leading: u32, stride: u32) -> u64 {
    const fn field(bytes: u32) -> u64 {
        ((bytes & 0x3FFFF) >> 4) as u64
    }
    field(address) | field(leading) << 16 | field(stride) << 32 | L::CODE << 62
}

/// Returns the descriptor of the matrix that begins `bytes` after that of `descriptor`. An address in shared memory has
/// fewer bits than its field, so that an addition of 32 bits is enough.
#[inline(always)]
const fn moved(descriptor: u64, bytes: u32) -> u64 {
    (descriptor as u32 + (bytes >> 4)) as u64 | descriptor >> 32 << 32
}

/// Rows of a [`SharedTile`], see [`SharedTile::rows`].
#[derive(Clone, Copy, Debug)]
pub struct RowMajorPart<T, const R: usize, const ROWS: usize, const COLUMNS: usize, L> {
    tile: SharedTile<T, ROWS, COLUMNS, L>,
    first: u32,
}

impl<T: Element, const R: usize, const ROWS: usize, const K: usize, L: PanelLayout> Factor<T, R, K>
    for RowMajorPart<T, R, ROWS, K, L>
{
    const IS_TRANSPOSED: bool = false;

    #[inline(always)]
    fn descriptor(self, k: usize) -> u64 {
        let (first, address) = (self.tile.linear(self.first as usize, 0), self.tile.linear(self.first as usize, k));
        // Only panels of 16 bytes have the instruction's second unit in another panel.
        let leading = SharedTile::<T, ROWS, K, L>::PANEL_BYTES;
        moved(descriptor::<L>(first, leading, 8 * L::WIDTH), address - first)
    }
}

impl<T: Element, const R: usize, const ROWS: usize, const COLUMNS: usize, L: PanelLayout>
    RowMajorPart<T, R, ROWS, COLUMNS, L>
{
    /// The number of columns of a panel.
    pub(crate) const PANEL: usize = SharedTile::<T, ROWS, COLUMNS, L>::PANEL;
    /// The number of panels.
    pub(crate) const PANELS: usize = COLUMNS / Self::PANEL;

    /// Returns the elements of these rows in the panel number `index`, in the order of memory.
    #[inline(always)]
    pub(crate) fn panel(self, index: usize) -> Shared<T> {
        let address = self.tile.linear(self.first as usize, index * Self::PANEL);
        // SAFETY: the rows of the panel are contiguous in the tile, which `at` has checked, and `rows` has checked the
        // rows.
        unsafe { Shared::from_raw_parts(address, (R * Self::PANEL) as u32) }
    }
}

/// Transposed columns of a [`SharedTile`], see [`SharedTile::transposed`].
#[derive(Clone, Copy, Debug)]
pub struct TransposedPart<T, const R: usize, const ROWS: usize, const COLUMNS: usize, L> {
    tile: SharedTile<T, ROWS, COLUMNS, L>,
    first: u32,
}

impl<T: Element, const R: usize, const K: usize, const COLUMNS: usize, L: PanelLayout> Factor<T, R, K>
    for TransposedPart<T, R, K, COLUMNS, L>
{
    const IS_TRANSPOSED: bool = true;

    #[inline(always)]
    fn descriptor(self, k: usize) -> u64 {
        const { assert!(size_of::<T>() == 2, "tensor cores transpose elements of 2 bytes alone") };
        let (first, address) = (self.tile.linear(0, self.first as usize), self.tile.linear(k, self.first as usize));
        let (panel, rows) = (SharedTile::<T, K, COLUMNS, L>::PANEL_BYTES, 8 * L::WIDTH);
        // Without a swizzle, the two distances have each other's places.
        let (leading, stride) = if L::CODE == 0 { (rows, panel) } else { (panel, rows) };
        moved(descriptor::<L>(first, leading, stride), address - first)
    }
}
