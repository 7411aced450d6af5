//! y = a·x + y.

use super::{Work, rungs};
use crate::bench::{Bench, Point};
use crate::rungs::Rung;
use crate::saxpy::{Real, SaxpyKernel, saxpy};

/// The factor.
const A: f64 = 2.0;

/// Measures the rungs at every length.
pub(super) fn run<T: Real>(bench: &mut Bench, work: &Work) -> anyhow::Result<()> {
    let device = bench.device();
    let [host_x, host_y] = [bench.random::<T>(work, 0)?, bench.random::<T>(work, 1)?];
    for &shape in &work.shapes {
        let n = shape.elements();
        // x and y are read, y is written.
        let bytes = 3 * size_of::<T>() as u64 * n as u64;
        if !bench.has_room(work, shape, bytes / 3 * 2)? {
            continue;
        }
        let x = device.upload(&host_x[..n])?;
        let mut y = device.upload(&host_y[..n])?;
        for kernel in rungs(work, SaxpyKernel::BEST) {
            let point = Point::new(work, kernel.name(), kernel == SaxpyKernel::BEST, shape, bytes);
            bench.point(point, || saxpy(&device, kernel, T::from_f64(A), &x, &mut y))?;
        }
    }
    Ok(())
}
