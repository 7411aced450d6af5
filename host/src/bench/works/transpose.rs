//! The transpose of square matrices, and of one that is neither square nor of even sides.

use launch::Element;

use super::{Work, rungs};
use crate::bench::{Bench, Point};
use crate::options::Size;
use crate::rungs::Rung;
use crate::transpose::{TransposeKernel, transpose};

/// Measures the rungs with the elements that `element` makes of random bits: what their type is does not matter, but for
/// its size.
pub(super) fn run<T: Element>(bench: &mut Bench, work: &Work, element: impl Fn(u64) -> T + Sync) -> anyhow::Result<()> {
    let device = bench.device();
    let host = bench.random_bits(work, element)?;
    for &shape in &work.shapes {
        let n = shape.elements();
        let size = Size { width: shape.width, height: shape.height.unwrap_or(1) };
        let bytes = 2 * size_of::<T>() as u64 * n as u64;
        if !bench.has_room(work, shape, bytes)? {
            continue;
        }
        let x = device.upload(&host[..n])?;
        let mut y = device.alloc::<T>(n)?;
        for kernel in rungs(work, TransposeKernel::BEST) {
            let point = Point::new(work, kernel.name(), kernel == TransposeKernel::BEST, shape, bytes);
            bench.point(point, || transpose(&device, kernel, size, &x, &mut y))?;
        }
    }
    Ok(())
}
