//! Which rung offers which operator on which type.

use gpu::operator::{Affine, Compose, Max, Min, Operator, Product, Sum};
use gpu::reduce::{
    reduce_completely_unrolled, reduce_grid_stride, reduce_interleaved, reduce_neighboured, reduce_one_tile,
    reduce_shuffle, reduce_unrolled, reduce_unrolled_last_warp,
};
use launch::{Buffer, Element, LaunchConfig, Queue};

use super::ReduceKernel;
use crate::numbers::{NumberType, OperatorName, with_number, with_operator};
use crate::rungs::{AlgorithmError, Rung};

/// A type whose elements `O` can reduce on a device.
#[diagnostic::on_unimplemented(
    message = "no kernel reduces elements of type `{Self}` by this operator",
    label = "no such kernel is built",
    note = "Sum, Product, Min and Max take u32, i32, u64, i64, f32 and f64; Compose takes Affine"
)]
pub trait Reducible<O: Operator<Self>>: Element {
    /// The rungs that are built for it, the plainest first. There is at least one.
    const KERNELS: &'static [ReduceKernel];

    /// What an error calls it: "sum of f32".
    #[doc(hidden)]
    const NAME: &'static str;

    /// One launch of a rung that leaves a partial result a block, each of `part` elements of `x`, in `y`.
    #[doc(hidden)]
    fn pass(
        queue: Queue<'_>,
        kernel: ReduceKernel,
        config: LaunchConfig,
        part: u32,
        x: &Buffer<Self>,
        y: &mut Buffer<Self>,
    ) -> Result<(), AlgorithmError>;

    /// The launch of the grid-stride rung.
    #[doc(hidden)]
    fn grid_stride(
        queue: Queue<'_>,
        config: LaunchConfig,
        x: &Buffer<Self>,
        partials: &mut Buffer<u64>,
        y: &mut Buffer<Self>,
    ) -> Result<(), AlgorithmError>;

    /// The same rung's launch for small inputs, of one tile a block.
    #[doc(hidden)]
    fn one_tile(
        queue: Queue<'_>,
        config: LaunchConfig,
        x: &Buffer<Self>,
        partials: &mut Buffer<u64>,
        y: &mut Buffer<Self>,
    ) -> Result<(), AlgorithmError>;
}

/// The rungs of `$operator` on `$type`, each with its kernel: those that launch again and again, then the grid-stride one
/// with its two.
macro_rules! reducible {
    ($type:ident $operator:ident: $($variant:ident $kernel:expr),*; $($grid_stride:ident $one_launch:expr, $one_tile:expr)?) => {
        impl Reducible<$operator> for $type {
            const KERNELS: &'static [ReduceKernel] =
                &[$(ReduceKernel::$variant,)* $(ReduceKernel::$grid_stride)?];

            const NAME: &'static str = concat!(stringify!($operator), " of ", stringify!($type));

            #[allow(unused_variables, reason = "some are built for the grid-stride rung alone")]
            fn pass(
                queue: Queue<'_>,
                kernel: ReduceKernel,
                config: LaunchConfig,
                part: u32,
                x: &Buffer<Self>,
                y: &mut Buffer<Self>,
            ) -> Result<(), AlgorithmError> {
                match kernel {
                    $(ReduceKernel::$variant => Ok(queue.launch(config, $kernel(part, x.view(), y.view_mut()))?),)*
                    _ => Err(not_offered(kernel, <Self as Reducible<$operator>>::NAME)),
                }
            }

            #[allow(unused_variables, unreachable_code, reason = "some are not built for it")]
            fn grid_stride(
                queue: Queue<'_>,
                config: LaunchConfig,
                x: &Buffer<Self>,
                partials: &mut Buffer<u64>,
                y: &mut Buffer<Self>,
            ) -> Result<(), AlgorithmError> {
                $(
                    let call = $one_launch(x.view(), partials.view_mut(), y.view_mut());
                    return Ok(queue.launch(config, call)?);
                )?
                Err(not_offered(ReduceKernel::GridStride, <Self as Reducible<$operator>>::NAME))
            }

            #[allow(unused_variables, unreachable_code, reason = "some are not built for it")]
            fn one_tile(
                queue: Queue<'_>,
                config: LaunchConfig,
                x: &Buffer<Self>,
                partials: &mut Buffer<u64>,
                y: &mut Buffer<Self>,
            ) -> Result<(), AlgorithmError> {
                $(
                    let call = $one_tile(x.view(), partials.view_mut(), y.view_mut());
                    return Ok(queue.launch(config, call)?);
                )?
                Err(not_offered(ReduceKernel::GridStride, <Self as Reducible<$operator>>::NAME))
            }
        }
    };
}

