//! Advances a band of rows by several generations while the band is in a core's cache.

use crate::grid::{BandPass, Grid, Scratch};
use crate::rule::{Life, Logic, Neighbourhood, Next};
use crate::vector::{Block, Ring, Vector};

impl<const N: usize> BandPass<'_, N> {
    /// Writes the rows of the strip from `first_row` on into `out`, advanced by `generations` generations.
    ///
    /// # Safety
    /// The processor must have the instructions of `V`.
    #[inline(always)]
    pub unsafe fn run<V: Ring<N>>(self) {
        let Self { grid, strip, first_row, generations, out, scratch } = self;
        let stride = grid.stride();
        let rows = out.len() / stride + 2 * generations;
        let Scratch { now, next, sums } = scratch;
        now.resize(rows * stride, Block::DEAD);
        next.resize(rows * stride, Block::DEAD);
        sums.resize(2 * grid.layout.vectors, [Block::DEAD; 2]);
        let top = first_row as isize - generations as isize;
        for (i, row) in now.chunks_exact_mut(stride).enumerate() {
            grid.copy_row(strip, top + i as isize, generations, row);
        }
        for generation in 1..=generations {
            let rows = rows - 2 * generation;
            let to = if generation == generations { &mut *out } else { &mut next[..rows * stride] };
            // SAFETY: the caller guarantees the instructions of `V`.
            unsafe { sweep::<V, N>(grid, generation - 1, &now[..(rows + 2) * stride], to, sums) };
            grid.keep_dead(strip, top + generation as isize, to);
            std::mem::swap(now, next);
        }
    }
}

/// Computes the next generation of all rows of `from` except the first and the last, and writes the result into `to`.
/// `from` is `generation` generations ahead of the grid.
#[inline(always)]
unsafe fn sweep<V: Ring<N>, const N: usize>(
    grid: &Grid<N>,
    generation: usize,
    from: &[Block<N>],
    to: &mut [Block<N>],
    sums: &mut [[Block<N>; 2]],
) {
    // SAFETY: only `BandPass::run` calls this function, and its caller guarantees the instructions of `V`.
    unsafe {
        match grid.logic(generation) {
            Logic::Life => rows::<V, N>(&Life, grid, from, to, sums),
            Logic::Counts(counts) => rows::<V, N>(counts, grid, from, to, sums),
            Logic::Table(table) => rows::<V, N>(&**table, grid, from, to, sums),
        }
    }
}

#[inline(always)]
unsafe fn rows<V: Ring<N>, const N: usize>(
    rule: &impl Next,
    grid: &Grid<N>,
    from: &[Block<N>],
    to: &mut [Block<N>],
    sums: &mut [[Block<N>; 2]],
) {
    let (width, stride) = (grid.layout.vectors, grid.stride());
    let (mut above, mut here) = sums.split_at_mut(width);
    // SAFETY: only `sweep` calls this function, and the caller of `BandPass::run` guarantees the instructions of `V`.
    unsafe {
        sum_row::<V, N>(&from[..width], above);
        sum_row::<V, N>(&from[stride..][..width], here);
    }
    for (y, out) in to.chunks_exact_mut(stride).enumerate() {
        let rows = [y, y + 1, y + 2].map(|y| &from[y * stride..][..width]);
        let (out, older) = out.split_at_mut(width);
        // SAFETY: only `sweep` calls this function, and the caller of `BandPass::run` guarantees the instructions of
        // `V`.
        unsafe {
            next_row::<V, N>(rule, above, here, rows, out);
            if !older.is_empty() {
                let ages = &from[(y + 1) * stride + width..][..older.len()];
                grow_older::<V, N>(grid.dynamics.rule.states - 2, rows[1], ages, out, older);
            }
        }
        // For the next row, the row below becomes the row itself, so the sums of the two rows are swapped.
        std::mem::swap(&mut above, &mut here);
    }
}

