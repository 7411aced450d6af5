//! Vectors of random numbers. An element depends only on the seed, the vector's number and the element's index, so a
//! check needs no copy of the input.

use std::marker::PhantomData;

pub use gridstride::host::{HostMemoryError, fill_with, host_memory, in_parts};
use gridstride::numbers::{Number, NumberType};

/// A vector of random numbers, identified by a seed and by the vector's number.
#[derive(Clone, Copy, Debug)]
pub struct RandomVector<T> {
    key: u64,
    elements: PhantomData<fn() -> T>,
}

impl<T: Number> RandomVector<T> {
    /// Returns the random vector with number `vector` and seed `seed`.
    pub fn new(seed: u64, vector: u64) -> Self {
        Self { key: mix(mix(seed).wrapping_add(vector)), elements: PhantomData }
    }

    /// Returns element `index` of the vector.
    pub fn element(self, index: usize) -> T {
        T::from_random(self.bits(index))
    }

    /// Returns the 64 random bits that become element `index`.
    pub fn bits(self, index: usize) -> u64 {
        mix(self.key.wrapping_add((index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)))
    }

    /// Fills `out` with the first elements of the vector, on all cores.
    pub fn fill(self, out: &mut [T]) {
        fill_with(out, |index| self.element(index));
    }
}

/// The advice in messages about too little host memory.
pub const REMEDY: &str = "choose a smaller --n or --size";

/// Returns `factor` as text, formatted as a number of type `number`.
pub(crate) fn text(number: NumberType, factor: f64) -> String {
    if number == NumberType::F32 { (factor as f32).to_string() } else { factor.to_string() }
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
        for vector in 0..2 {
            let input = RandomVector::<f32>::new(1, vector);
            let values: Vec<f32> = (0..100_000).map(|index| input.element(index)).collect();
            assert!(values.iter().all(|value| (-1.0..1.0).contains(value)));
            let mean = values.iter().map(|&value| f64::from(value)).sum::<f64>() / 1e5;
            let square = values.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>() / 1e5;
            assert!(mean.abs() < 0.01 && (square - 1.0 / 3.0).abs() < 0.01, "{mean} {square}");
        }
        let first = |seed, vector| RandomVector::<u64>::new(seed, vector).element(0);
        assert!(first(1, 0) != first(2, 0) && first(1, 0) != first(1, 1) && first(0, 1) != first(1, 0));
    }

    #[test]
    fn every_element_is_filled_and_visited_once() {
        for length in [0, 1, 2, 3, 4096, 4097, 10_001] {
            let mut filled = vec![0; length];
            RandomVector::<u32>::new(9, 0).fill(&mut filled);
            assert!((0..length).all(|index| filled[index] == RandomVector::<u32>::new(9, 0).element(index)));
            let visited: Vec<usize> = in_parts(length, |part| part.collect::<Vec<_>>()).into_iter().flatten().collect();
            assert_eq!(visited, (0..length).collect::<Vec<_>>());
        }
    }
}
