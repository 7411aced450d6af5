//! Random boards ("soups"). The same seed produces the same soup on every machine.

use std::ops::Range;

use gpu::life::{mix, on_board, soup_cells};
use rayon::prelude::*;
use thiserror::Error;

use super::board::{ALL_CORES, Board, SizeError, WORD_BITS};

/// The reason why a soup cannot be made.
#[derive(Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum SoupError {
    /// No board can have this size.
    #[error(transparent)]
    Size(#[from] SizeError),
    /// The density is not in 0..=1.
    #[error("the density must be a number from 0 to 1, but {0} was given")]
    Density(f64),
}

gridstride::debug_as_displayed!(SoupError);

/// The key from which a soup's random numbers are computed, and the threshold that decides which cells are alive.
pub(super) struct Soup {
    pub(super) key: u64,
    /// A cell is alive if its random number is below the threshold. `None` makes every cell alive.
    pub(super) threshold: Option<u64>,
}

impl Soup {
    /// Returns the soup of this density and seed.
    pub(super) fn new(density: f64, seed: u64) -> Result<Self, SoupError> {
        if !(0.0..=1.0).contains(&density) {
            return Err(SoupError::Density(density));
        }
        // Scaling by 2⁶⁴ is exact, and the cast rounds down. A density of 1.0 would saturate and is handled separately.
        let threshold = (density < 1.0).then_some((density * 18_446_744_073_709_551_616.0) as u64);
        Ok(Self { key: mix(seed), threshold })
    }
}

impl Board {
    /// Makes a random board: each cell is alive with probability `density`, independently of the others.
    ///
    /// The board depends only on the four arguments. A device makes the same board
    /// ([`Simulation::soup`](super::Simulation::soup)). The published generator SplitMix64 draws the cells in groups of
    /// 64 cells. Each group starts at a separate position in the generator's sequence. The only floating-point
    /// operation is an exact multiplication by a power of two. The probability is `density` rounded down to a multiple
    /// of 2⁻⁶⁴. This rounding does not change densities of 2⁻¹² or more.
    ///
    /// # Errors
    /// [`SoupError`] if no board has this size, or if `density` is not in 0..=1.
    pub fn random(width: usize, height: usize, density: f64, seed: u64) -> Result<Self, SoupError> {
        rows_of_soup((width, height), 0..height, density, seed)
    }
}

/// Returns `rows` of the soup of `width` × `height` cells. Row numbers wrap around at `height`.
///
/// # Errors
/// Fails in the same cases as [`Board::random`].
pub(super) fn rows_of_soup(
    (width, height): (usize, usize),
    rows: Range<usize>,
    density: f64,
    seed: u64,
) -> Result<Board, SoupError> {
    let Soup { key, threshold } = Soup::new(density, seed)?;
    let mut board = Board::new(width, rows.len())?;
    let pairs_per_row = board.words_per_row().div_ceil(2);
    let fill = |(y, row): (usize, &mut [u32])| {
        for (in_row, words) in row.chunks_mut(2).enumerate() {
            let pair = ((rows.start + y) % height * pairs_per_row + in_row) as u64;
            let bits = threshold.map_or(u64::MAX, |threshold| soup_cells(key, pair, threshold));
            let bits = on_board(bits, in_row, width);
            words[0] = bits as u32;
            if let Some(second) = words.get_mut(1) {
                *second = (bits >> WORD_BITS) as u32;
            }
        }
    };
    let words_per_row = board.words_per_row();
    let rows = board.words_mut().par_chunks_exact_mut(words_per_row).enumerate();
    rows.with_min_len(ALL_CORES / words_per_row).for_each(fill);
    Ok(board)
}

#[cfg(test)]
mod tests {
    use launch::{Device, DeviceChoice};

    use super::*;
    use crate::{LifeRung, Rule, Simulation};

    /// Checks that a seed produces the same soup in every release. The words in this test must never change.
    #[test]
    fn a_seed_names_a_soup() {
        let soup = Board::random(70, 2, 0.25, 42).unwrap();
        assert_eq!(soup.words(), [295814930, 1610891272, 1, 2685648912, 2955510288, 0]);
        assert_eq!(soup, Board::random(70, 2, 0.25, 42).unwrap());
        assert_ne!(soup, Board::random(70, 2, 0.25, 43).unwrap());
    }

