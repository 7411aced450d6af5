//! Rules that compute the next state of the 32 cells of a word at once. Bitwise logic adds the neighbours of each
//! column, and Boolean functions of the digits of these sums give the next state.

use cuda_std::bits::{lop3, lop3_given};

/// A rule of Life, as bitwise logic on words of three neighbouring rows.
pub(super) trait Circuit {
    /// The intermediate result for a word of one row. It is computed once, and used for the row and for the rows above
    /// and below.
    type Row: Copy;

    /// Returns the intermediate result for the cells `alive`. Bit *i* of `left` must be the cell to the left of bit *i*
    /// of `alive`.
    fn row(left: u32, alive: u32, right: u32) -> Self::Row;

    /// Returns the next generation of the 32 columns of a row.
    fn next(above: Self::Row, row: Self::Row, below: Self::Row) -> u32;
}

/// Conway's rule, B3/S23, as a circuit.
pub(super) struct Conway;

/// The cells of one word in one row, and the sum of each cell with its left and right neighbours.
#[derive(Clone, Copy)]
pub(super) struct Row {
    /// The cells of the word.
    alive: u32,
    /// The sum `left + right` of each column, in two binary digits.
    beside: [u32; 2],
    /// The sum `left + alive + right` of each column, in two binary digits.
    all: [u32; 2],
}

impl Circuit for Conway {
    type Row = Row;

    #[inline(always)]
    fn row(left: u32, alive: u32, right: u32) -> Row {
        let odd = left ^ right;
        Row { alive, beside: [odd, left & right], all: [odd ^ alive, (left & right) | (odd & alive)] }
    }

    #[inline(always)]
    fn next(above: Row, row: Row, below: Row) -> u32 {
        // The number of live neighbours is ones + 2·twos, where `ones` is one binary digit and `twos` is the sum of
        // four digits.
        let (a, b, c) = (above.all[0], row.beside[0], below.all[0]);
        let ones = a ^ b ^ c;
        let carry = (a & b) | (c & (a ^ b));
        let (d, e, f) = (above.all[1], row.beside[1], below.all[1]);
        let one_of_four = (d ^ e ^ f ^ carry) & !((d & e) | (f & carry));
        // A cell has two or three neighbours if `twos` is one, and three if `ones` is one too.
        one_of_four & (ones | row.alive)
    }
}

/// Any rule that counts live neighbours. The first [`COUNT_TABLES`] tables in the arguments of the launch define the
/// rule.
pub(super) struct Counts;

/// The number of tables of a rule that counts live neighbours. A table gives the next state for each combination of
/// three bits.
///
/// The sum of the nine cells of a square is `ones + 2·(carry + twos) + 4·fours`. Table `centre + 2·fours` has the next
/// state for the inputs `a = ones`, `b = carry` and `c = twos`.
pub const COUNT_TABLES: usize = 4;

/// A word, and the sum of each of its cells with the cell's left and right neighbours, in two binary digits.
#[derive(Clone, Copy)]
pub(super) struct Sums {
    alive: u32,
    digits: [u32; 2],
}

const PARITY: u8 = 0x96;
const MAJORITY: u8 = 0xE8;

/// The truth table of a selection: the result is `b` if `a` is 1, else `c`.
const CHOICE: u8 = 0xCA;

impl Circuit for Counts {
    type Row = Sums;

    #[inline(always)]
    fn row(left: u32, alive: u32, right: u32) -> Sums {
        Sums { alive, digits: [lop3::<PARITY>(left, alive, right), lop3::<MAJORITY>(left, alive, right)] }
    }

    #[inline(always)]
    fn next(above: Sums, row: Sums, below: Sums) -> u32 {
        let [a, b, c] = [above.digits, row.digits, below.digits];
        let (ones, carry) = (lop3::<PARITY>(a[0], b[0], c[0]), lop3::<MAJORITY>(a[0], b[0], c[0]));
        let (twos, fours) = (lop3::<PARITY>(a[1], b[1], c[1]), lop3::<MAJORITY>(a[1], b[1], c[1]));
        let few = lop3::<CHOICE>(row.alive, lop3_given::<1>(ones, carry, twos), lop3_given::<0>(ones, carry, twos));
        let many = lop3::<CHOICE>(row.alive, lop3_given::<3>(ones, carry, twos), lop3_given::<2>(ones, carry, twos));
        lop3::<CHOICE>(fours, many, few)
    }
}

/// Any rule of two states. The first [`TABLES`] tables in the arguments of the launch define the rule.
pub(super) struct Table;

/// The number of tables of a rule of two states. Together, the tables have 512 bits: the next state for each
/// combination of nine cells. A table has eight of them. The six cells of the upper two rows select the table. The
/// upper left cell is the highest bit of the table's number, and the right cell of the middle row is the lowest bit.
/// The three cells of the lower row are the inputs `a`, `b` and `c` of the table.
pub const TABLES: usize = 64;

impl Circuit for Table {
    type Row = [u32; 3];

    #[inline(always)]
    fn row(left: u32, alive: u32, right: u32) -> [u32; 3] {
        [left, alive, right]
    }

    #[inline(always)]
    fn next(above: [u32; 3], row: [u32; 3], below: [u32; 3]) -> u32 {
        let [a, b, c] = below;
        macro_rules! given {
            ($index:expr) => {
                lop3_given::<{ $index }>(a, b, c)
            };
        }
        // These macros select among 2, 4, … 64 tables, from a given table on.
        macro_rules! of_2 {
            ($first:expr) => {
                lop3::<CHOICE>(row[2], given!($first + 1), given!($first))
            };
        }
        macro_rules! of_4 {
            ($first:expr) => {
                lop3::<CHOICE>(row[1], of_2!($first + 2), of_2!($first))
            };
        }
        macro_rules! of_8 {
            ($first:expr) => {
                lop3::<CHOICE>(row[0], of_4!($first + 4), of_4!($first))
            };
        }
        macro_rules! of_16 {
            ($first:expr) => {
                lop3::<CHOICE>(above[2], of_8!($first + 8), of_8!($first))
            };
        }
        macro_rules! of_32 {
            ($first:expr) => {
                lop3::<CHOICE>(above[1], of_16!($first + 16), of_16!($first))
            };
        }
        lop3::<CHOICE>(above[0], of_32!(32), of_32!(0))
    }
}
