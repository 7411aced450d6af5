//! Hashes of a plane.
//!
//! The hash is a polynomial in two variables at a fixed point, modulo the prime 2⁶¹ − 1: a cell at (x, y) contributes
//! Xˣ·Yʸ, and the bits of dying cells contribute multiples of that. If a pattern moves, its hash is multiplied by a
//! power of X and a power of Y.

use std::sync::OnceLock;

use super::tiles::{Cells, row};
use super::{Plane, TILE};

const PRIME: u64 = (1 << 61) - 1;
const X: u64 = 0x0f3a_91c4_5d27_b68e;
const Y: u64 = 0x1b87_2e6d_c05f_9431;
/// The factor of each bit plane after the first.
const PLANE: u64 = 0x16c9_d3a8_274e_b150;

fn times(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    reduced((product as u64 & PRIME) + (product >> 61) as u64)
}

/// Returns `number` modulo the prime. `number` must be less than twice the prime.
fn reduced(number: u64) -> u64 {
    if number >= PRIME { number - PRIME } else { number }
}

fn power(mut base: u64, mut exponent: u64) -> u64 {
    let mut power = 1;
    while exponent > 0 {
        if exponent & 1 == 1 {
            power = times(power, base);
        }
        base = times(base, base);
        exponent >>= 1;
    }
    power
}

/// Powers of one variable with positive and negative exponents.
struct Powers {
    variable: u64,
    inverse: u64,
}

impl Powers {
    fn of(variable: u64) -> Self {
        Self { variable, inverse: power(variable, PRIME - 2) }
    }

    fn get(&self, exponent: i64) -> u64 {
        power(if exponent < 0 { self.inverse } else { self.variable }, exponent.unsigned_abs())
    }
}

/// Numbers that do not depend on the pattern.
struct Tables {
    x: Powers,
    y: Powers,
    /// For each byte of a row, the sum of the powers of X that belong to the bits of the byte.
    bytes: [[u64; 256]; 6],
    /// The powers of Y that belong to the rows of a tile.
    rows: [u64; TILE as usize],
}

impl Tables {
    fn get() -> &'static Self {
        static TABLES: OnceLock<Tables> = OnceLock::new();
        TABLES.get_or_init(|| {
            let mut bytes = [[0; 256]; 6];
            for (i, byte) in bytes.iter_mut().enumerate() {
                for (bits, sum) in byte.iter_mut().enumerate() {
                    let alive = (0..8).filter(|bit| bits >> bit & 1 == 1);
                    *sum = alive.fold(0, |sum, bit| reduced(sum + power(X, 8 * i as u64 + bit)));
                }
            }
            let rows = std::array::from_fn(|row| power(Y, row as u64));
            Self { x: Powers::of(X), y: Powers::of(Y), bytes, rows }
        })
    }

    /// Returns the sum of one bit plane of a tile at (0, 0).
    fn plane(&self, cells: &Cells) -> u64 {
        let mut sum = 0;
        for (y, &factor) in self.rows.iter().enumerate() {
            let word = row(cells, y);
            if word != 0 {
                let bytes = word.to_le_bytes();
                // The sum of six numbers below 2⁶¹ fits 64 bits.
                let cells: u64 = self.bytes.iter().zip(bytes).map(|(table, byte)| table[usize::from(byte)]).sum();
                sum = reduced(sum + times(cells % PRIME, factor));
            }
        }
        sum
    }
}

impl Plane {
    /// Returns a hash of the cells. The generation has no influence. Different patterns have the same hash with a
    /// probability of about 2⁻⁴⁰ or less. Only tiles that have changed since the last call are read.
    pub fn hash(&mut self) -> u64 {
        let (tables, mut hash) = (Tables::get(), 0);
        for tile in self.tiles.numbers() {
            // The sum of a free number is 0.
            if self.tiles.get(tile).is_used && !self.tiles.get(tile).is_summed {
                let planes = self.tiles.cells(tile).iter().rev();
                let sum = planes.fold(0, |sum, cells| reduced(times(sum, PLANE) + tables.plane(cells)));
                let (x, y) = self.corner(tile);
                let sum = if sum == 0 { 0 } else { times(sum, times(tables.x.get(x), tables.y.get(y))) };
                let content = self.tiles.get_mut(tile);
                (content.is_summed, content.sum) = (true, sum);
            }
            hash = reduced(hash + self.tiles.get(tile).sum);
        }
        hash
    }

    /// Returns a hash of the cells that does not change if all cells move.
    pub fn shape_hash(&mut self) -> u64 {
        let hash = self.hash();
        self.bounds().map_or(0, |bounds| {
            let tables = Tables::get();
            times(hash, times(tables.x.get(-bounds.x), tables.y.get(-bounds.y)))
        })
    }
}
