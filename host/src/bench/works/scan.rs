//! Prefix sums, inclusive and exclusive.

use gpu::operator::Sum;

use super::{Work, rungs};
use crate::bench::{Bench, Point, copied};
use crate::numbers::Number;
use crate::rungs::Rung;
use crate::scan::{ScanKernel, ScanKind, Scannable, Scanner};

/// Measures the rungs at every length.
pub(super) fn run<T: Number + Scannable<Sum>>(bench: &mut Bench, work: &Work) -> anyhow::Result<()> {
    let kind = if work.variant == Some("exclusive") { ScanKind::Exclusive } else { ScanKind::Inclusive };
    let device = bench.device();
    let host = bench.random::<T>(work, 0)?;
    for &shape in &work.shapes {
        let n = shape.elements();
        let bytes = 2 * size_of::<T>() as u64 * n as u64;
        let last = ScanKernel::best_for::<T, Sum>(&device, n);
        let kernels = rungs(work, last);
        let temporary = kernels.iter().map(|kernel| kernel.temporary_bytes::<T, Sum>(n)).max().unwrap_or(0);
        if !bench.has_room(work, shape, bytes.saturating_add(temporary))? {
            continue;
        }
        let mut arrays = (device.upload(&host[..n])?, device.alloc::<T>(n)?);
        for kernel in kernels {
            if let Err(reason) = kernel.check_on::<T, Sum>(&device, n) {
                bench.leave_out(&reason);
                continue;
            }
            let mut scanner = Scanner::<T, Sum>::new(&device, kernel, n)?;
            let point = Point::new(work, kernel.name(), kernel == last, shape, bytes);
            let another = |(x, _): &_| Ok((copied(x)?, device.alloc(n)?));
            bench.point_and_series(point, &mut arrays, another, |(x, y)| scanner.scan(kind, x, y))?;
        }
    }
    Ok(())
}
