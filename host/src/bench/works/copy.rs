//! The yardstick: the device's own copy, and the copy kernel at its best setting.

use gpu::probe::{Operand, U32x4};
use launch::{Device, LaunchConfig};

use super::{Algorithm, Rungs, Shape, Work};
use crate::bench::meter::Meter;
use crate::bench::{Bench, Point};
use crate::inputs::Inputs;
use crate::probe::bandwidth::{Arrays, BLOCKS, BandwidthKernel, Instance, Measured};
use crate::probe::full_grid;

/// The device's own copy as a rung, and the kernel's.
pub(in crate::bench) const DEVICE_COPY: &str = "device_copy";
const KERNEL: &str = "global_copy";

/// Bytes of each array for the choice of the setting.
const TRIAL_BYTES: usize = 1 << 30;

/// Blocks for each multiprocessor where nobody says how many fit.
const BLOCKS_SIMULATED: u32 = 4;

/// A setting of the kernel.
#[derive(Clone, Copy, Debug)]
struct Setting {
    operand: &'static str,
    unroll: usize,
    block: u32,
    gbps: f64,
}

/// Measures the device's copy at every length and, if all rungs are asked for, the kernel's.
pub(super) fn run(bench: &mut Bench, work: &Work) -> anyhow::Result<()> {
    let device = bench.device();
    let best = match work.rungs {
        Rungs::All => Some(best_setting(bench.meter())?),
        Rungs::Last => None,
    };
    for &shape in &work.shapes {
        let bytes = 2 * size_of::<f32>() as u64 * shape.elements() as u64;
        if !bench.has_room(work, shape, bytes)? {
            continue;
        }
        let x = bench.random::<f32>(shape.elements(), 0)?;
        let mut y = device.alloc::<f32>(shape.elements())?;
        bench.point(Point::new(work, DEVICE_COPY, false, shape, bytes), || y.copy_from(&x))?;
        drop((x, y));
        match best {
            Some(setting) if setting.operand == u32::NAME => kernel::<u32>(bench, work, shape, setting)?,
            Some(setting) if setting.operand == u64::NAME => kernel::<u64>(bench, work, shape, setting)?,
            Some(setting) => kernel::<U32x4>(bench, work, shape, setting)?,
            None => {}
        }
    }
    Ok(())
}

/// The device's copy alone, over the lengths of `work`.
pub(in crate::bench) fn yardstick(lengths: Vec<Shape>) -> Work {
    Work::new(Algorithm::Copy, "f32", Rungs::Last, lengths)
}

/// Measures the kernel with `setting`.
fn kernel<T: Measured>(bench: &mut Bench, work: &Work, shape: Shape, setting: Setting) -> anyhow::Result<()> {
    let device = bench.device();
    let Some(instance) = T::INSTANCES.into_iter().find(|instance| instance.unroll == setting.unroll) else {
        return Ok(());
    };
    let bytes = size_of::<f32>() * shape.elements();
    let n = bytes / size_of::<T>();
    let words = Inputs::<u64>::new(bench.seed(), 0);
    let a = bench.filled(n, |index| T::from_word(words.bits(index)))?;
    let mut arrays = Arrays { a, b: device.alloc(0)?, y: device.alloc(n)? };
    let config = config(&device, instance, setting.block, n)?;
    let mut point = Point::new(work, KERNEL, true, shape, 2 * bytes as u64);
    let Setting { operand, unroll, block, .. } = setting;
    point.setting = Some(format!("{operand}, unroll {unroll}, {} blocks of {block}", config.grid.x));
    bench.point(point, || (instance.launch)(&device, BandwidthKernel::Copy, config, &mut arrays))
}

/// As many blocks as the GPU holds at once, or as the array needs.
fn config<T: Operand>(
    device: &Device,
    instance: Instance<T>,
    block: u32,
    n: usize,
) -> Result<LaunchConfig, launch::Error> {
    let most = match device.is_simulated() {
        true => device.multiprocessors().saturating_mul(BLOCKS_SIMULATED),
        false => full_grid(device, (instance.info)(BandwidthKernel::Copy), block)?,
    };
    let needed = n.div_ceil(block as usize * instance.unroll).max(1);
    Ok(LaunchConfig::new(most.min(u32::try_from(needed).unwrap_or(u32::MAX)), block))
}

/// The fastest setting on large arrays. In the simulator, whose times mean nothing, 16-byte operands.
fn best_setting(meter: &mut Meter) -> anyhow::Result<Setting> {
    let device = meter.device().clone();
    if device.is_simulated() {
        return Ok(Setting { operand: U32x4::NAME, unroll: 4, block: 256, gbps: 0.0 });
    }
    let free = device.properties()?.memory_free_bytes;
    let bytes = TRIAL_BYTES.min(usize::try_from(free / 4).unwrap_or(usize::MAX));
    let of_operands = [try_out::<u32>(meter, bytes)?, try_out::<u64>(meter, bytes)?, try_out::<U32x4>(meter, bytes)?];
    let none = Setting { operand: U32x4::NAME, unroll: 4, block: 256, gbps: 0.0 };
    Ok(of_operands.into_iter().flatten().fold(none, |best, next| if next.gbps > best.gbps { next } else { best }))
}

/// Every setting of an operand, with its speed.
fn try_out<T: Measured>(meter: &mut Meter, bytes: usize) -> anyhow::Result<Vec<Setting>> {
    let device = meter.device().clone();
    let n = bytes / size_of::<T>();
    let mut arrays = Arrays::<T> { a: device.zeroed(n)?, b: device.alloc(0)?, y: device.zeroed(n)? };
    let mut settings = Vec::new();
    for instance in T::INSTANCES {
        for block in BLOCKS {
            let config = config(&device, instance, block, n)?;
            let run = || (instance.launch)(&device, BandwidthKernel::Copy, config, &mut arrays);
            let gbps = 2.0 * bytes as f64 / meter.trial(run)? / 1e9;
            settings.push(Setting { operand: T::NAME, unroll: instance.unroll, block, gbps });
        }
    }
    Ok(settings)
}
