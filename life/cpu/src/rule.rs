//! Rules, and the logic that computes the next cells of a vector.
//!
//! # Design
//!
//! The logic of a rule has one of three forms. Life has a circuit that is written for it. For a rule that counts all
//! eight neighbours, the logic selects the result by masks. For any other table of 512 neighbourhoods, the logic is a
//! tree of selections. The leaves of the tree share the 16 possible tables of two cells.

use crate::vector::Vector;

/// A rule, as a table with one bit for each of the 512 neighbourhoods. The bit is set if the middle cell is alive in
/// the next generation. Each bit of a neighbourhood's number is one of the nine cells. From the highest bit, the cells
/// are NW, N, NE, W, the cell itself, E, SW, S, SE. Neighbourhood i is bit i % 64 of word i / 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The table for even generations and the table for odd generations. A dead cell without live neighbours must stay
    /// dead.
    pub phases: [[u64; 8]; 2],
    /// The number of states of a cell, from 2 to 256. A live cell that does not survive passes through the states above
    /// 1 before it is dead. A cell in one of these states does not count as a live neighbour, and cannot be born.
    pub states: u16,
}

impl Rule {
    /// Conway's Life: B3/S23.
    pub const LIFE: Self = Self { phases: [life(); 2], states: 2 };

    /// Returns true if every neighbourhood has the same next state as its image. In the image, the cell at (row,
    /// column) is the neighbourhood's cell at `from(row, column)`.
    pub(crate) fn is_same(&self, from: impl Fn(usize, usize) -> (usize, usize)) -> bool {
        let image = |i: usize| {
            (0..9).fold(0, |image, cell| {
                let (row, column) = from(cell / 3, cell % 3);
                image << 1 | (i >> (8 - 3 * row - column) & 1)
            })
        };
        self.phases.iter().all(|table| (0..512).all(|i| is_alive(table, i) == is_alive(table, image(i))))
    }
}

/// Returns the bit of neighbourhood `i` in `table`.
fn is_alive(table: &[u64; 8], i: usize) -> bool {
    table[i / 64] >> (i % 64) & 1 == 1
}

const fn life() -> [u64; 8] {
    let (mut table, mut i) = ([0; 8], 0_usize);
    while i < 512 {
        let neighbours = (i & 0o757).count_ones();
        if neighbours == 3 || neighbours == 2 && i & 0o020 != 0 {
            table[i / 64] |= 1 << (i % 64);
        }
        i += 1;
    }
    table
}

/// Vector logic that computes the next generation from a rule's table.
#[derive(Clone)]
pub enum Logic {
    Life,
    /// The logic for rules that count all eight neighbours.
    Counts(Counts),
    Table(Box<Table>),
}

impl Logic {
    pub fn of(table: &[u64; 8]) -> Self {
        match Counts::of(table) {
            _ if *table == life() => Self::Life,
            Some(counts) => Self::Counts(counts),
            None => Self::Table(Box::new(Table::of(table))),
        }
    }
}

/// The cells and sums from which a vector's next generation is computed.
pub struct Neighbourhood<V> {
    /// Nine vectors: the left cell, the cell itself and the right cell, for the row above, the row itself and the row
    /// below.
    pub cells: [[V; 3]; 3],
    /// For each of the three rows, the number of live cells among the left cell, the cell itself and the right cell. A
    /// number consists of its low bit and its high bit.
    pub sums: [[V; 2]; 3],
}

/// Logic that computes a vector of the next generation.
pub trait Next {
    /// True if `next` reads the sums of its argument.
    const SUMS: bool;

    fn next<V: Vector<N>, const N: usize>(&self, neighbourhood: Neighbourhood<V>) -> V;
}

/// The rule B3/S23.
pub struct Life;

impl Next for Life {
    const SUMS: bool = true;

    #[inline(always)]
    fn next<V: Vector<N>, const N: usize>(&self, Neighbourhood { cells, sums }: Neighbourhood<V>) -> V {
        V::next(sums[0], cells[1], sums[2])
    }
}

/// The logic of a rule that counts neighbours. The count of live cells among the nine cells selects one of five pairs:
/// 0 and 1, 2 and 3, up to 8 and 9. Within a pair, the next state depends on the cell c and the lowest bit n of the
/// count. The next state is a + bc + n(d + ec) modulo 2. The four masks of a pair are the coefficients a, b, d and e.
#[derive(Clone)]
pub struct Counts([[u64; 4]; 5]);

impl Counts {
    /// Returns the logic of `table`, or `None` if the next state depends on more than the cell and the count of all
    /// eight neighbours.
    fn of(table: &[u64; 8]) -> Option<Self> {
        let mut alive = [[false; 2]; 10];
        for i in 0..512_usize {
            alive[i.count_ones() as usize][i >> 4 & 1] = is_alive(table, i);
        }
        if (0..512_usize).any(|i| is_alive(table, i) != alive[i.count_ones() as usize][i >> 4 & 1]) {
            return None;
        }
        let mask = |bit: bool| if bit { u64::MAX } else { 0 };
        let pair = |i: usize| {
            let [[a, ac], [an, acn]] = [alive[2 * i], alive[2 * i + 1]];
            [a, a ^ ac, a ^ an, a ^ ac ^ an ^ acn].map(mask)
        };
        Some(Self(std::array::from_fn(pair)))
    }

