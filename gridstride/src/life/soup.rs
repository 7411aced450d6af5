//! Random boards ("soups"), the same for the same seed on every machine.

use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, SeedableRng};
use thiserror::Error;

use super::board::{Board, SizeError, WORD_BITS, last_word_mask};

/// Why there is no such soup.
#[derive(Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum SoupError {
    /// The size itself is wrong.
    #[error(transparent)]
    Size(#[from] SizeError),
    /// The density is no probability.
    #[error("a density of {0} is no share of live cells: give a number from 0 to 1")]
    Density(f64),
}

impl Board {
    /// A random board: each cell alive with probability `density`, independently of the others.
    ///
    /// It depends on the four arguments alone: the generator is xoshiro256++ seeded through SplitMix64, both published
    /// and unchanging, and no floating-point arithmetic takes part but one exact scaling. The probability is `density`
    /// rounded down to a multiple of 2⁻⁶⁴, which is exact from 2⁻¹² on.
    ///
    /// # Errors
    /// [`SoupError`] when the size is none or `density` does not lie in 0..=1.
    pub fn random(width: usize, height: usize, density: f64, seed: u64) -> Result<Self, SoupError> {
        if !(0.0..=1.0).contains(&density) {
            return Err(SoupError::Density(density));
        }
        let mut board = Self::new(width, height)?;
        let mut source = Xoshiro256PlusPlus::seed_from_u64(seed);
        let words_per_row = board.words_per_row();
        let padding = !last_word_mask(width);
        // Scaling by 2⁶⁴ is exact, and the cast rounds down; 1.0 saturates, so it is told apart.
        let threshold = (density < 1.0).then_some((density * 18_446_744_073_709_551_616.0) as u64);
        for row in board.words_mut().chunks_exact_mut(words_per_row) {
            for pair in row.chunks_mut(2) {
                let bits = threshold.map_or(u64::MAX, |threshold| biased_bits(&mut source, threshold));
                pair[0] = bits as u32;
                if let Some(second) = pair.get_mut(1) {
                    *second = (bits >> WORD_BITS) as u32;
                }
            }
            row[words_per_row - 1] &= !padding;
        }
        Ok(board)
    }
}

/// 64 independent bits, each 1 with probability `threshold` / 2⁶⁴.
///
/// Each lane draws the binary digits of a uniform number, the highest first, until one differs from the threshold's
/// digit: the lane's number is the smaller one exactly where that digit is 0 and the threshold's 1. All 64 lanes share
/// a draw, and about eight draws settle them all; fewer where the threshold's remaining digits are 0, since a number
/// that has met all its ones cannot be smaller.
fn biased_bits(source: &mut impl Rng, threshold: u64) -> u64 {
    let (mut smaller, mut undecided, mut digits) = (0, u64::MAX, threshold);
    while undecided != 0 && digits != 0 {
        let drawn = source.next_u64();
        if digits >> 63 == 1 {
            smaller |= undecided & !drawn;
            undecided &= drawn;
        } else {
            undecided &= !drawn;
        }
        digits <<= 1;
    }
    smaller
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same seed gives the same soup, in every release: these words are pinned.
    #[test]
    fn a_seed_names_a_soup() {
        let soup = Board::random(70, 2, 0.25, 42).unwrap();
        assert_eq!(soup.words(), [2826993760, 771863168, 3, 2167079296, 542138567, 41]);
        assert_eq!(soup, Board::random(70, 2, 0.25, 42).unwrap());
        assert_ne!(soup, Board::random(70, 2, 0.25, 43).unwrap());
    }

    /// The generator is the published one: the reference implementation's first outputs for the state 1, 2, 3, 4.
    #[test]
    fn the_generator_is_xoshiro256_plus_plus() {
        let mut state = [0; 32];
        for (chunk, value) in state.chunks_exact_mut(8).zip(1u64..) {
            chunk.copy_from_slice(&value.to_le_bytes());
        }
        let mut source = Xoshiro256PlusPlus::from_seed(state);
        let drawn = [(); 4].map(|()| source.next_u64());
        assert_eq!(drawn, [41943041, 58720359, 3588806011781223, 3591011842654386]);
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
        assert_eq!(message, "a density of NaN is no share of live cells: give a number from 0 to 1");
        assert_eq!(Board::random(0, 8, 0.5, 1), Err(SoupError::Size(SizeError::Zero { width: 0, height: 8 })));
    }
}
