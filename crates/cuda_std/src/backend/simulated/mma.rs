//! Products of tensor cores in the simulator.

use simt::tensor::Format;
use simt::tensor::arithmetic::{self, Sum, Unit, multiply_add_f64, multiply_add_i32};
use simt::warp::{self, LaneRegisters, WarpRegisters};

use crate::half::rounding::F16;
use crate::tensor::mma::{A, B, C, Product, Side, position};
use crate::tensor::{Tile, for_each_product, tf32};
use crate::{Element, bf16, e4m3, e5m2, f16};

/// The first bytes of a lane's elements of A, B and C in its registers.
const STARTS: [usize; 3] = [0, 64, 96];

/// The most elements of a factor: 16 × 32.
const MAX_FACTOR: usize = 512;

/// An element type of a product, with the type in which the simulator computes.
trait Number: Element {
    type Wide: Copy + Default;

    fn widen(self) -> Self::Wide;

    /// Returns the number for a sum, which is one of this type.
    fn narrow(sum: Self::Wide) -> Self;
}

macro_rules! numbers {
    ($($type:ident $wide:ident |$value:ident| $widen:expr, |$sum:ident| $narrow:expr;)*) => {$(
        impl Number for $type {
            type Wide = $wide;

            fn widen(self) -> $wide {
                let $value = self;
                $widen
            }

            fn narrow($sum: $wide) -> Self {
                $narrow
            }
        }
    )*};
}

numbers! {
    f16 f32 |x| Format::F16.decode(x.to_bits().into()), |sum| Self::from_bits(F16.round(sum.into()));
    bf16 f32 |x| Format::Bf16.decode(x.to_bits().into()), |sum| Self::from_f32(sum);
    tf32 f32 |x| Format::Tf32.decode(x.to_f32().to_bits()), |sum| Self::from_f32(sum);
    e4m3 f32 |x| Format::E4m3.decode(x.to_bits().into()), |sum| Self::from_f32(sum);
    e5m2 f32 |x| Format::E5m2.decode(x.to_bits().into()), |sum| Self::from_f32(sum);
    f32 f32 |x| x, |sum| sum;
    f64 f64 |x| x, |sum| sum;
    i8 i32 |x| x.into(), |sum| sum as Self;
    u8 i32 |x| x.into(), |sum| sum as Self;
    i32 i32 |x| x, |sum| sum;
}

/// The elements of A, B or C in the registers of a warp.
struct Part<W> {
    len: usize,
    rows: usize,
    per_block: usize,
    position: fn(usize, usize, usize, usize) -> (usize, usize),
    start: usize,
    size: usize,
    widen: fn(&[u8]) -> W,
    narrow: fn(W, &mut [u8]),
}

impl<W: Copy + Default> Part<W> {
    const fn new<S: Side, T: Number<Wide = W> + Tile<R, K>, const R: usize, const K: usize>(start: usize) -> Self {
        Self {
            len: R * K / 32,
            rows: R,
            per_block: if S::IS_SUM { 2 } else { T::PER_REGISTER },
            position: position::<S>,
            start,
            size: size_of::<T>(),
            widen: |bytes| bytemuck::pod_read_unaligned::<T>(bytes).widen(),
            narrow: |sum, bytes| bytes.copy_from_slice(bytemuck::bytes_of(&T::narrow(sum))),
        }
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

/// Multiplies the factors in the registers of a warp. `multiply_add` adds the products of the rows of A and the columns
/// of B, of `k` elements each, to the sums.
fn multiply<W: Copy + Default>(
    lanes: &mut WarpRegisters,
    [a, b, c]: &[Part<W>; 3],
    multiply_add: fn(usize, &[W], &[W], &mut [W]),
) {
    let (mut rows, mut columns, mut sums) =
        ([W::default(); MAX_FACTOR], [W::default(); MAX_FACTOR], [W::default(); 128]);
    let (k, n) = (b.rows, 8);
    a.each(lanes, |row, column, bytes| rows[row * k + column] = (a.widen)(bytes));
    b.each(lanes, |row, column, bytes| columns[column * k + row] = (b.widen)(bytes));
    c.each(lanes, |row, column, bytes| sums[row * n + column] = (c.widen)(bytes));
    multiply_add(k, &rows[..a.rows * k], &columns[..n * k], &mut sums[..c.rows * n]);
    c.each(lanes, |row, column, bytes| (c.narrow)(sums[row * n + column], bytes));
}

/// Lets the warp execute the product `name`.
#[track_caller]
fn execute<P: Element, Q: Element, R: Element>(
    name: &'static str,
    (a, b, c): (P, Q, R),
    compute: fn(&mut WarpRegisters),
) -> R {
    let mut registers: LaneRegisters = [0; 32];
    let bytes = bytemuck::bytes_of_mut(&mut registers);
    let parts = [bytemuck::bytes_of(&a), bytemuck::bytes_of(&b), bytemuck::bytes_of(&c)];
    for (start, part) in STARTS.into_iter().zip(parts) {
        bytes[start..start + part.len()].copy_from_slice(part);
    }
    warp::collective(name, &mut registers, compute);
    bytemuck::pod_read_unaligned(&bytemuck::bytes_of(&registers)[STARTS[2]..STARTS[2] + size_of::<R>()])
}

/// The function that adds products of `$a` and `$b` to sums of `$c`.
macro_rules! adds {
    (f64 f64 f64) => { multiply_add_f64 };
    ($a:ident $b:ident i32) => { multiply_add_i32 };
    ($a:ident $b:ident $c:ident) => {
        |k, a, b, sums| {
            let (unit, sum) = (Unit::Mma, adds!(@sum $c));
            arithmetic::Product { unit, a: adds!(@format $a), b: adds!(@format $b), sum, k }.multiply_add(a, b, sums)
        }
    };
    (@sum f16) => { Sum::F16 };
    (@sum f32) => { Sum::F32 };
    (@format f16) => { Format::F16 };
    (@format bf16) => { Format::Bf16 };
    (@format tf32) => { Format::Tf32 };
    (@format e4m3) => { Format::E4m3 };
    (@format e5m2) => { Format::E5m2 };
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
                const PARTS: [Part<<$c as Number>::Wide>; 3] = [
                    Part::new::<A, $a, $m, $k>(STARTS[0]),
                    Part::new::<B, $b, $k, $n>(STARTS[1]),
                    Part::new::<C, $c, $m, $n>(STARTS[2]),
                ];
                let name = concat!("mma.sync.aligned.m", $m, "n", $n, "k", $k, ".row.col.", $types);
                execute(name, (a, b, c), |lanes| multiply(lanes, &PARTS, adds!($a $b $c)))
            }
        }
    )*};
}

for_each_product! { define }

pub(crate) use crate::tensor::round_to_tf32;

#[inline(always)]
pub fn require_products() {}