    /// Returns the next states of cells that have `2·i` or `2·i + 1` neighbours. `one` has the lowest bit of each
    /// count.
    #[inline(always)]
    fn pair<V: Vector<N>, const N: usize>(&self, i: usize, one: V, cell: V) -> V {
        let [a, b, d, e] = self.0[i];
        let (a, b, d, e) = (cell.filled(a), cell.filled(b), cell.filled(d), cell.filled(e));
        one.and_xor(cell.and_xor(e, d), cell.and_xor(b, a))
    }
}

impl Next for Counts {
    const SUMS: bool = true;

    #[inline(always)]
    fn next<V: Vector<N>, const N: usize>(&self, neighbourhood: Neighbourhood<V>) -> V {
        let [above, here, below] = neighbourhood.sums;
        let cell = neighbourhood.cells[1][1];
        let [one, carried] = V::sums(above[0], here[0], below[0]);
        let [twos, fours] = V::sums(above[1], here[1], below[1]);
        let two = twos.xor(carried);
        let carried = twos.and(carried);
        let (four, eight) = (fours.xor(carried), fours.and(carried));
        let low = two.select(self.pair(1, one, cell), self.pair(0, one, cell));
        let high = two.select(self.pair(3, one, cell), self.pair(2, one, cell));
        eight.select(self.pair(4, one, cell), four.select(high, low))
    }
}

/// Logic for any table: a tree with seven levels. At each level, one of the nine cells selects a branch. Each of the
/// 128 leaves is a table of the other two cells. Only 16 such tables exist, and the leaves share them.
#[derive(Clone)]
pub struct Table([u8; 128]);

impl Table {
    fn of(table: &[u64; 8]) -> Self {
        Self(std::array::from_fn(|i| (table[i / 16] >> (i % 16 * 4) & 15) as u8))
    }

    /// Selects one of the eight leaves whose numbers begin at `leaf`. The three cells of `by` are the bits of the
    /// selected leaf's offset from `leaf`, the highest bit first.
    #[inline(always)]
    fn eight<V: Vector<N>, const N: usize>(&self, low: &[V; 16], leaf: usize, by: [V; 3]) -> V {
        let leaf = |i: usize| low[usize::from(self.0[leaf + i] & 15)];
        let (a, b) = (by[2].select(leaf(1), leaf(0)), by[2].select(leaf(3), leaf(2)));
        let (c, d) = (by[2].select(leaf(5), leaf(4)), by[2].select(leaf(7), leaf(6)));
        by[0].select(by[1].select(d, c), by[1].select(b, a))
    }

    /// Selects one of the 32 leaves whose numbers begin at `leaf`. The five cells of `by` are the bits of the selected
    /// leaf's offset from `leaf`, the highest bit first.
    #[inline(always)]
    fn thirty_two<V: Vector<N>, const N: usize>(&self, low: &[V; 16], leaf: usize, by: [V; 5]) -> V {
        let last = [by[2], by[3], by[4]];
        let upper = by[1].select(self.eight(low, leaf + 24, last), self.eight(low, leaf + 16, last));
        let lower = by[1].select(self.eight(low, leaf + 8, last), self.eight(low, leaf, last));
        by[0].select(upper, lower)
    }
}

impl Next for Table {
    const SUMS: bool = false;

    #[inline(always)]
    fn next<V: Vector<N>, const N: usize>(&self, neighbourhood: Neighbourhood<V>) -> V {
        let [above, here, below] = neighbourhood.cells;
        let (s, r) = (below[1], below[2]);
        let (none, all) = (s.filled(0), s.filled(u64::MAX));
        let (no_s, no_r, both, odd) = (all.and_not(s), all.and_not(r), s.and(r), s.xor(r));
        // Bit 2s + r of an index belongs to two cells with states s and r: the cell below, and the cell below to the
        // right.
        let low = [
            none,
            no_s.and_not(r),
            r.and_not(s),
            no_s,
            s.and_not(r),
            no_r,
            odd,
            all.and_not(both),
            both,
            all.and_not(odd),
            r,
            r.or(no_s),
            s,
            s.or(no_r),
            s.or(r),
            all,
        ];
        let by = [above[2], here[0], here[1], here[2], below[0]];
        let upper = above[1].select(self.thirty_two(&low, 96, by), self.thirty_two(&low, 64, by));
        let lower = above[1].select(self.thirty_two(&low, 32, by), self.thirty_two(&low, 0, by));
        above[0].select(upper, lower)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_table_has_its_logic() {
        assert!(matches!(Logic::of(&life()), Logic::Life));
        let parity: [u64; 8] = std::array::from_fn(|word| {
            (0..64).filter(|bit| (word * 64 + bit).count_ones() % 2 == 1).fold(0, |table, bit| table | 1 << bit)
        });
        assert!(matches!(Logic::of(&parity), Logic::Counts(_)));
        assert!(matches!(Logic::of(&[parity[0], 0, 0, 0, 0, 0, 0, 1]), Logic::Table(_)));
    }
}
