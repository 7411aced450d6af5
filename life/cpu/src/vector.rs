//! Vectors of cells, in memory and in registers.

/// The words of a vector as they are stored in memory.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct Block<const N: usize>(pub [u64; N]);

impl<const N: usize> Block<N> {
    pub const DEAD: Self = Self([0; N]);
    pub const BITS: usize = 64 * N;
}

/// A vector in registers. Each bit is a cell. No two cells of a vector are neighbours of each other.
///
/// A value exists only on processors that have the vector's instructions, because every value comes from a call of
/// [`load`](Self::load), directly or through other functions. All functions must be inlined into a function that is
/// compiled for these instructions.
pub trait Vector<const N: usize>: Copy {
    /// # Safety
    /// The processor must have the vector's instructions.
    unsafe fn load(block: &Block<N>) -> Self;

    fn store(self, block: &mut Block<N>);

    /// Returns a vector whose words are all `word`.
    fn filled(self, word: u64) -> Self;

    fn and(self, other: Self) -> Self;

    fn or(self, other: Self) -> Self;

    fn xor(self, other: Self) -> Self;

    /// Returns `self & !other`.
    fn and_not(self, other: Self) -> Self;

    /// Returns `self & and ^ xor`.
    #[inline(always)]
    fn and_xor(self, and: Self, xor: Self) -> Self {
        self.and(and).xor(xor)
    }

    /// Returns the bits of `yes` where `self` has set bits, and the bits of `no` elsewhere.
    #[inline(always)]
    fn select(self, yes: Self, no: Self) -> Self {
        self.and(yes).or(no.and_not(self))
    }

    /// Rotates the vector by one bit towards the high end, across its words.
    fn up(self) -> Self;

    /// Rotates the vector by one bit towards the low end, across its words.
    fn down(self) -> Self;

    /// Returns the words moved up by one. The lowest word of the result is the highest word of `above`.
    fn after(self, above: Self) -> Self;

    /// Returns the words moved down by one. The highest word of the result is the lowest word of `below`.
    fn before(self, below: Self) -> Self;

    /// Shifts each word by one bit towards the high end. The lowest bit of each word is the highest bit of the same
    /// word of `left`.
    fn after_bits(self, left: Self) -> Self;

    /// Shifts each word by one bit towards the low end. The highest bit of each word is the lowest bit of the same word
    /// of `right`.
    fn before_bits(self, right: Self) -> Self;

    /// Returns a mask of the words that have a set bit in common with `mask`: bit i stands for word i.
    fn words_with(self, mask: Self) -> u32;

    /// Returns the sum of three cells, as its low bit and its high bit.
    #[inline(always)]
    fn sums(left: Self, cell: Self, right: Self) -> [Self; 2] {
        let half = left.xor(right);
        [half.xor(cell), left.and(right).or(half.and(cell))]
    }

    /// Returns the next generation of `cell` in Life. `left` and `right` are its neighbours in the same row. `above`
    /// and `below` are the sums of three cells each in the adjacent rows.
    #[inline(always)]
    fn next(above: [Self; 2], [left, cell, right]: [Self; 3], below: [Self; 2]) -> Self {
        let (one, two) = (left.xor(right), left.and(right));
        let half = above[0].xor(one);
        let odd = half.xor(below[0]);
        let carry = above[0].and(one).or(half.and(below[0]));
        // Each of four bits stands for two neighbours. With two or three neighbours, exactly one of the four bits is
        // set: their parity is odd, and fewer than three of them are set.
        let parity = carry.xor(above[1]).xor(two.xor(below[1]));
        let one_side = carry.or(above[1]).xor(two.or(below[1]));
        parity.and(one_side).and(odd.or(cell))
    }
}
