//! The order in which blocks and threads run: natural for seed 0, pseudo-random and reproducible for any other seed.

/// Scrambles `value`: every bit of the result depends on every bit of it (the finaliser of SplitMix64).
pub(crate) const fn scramble(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// Chooses who runs next: a small generator (xorshift) whose numbers rotate a mask. State 0 is the natural order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chooser(u64);

impl Chooser {
    /// The chooser of block `block` under `seed`.
    pub(crate) fn new(seed: u64, block: u64) -> Self {
        if seed == 0 { Self(0) } else { Self(scramble(seed ^ scramble(block)) | 1) }
    }

    /// Chooses a set bit of `mask`, which must not be 0: the lowest for seed 0, some bit otherwise.
    #[inline]
    pub(crate) fn choose(&mut self, mask: u32) -> u32 {
        if self.0 == 0 {
            return mask.trailing_zeros() & 31;
        }
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let width = u64::from(u32::BITS - mask.leading_zeros());
        let turn = (((self.0 >> 32) * width) >> 32) as u32;
        (mask.rotate_right(turn).trailing_zeros() + turn) & 31
    }
}

/// A permutation of the blocks of a grid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockOrder {
    blocks: u64,
    factor: u64,
    offset: u64,
}

impl BlockOrder {
    /// The order of `blocks` blocks under `seed`.
    pub(crate) fn new(seed: u64, blocks: u64) -> Self {
        if seed == 0 || blocks < 2 {
            return Self { blocks, factor: 1, offset: 0 };
        }
        let mut factor = scramble(seed) % blocks;
        while greatest_common_divisor(factor, blocks) != 1 {
            factor = (factor + 1) % blocks;
        }
        Self { blocks, factor, offset: scramble(!seed) % blocks }
    }

    /// The linear index of the block that runs at `position`.
    #[inline]
    pub(crate) fn block_at(&self, position: u64) -> u64 {
        if self.factor == 1 && self.offset == 0 {
            position
        } else if self.blocks <= u64::from(u32::MAX) {
            (position * self.factor + self.offset) % self.blocks
        } else {
            let image = u128::from(position) * u128::from(self.factor) + u128::from(self.offset);
            (image % u128::from(self.blocks)) as u64
        }
    }
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_order_is_a_permutation() {
        for blocks in [1_u64, 2, 3, 4, 5, 12, 97, 1000] {
            for seed in 0..50 {
                let order = BlockOrder::new(seed, blocks);
                let mut seen = vec![false; blocks as usize];
                for position in 0..blocks {
                    let block = order.block_at(position) as usize;
                    assert!(!std::mem::replace(&mut seen[block], true), "{blocks} blocks, seed {seed}");
                }
            }
        }
    }

    #[test]
    fn huge_grids_do_not_overflow() {
        let blocks = (1 << 31) * 65535 * 65535;
        let order = BlockOrder::new(7, blocks);
        assert!(order.block_at(blocks - 1) < blocks);
    }

    #[test]
    fn seed_zero_chooses_from_the_lowest() {
        let mut chooser = Chooser::new(0, 3);
        assert_eq!((chooser.choose(0b1100), chooser.choose(u32::MAX), chooser.choose(1 << 31)), (2, 0, 31));
    }

    #[test]
    fn every_choice_is_a_set_bit_and_all_are_chosen() {
        let mut chooser = Chooser::new(42, 3);
        let mask = 0x8001_0110;
        let mut chosen = 0;
        for _ in 0..1000 {
            let bit = 1 << chooser.choose(mask);
            assert_ne!(mask & bit, 0);
            chosen |= bit;
        }
        assert_eq!(chosen, mask);
    }
}
