//! A generation of interleaved words: for Life eight operations of three inputs per word, for any rule of its kind thirteen.
//!
//! The sum of three cells of a row, left, centre and right, is two binary digits, and each is one operation. The three rows that a
//! cell's neighbours are in share them. The other six take the sums of the rows above and below, and the cells of the row itself;
//! they were found by a search for the smallest circuit (binary-banter's, by a SAT solver). With sums of this kind five do
//! not exist.

use cuda_std::bits::{lop3, lop3_given};
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
    /// Factor for the word before: 2 in the first lane, whose left neighbours are the ring's last word, shifted up by a bit; else 1.
    up: u32,
    /// Right shift of the word after: 1 in the last lane, whose right neighbours are the first word, shifted down; else 0.
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
pub struct Sums {
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

/// A row and what is beside it, with the sums of three rows.
#[derive(Clone, Copy, Default)]
pub struct Rows {
    pub(in super::super) above: Sums,
    pub(in super::super) row: Words,
    pub(in super::super) beside: [u32; 2],
    pub(in super::super) sums: Sums,
}

/// A rule: how the next generation of a row follows.
pub trait Logic: Copy + Send + Sync + 'static {
    /// The next generation of `rows.row`. `is_odd` says whether an odd number of generations is between this one and that
    /// which the launch began with.
    fn next(rows: &Rows, below: &Sums, is_odd: bool) -> [u32; WORDS];
}

/// B3/S23.
#[derive(Clone, Copy)]
pub struct Conway;

impl Logic for Conway {
    #[inline(always)]
    fn next(Rows { above, row, beside, .. }: &Rows, below: &Sums, _is_odd: bool) -> [u32; WORDS] {
        core::array::from_fn(|k| {
            let [left, right] = neighbours(*row, *beside, k);
            let odd = lop3::<ODD>(above.odd[k], left, right);
            let majority = lop3::<MAJORITY>(above.odd[k], left, right);
            let p = lop3::<0x3e>(below.odd[k], odd, row[k]);
            let q = lop3::<0x5b>(p, row[k], majority);
            let s = lop3::<0x91>(q, below.majority[k], above.majority[k]);
            lop3::<0x58>(s, p, q)
        })
    }
}

/// Any rule by the number of live neighbours, in tables that the launch gives.
///
/// The nine cells of a square are added: they are one + 2·two + 2·other two + 4·four, where `four` and the cell itself say which of
/// four tables has the next state for the other three digits. The launch gives [four tables](super::super::COUNT_TABLES) for its first generation, and four for
/// the next: those take turns.
#[derive(Clone, Copy)]
pub struct Given;

/// Bits of the first where they are 1 in `choice`, and else of the second.
const CHOICE: u8 = 0xca;

/// The four tables' results, chosen by the cell itself and by `four`.
macro_rules! by_tables {
    ($digits:expr, $cell:expr, $four:expr, $first:literal $second:literal $third:literal $fourth:literal) => {{
        let [one, two, other] = $digits;
        let few = lop3::<CHOICE>($cell, lop3_given::<$second>(one, two, other), lop3_given::<$first>(one, two, other));
        let many = lop3::<CHOICE>($cell, lop3_given::<$fourth>(one, two, other), lop3_given::<$third>(one, two, other));
        lop3::<CHOICE>($four, many, few)
    }};
}

impl Logic for Given {
    #[inline(always)]
    fn next(Rows { above, row, sums, .. }: &Rows, below: &Sums, is_odd: bool) -> [u32; WORDS] {
        core::array::from_fn(|k| {
            let odd = [above.odd[k], sums.odd[k], below.odd[k]];
            let majority = [above.majority[k], sums.majority[k], below.majority[k]];
            let add = |[a, b, c]: [u32; 3]| [lop3::<ODD>(a, b, c), lop3::<MAJORITY>(a, b, c)];
            let ([one, two], [other, four]) = (add(odd), add(majority));
            if is_odd {
                by_tables!([one, two, other], row[k], four, 4 5 6 7)
            } else {
                by_tables!([one, two, other], row[k], four, 0 1 2 3)
            }
        })
    }
}