    /// Checks that the generator is SplitMix64. Its first outputs for the seed 1234567 are published.
    #[test]
    fn the_generator_is_split_mix_64() {
        let step = 0x9e37_79b9_7f4a_7c15_u64;
        let drawn = [1_u64, 2, 3].map(|number| mix(1_234_567_u64.wrapping_add(number.wrapping_mul(step))));
        assert_eq!(drawn, [6457827717110365317, 3203168211198807973, 9817491932198370423]);
    }

    #[test]
    fn a_device_makes_the_same_soup() {
        let device = Device::open(DeviceChoice::Sim, &[]).unwrap();
        for (width, height) in [(1, 1), (31, 3), (64, 2), (65, 7), (200, 30)] {
            for density in [0.0, 0.25, 0.3, 1.0] {
                for rung in [LifeRung::Bitpacked, LifeRung::Global] {
                    let made = Simulation::soup(&device, rung, (width, height), density, 11, &Rule::LIFE)
                        .unwrap()
                        .board()
                        .unwrap();
                    assert_eq!(made, Board::random(width, height, density, 11).unwrap(), "{width}x{height}, {density}");
                }
            }
        }
        let error = Simulation::soup(&device, LifeRung::Bitpacked, (8, 8), 2.0, 1, &Rule::LIFE).err().unwrap();
        assert!(error.to_string().contains("but 2 was given"), "{error}");
    }

    #[test]
    fn soups_are_the_same_on_one_core_and_on_all() {
        let (width, height) = (1000, 4000);
        let soup = Board::random(width, height, 0.3, 5).unwrap();
        let pair =
            |y: usize, in_row: usize| soup_cells(mix(5), (y * 16 + in_row) as u64, (0.3_f64 * 2_f64.powi(64)) as u64);
        for (y, in_row) in [(0, 0), (1, 3), (3999, 14)] {
            let cells = (0..64).filter(|bit| soup.get(64 * in_row + bit, y)).fold(0, |cells, bit| cells | 1_u64 << bit);
            assert_eq!(cells, pair(y, in_row));
        }
        assert!(soup.words().len() > ALL_CORES);
    }

    #[test]
    fn density_is_met() {
        for density in [0.001, 0.1, 0.25, 1.0 / 3.0, 0.5, 0.7, 0.999] {
            let (width, height) = (1001, 999);
            let soup = Board::random(width, height, density, 7).unwrap();
            let cells = (width * height) as f64;
            let deviation = (cells * density * (1.0 - density)).sqrt();
            let off = (soup.population() as f64 - cells * density).abs() / deviation;
            assert!(off < 4.0, "density {density}: {off} standard deviations off");
        }
    }

    #[test]
    fn the_ends_are_exact() {
        assert_eq!(Board::random(33, 5, 0.0, 1).unwrap().population(), 0);
        assert_eq!(Board::random(33, 5, -0.0, 1).unwrap().population(), 0);
        assert_eq!(Board::random(33, 5, 1.0, 1).unwrap().population(), 33 * 5);
        assert_eq!(Board::random(33, 5, f64::MIN_POSITIVE, 1).unwrap().population(), 0);
        assert!(Board::random(33, 5, 1.0 - f64::EPSILON, 1).unwrap().population() <= 33 * 5);
    }

    #[test]
    fn padding_stays_zero() {
        for width in [1, 31, 32, 33, 63, 64, 65, 95] {
            let soup = Board::random(width, 7, 0.9, 3).unwrap();
            assert_eq!(Board::from_words(width, 7, soup.words().to_vec()).as_ref(), Ok(&soup));
        }
    }

    #[test]
    fn what_is_no_probability_is_refused() {
        for density in [-0.1, 1.1, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(Board::random(8, 8, density, 1), Err(SoupError::Density(density)));
        }
        let message = Board::random(8, 8, f64::NAN, 1).unwrap_err().to_string();
        assert_eq!(message, "the density must be a number from 0 to 1, but NaN was given");
        assert_eq!(Board::random(0, 8, 0.5, 1), Err(SoupError::Size(SizeError::Zero { width: 0, height: 8 })));
    }
}
