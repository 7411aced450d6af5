//! One generation of the active tiles, by vector instructions.

use super::flags::Shape;
use crate::rule::{Neighbourhood, Next};
use crate::vector::{Block, Vector};

/// A tile's rows, each with its left and right neighbours, and the sums of the three.
#[derive(Clone, Copy)]
struct Lines<V> {
    cells: [V; 3],
    sums: [V; 2],
}

impl<V> Lines<V> {
    /// Loads the tile `at`. The tiles to the left and right are `stride` tiles away.
    #[inline(always)]
    unsafe fn load<R: Next, const N: usize>(tiles: &[Block<N>], at: usize, stride: usize) -> Self
    where
        V: Vector<N>,
    {
        // SAFETY: only `step` calls this function, and its caller guarantees the instructions of `V`.
        let [left, cell, right] =
            unsafe { [V::load(&tiles[at - stride]), V::load(&tiles[at]), V::load(&tiles[at + stride])] };
        let (left, right) = (cell.after_bits(left), cell.before_bits(right));
        let sums = if R::SUMS { V::sums(left, cell, right) } else { [cell, cell] };
        Self { cells: [left, cell, right], sums }
    }
}

/// The tiles of a word of flags that changed, one bit per tile, and those whose outermost cells changed.
#[derive(Default)]
struct Changed {
    any: u64,
    first_row: u64,
    last_row: u64,
    first_column: u64,
    last_column: u64,
}

/// Computes the next generation of the tiles whose flags in `active` are set. On entry, `to` has the previous
/// generation. On return, `next` has the flags of all tiles that may differ from `to` after the next but one step.
///
/// # Safety
/// The processor must have the instructions of `V`.
#[inline(always)]
pub unsafe fn step<V: Vector<N>, R: Next, const N: usize>(
    rule: &R,
    shape: Shape,
    (active, next): (&[u64], &mut [u64]),
    (from, to): (&[Block<N>], &mut [Block<N>]),
) {
    let stride = shape.rows + 2;
    for column in 0..shape.columns {
        for word in 0..shape.words() {
            let flags = shape.flag_word(column, word);
            let mut left = active[flags];
            if left == 0 {
                continue;
            }
            let mut changed = Changed::default();
            let mut lines: Option<(usize, [Lines<V>; 2])> = None;
            while left != 0 {
                let bit = left.trailing_zeros();
                left &= left - 1;
                let at = shape.tile(column, 64 * word + bit as usize);
                // SAFETY: the caller guarantees the instructions of `V`.
                let (above, here, below) = unsafe {
                    let (above, here) = match lines {
                        Some((next, [above, here])) if next == at => (above, here),
                        _ => (Lines::load::<R, N>(from, at - 1, stride), Lines::load::<R, N>(from, at, stride)),
                    };
                    (above, here, Lines::load::<R, N>(from, at + 1, stride))
                };
                lines = Some((at + 1, [here, below]));
                let after = |i: usize| here.cells[i].after(above.cells[i]);
                let before = |i: usize| here.cells[i].before(below.cells[i]);
                let new = rule.next(Neighbourhood {
                    cells: [[after(0), after(1), after(2)], here.cells, [before(0), before(1), before(2)]],
                    sums: [
                        [here.sums[0].after(above.sums[0]), here.sums[1].after(above.sums[1])],
                        here.sums,
                        [here.sums[0].before(below.sums[0]), here.sums[1].before(below.sums[1])],
                    ],
                });
                // SAFETY: the caller guarantees the instructions of `V`.
                let differs = new.xor(unsafe { V::load(&to[at]) });
                new.store(&mut to[at]);
                let words = differs.words_with(differs);
                changed.any |= u64::from(words != 0) << bit;
                changed.first_row |= u64::from(words & 1) << bit;
                changed.last_row |= u64::from(words >> (N - 1)) << bit;
                changed.first_column |= u64::from(differs.words_with(new.filled(1)) != 0) << bit;
                changed.last_column |= u64::from(differs.words_with(new.filled(1 << 63)) != 0) << bit;
            }
            changed.activate(next, flags, shape.words() + 2);
        }
    }
}

impl Changed {
    /// Sets the flags of the changed tiles and of the tiles whose neighbourhood changed. `stride` is the number of
    /// words of flags per column.
    fn activate(&self, next: &mut [u64], flags: usize, stride: usize) {
        let mut set = |flags: usize, side: u64| {
            let (all, first, last) = (self.any & side, self.first_row & side, self.last_row & side);
            next[flags] |= all | first >> 1 | last << 1;
            next[flags - 1] |= first << 63;
            next[flags + 1] |= last >> 63;
        };
        set(flags, u64::MAX);
        set(flags - stride, self.first_column);
        set(flags + stride, self.last_column);
    }
}
