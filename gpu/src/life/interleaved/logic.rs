//! A generation of interleaved words: eight operations of three inputs a word.
//!
//! The sum of three cells of a row, left, centre and right, is two binary digits, and each is one operation. The three rows that a
//! cell's neighbours are in share them. The other six take the sums of the rows above and below, and the cells of the row itself;
//! they were found by a search for the smallest circuit (binary-banter's, by a SAT solver). With sums of this kind five do
//! not exist.

use cuda_std::bits::lop3;
use cuda_std::warp;

/// Words of a row that a lane has.
pub(in super::super) const WORDS: usize = 4;

/// A lane's words of a row.
pub(in super::super) type Words = [u32; WORDS];

/// The sum of three inputs: its lower digit, and its upper one.
const ODD: u8 = 0x96;
const MAJORITY: u8 = 0xe8;

/// What a lane does to get the words beside its own.
#[derive(Clone, Copy)]
pub(in super::super) struct Lane {
    /// The lanes that hold them. The warp's words are a ring.
    before: u32,
    after: u32,
    /// The ring's first word has its neighbours one bit further up in its last word: 2 in the first lane, else 1.
    up: u32,
    /// Likewise for the last word: 1 in the last lane, else 0.
    down: u32,
}

impl Lane {
    #[inline(always)]
    pub(in super::super) fn new(lane: u32) -> Self {
        let last = warp::SIZE - 1;
        Self {
            before: (lane + last) % warp::SIZE,
            after: (lane + 1) % warp::SIZE,
            // The compiler does not know this one, or it would make a shift of the product.
            up: lop3::<0xf0>(1 + u32::from(lane == 0), 0, 0),
            down: u32::from(lane == last),
        }
    }

    /// The words before the first and after the last of `row`. All lanes of the warp take part.
    ///
    /// One shift is a product, for which a GPU has other units than for logic.
    #[inline(always)]
    pub(in super::super) fn beside(self, row: Words) -> [u32; 2] {
        let before = warp::shuffle_idx(warp::FULL_MASK, row[WORDS - 1], self.before);
        let after = warp::shuffle_idx(warp::FULL_MASK, row[0], self.after);
        [before.wrapping_mul(self.up), after >> self.down]
    }
}

/// The words before and after word `k` of a row, whose ends are `beside`.
#[inline(always)]
fn neighbours(row: Words, beside: [u32; 2], k: usize) -> [u32; 2] {
    [if k == 0 { beside[0] } else { row[k - 1] }, if k + 1 == WORDS { beside[1] } else { row[(k + 1) % WORDS] }]
}

/// The sums of each cell of a row with its two neighbours.
#[derive(Clone, Copy, Default)]
pub(in super::super) struct Sums {
    odd: Words,
    majority: Words,
}

impl Sums {
    #[inline(always)]
    pub(in super::super) fn new(row: Words, beside: [u32; 2]) -> Self {
        let digit = |k: usize, add: fn(u32, u32, u32) -> u32| {
            let [left, right] = neighbours(row, beside, k);
            add(left, row[k], right)
        };
        Self {
            odd: core::array::from_fn(|k| digit(k, lop3::<ODD>)),
            majority: core::array::from_fn(|k| digit(k, lop3::<MAJORITY>)),
        }
    }
}

/// The next generation of a row, from the sums of those above and below.
#[inline(always)]
pub(in super::super) fn next_row(above: Sums, row: Words, beside: [u32; 2], below: Sums) -> Words {
    core::array::from_fn(|k| {
        let [left, right] = neighbours(row, beside, k);
        let odd = lop3::<ODD>(above.odd[k], left, right);
        let majority = lop3::<MAJORITY>(above.odd[k], left, right);
        let p = lop3::<0x3e>(below.odd[k], odd, row[k]);
        let q = lop3::<0x5b>(p, row[k], majority);
        let s = lop3::<0x91>(q, below.majority[k], above.majority[k]);
        lop3::<0x58>(s, p, q)
    })
}
