//! Pack: copies an operand to a workspace in which the elements along *k* are contiguous and every row starts at a
//! multiple of 16 bytes, as the kernels with tensor cores need them.
//!
//! The elements pass through a tile of 32 × 32 elements in shared memory, so that reads and writes are contiguous for
//! either layout of the operand. The kernel is limited by memory. Some instances also convert the elements.

use cuda_std::{Element, Global, GlobalMut, Zeroable, e4m3, e5m2, f16, kernel, shared_array, thread};

use super::Strides;
use super::tuning::{PACK, PACK_ROWS};

/// The distance between two rows of the tile, in elements. The elements of a column are in different banks.
const PITCH: usize = PACK + 1;

/// An element that [`matmul_pack`] writes as a `U`.
pub trait Packed<U: Element>: Element {
    /// Returns the same number as a `U`.
    fn packed(self) -> U;
}

impl<T: Element> Packed<T> for T {
    #[inline(always)]
    fn packed(self) -> T {
        self
    }
}

impl Packed<f16> for e4m3 {
    #[inline(always)]
    fn packed(self) -> f16 {
        f16::from_f32(self.to_f32())
    }
}

impl Packed<f16> for e5m2 {
    #[inline(always)]
    fn packed(self) -> f16 {
        f16::from_f32(self.to_f32())
    }
}

/// Copies `batch` matrices of `rows` × `k` elements from `x` to `y`, whose elements along k are contiguous. The
/// elements of `y` from `k` to the end of a row of `to.row` elements become zero. Launch one block of 32 × 8 threads
/// per tile of 32 × 32 elements: ⌈`to.row` / 32⌉ blocks along x, ⌈`rows` / 32⌉ along y, and `batch` along z.
#[kernel(
    max_threads = 256,
    instances(T = [u8], U = [u8]),
    instances(T = [u16], U = [u16]),
    instances(T = [u32], U = [u32]),
    instances(T = [u64], U = [u64]),
    instances(T = [e4m3, e5m2], U = [f16])
)]
pub fn matmul_pack<T: Packed<U>, U: Element>(
    rows: u32,
    k: u32,
    batch: u32,
    from: Strides,
    x: Global<T>,
    to: Strides,
    y: GlobalMut<U>,
) {
    assert!(thread::block_idx_z() < batch);
    let batch = thread::block_idx_z() as usize;
    let tile = shared_array![T; PACK * PITCH];
    // In a block of 32 × 8 threads, the remainders never change the values.
    let (tx, ty) = (thread::thread_idx_x() as usize % PACK, thread::thread_idx_y() as usize % PACK_ROWS);
    let (first_row, first_k) = (thread::block_idx_y() as usize * PACK, thread::block_idx_x() as usize * PACK);
    for i in 0..PACK / PACK_ROWS {
        let [down, along] = if from.column == 1 { [ty + i * PACK_ROWS, tx] } else { [tx, ty + i * PACK_ROWS] };
        let (row, column) = (first_row + down, first_k + along);
        let is_inside = row < rows as usize && column < k as usize;
        let element = if is_inside { x.load(from.index(batch, row, column)) } else { <T as Zeroable>::zeroed() };
        tile.store(down * PITCH + along, element);
    }
    thread::sync_threads();
    for i in 0..PACK / PACK_ROWS {
        let down = ty + i * PACK_ROWS;
        let (row, column) = (first_row + down, first_k + tx);
        if row < rows as usize && column < to.row as usize {
            y.store(to.index(batch, row, column), tile.load(down * PITCH + tx).packed());
        }
    }
}
