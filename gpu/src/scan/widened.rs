//! Scan in one pass with look-back, in an accumulator: the kernel widens each element to the type of the accumulator,
//! and rounds each result once. A sum of 16-bit floats is therefore a sum in `f32` along the whole prefix.
//!
//! The tiles, their states and the forward progress are those of [`scan_look_back()`](super::scan_look_back()). A
//! thread keeps its elements as they are in memory, and one accumulator per vector: 64 accumulators would take too many
//! registers. It therefore combines the elements of a vector twice, first for the aggregate and then for the results.
//!
//! The kernel also has the operators that propagate NaN, which need no other accumulator, because its PTX is shorter
//! than that of `scan_look_back`. Loops move the elements of a partial or unaligned tile one by one.
//!
//! The kernel is limited by memory. Three blocks fit on a multiprocessor. Source: that of `scan_look_back`.
#![allow(clippy::needless_range_loop, reason = "an iterator over an array puts it into local memory")]

use cuda_std::warp::Shuffle;
use cuda_std::{
    Element, Global, GlobalMut, Shared, bf16, bf16x2, f16, f16x2, kernel, opaque, shared_array, thread, unroll, warp,
};

use super::look_back::{Before, LINE};
use super::tile_states::{AGGREGATE, PREFIX, Ticket, TileStates};
use super::tuning::{CHUNKS, THREADS, WARPS, tile_elements};
use crate::collective::LANES;
use crate::collective::block::warp_prefix;
use crate::collective::tile::left;
use crate::collective::vectors::is_aligned;
use crate::collective::warp::warp_inclusive_scan;
use crate::collective::words::shuffle_up;
use crate::operator::{Maximum, Minimum, Operator, Sum};

/// An element type, with the type of the accumulator in which a scan combines its elements.
pub trait Widen: Element {
    /// The type of the accumulator.
    type Wide: Element;

    /// The elements that a thread keeps together: two 16-bit floats, or one other element.
    type Word: Element;

    /// The number of elements in a word.
    const PER_WORD: usize = size_of::<Self::Word>() / size_of::<Self>();

    /// Converts the element without rounding.
    fn widen(self) -> Self::Wide;

    /// Returns the elements of a word, converted without rounding. Of one element, it returns two copies.
    fn unpack(word: Self::Word) -> [Self::Wide; 2];

    /// Returns the word with the elements that are nearest to `values`. A word of one element has the first.
    fn pack(values: [Self::Wide; 2]) -> Self::Word;

    /// Returns the elements of a word. Of one element, it returns two copies.
    fn elements(word: Self::Word) -> [Self; 2];
}

macro_rules! halves {
    ($($type:ident $pair:ident)*) => {$(
        impl Widen for $type {
            type Wide = f32;
            type Word = $pair;

            #[inline(always)]
            fn widen(self) -> f32 {
                self.to_f32()
            }

            #[inline(always)]
            fn unpack(word: $pair) -> [f32; 2] {
                word.to_f32()
            }

            #[inline(always)]
            fn pack([low, high]: [f32; 2]) -> $pair {
                $pair::from_f32(low, high)
            }

            #[inline(always)]
            fn elements(word: $pair) -> [Self; 2] {
                [word.low(), word.high()]
            }
        }
    )*};
}

macro_rules! own_accumulators {
    ($($type:ident)*) => {$(
        impl Widen for $type {
            type Wide = Self;
            type Word = Self;

            #[inline(always)]
            fn widen(self) -> Self {
                self
            }

            #[inline(always)]
            fn unpack(word: Self) -> [Self; 2] {
                [word; 2]
            }

            #[inline(always)]
            fn pack([value, _]: [Self; 2]) -> Self {
                value
            }

            #[inline(always)]
            fn elements(word: Self) -> [Self; 2] {
                [word; 2]
            }
        }
    )*};
}

halves! { f16 f16x2 bf16 bf16x2 }
own_accumulators! { f32 f64 }

