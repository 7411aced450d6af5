//! A test kernel for the conversions of 8-bit floats.

use cuda_std::tensor::tf32;
use cuda_std::{Global, GlobalMut, e4m3x2, e4m3x4, e5m2x2, e5m2x4, kernel, thread};

/// Rounds each two numbers of `x` to `e4m3` (one word of `words` per pair, the lower half) and `e5m2` (the upper half).
/// Rounds each number to `tf32` and writes its bits to `single`. Converts each four bytes of `words` back: those of
/// `e4m3` to `wide[0..]`, and those of `e5m2` to `wide[x.len()..]`. Launch any grid.
#[kernel(max_threads = 256)]
pub fn round_fp8(x: Global<f32>, words: GlobalMut<u32>, single: GlobalMut<f32>, wide: GlobalMut<f32>) {
    let n = x.len();
    for i in thread::grid_stride(n / 4) {
        let numbers = [0, 1, 2, 3].map(|j| x.load(4 * i + j));
        let word = |low: f32, high: f32| {
            let (narrow, wider) = (e4m3x2::from_f32(low, high).to_bits(), e5m2x2::from_f32(low, high).to_bits());
            u32::from(narrow) | u32::from(wider) << 16
        };
        words.store(2 * i, word(numbers[0], numbers[1]));
        words.store(2 * i + 1, word(numbers[2], numbers[3]));
        let (narrow, wider) = (e4m3x4::from_f32(numbers).to_f32(), e5m2x4::from_f32(numbers).to_f32());
        for j in 0..4 {
            single.store(4 * i + j, tf32::from_f32(numbers[j]).to_f32());
            wide.store(4 * i + j, narrow[j]);
            wide.store(n + 4 * i + j, wider[j]);
        }
    }
}