/// Corrects the next generation of a row for rules of more than two states. `ages` contains the number of generations
/// until each dying cell is dead, the lowest bit first. A dying cell cannot be born. A live cell that does not survive
/// gets `first` as its number of generations.
///
/// # Safety
/// The processor must have the instructions of `V`.
#[inline(always)]
pub unsafe fn grow_older<V: Vector<N>, const N: usize>(
    first: u16,
    row: &[Block<N>],
    ages: &[Block<N>],
    out: &mut [Block<N>],
    older: &mut [Block<N>],
) {
    let width = row.len();
    for k in 0..width {
        // SAFETY: the caller guarantees the instructions of `V`.
        unsafe {
            let alive = V::load(&row[k]);
            let mut dying = alive.filled(0);
            for age in ages[k..].iter().step_by(width) {
                dying = dying.or(V::load(age));
            }
            let next = V::load(&out[k]).and_not(dying);
            next.store(&mut out[k]);
            let dies = alive.and_not(next);
            let mut borrow = dying;
            for (bit, (age, older)) in
                ages[k..].iter().step_by(width).zip(older[k..].iter_mut().step_by(width)).enumerate()
            {
                let age = V::load(age);
                let less = age.xor(borrow);
                borrow = borrow.and_not(age);
                let mask = if first >> bit & 1 == 1 { u64::MAX } else { 0 };
                less.or(dies.and(dies.filled(mask))).store(older);
            }
        }
    }
}

#[inline(always)]
unsafe fn sum_row<V: Ring<N>, const N: usize>(row: &[Block<N>], sums: &mut [[Block<N>; 2]]) {
    let last = row.len() - 1;
    // SAFETY: only `rows` calls this function, and the caller of `BandPass::run` guarantees the instructions of `V`.
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

/// Computes the next generation of the middle row of `rows`, which has three rows. On entry `above` contains the sums
/// of the first row. On return, `above` contains the sums of the last row.
#[inline(always)]
unsafe fn next_row<V: Ring<N>, const N: usize>(
    rule: &impl Next,
    above: &mut [[Block<N>; 2]],
    here: &[[Block<N>; 2]],
    rows: [&[Block<N>]; 3],
    out: &mut [Block<N>],
) {
    let (Some((last_above, above)), Some((last_out, out))) = (above.split_last_mut(), out.split_last_mut()) else {
        return;
    };
    let Some((last_here, here)) = here.split_last() else { return };
    let [first, second, third] = rows.map(|row| &row[1..]);
    let firsts = rows.map(|row| &row[0]);
    let lasts = rows.map(|row| &row[row.len() - 1]);
    // SAFETY: only `rows` calls this function, and the caller of `BandPass::run` guarantees the instructions of `V`.
    unsafe {
        let mut window = Window {
            left: [V::load(lasts[0]).up(), V::load(lasts[1]).up(), V::load(lasts[2]).up()],
            cell: [V::load(firsts[0]), V::load(firsts[1]), V::load(firsts[2])],
        };
        for (((((above, here), a), b), c), out) in above.iter_mut().zip(here).zip(first).zip(second).zip(third).zip(out)
        {
            window.step(rule, [V::load(a), V::load(b), V::load(c)], above, here, out);
        }
        let right = [V::load(firsts[0]).down(), V::load(firsts[1]).down(), V::load(firsts[2]).down()];
        window.step(rule, right, last_above, last_here, last_out);
    }
}

/// The vectors that are in registers while a row is computed: two adjacent vectors from each of three rows.
struct Window<V> {
    left: [V; 3],
    cell: [V; 3],
}

impl<V> Window<V> {
    #[inline(always)]
    unsafe fn step<R: Next, const N: usize>(
        &mut self,
        rule: &R,
        right: [V; 3],
        above: &mut [Block<N>; 2],
        here: &[Block<N>; 2],
        out: &mut Block<N>,
    ) where
        V: Ring<N>,
    {
        let Self { left, cell } = *self;
        // SAFETY: only `next_row` calls this function, and the caller of `BandPass::run` guarantees the instructions of
        // `V`.
        let sums = unsafe { [[V::load(&above[0]), V::load(&above[1])], [V::load(&here[0]), V::load(&here[1])]] };
        let below = V::sums(left[2], cell[2], right[2]);
        if R::SUMS {
            below[0].store(&mut above[0]);
            below[1].store(&mut above[1]);
        }
        let cells = [[left[0], cell[0], right[0]], [left[1], cell[1], right[1]], [left[2], cell[2], right[2]]];
        rule.next(Neighbourhood { cells, sums: [sums[0], sums[1], below] }).store(out);
        *self = Self { left: cell, cell: right };
    }
}
