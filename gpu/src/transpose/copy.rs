//! Copy: what the ladder is measured against. The blocks, and what each reads, are those of the textbook's transposes.
//!
//! Each thread loads its four elements before it stores the first. The compiler could not do that by itself, because a store
//! might change what is loaded next.
//! Limited by memory. Source: `copy` of Harris 2013, there with a load and a store at a time.

use cuda_std::{Element, Global, GlobalMut, kernel};

use super::{Strip, assert_block, assert_size, tile_of_block};

/// `y` = `x`, not transposed, by the blocks of the plain transposes: the yardstick. `x` has `height` rows of `width`
/// elements. A block of 32 × 8 for each 32 × 32.
#[kernel(max_threads = 256, instances(T = [u8, u16, u32, u64]))]
pub fn transpose_copy<T: Element>(x: Global<T>, y: GlobalMut<T>, width: usize, height: usize) {
    assert_size(&x, &y, width, height);
    assert_block();
    let (tile_column, tile_row) = tile_of_block();
    let strip = Strip::new(tile_column, tile_row, width, height);
    // SAFETY: the size was checked.
    unsafe { strip.store(&y, strip.load(&x)) };
}
