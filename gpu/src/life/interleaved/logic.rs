//! The computation of one generation for interleaved words. A generation takes eight operations with three inputs per
//! word for Life, and thirteen for any other rule that counts neighbours.
//!
//! The sum of three cells of a row (left, centre, right) has two binary digits, and each digit takes one operation.
//! These sums are used for three rows. The other six operations combine the sums of the rows above and below with the
//! cells of the row itself. A SAT solver found these operations, in binary-banter's search for the smallest circuit.
//! With sums of this kind, no circuit of five operations exists.

use cuda_std::bits::{lop3, lop3_given};
use cuda_std::warp;

/// The number of words of a row that a lane has.
pub(in super::super) const WORDS: usize = 4;

/// The words of a row that one lane has in registers.
pub(in super::super) type Words = [u32; WORDS];

/// The truth table of the lower digit of the sum of three inputs.
const ODD: u8 = 0x96;
/// The truth table of the upper digit of the sum of three inputs.
const MAJORITY: u8 = 0xe8;

/// The constants with which a lane obtains the words before and after its own words.
#[derive(Clone, Copy)]
pub(in super::super) struct Lane {
    /// The lane that has the word before this lane's first word. The words of a warp form a ring, so the first lane
    /// gets the last word.
    before: u32,
    /// The lane that has the word after this lane's last word.
    after: u32,
    /// The factor for the previous word. It is 2 in the first lane, whose left neighbours are the last word of the
    /// ring, shifted up by one bit. It is 1 in all other lanes.
    up: u32,
    /// The right shift of the next word. It is 1 in the last lane, whose right neighbours are the first word of the
    /// ring, shifted down. It is 0 in all other lanes.
    down: u32,
}

impl Lane {
    #[inline(always)]
    pub(in super::super) fn new(lane: u32) -> Self {
        let last = warp::SIZE - 1;
        Self {
            before: (lane + last) % warp::SIZE,
            after: (lane + 1) % warp::SIZE,
            // `lop3` hides this value from the compiler, which would otherwise replace the product by a shift.
            up: lop3::<0xf0>(1 + u32::from(lane == 0), 0, 0),
            down: u32::from(lane == last),
        }
    }

    /// Returns the word before the first word of `row` and the word after its last word. All lanes of the warp must
    /// call this function.
    ///
    /// The function multiplies instead of shifting the first word, because a GPU has separate units for products and
    /// for logic.
    #[inline(always)]
    pub(in super::super) fn beside(self, row: Words) -> [u32; 2] {
        let before = warp::shuffle_idx(warp::FULL_MASK, row[WORDS - 1], self.before);
        let after = warp::shuffle_idx(warp::FULL_MASK, row[0], self.after);
        [before.wrapping_mul(self.up), after >> self.down]
    }
}

/// Returns the words before and after word `k` of `row`. `beside` must have the words before the first and after the
/// last word.
#[inline(always)]
fn neighbours(row: Words, beside: [u32; 2], k: usize) -> [u32; 2] {
    [if k == 0 { beside[0] } else { row[k - 1] }, if k + 1 == WORDS { beside[1] } else { row[(k + 1) % WORDS] }]
}

/// The sum of each cell of a row with its two neighbours.
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

    /// Returns the sums of lane `lane`. All lanes of the warp must call this function.
    #[inline(always)]
    pub(in super::super) fn of_lane(self, lane: u32) -> Self {
        let of_lane = |words| warp::shuffle_idx(warp::FULL_MASK, words, lane);
        Self { odd: of_lane(self.odd), majority: of_lane(self.majority) }
    }
}

/// One lane's words of a row, the words to the left and right of these, the sums of the row, and the sums of the row
/// above.
#[derive(Clone, Copy, Default)]
pub struct Rows {
    pub(in super::super) above: Sums,
    pub(in super::super) row: Words,
    pub(in super::super) beside: [u32; 2],
    pub(in super::super) sums: Sums,
}

/// A rule: computes the next generation of a row.
pub trait Logic: Copy + Send + Sync + 'static {
    /// Returns the next generation of `rows.row`. `is_odd` must be true if an odd number of generations separates this
    /// row from the start of the launch.
    fn next(rows: &Rows, below: &Sums, is_odd: bool) -> [u32; WORDS];
}

/// Conway's rule, B3/S23.
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

/// Any rule that counts live neighbours. The tables of the rule are arguments of the launch.
///
/// The sum of the nine cells of a square is `one + 2·two + 2·other + 4·four`. `four` and the centre cell select one of
/// four tables, which has the next state for each combination of `one`, `two` and `other`. A launch has two sets of
/// [four tables](super::super::COUNT_TABLES): one for its first, third, fifth generation, and one for the second,
/// fourth, sixth.
#[derive(Clone, Copy)]
pub struct Given;

/// The truth table of a selection: the result is the second input if the first input is 1, else the third input.
const CHOICE: u8 = 0xca;

/// Selects the result of one of four tables, according to the centre cell and `four`.
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
