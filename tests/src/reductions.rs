//! Compares the results of reductions with the reference.

use gpu::operator::Operator;
use gridstride::numbers::Number;
use gridstride::reduce::{Plan, ReduceElement, Reducer};
use launch::Device;
use workbench::inputs::RandomVector;
use workbench::reduce::inputs::{Factor, element};
use workbench::reduce::reference::{self, Reference};

/// Returns `n` elements that are suitable for a reduction by the operator `O`.
pub fn elements<T: Factor, O: Reference<T>>(n: usize, seed: u64) -> Vec<T> {
    (0..n).map(|index| element(O::NAME, RandomVector::new(seed, 0), n, index)).collect()
}

/// Reduces `x` twice and returns the result. Both results must have the same bits, and must be within the error bound
/// of the reference.
///
/// # Panics
/// If a result is wrong.
#[track_caller]
pub fn check<T: Number + ReduceElement<O>, O: Operator<T> + Reference<T>>(device: &Device, plan: Plan, x: &[T]) -> T {
    let buffer = device.upload(x).unwrap();
    let what = format!("{plan:?} on {}", device.name());
    let mut reduction = Reducer::<T, O>::with_plan(device, plan).unwrap();
    let [found, again] = [(); 2].map(|()| reduction.reduce(&buffer).unwrap());
    assert!(same(found, again), "{found} and then {again}: {what}");
    let answer = reference::reduce::<T, O>(x.len(), |index| x[index]);
    let deviation = answer.deviation(found, reduction.plan().roundings());
    assert_eq!(deviation.wrong, None, "{deviation:?}: {what}");
    found
}

/// Returns true if two numbers have the same value and sign, or are both NaN.
fn same<T: Number>(a: T, b: T) -> bool {
    let (x, y) = (a.to_f64(), b.to_f64());
    (x.is_nan() && y.is_nan()) || (a == b && x.is_sign_negative() == y.is_sign_negative())
}

/// Expands `$body` once for each operator. In the body, `$O` is the type of the operator.
#[macro_export]
macro_rules! for_each_operator {
    (|$O:ident| $body:expr) => {
        $crate::for_each_operator! { @ $O $body; Sum Product Min Max }
    };
    (@ $O:ident $body:expr; $($operator:ident)*) => {
        $({
            type $O = gpu::operator::$operator;
            $body
        })*
    };
}
