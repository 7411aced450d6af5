//! A tile in the registers of a block, element by element: loads and stores in a blocked or a striped arrangement.
//!
//! In the *blocked* arrangement, a thread has `N` consecutive items. In the *striped* arrangement, its items are one
//! block width apart, so that neighbouring threads access neighbouring elements. A tile has `N` items per thread.
//! Elements beyond the end of the array are not accessed. [`tile`](super::tile) has the arrangement of the project's
//! own algorithms, in 16-byte vectors.
#![allow(clippy::needless_range_loop, reason = "an iterator over an array puts it into local memory")]

use cuda_std::{Element, Global, GlobalMut, thread};

/// Returns the index in a tile of the calling thread's item `item` of `items` items, in the blocked arrangement.
#[inline(always)]
fn blocked(item: usize, items: usize) -> usize {
    thread::index_in_block() as usize * items + item
}

/// Returns the index in a tile of the calling thread's item `item`, in the striped arrangement.
#[inline(always)]
fn striped(item: usize) -> usize {
    item * thread::block_size() as usize + thread::index_in_block() as usize
}

macro_rules! arrangement {
    ($(#[$load_doc:meta])* $load:ident $(#[$store_doc:meta])* $store:ident |$item:ident, $items:ident| $index:expr) => {
        $(#[$load_doc])*
        ///
        /// The tile begins at element `start` of `x`. An item beyond the end of `x` is `default`.
        #[inline(always)]
        #[track_caller]
        pub fn $load<T: Element, const N: usize>(x: Global<T>, start: usize, default: T) -> [T; N] {
            let (mut items, $items) = ([default; N], N);
            for $item in 0..N {
                let index = start + $index;
                if index < x.len() {
                    items[$item] = x.load(index);
                }
            }
            items
        }

        $(#[$store_doc])*
        ///
        /// The tile begins at element `start` of `y`. Items beyond the end of `y` are not stored.
        #[inline(always)]
        #[track_caller]
        pub fn $store<T: Element, const N: usize>(y: GlobalMut<T>, start: usize, items: [T; N]) {
            let $items = N;
            for $item in 0..N {
                let index = start + $index;
                if index < y.len() {
                    y.store(index, items[$item]);
                }
            }
        }
    };
}

arrangement! {
    /// Loads the calling thread's items of a tile in the blocked arrangement.
    load_blocked
    /// Stores the calling thread's items of a tile in the blocked arrangement.
    store_blocked
    |item, items| blocked(item, items)
}

arrangement! {
    /// Loads the calling thread's items of a tile in the striped arrangement.
    load_striped
    /// Stores the calling thread's items of a tile in the striped arrangement.
    store_striped
    |item, _items| striped(item)
}

/// Calls `process` with the number of the first item of each chunk of `N` items, for a loop over items that is unrolled
/// `N` times. The last chunk may have fewer items.
#[inline(always)]
pub fn for_each_chunk<const N: usize>(items: usize, mut process: impl FnMut(usize)) {
    let mut first = 0;
    while first < items {
        process(first);
        first += N;
    }
}
