//! A hash table of objects in global memory: a counter for each key. All warps of a grid insert keys.
//!
//! A slot is empty, claimed or ready. A warp claims an empty slot, writes its key, and then makes the slot ready. A
//! warp that finds a claimed slot continues with the next slot, so no warp waits for another one. The table may
//! therefore have two slots with the same key. The host adds their counters.

use cuda_std::{GlobalMut, warp};

use super::patch::KEY_WORDS;

/// The number of slots that a warp examines before the table counts as full.
const PROBES: usize = 128;

/// A slot's state is [`EMPTY`], or bits of the key's hash with [`CLAIMED`] or [`READY`] as the lower two bits.
const EMPTY: u32 = 0;
const CLAIMED: u32 = 1;
/// The lower two bits of the state of a slot that has a key.
pub const READY: u32 = 2;
const STATE_BITS: u32 = 3;

/// The table's memory: for each slot a state, a key, a counter, and the number of a soup. The number of slots is a
/// power of two.
#[derive(Clone, Copy)]
pub(super) struct Table<'a> {
    pub(super) states: GlobalMut<'a, u32>,
    pub(super) keys: GlobalMut<'a, u32>,
    pub(super) counts: GlobalMut<'a, u32>,
    pub(super) firsts: GlobalMut<'a, u32>,
}

/// Returns `word` with its bits mixed: the finaliser of MurmurHash3.
#[inline(always)]
fn mix(word: u32) -> u32 {
    let word = (word ^ word >> 16).wrapping_mul(0x85eb_ca6b);
    let word = (word ^ word >> 13).wrapping_mul(0xc2b2_ae35);
    word ^ word >> 16
}

impl Table<'_> {
    /// Returns the slot of `key`, which it inserts if necessary. Each of the first [`KEY_WORDS`] lanes has a word of
    /// the key. Returns `None` if the table is full.
    #[inline(always)]
    pub(super) fn slot_of(&self, key: u32) -> Option<u32> {
        let lane = warp::lane_id() as usize;
        let is_word = lane < KEY_WORDS;
        let mixed = if is_word { mix(key.wrapping_add((lane as u32 + 1).wrapping_mul(0x9e37_79b9))) } else { 0 };
        let hash = mix(warp::reduce_xor(warp::FULL_MASK, mixed));
        let (mask, tag) = (self.states.len() - 1, hash & !STATE_BITS);
        let mut slot = hash as usize & mask;
        for _ in 0..PROBES {
            let mut state = EMPTY;
            if lane == 0 {
                state = self.states.load_acquire(slot);
                if state == EMPTY {
                    state = self.states.atomic_compare_exchange(slot, EMPTY, tag | CLAIMED);
                }
            }
            state = warp::shuffle_idx(warp::FULL_MASK, state, 0);
            if state == EMPTY {
                if is_word {
                    self.keys.store(slot * KEY_WORDS + lane, key);
                }
                warp::sync_warp(warp::FULL_MASK);
                if lane == 0 {
                    self.states.store_release(slot, tag | READY);
                }
                return Some(slot as u32);
            }
            if state == tag | READY {
                // Each lane acquires the state itself, so that its load of the key follows.
                let differs = is_word
                    && (self.states.load_acquire(slot) != state || self.keys.load(slot * KEY_WORDS + lane) != key);
                if !warp::any(warp::FULL_MASK, differs) {
                    return Some(slot as u32);
                }
            }
            slot = (slot + 1) & mask;
        }
        None
    }
}
