//! The elements of a thread: consecutive ones of a tile, which of them are selected, and where they are gathered.
#![allow(clippy::needless_range_loop, reason = "an iterator over an array puts it into local memory")]

use cuda_std::{Element, Global, Shared, opaque, unroll, warp};

use crate::collective::tile::left;
use crate::collective::words::shuffle_up;
use crate::select::predicate::{Predicate, Reads};
use crate::select::tuning::{PIPELINED_CHUNKS as CHUNKS, pipelined_tile_elements};

/// The vectors of the input from which one thread reads.
pub struct Side<'a, T, const V: usize> {
    x: Global<'a, T>,
    flags: Global<'a, u8>,
    /// The index of the thread's first element in a tile.
    pub first: usize,
    /// The number of tiles whose flags can be loaded in vectors.
    whole: u32,
}

impl<'a, T: Element, const V: usize> Side<'a, T, V> {
    /// Returns the elements and flags of a thread whose first element in a tile has the index `first`.
    #[inline(always)]
    pub fn new(x: Global<'a, T>, flags: Global<'a, u8>, first: usize) -> Self {
        let is_aligned = (flags.as_ptr() as usize).is_multiple_of(V);
        let whole = if is_aligned { (flags.len() / pipelined_tile_elements(V)) as u32 } else { 0 };
        Self { x, flags, first, whole }
    }

    /// Returns the index of the thread's first element of `tile`.
    #[inline(always)]
    fn start(&self, tile: u32) -> usize {
        tile as usize * pipelined_tile_elements(V) + self.first
    }
}

/// What a predicate reads beside the elements of the thread, loaded before the tile is in shared memory.
pub struct Beside<T> {
    /// The flags of each vector, one per byte.
    flags: [u32; CHUNKS],
    /// The element before the first element of the warp. It is unspecified for the first element of all.
    before: T,
}

impl<T: Element> Beside<T> {
    /// Loads what `P` needs for `tile`, if this tile exists.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn load<P: Predicate<T>, const V: usize>(side: &Side<T, V>, tile: u32) -> Self {
        let mut beside = Self { flags: [0; CHUNKS], before: T::zeroed() };
        let start = side.start(tile);
        match P::READS {
            Reads::Element => {}
            Reads::Flag if tile < side.whole => {
                for chunk in 0..CHUNKS {
                    // SAFETY: the tile is whole, so its flags exist, and they start at a multiple of the vector's size.
                    let flags: [u8; V] = unsafe { side.flags.load_vec_unchecked(start / V + chunk) };
                    beside.flags[chunk] = word(flags);
                }
            }
            Reads::Flag => {
                let left = left(side.flags.len(), start);
                for chunk in 0..CHUNKS {
                    let mut flags = [0; V];
                    for j in 0..V {
                        if ((chunk * V + j) as u32) < left {
                            // SAFETY: `left` limits the index to the flags that remain.
                            flags[j] = unsafe { side.flags.load_unchecked(start + chunk * V + j) };
                        }
                    }
                    beside.flags[chunk] = word(flags);
                }
            }
            Reads::Neighbours => {
                // All lanes load the same element, so that they need no branch.
                let before = start.wrapping_sub(warp::lane_id() as usize * CHUNKS * V + 1);
                if before < side.x.len() {
                    // SAFETY: the index has been compared with the length.
                    beside.before = unsafe { side.x.load_unchecked(before) };
                }
            }
        }
        beside
    }
}

/// Returns the bytes as one word, the first one lowest.
#[inline(always)]
fn word<const V: usize>(bytes: [u8; V]) -> u32 {
    let mut word = 0;
    for j in 0..V {
        word |= u32::from(bytes[j]) << (8 * j);
    }
    word
}

/// Returns one bit for each of the four bytes of `word`: bit `j` is 1 if byte `j` is not 0.
#[inline(always)]
fn nonzero_bytes(word: u32) -> u32 {
    const LOW: u32 = 0x7f7f_7f7f;
    // The highest bit of each byte.
    let found = (((word & LOW) + LOW) | word) & !LOW;
    // The product has the four bits together in its highest ones, and no other sum carries into them.
    (found >> 7).wrapping_mul(1 << 28 | 1 << 21 | 1 << 14 | 1 << 7) >> 28
}