macro_rules! every_rung {
    ($($type:ident)*) => {$(
        reducible! { $type Sum:
            Neighboured reduce_neighboured::<$type, Sum>,
            Interleaved reduce_interleaved::<$type, Sum>,
            Unrolled2 reduce_unrolled::<$type, Sum, 2>,
            Unrolled4 reduce_unrolled::<$type, Sum, 4>,
            Unrolled8 reduce_unrolled::<$type, Sum, 8>,
            UnrolledLastWarp reduce_unrolled_last_warp::<$type, Sum>,
            CompletelyUnrolled reduce_completely_unrolled::<$type, Sum>,
            Shuffle reduce_shuffle::<$type, Sum>;
            GridStride reduce_grid_stride::<$type, Sum, 4>, reduce_one_tile::<$type, Sum, 4>
        }
    )*};
}

macro_rules! grid_stride {
    ($($type:ident $vector:literal $($operator:ident)*;)*) => {$($(
        reducible! { $type $operator: ;
            GridStride reduce_grid_stride::<$type, $operator, $vector>, reduce_one_tile::<$type, $operator, $vector>
        }
    )*)*};
}

every_rung! { f32 i32 }

grid_stride! {
    f32 4 Product Min Max;
    i32 4 Product Min Max;
    u32 4 Sum Product Min Max;
    f64 2 Sum Product Min Max;
    i64 2 Sum Product Min Max;
    u64 2 Sum Product Min Max;
}

reducible! { Affine Compose:
    Neighboured reduce_neighboured::<Affine, Compose>,
    Shuffle reduce_shuffle::<Affine, Compose>;
}

/// That `kernel` does not offer `asked`.
pub(super) fn not_offered(kernel: ReduceKernel, asked: &str) -> AlgorithmError {
    AlgorithmError::NotOffered {
        algorithm: ReduceKernel::ALGORITHM,
        kernel: kernel.name(),
        asked: asked.to_lowercase(),
        offered: offered(kernel),
    }
}

/// Fails unless `kernel` offers the operator on the type.
pub(super) fn check_offered(
    kernel: ReduceKernel,
    operator: OperatorName,
    number: NumberType,
) -> Result<(), AlgorithmError> {
    match kernels(operator, number).contains(&kernel) {
        true => Ok(()),
        false => Err(not_offered(kernel, &format!("{operator} of {number}"))),
    }
}

/// The rungs that offer the operator on the type.
fn kernels(operator: OperatorName, number: NumberType) -> &'static [ReduceKernel] {
    with_number!(number, T => with_operator!(operator, O => <T as Reducible<O>>::KERNELS))
}

/// What a rung offers of numbers: "sum of f32 and i32".
fn offered(kernel: ReduceKernel) -> String {
    // Operators that are offered on the same types are named together.
    let mut groups: Vec<(Vec<&str>, Vec<&str>)> = Vec::new();
    for &operator in OperatorName::ALL {
        let types: Vec<&str> = NumberType::ALL
            .iter()
            .filter(|&&number| kernels(operator, number).contains(&kernel))
            .map(|number| number.name())
            .collect();
        match groups.last_mut() {
            Some((operators, others)) if *others == types => operators.push(operator.name()),
            _ => groups.push((vec![operator.name()], types)),
        }
    }
    let groups: Vec<String> = groups
        .iter()
        .filter(|(_, types)| !types.is_empty())
        .map(|(operators, types)| format!("{} of {}", enumeration(operators), enumeration(types)))
        .collect();
    groups.join("; ")
}

/// `a, b and c`.
fn enumeration(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_rung_offers_is_said() {
        assert_eq!(offered(ReduceKernel::Unrolled4), "sum of f32 and i32");
        assert_eq!(offered(ReduceKernel::GridStride), "sum, product, min and max of f32, f64, i32, u32, i64 and u64");
        assert!(check_offered(ReduceKernel::Unrolled4, OperatorName::Sum, NumberType::I32).is_ok());
        let message =
            check_offered(ReduceKernel::Unrolled4, OperatorName::Min, NumberType::F64).unwrap_err().to_string();
        assert_eq!(message, "reduce's kernel unrolled_4 does not offer min of f64: it offers sum of f32 and i32");
    }

    #[test]
    fn the_best_kernel_is_the_last_rung_there_is() {
        assert_eq!(ReduceKernel::best_for::<f64, Min>(), ReduceKernel::GridStride);
        assert_eq!(ReduceKernel::best_for::<f32, Sum>(), ReduceKernel::GridStride);
        assert_eq!(ReduceKernel::best_for::<Affine, Compose>(), ReduceKernel::Shuffle);
        assert_eq!(<f32 as Reducible<Sum>>::KERNELS, ReduceKernel::ALL);
    }
}
