//! Life's rule for the 32 cells of a word at once: bitwise adders, one for each column.

/// The cells of one word's columns in one row: the word itself and its neighbours to the left and right, added.
#[derive(Clone, Copy)]
pub(super) struct Row {
    /// The cells themselves.
    alive: u32,
    /// `left + right`, two binary digits for each column.
    beside: [u32; 2],
    /// `left + alive + right`, likewise.
    all: [u32; 2],
}

impl Row {
    /// Adds each cell of `alive` and its neighbours: bit *i* of `left` is the cell to the left of bit *i* of `alive`.
    #[inline(always)]
    pub(super) fn new(left: u32, alive: u32, right: u32) -> Self {
        let odd = left ^ right;
        Self { alive, beside: [odd, left & right], all: [odd ^ alive, (left & right) | (odd & alive)] }
    }
}

/// The next generation of a row's 32 columns.
#[inline(always)]
pub(super) fn next_word(above: Row, row: Row, below: Row) -> u32 {
    // Neighbours = ones + 2·twos, where `ones` is a digit and `twos` the sum of four.
    let (a, b, c) = (above.all[0], row.beside[0], below.all[0]);
    let ones = a ^ b ^ c;
    let carry = (a & b) | (c & (a ^ b));
    let (d, e, f) = (above.all[1], row.beside[1], below.all[1]);
    let one_of_four = (d ^ e ^ f ^ carry) & !((d & e) | (f & carry));
    // Two or three neighbours where `twos` is one; three if `ones` is.
    one_of_four & (ones | row.alive)
}