/// The number of slots in shared memory for the vectors of a chunk. The additional slot moves the rows to different
/// banks.
const ROW: usize = LANES + 1;

/// Writes the scan of `x` to `y` in one pass with look-back. The accumulator has the type [`Widen::Wide`].
///
/// `V` must be the number of elements in a vector, and `W` the number of words ([`Widen::Word`]). The arguments, the
/// grid and the states are those of [`scan_look_back()`](super::scan_look_back()). The states contain accumulators,
/// which must have as many words as elements have.
#[kernel(
    max_threads = 256,
    min_blocks = 3,
    instances(T = [f16, bf16], O = [Sum], V = [8], W = [4]),
    instances(T = [f32], O = [Minimum, Maximum], V = [4], W = [4]),
    instances(T = [f64], O = [Minimum, Maximum], V = [2], W = [2]),
    wide(loads, stores)
)]
pub fn scan_widened<T: Widen, O: Operator<<T as Widen>::Wide>, const V: usize, const W: usize>(
    x: Global<T>,
    y: GlobalMut<T>,
    exclusive: u32,
    chunks: u32,
    states: GlobalMut<u64>,
) {
    assert!(x.len() == y.len() && thread::block_dim_x() == THREADS && (1..=CHUNKS as u32).contains(&chunks));
    let drawn = shared_array![u32; 2];
    let totals = shared_array![<T as Widen>::Wide; WARPS];
    let before_tile = shared_array![<T as Widen>::Wide; 1];
    let slots = shared_array![<T as Widen>::Wide; WARPS * CHUNKS * ROW];
    let thread = thread::thread_idx_x();
    let ticket = if thread == 0 { Ticket::draw(states) } else { Ticket::default() };
    let elements = tile_elements(chunks as usize, V);
    let line = thread as usize * (LINE / size_of::<T>());
    if line < elements {
        x.prefetch(thread::block_idx_x() as usize * elements + line);
    }
    if thread == 0 {
        drawn.store(0, ticket.tile());
        drawn.store(1, ticket.epoch());
        ticket.begin_next(states, thread::grid_dim_x());
    }
    thread::sync_threads();
    let (tile, states) = (drawn.load(0), TileStates::<<T as Widen>::Wide>::new(states, drawn.load(1)));
    assert!(states.has(tile as usize + 1));
    let (lane, warp) = (warp::lane_id(), warp::warp_id() as usize);

    let first = tile as usize * (elements / V) + (warp * chunks as usize * LANES + lane as usize);
    let is_aligned = is_aligned::<T, V>(x.as_ptr() as usize | y.as_ptr() as usize);
    let is_whole = is_aligned && (tile as usize + 1) * elements <= x.len();
    // SAFETY: if `is_whole` is true, the whole tile lies in `x`, which is aligned for vectors.
    let mut vectors = unsafe { load::<T, V, W>(x, first, chunks, is_whole, O::IDENTITY) };
    let mut aggregates = [O::IDENTITY; CHUNKS];
    unroll!(CHUNK in CHUNKS => { aggregates[CHUNK] = aggregate::<T, O, W>(vectors[CHUNK]); });
    let total = scan_in_warp::<_, O>(slots, aggregates);
    if lane == warp::SIZE - 1 {
        totals.store(warp, total);
    }
    thread::sync_threads();

    let (before_warp, aggregate) = warp_prefix::<_, O, WARPS>(totals, warp);
    if thread == 0 {
        states.publish(tile as usize, if tile == 0 { PREFIX } else { AGGREGATE }, aggregate);
    }
    if warp == 0 {
        let mut before = O::IDENTITY;
        if tile > 0 {
            // SAFETY: the assertion above has checked that this tile and all earlier tiles have words.
            before = unsafe { Before::combine::<O>(states, tile) };
            if lane == 0 {
                states.publish(tile as usize, PREFIX, O::combine(before, aggregate));
            }
        }
        if lane == 0 {
            before_tile.store(0, before);
        }
    }
    thread::sync_threads();

    let before = O::combine(before_tile.load(0), before_warp);
    unroll!(CHUNK in CHUNKS => {
        // SAFETY: the slot is that of the lane's vector in the chunk.
        let before_vector = unsafe { slots.load_unchecked(slot(CHUNK, lane)) };
        let prefix = O::combine(before, before_vector);
        vectors[CHUNK] = scanned::<T, O, W>(vectors[CHUNK], prefix, exclusive != 0);
    });
    // SAFETY: if `is_whole` is true, the whole tile lies in `y`, which is as long as `x` and aligned for vectors.
    unsafe { store::<T, V, W>(y, first, chunks, is_whole, vectors) };
}

