//! Measures the copies with which rungs are compared: the device's own copy, and the copy kernel at its fastest
//! setting.

use gpu::probe::{Operand, U32x4};
use launch::{Device, LaunchConfig};
use workbench::bench::{Rungs, Subject, Sweep};

use workbench::algorithm::Shape;
use workbench::bench::sweep::DEVICE_COPY;

use crate::bench::meter::Meter;
use crate::bench::points::{Bench, Point, filled};
use workbench::inputs::RandomVector;
use workbench::probe::{Arrays, BLOCKS, BandwidthKernel, Instance, Measured};

/// The name of the copy kernel, which rows show in place of a rung's name.
const KERNEL: &str = "global_copy";

/// The number of bytes of each array while the settings are compared.
const TRIAL_BYTES: usize = 1 << 30;

/// The maximum number of blocks per multiprocessor in the simulator.
const BLOCKS_SIMULATED: u32 = 4;

/// A setting of the copy kernel, and its speed.
#[derive(Clone, Copy, Debug)]
struct Setting {
    operand: &'static str,
    unroll: usize,
    block: u32,
    gbps: f64,
}

/// Measures the device's copy at every length and, if the sweep has all rungs, the copy kernel.
pub(super) fn run(bench: &mut Bench, sweep: &Sweep) -> anyhow::Result<()> {
    let best = (sweep.rungs == Rungs::All).then(|| best_setting(&mut bench.meter)).transpose()?;
    match best {
        Some(setting) if setting.operand == U32x4::NAME => run_with::<U32x4>(bench, sweep, best),
        Some(setting) if setting.operand == u64::NAME => run_with::<u64>(bench, sweep, best),
        _ => run_with::<u32>(bench, sweep, best),
    }
}

/// Returns the sweep that measures only the device's own copy, at `lengths`.
pub(in crate::bench) fn yardstick(lengths: Vec<Shape>) -> Sweep {
    Sweep::new(Subject::Copy, Rungs::Last, 1, lengths)
}

/// Measures the device's copy and, if there is a setting, the copy kernel with operands `T`.
fn run_with<T: Measured>(bench: &mut Bench, sweep: &Sweep, setting: Option<Setting>) -> anyhow::Result<()> {
    let device = bench.device();
    let words = RandomVector::<u64>::new(bench.seed, 0);
    let operands = |shape: Shape| shape.elements() * size_of::<f32>() / size_of::<T>();
    let most = sweep.shapes.iter().copied().map(operands).max().unwrap_or(0);
    let host = filled(most, |index| T::from_word(words.bits(index)))?;
    for &shape in &sweep.shapes {
        let n = operands(shape);
        let bytes = 2 * (n * size_of::<T>()) as u64;
        if !bench.has_room(sweep, shape, bytes)? {
            continue;
        }
        let mut arrays = Arrays { a: device.upload(&host[..n])?, b: device.alloc(0)?, y: device.alloc(n)? };
        let Arrays { a, y, .. } = &mut arrays;
        bench.point(Point::new(sweep, DEVICE_COPY, false, shape, bytes), None, || Ok(y.copy_from(a)?))?;
        let Some(Setting { operand, unroll, block, .. }) = setting else { continue };
        let Some(instance) = T::INSTANCES.into_iter().find(|instance| instance.unroll == unroll) else { continue };
        let config = config(&device, instance, block, n);
        let mut point = Point::new(sweep, KERNEL, true, shape, bytes);
        point.setting = Some(format!("{operand}, unroll {unroll}, {} blocks of {block}", config.grid.x));
        let peer = bench.peer(sweep, shape, &[arrays.a.view(), arrays.y.view()].map(|view| view.as_ptr().addr()));
        bench.point(point, peer, || Ok((instance.launch)(&device, BandwidthKernel::Copy, config, &mut arrays)?))?;
    }
    Ok(())
}

/// Returns a launch configuration with as many blocks as the data needs; in the simulator, at most [`BLOCKS_SIMULATED`]
/// per multiprocessor.
fn config<T: Operand>(device: &Device, instance: Instance<T>, block: u32, n: usize) -> LaunchConfig {
    let most = match device.is_simulated() {
        true => device.multiprocessors().saturating_mul(BLOCKS_SIMULATED),
        false => u32::MAX,
    };
    let needed = n.div_ceil(block as usize * instance.unroll);
    LaunchConfig::new(BandwidthKernel::Copy.grid(needed, most).min(most), block)
}

/// Returns the fastest setting on large arrays. In the simulator, whose times say nothing about a GPU, returns a fixed
/// setting with 16-byte operands.
fn best_setting(meter: &mut Meter) -> anyhow::Result<Setting> {
    let device = meter.device.clone();
    let none = Setting { operand: U32x4::NAME, unroll: 4, block: 256, gbps: 0.0 };
    if device.is_simulated() {
        return Ok(none);
    }
    let free = device.properties()?.memory_free_bytes;
    let bytes = TRIAL_BYTES.min(usize::try_from(free / 4).unwrap_or(usize::MAX));
    let of_operands = [try_out::<u32>(meter, bytes)?, try_out::<u64>(meter, bytes)?, try_out::<U32x4>(meter, bytes)?];
    Ok(of_operands.into_iter().flatten().fold(none, |best, next| if next.gbps > best.gbps { next } else { best }))
}

/// Measures every setting of the copy kernel with operands `T`.
fn try_out<T: Measured>(meter: &mut Meter, bytes: usize) -> anyhow::Result<Vec<Setting>> {
    let device = meter.device.clone();
    let n = bytes / size_of::<T>();
    let mut arrays = Arrays::<T> { a: device.zeroed(n)?, b: device.alloc(0)?, y: device.zeroed(n)? };
    let mut settings = Vec::new();
    for instance in T::INSTANCES {
        for block in BLOCKS {
            let config = config(&device, instance, block, n);
            let mut run = || Ok((instance.launch)(&device, BandwidthKernel::Copy, config, &mut arrays)?);
            let gbps = 2.0 * bytes as f64 / meter.trial(&mut run)? / 1e9;
            settings.push(Setting { operand: T::NAME, unroll: instance.unroll, block, gbps });
        }
    }
    Ok(settings)
}
