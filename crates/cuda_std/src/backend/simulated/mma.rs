//! Products of tensor cores in the simulator.

use core::array;

use simt::tensor::arithmetic;
use simt::warp::{self, LaneRegisters, WarpRegisters};

use crate::half::rounding::{BF16, F16};
use crate::tensor::mma::{A, B, C, Product, Side, position};
use crate::tensor::{Tile, for_each_product, tf32};
use crate::{Element, bf16, e4m3, e5m2, f16};

/// The first bytes of a lane's elements of A, B and C in its registers.
const STARTS: [usize; 3] = [0, 64, 96];

/// An element type of a product, whose values `f64` represents.
trait Number: Element {
    fn value(self) -> f64;

    /// Returns the number for the sum `sum`.
    fn from_sum(sum: f64) -> Self;
}

macro_rules! numbers {
    ($($type:ident |$value:ident| $to:expr, |$sum:ident| $from:expr;)*) => {$(
        impl Number for $type {
            fn value(self) -> f64 {
                let $value = self;
                $to
            }

            fn from_sum($sum: f64) -> Self {
                $from
            }
        }
    )*};
}

numbers! {
    f16 |x| F16.widen(x.to_bits()), |sum| Self::from_bits(F16.round(sum));
    bf16 |x| BF16.widen(x.to_bits()), |sum| Self::from_bits(BF16.round(sum));
    f32 |x| x.into(), |sum| sum as Self;
    f64 |x| x, |sum| sum;
    // The hardware ignores the lower bits.
    tf32 |x| f32::from_bits(x.to_f32().to_bits() & !0x1FFF).into(), |sum| Self::from_f32(sum as f32);
    e4m3 |x| x.to_f32().into(), |sum| Self::from_f32(sum as f32);
    e5m2 |x| x.to_f32().into(), |sum| Self::from_f32(sum as f32);
    i8 |x| x.into(), |sum| sum as Self;
    u8 |x| x.into(), |sum| sum as Self;
    // The sum wraps around.
    i32 |x| x.into(), |sum| sum as i64 as Self;
}

/// The elements of a factor or of the sums, in the registers of a warp.
struct Part {
    len: usize,
    rows: usize,
    per_block: usize,
    position: fn(usize, usize, usize, usize) -> (usize, usize),
    start: usize,
    size: usize,
    value: fn(&[u8]) -> f64,
}

impl Part {
    const fn new<S: Side, T: Number + Tile<R, K>, const R: usize, const K: usize>(start: usize) -> Self {
        let (len, size) = (R * K / 32, size_of::<T>());
        let per_block = if S::IS_SUM { 2 } else { T::PER_REGISTER };
        let value = |bytes: &[u8]| bytemuck::pod_read_unaligned::<T>(bytes).value();
        Self { len, rows: R, per_block, position: position::<S>, start, size, value }
    }

    /// Calls `see` with row, column and bytes of each element.
    fn each(&self, lanes: &mut WarpRegisters, mut see: impl FnMut(usize, usize, &mut [u8])) {
        for (lane, registers) in lanes.iter_mut().enumerate() {
            let bytes = &mut bytemuck::bytes_of_mut(registers)[self.start..];
            for (i, bytes) in bytes.chunks_exact_mut(self.size).enumerate().take(self.len) {
                let (row, column) = (self.position)(lane, i, self.rows, self.per_block);
                see(row, column, bytes);
            }
        }
    }
}

/// Multiplies the factors in the registers of a warp. `round` writes a sum to the bytes of an element of C.
fn multiply(lanes: &mut WarpRegisters, [a, b, c]: &[Part; 3], round: fn(f64, &mut [u8])) {
    // The largest factors have 16 × 32 and 32 × 8 elements. The columns of B are contiguous here.
    let (mut rows, mut columns) = ([[0.0; 32]; 16], [[0.0; 32]; 8]);
    a.each(lanes, |row, column, bytes| rows[row][column] = (a.value)(bytes));
    b.each(lanes, |row, column, bytes| columns[column][row] = (b.value)(bytes));
    let k = b.rows;
    c.each(lanes, |row, column, bytes| {
        let sum = arithmetic::dot(&rows[row][..k], &columns[column][..k], (c.value)(bytes));
        round(sum, bytes);
    });
}

/// Lets the warp execute the product `name`.
#[track_caller]
fn execute<P: Element, Q: Element, R: Element>(
    name: &'static str,
    (a, b, c): (P, Q, R),
    compute: fn(&mut WarpRegisters),
) -> R {
    let mut registers: LaneRegisters = array::from_fn(|_| 0);
    let bytes = bytemuck::bytes_of_mut(&mut registers);
    for (start, part) in STARTS.into_iter().zip([bytemuck::bytes_of(&a), bytemuck::bytes_of(&b), bytemuck::bytes_of(&c)])
    {
        bytes[start..start + part.len()].copy_from_slice(part);
    }
    warp::collective(name, &mut registers, compute);
    bytemuck::pod_read_unaligned(&bytemuck::bytes_of(&registers)[STARTS[2]..STARTS[2] + size_of::<R>()])
}

macro_rules! define {
    ($([$($arch:tt)*] $a:ident $b:ident $c:ident $m:tt $n:tt $k:tt $class:ident $registers:tt $types:tt;)*) => {$(
        impl Product<$b, $c, $m, $n, $k> for $a {
            #[track_caller]
            fn multiply_add(
                a: <$a as Tile<$m, $k>>::Registers,
                b: <$b as Tile<$k, $n>>::Registers,
                c: <$c as Tile<$m, $n>>::Registers,
            ) -> <$c as Tile<$m, $n>>::Registers {
                const PARTS: [Part; 3] = [
                    Part::new::<A, $a, $m, $k>(STARTS[0]),
                    Part::new::<B, $b, $k, $n>(STARTS[1]),
                    Part::new::<C, $c, $m, $n>(STARTS[2]),
                ];
                execute(concat!("mma.sync.aligned.m", $m, "n", $n, "k", $k, ".row.col.", $types), (a, b, c), |lanes| {
                    multiply(lanes, &PARTS, |sum, bytes| {
                        bytes.copy_from_slice(bytemuck::bytes_of(&<$c as Number>::from_sum(sum)));
                    });
                })
            }
        }
    )*};
}

for_each_product! { define }
