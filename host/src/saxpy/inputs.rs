//! The vectors x and y: each element a function of the seed and its index, so that no copy has to be kept for the check.

use std::num::NonZeroUsize;
use std::thread;

use super::reference::Deviation;

/// One of the two vectors for a seed. Its elements lie in -1..1.
#[derive(Clone, Copy, Debug)]
pub struct Input {
    key: u64,
}

impl Input {
    /// The vector x.
    pub fn x(seed: u64) -> Self {
        Self { key: mix(seed) }
    }

    /// The vector y.
    pub fn y(seed: u64) -> Self {
        Self { key: mix(!seed) }
    }

    /// Element `index`.
    pub fn element(self, index: usize) -> f32 {
        let bits = mix(self.key.wrapping_add((index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        // 24 bits fill the significand: each value of a grid of 2⁻²³ is as likely as any other.
        (bits >> 40) as f32 / (1 << 23) as f32 - 1.0
    }

    /// Fills `out` with the elements from the first on, on all cores.
    pub fn fill(self, out: &mut [f32]) {
        let part = part_length(out.len());
        thread::scope(|scope| {
            for (number, part_out) in out.chunks_mut(part).enumerate() {
                scope.spawn(move || {
                    for (index, value) in part_out.iter_mut().enumerate() {
                        *value = self.element(number * part + index);
                    }
                });
            }
        });
    }
}

/// Compares `found` with the reference for `a` and the vectors of `seed`, on all cores.
pub fn compare(a: f32, seed: u64, found: &[f32]) -> Deviation {
    let part = part_length(found.len());
    let (x, y) = (Input::x(seed), Input::y(seed));
    thread::scope(|scope| {
        let parts: Vec<_> = found
            .chunks(part)
            .enumerate()
            .map(|(number, part_found)| {
                scope.spawn(move || {
                    let mut deviation = Deviation::default();
                    for (index, &found) in part_found.iter().enumerate() {
                        let index = number * part + index;
                        deviation.add(index, (a, x.element(index), y.element(index)), found);
                    }
                    deviation
                })
            })
            .collect();
        parts
            .into_iter()
            .map(|part| part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .fold(Deviation::default(), Deviation::merge)
    })
}

/// Elements of each core's part.
fn part_length(length: usize) -> usize {
    let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    length.div_ceil(cores).max(1)
}

/// The output function of SplitMix64: every bit of the result depends on every bit of `value`.
fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_spread_over_their_range() {
        for input in [Input::x(1), Input::y(1)] {
            let values: Vec<f32> = (0..100_000).map(|index| input.element(index)).collect();
            assert!(values.iter().all(|value| (-1.0..1.0).contains(value)));
            let mean = values.iter().map(|&value| f64::from(value)).sum::<f64>() / 1e5;
            let square = values.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>() / 1e5;
            assert!(mean.abs() < 0.01 && (square - 1.0 / 3.0).abs() < 0.01, "{mean} {square}");
        }
        assert_ne!(Input::x(1).element(0), Input::x(2).element(0));
        assert_ne!(Input::x(1).element(0), Input::y(1).element(0));
    }

    #[test]
    fn what_is_filled_is_what_is_compared() {
        for length in [0, 1, 2, 3, 1000] {
            let (mut x, mut y) = (vec![0.0; length], vec![0.0; length]);
            Input::x(9).fill(&mut x);
            Input::y(9).fill(&mut y);
            let mut found: Vec<f32> = x.iter().zip(&y).map(|(&x, &y)| 3f32.mul_add(x, y)).collect();
            let deviation = compare(3.0, 9, &found);
            assert_eq!(deviation.wrong, None, "{length}: {deviation:?}");
            if let Some(last) = found.last_mut() {
                *last += 0.5;
                assert_eq!(compare(3.0, 9, &found).wrong.map(|wrong| wrong.index), Some(length - 1));
            }
        }
    }
}
