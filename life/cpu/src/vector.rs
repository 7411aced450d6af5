//! Vectors of cells.

/// A vector's words, where vectors are kept.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct Block<const N: usize>(pub [u64; N]);

impl<const N: usize> Block<N> {
    pub const DEAD: Self = Self([0; N]);
    pub const BITS: usize = 64 * N;
}

/// A vector in registers: a bit is a cell, and no two of them are neighbours.
///
/// # Safety
/// All functions are only for processors that have the vector's instructions. They are inlined into a function that is
/// compiled for these.
pub trait Vector<const N: usize>: Copy {
    unsafe fn load(block: &Block<N>) -> Self;

    unsafe fn store(self, block: &mut Block<N>);

    /// `word` in all places.
    unsafe fn splat(word: u64) -> Self;

    unsafe fn and(self, other: Self) -> Self;

    unsafe fn or(self, other: Self) -> Self;

    unsafe fn xor(self, other: Self) -> Self;

    /// The bits that `other` has not.
    unsafe fn and_not(self, other: Self) -> Self;

    /// self & and ^ xor.
    unsafe fn and_xor(self, and: Self, xor: Self) -> Self;

    /// The bits of `yes` where self has them, else those of `no`.
    unsafe fn select(self, yes: Self, no: Self) -> Self;

    /// Every bit one place up; the highest comes in below.
    unsafe fn up(self) -> Self;

    /// Every bit one place down; the lowest comes in above.
    unsafe fn down(self) -> Self;

    /// The sum of three cells: its lower and its upper bit.
    unsafe fn sums(left: Self, cell: Self, right: Self) -> [Self; 2];

    /// The next generation of the cell in the middle of `row`, which is left, cell, right, by the sums of the rows
    /// above and below it.
    unsafe fn next(above: [Self; 2], row: [Self; 3], below: [Self; 2]) -> Self;
}

/// What is composed of a type's `and`, `or`, `xor` and `and_not`.
macro_rules! composed_of_gates {
    () => {
        #[inline(always)]
        unsafe fn and_xor(self, and: Self, xor: Self) -> Self {
            // SAFETY: the caller's word.
            unsafe { self.and(and).xor(xor) }
        }

        #[inline(always)]
        unsafe fn select(self, yes: Self, no: Self) -> Self {
            // SAFETY: the caller's word.
            unsafe { self.and(yes).or(no.and_not(self)) }
        }

        #[inline(always)]
        unsafe fn sums(left: Self, cell: Self, right: Self) -> [Self; 2] {
            // SAFETY: the caller's word.
            unsafe {
                let half = left.xor(right);
                [half.xor(cell), left.and(right).or(half.and(cell))]
            }
        }

        #[inline(always)]
        unsafe fn next(above: [Self; 2], [left, cell, right]: [Self; 3], below: [Self; 2]) -> Self {
            // SAFETY: the caller's word.
            unsafe {
                let (one, two) = (left.xor(right), left.and(right));
                let half = above[0].xor(one);
                let odd = half.xor(below[0]);
                let carry = above[0].and(one).or(half.and(below[0]));
                // Four bits stand for two neighbours each. Two or three neighbours: exactly one of them is set. It is,
                // if an odd number is and not three.
                let parity = carry.xor(above[1]).xor(two.xor(below[1]));
                let one_side = carry.or(above[1]).xor(two.or(below[1]));
                parity.and(one_side).and(odd.or(cell))
            }
        }
    };
}

pub(crate) use composed_of_gates;