/// The consecutive elements of a thread in a tile.
pub struct Items<T, const V: usize> {
    vectors: [[T; V]; CHUNKS],
    /// Bit `k` says whether element `k` is selected.
    pub chosen: u32,
    /// The number of selected elements before the thread's own.
    pub rank: u32,
}

impl<T: Element, const V: usize> Items<T, V> {
    /// Returns the elements from vector `first` of the tile in `slot` on, of which none is selected yet.
    ///
    /// # Safety
    /// `slot` must have the thread's vectors from `first` on.
    #[inline(always)]
    pub unsafe fn load(slot: Shared<[T; V]>, first: usize) -> Self {
        let mut items = Self { vectors: [[T::zeroed(); V]; CHUNKS], chosen: 0, rank: 0 };
        for chunk in 0..CHUNKS {
            // SAFETY: by this function's contract, `slot` has these vectors.
            items.vectors[chunk] = unsafe { slot.load_unchecked(first + chunk) };
        }
        items
    }

    /// Selects the elements, which are those of `tile`, by `predicate`. Elements beyond the end of the input are not
    /// selected; there are none if `is_whole` is true. All lanes of a full warp must call this function.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn select<P: Predicate<T>>(
        &mut self,
        predicate: P,
        side: &Side<T, V>,
        beside: &Beside<T>,
        (tile, is_whole): (u32, bool),
    ) {
        let (start, mut chosen) = (side.start(tile), 0);
        match P::READS {
            Reads::Element => {
                for chunk in 0..CHUNKS {
                    for j in 0..V {
                        chosen |= u32::from(predicate.selects(self.vectors[chunk][j])) << (chunk * V + j);
                    }
                }
            }
            Reads::Flag => {
                for chunk in 0..CHUNKS {
                    chosen |= nonzero_bytes(beside.flags[chunk]) << (chunk * V);
                }
            }
            Reads::Neighbours => {
                let last = shuffle_up(self.vectors[CHUNKS - 1][V - 1], 1);
                let mut before = if warp::lane_id() == 0 { beside.before } else { last };
                for chunk in 0..CHUNKS {
                    for j in 0..V {
                        let item = self.vectors[chunk][j];
                        chosen |= u32::from(predicate.selects_after(before, item)) << (chunk * V + j);
                        before = item;
                    }
                }
                chosen |= u32::from(start == 0);
            }
        }
        if !is_whole {
            let left = left(side.x.len(), start);
            if left < (CHUNKS * V) as u32 {
                chosen &= (1 << left) - 1;
            }
        }
        self.chosen = chosen;
    }
}

/// Stores the selected elements of the thread in `place`, from the thread's rank on.
///
/// # Safety
/// `place` must have an element for each element of the tile.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub unsafe fn gather<T: Element, const V: usize>(place: Shared<T>, items: &Items<T, V>) {
    let mut at = items.rank;
    unroll!(ITEM in CHUNKS * V => {
        if items.chosen >> ITEM & 1 != 0 {
            // SAFETY: a rank is below the number of the tile's elements, for which `place` has room.
            unsafe { place.store_unchecked(at as usize, items.vectors[ITEM / V][ITEM % V]) };
            // The compilers would otherwise keep the next place beside this one, in twice as many instructions.
            at = opaque(at + 1);
        }
    });
}

/// Stores the selected elements of the thread in `place`, as [`gather`] does, and the others behind all selected
/// elements of the tile. `first` must be the number of these plus the number of elements of the tile before the
/// thread's own. Elements beyond the end of the input follow all others.
///
/// # Safety
/// `place` must have an element for each element of the tile.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub unsafe fn gather_both<T: Element, const V: usize>(place: Shared<T>, items: &Items<T, V>, first: u32) {
    let mut at = items.rank;
    unroll!(ITEM in CHUNKS * V => {
        let is_chosen = items.chosen >> ITEM & 1 != 0;
        let place_of_other = first + ITEM as u32 - at;
        // SAFETY: the places of the tile's elements are a permutation of their positions, for which `place` has room.
        unsafe {
            let at = if is_chosen { at } else { place_of_other };
            place.store_unchecked(at as usize, items.vectors[ITEM / V][ITEM % V]);
        }
        at += u32::from(is_chosen);
    });
}
