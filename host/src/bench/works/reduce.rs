//! The sum.

use gpu::operator::{Operator, Sum};

use super::{Work, rungs};
use crate::bench::{Bench, Point, copied};
use crate::numbers::Number;
use crate::reduce::{ReduceKernel, Reducible, Reduction};
use crate::rungs::{AlgorithmError, Rung};

/// Measures the rungs at every length.
pub(super) fn run<T: Number + Reducible<Sum>>(bench: &mut Bench, work: &Work) -> anyhow::Result<()>
where
    Sum: Operator<T>,
{
    let last = ReduceKernel::best_for::<T, Sum>();
    let device = bench.device();
    let host = bench.random::<T>(work, 0)?;
    for &shape in &work.shapes {
        let n = shape.elements();
        let bytes = size_of::<T>() as u64 * n as u64;
        // The plainest rung's partial results are far fewer than the elements.
        if !bench.has_room(work, shape, bytes.saturating_mul(2))? {
            continue;
        }
        let mut x = device.upload(&host[..n])?;
        for kernel in rungs(work, last) {
            let mut sum = match Reduction::<T, Sum>::new(&device, kernel, n) {
                Err(reason @ AlgorithmError::NotOffered { .. }) => {
                    bench.leave_out(&reason);
                    continue;
                }
                sum => sum?,
            };
            let point = Point::new(work, kernel.name(), kernel == last, shape, bytes);
            bench.point_and_series(point, &mut x, copied, |x| sum.run(x).map(drop))?;
        }
    }
    Ok(())
}