/// Returns the combination of the elements of a vector.
#[inline(always)]
fn aggregate<T: Widen, O: Operator<T::Wide>, const W: usize>(vector: [T::Word; W]) -> T::Wide {
    let mut all = T::unpack(vector[0])[0];
    for i in 1..W * T::PER_WORD {
        all = O::combine(all, T::unpack(vector[i / T::PER_WORD])[i % T::PER_WORD]);
    }
    all
}

/// Scans the aggregates of a warp's vectors: replaces each by its prefix, in its [`slot`]. Returns the combination of
/// the aggregates of this lane and of all earlier lanes, which is the warp's aggregate in the last lane.
///
/// Each lane scans [`CHUNKS`] consecutive vectors, so that the lanes shuffle only once.
#[inline(always)]
fn scan_in_warp<A: Element, O: Operator<A>>(slots: Shared<A>, mut aggregates: [A; CHUNKS]) -> A {
    let lane = warp::lane_id();
    // SAFETY: the slots are those of the warp's vectors.
    unroll!(CHUNK in CHUNKS => { unsafe { slots.store_unchecked(slot(CHUNK, lane), aggregates[CHUNK]) } });
    warp::sync_warp(warp::FULL_MASK);
    let own = slot(lane as usize * CHUNKS / LANES, lane * CHUNKS as u32 % warp::SIZE);
    // SAFETY: a row has a multiple of `CHUNKS` slots, so that these slots of the warp are in one row.
    unroll!(K in CHUNKS => { aggregates[K] = unsafe { slots.load_unchecked(own + K) }; });
    let mut through = aggregates[0];
    for k in 1..CHUNKS {
        through = O::combine(through, aggregates[k]);
    }
    through = warp_inclusive_scan::<A, O>(through);
    let below = shuffle_up(through, 1);
    let mut prefix = if lane == 0 { O::IDENTITY } else { below };
    unroll!(K in CHUNKS => {
        // SAFETY: these are the slots that were loaded above. No other lane has loaded them.
        unsafe { slots.store_unchecked(own + K, prefix) };
        prefix = O::combine(prefix, aggregates[K]);
    });
    through
}

/// Returns the index of the slot of vector `lane` of a chunk of this warp.
#[inline(always)]
fn slot(chunk: usize, lane: u32) -> usize {
    (warp::warp_id() as usize * CHUNKS + chunk) * ROW + lane as usize
}

/// Returns the scan of a vector, whose elements follow elements that were combined to `prefix`.
#[inline(always)]
fn scanned<T: Widen, O: Operator<T::Wide>, const W: usize>(
    mut vector: [T::Word; W],
    mut prefix: T::Wide,
    exclusive: bool,
) -> [T::Word; W] {
    for word in 0..W {
        // Otherwise the compiler would keep the widened elements of `aggregate` in registers.
        let elements = T::unpack(if T::PER_WORD > 1 { opaque(vector[word]) } else { vector[word] });
        let mut results = elements;
        for k in 0..T::PER_WORD {
            let through = O::combine(prefix, elements[k]);
            results[k] = if exclusive { prefix } else { through };
            prefix = through;
        }
        vector[word] = T::pack(results);
    }
    vector
}

