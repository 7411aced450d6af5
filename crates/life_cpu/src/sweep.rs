//! A band of rows, advanced by some generations while it is in a core's cache.

use crate::grid::{Grid, Scratch};
use crate::vector::{Block, Vector};

/// Writes the rows of `strip` from `first_row` on as they are `generations` later to `out`.
///
/// # Safety
/// The processor has the instructions of `V`.
#[inline(always)]
pub unsafe fn tile<V: Vector<N>, const N: usize>(
    grid: &Grid<N>,
    strip: usize,
    first_row: usize,
    out: &mut [Block<N>],
    generations: usize,
    scratch: &mut Scratch<N>,
) {
    let width = grid.vectors();
    let rows = out.len() / width + 2 * generations;
    let Scratch { now, next, sums } = scratch;
    now.resize(rows * width, Block::DEAD);
    next.resize(rows * width, Block::DEAD);
    sums.resize(2 * width, [Block::DEAD; 2]);
    for (i, row) in now.chunks_exact_mut(width).enumerate() {
        grid.copy_row(strip, first_row as isize + i as isize - generations as isize, row);
    }
    for generation in 1..generations {
        let rows = rows - 2 * generation;
        // SAFETY: the caller's word.
        unsafe { sweep::<V, N>(&now[..(rows + 2) * width], &mut next[..rows * width], width, sums) };
        std::mem::swap(now, next);
    }
    // SAFETY: the caller's word.
    unsafe { sweep::<V, N>(&now[..out.len() + 2 * width], out, width, sums) };
}

/// The rows of `from` but the first and the last, a generation later.
#[inline(always)]
unsafe fn sweep<V: Vector<N>, const N: usize>(
    from: &[Block<N>],
    to: &mut [Block<N>],
    width: usize,
    sums: &mut [[Block<N>; 2]],
) {
    let (mut above, mut here) = sums.split_at_mut(width);
    let rows_below = from[2 * width..].chunks_exact(width);
    // SAFETY: the caller's word.
    unsafe {
        sum_row::<V, N>(&from[..width], above);
        sum_row::<V, N>(&from[width..2 * width], here);
    }
    for ((row, below), out) in from[width..].chunks_exact(width).zip(rows_below).zip(to.chunks_exact_mut(width)) {
        // SAFETY: the caller's word.
        unsafe { next_row::<V, N>(above, row, below, out) };
        // What was above is below now, which is next row's here.
        std::mem::swap(&mut above, &mut here);
    }
}

#[inline(always)]
unsafe fn sum_row<V: Vector<N>, const N: usize>(row: &[Block<N>], sums: &mut [[Block<N>; 2]]) {
    let last = row.len() - 1;
    // SAFETY: the caller's word.
    unsafe {
        let (mut left, mut cell) = (V::load(&row[last]).up(), V::load(&row[0]));
        for (k, sums) in sums.iter_mut().enumerate() {
            let right = if k < last { V::load(&row[k + 1]) } else { V::load(&row[0]).down() };
            let [low, high] = V::sums(left, cell, right);
            low.store(&mut sums[0]);
            high.store(&mut sums[1]);
            (left, cell) = (cell, right);
        }
    }
}

/// The next generation of `row`. In `sums` are those of the row above it, and then those of the row below.
#[inline(always)]
unsafe fn next_row<V: Vector<N>, const N: usize>(
    sums: &mut [[Block<N>; 2]],
    row: &[Block<N>],
    below: &[Block<N>],
    out: &mut [Block<N>],
) {
    let (Some((last_sums, sums)), Some((last_out, out))) = (sums.split_last_mut(), out.split_last_mut()) else {
        return;
    };
    // SAFETY: the caller's word.
    unsafe {
        let ends = |row: &[Block<N>]| (row[0], row[row.len() - 1]);
        let ((first, last), (first_below, last_below)) = (ends(row), ends(below));
        let mut window = Window {
            left: [V::load(&last).up(), V::load(&last_below).up()],
            cell: [V::load(&first), V::load(&first_below)],
        };
        for (((sums, right), right_below), out) in sums.iter_mut().zip(&row[1..]).zip(&below[1..]).zip(out) {
            window.step([V::load(right), V::load(right_below)], sums, out);
        }
        window.step([V::load(&first).down(), V::load(&first_below).down()], last_sums, last_out);
    }
}

/// The vectors that are at hand on the way along a row, of that row and of the one below.
struct Window<V> {
    left: [V; 2],
    cell: [V; 2],
}

impl<V> Window<V> {
    #[inline(always)]
    unsafe fn step<const N: usize>(&mut self, right: [V; 2], sums: &mut [Block<N>; 2], out: &mut Block<N>)
    where
        V: Vector<N>,
    {
        let Self { left, cell } = *self;
        // SAFETY: the caller's word.
        unsafe {
            let above = [V::load(&sums[0]), V::load(&sums[1])];
            let below = V::sums(left[1], cell[1], right[1]);
            below[0].store(&mut sums[0]);
            below[1].store(&mut sums[1]);
            V::next(above, [left[0], cell[0], right[0]], below).store(out);
        }
        *self = Self { left: cell, cell: right };
    }
}
