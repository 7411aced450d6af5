//! y = s·x.

use super::{Work, rungs};
use crate::bench::{Bench, Point};
use crate::rungs::Rung;
use crate::scale::{Scalable, ScaleKernel, plan, scale};

/// The factor.
const S: f64 = 3.0;

/// The last of the ladder.
const LAST: ScaleKernel = ScaleKernel::ALL[ScaleKernel::ALL.len() - 1];

/// Measures the rungs at every length.
pub(super) fn run<T: Scalable>(bench: &mut Bench, work: &Work) -> anyhow::Result<()> {
    let device = bench.device();
    let host = bench.random::<T>(work, 0)?;
    for &shape in &work.shapes {
        let n = shape.elements();
        let bytes = 2 * size_of::<T>() as u64 * n as u64;
        if !bench.has_room(work, shape, bytes)? {
            continue;
        }
        let x = device.upload(&host[..n])?;
        let mut y = device.alloc::<T>(n)?;
        for kernel in rungs(work, LAST) {
            if let Err(reason) = plan(kernel, n, &device) {
                bench.leave_out(&reason);
                continue;
            }
            let point = Point::new(work, kernel.name(), kernel == LAST, shape, bytes);
            bench.point(point, || scale(&device, kernel, T::from_f64(S), &x, &mut y))?;
        }
    }
    Ok(())
}