/// Loads the thread's vectors of a tile from `x`, like [`tile::load`](crate::collective::tile::load).
///
/// # Safety
/// If `is_whole` is true, `x` must start at a multiple of 16 bytes and contain the vectors `first + 32·chunk` of the
/// first `chunks` chunks.
#[inline(always)]
unsafe fn load<T: Widen, const V: usize, const W: usize>(
    x: Global<T>,
    first: usize,
    chunks: u32,
    is_whole: bool,
    identity: T::Wide,
) -> [[T::Word; W]; CHUNKS] {
    let mut vectors = [[T::pack([identity; 2]); W]; CHUNKS];
    if is_whole {
        unroll!(CHUNK in CHUNKS => {
            if (CHUNK as u32) < chunks {
                // SAFETY: `is_whole` is true, so by this function's contract `x` is aligned and contains this vector.
                let vector = unsafe { x.load_vec_unchecked::<V>(first + CHUNK * LANES) };
                vectors[CHUNK] = Shuffle::from_words(vector.to_words());
            }
        });
        return vectors;
    }
    let left = left(x.len(), first * V);
    let mut chunk = 0;
    while chunk < CHUNKS as u32 {
        let mut vector = vectors[0];
        let mut j = if chunk < chunks { 0 } else { V as u32 };
        while j < V as u32 {
            let i = chunk * (LANES * V) as u32 + j;
            let mut values = [identity; 2];
            for k in 0..T::PER_WORD {
                if i + (k as u32) < left {
                    // SAFETY: `left` limits the index to the elements that remain in `x`.
                    values[k] = unsafe { x.load_unchecked(first * V + i as usize + k) }.widen();
                }
            }
            vector = shifted(vector, T::pack(values));
            j = opaque(j + T::PER_WORD as u32);
        }
        vectors = shifted(vectors, vector);
        chunk = opaque(chunk + 1);
    }
    vectors
}

/// Stores the thread's vectors in `y`, like [`tile::store`](crate::collective::tile::store) without a prefix.
///
/// # Safety
/// If `is_whole` is true, `y` must start at a multiple of 16 bytes and contain the vectors `first + 32·chunk` of the
/// first `chunks` chunks.
#[inline(always)]
unsafe fn store<T: Widen, const V: usize, const W: usize>(
    y: GlobalMut<T>,
    first: usize,
    chunks: u32,
    is_whole: bool,
    mut vectors: [[T::Word; W]; CHUNKS],
) {
    if is_whole {
        unroll!(CHUNK in CHUNKS => {
            if (CHUNK as u32) < chunks {
                let vector: [T; V] = Shuffle::from_words(vectors[CHUNK].to_words());
                // SAFETY: `is_whole` is true, so by this function's contract `y` is aligned and contains this vector.
                unsafe { y.store_vec_unchecked(first + CHUNK * LANES, vector) };
            }
        });
        return;
    }
    let left = left(y.len(), first * V);
    let mut chunk = 0;
    while chunk < chunks {
        let (mut vector, mut j) = (vectors[0], 0);
        while j < V as u32 {
            let i = chunk * (LANES * V) as u32 + j;
            let elements = T::elements(vector[0]);
            for k in 0..T::PER_WORD {
                if i + (k as u32) < left {
                    // SAFETY: `left` limits the index to the elements that remain in `y`.
                    unsafe { y.store_unchecked(first * V + i as usize + k, elements[k]) };
                }
            }
            vector = shifted(vector, vector[0]);
            j = opaque(j + T::PER_WORD as u32);
        }
        vectors = shifted(vectors, vectors[0]);
        chunk = opaque(chunk + 1);
    }
}

/// Returns the array without its first item and with `last` after the others. A loop that uses only the ends of an
/// array and shifts it need not be unrolled to keep the array in registers.
#[inline(always)]
fn shifted<T: Copy, const N: usize>(mut array: [T; N], last: T) -> [T; N] {
    for i in 1..N {
        array[i - 1] = array[i];
    }
    array[N - 1] = last;
    array
}
