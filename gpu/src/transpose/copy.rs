//! Copy: the baseline, a copy of the matrix without transposing it. The shape of its blocks and the order of its loads
//! are the same as in the transposes of Harris 2013.
//!
//! Each thread loads its four elements before it stores the first. The compiler could not do this reordering, because a
//! store might change an element that is loaded later. The kernel is limited by memory. Source: `copy` of Harris 2013,
//! where loads and stores alternate.

use cuda_std::{Element, Global, GlobalMut, kernel};

use super::{Strip, assert_block, assert_size, tile_of_block};

/// Copies `x` to `y` without transposing it: the baseline, with the blocks of the plain transposes. `x` has `height`
/// rows of `width` elements. Launch one block of 32 × 8 threads per tile of 32 × 32 elements.
#[kernel(max_threads = 256, instances(T = [u8, u16, u32, u64]))]
pub fn transpose_copy<T: Element>(x: Global<T>, y: GlobalMut<T>, width: usize, height: usize) {
    assert_size(&x, &y, width, height);
    assert_block();
    let (tile_column, tile_row) = tile_of_block();
    let strip = Strip::new(tile_column, tile_row, width, height);
    // SAFETY: `assert_size` has checked that both views have `width * height` elements.
    unsafe { strip.store(&y, strip.load(&x)) };
}
