//! Compares the speed of an own instance with the library's instance of the same size and operation, in one process.

use std::time::Instant;

use gridstride::prelude::*;
use gridstride::reduce::{ReduceElement, Reducer, default_rung};
use gridstride::scan::{self, ScanElement, ScanKind, Scanner};
use own_type_kernels::sizes::{Bytes8, Bytes12, Bytes24, Bytes64, Double, Line, Single, Then};

/// The number of measurements whose median is printed.
const ROUNDS: usize = 41;

fn main() -> Result<(), AlgorithmError> {
    let modules = [gridstride::MODULES, launch::include_ptx!("own_type_kernels")].concat().leak();
    let device = Device::open(DeviceChoice::Auto, modules)?;
    println!("{}: medians of {ROUNDS} rounds, in microseconds", device.summary());
    let sizes: &[usize] =
        if device.is_simulated() { &[1 << 12] } else { &[1 << 12, 1 << 16, 1 << 20, 1 << 24, 1 << 28] };
    println!("{:<28} {:>10} {:>12} {:>12} {:>7}", "", "elements", "built in", "own", "ratio");
    for &n in sizes {
        compare(&device, "sum of f32", n, reducing::<f32, Sum>, reducing::<Single, Sum>)?;
        compare(&device, "sum of f64", n, reducing::<f64, Sum>, reducing::<Double, Sum>)?;
        compare(&device, "composition of maps", n, reducing::<Affine, Compose>, reducing::<Line, Then>)?;
        compare(&device, "the same by arrays", n, reducing::<Affine, Compose>, reducing::<Bytes8, Then>)?;
        compare(&device, "prefix sums of f32", n, scanning::<f32, Sum>, scanning::<Single, Sum>)?;
        compare(&device, "prefix sums of f64", n, scanning::<f64, Sum>, scanning::<Double, Sum>)?;
        compare(&device, "compositions of maps", n, scanning::<Affine, Compose>, scanning::<Line, Then>)?;
        compare(&device, "the same by arrays", n, scanning::<Affine, Compose>, scanning::<Bytes8, Then>)?;
    }
    // Of sizes that the library has no instance for: the bytes read per second.
    for &n in sizes {
        let n = n.min(1 << 26);
        rate::<Bytes12>(&device, n)?;
        rate::<Bytes24>(&device, n)?;
        rate::<Bytes64>(&device, n)?;
    }
    Ok(())
}

/// One run of an algorithm.
type Run<'a> = Box<dyn FnMut() -> Result<(), AlgorithmError> + 'a>;

fn reducing<T: ReduceElement<O>, O: Operator<T>>(device: &Device, n: usize) -> Result<Run<'_>, AlgorithmError> {
    let x = device.zeroed::<T>(n)?;
    let mut reducer = Reducer::<T, O>::new(device, default_rung::<T, O>(), n)?;
    Ok(Box::new(move || reducer.run(&x).map(|_| ())))
}

fn scanning<T: ScanElement<O>, O: Operator<T>>(device: &Device, n: usize) -> Result<Run<'_>, AlgorithmError> {
    let (x, mut y) = (device.zeroed::<T>(n)?, device.zeroed::<T>(n)?);
    let mut scanner = Scanner::<T, O>::new(device, scan::default_rung::<T>(device, n), n)?;
    Ok(Box::new(move || scanner.scan(ScanKind::Inclusive, &x, &mut y)))
}

type Prepare = for<'a> fn(&'a Device, usize) -> Result<Run<'a>, AlgorithmError>;

fn compare(device: &Device, what: &str, n: usize, built_in: Prepare, own: Prepare) -> Result<(), AlgorithmError> {
    let mut runs = [built_in(device, n)?, own(device, n)?];
    let [built_in, own] = medians(device, n, &mut runs)?;
    println!("{what:<28} {n:>10} {built_in:>12.2} {own:>12.2} {:>7.3}", built_in / own);
    Ok(())
}

fn rate<T: ReduceElement<Then> + ScanElement<Then>>(device: &Device, n: usize) -> Result<(), AlgorithmError>
where
    Then: Operator<T>,
{
    let [reduce, scan] = medians(device, n, &mut [reducing::<T, Then>(device, n)?, scanning::<T, Then>(device, n)?])?;
    let bytes = (n * size_of::<T>()) as f64 / 1000.0;
    let what = format!("{} bytes, in order", size_of::<T>());
    println!("{what:<28} {n:>10} reduce {:>7.0} GB/s, scan {:>7.0} GB/s", bytes / reduce, 2.0 * bytes / scan);
    Ok(())
}

/// Returns the median time of each run in microseconds. The runs take turns.
fn medians<const N: usize>(device: &Device, n: usize, runs: &mut [Run<'_>; N]) -> Result<[f64; N], AlgorithmError> {
    let repetitions = if device.is_simulated() { 1 } else { (1 << 26) / n.clamp(1 << 16, 1 << 26) };
    let mut times = [const { Vec::new() }; N];
    for round in 0..=ROUNDS {
        for (run, times) in runs.iter_mut().zip(&mut times) {
            device.synchronize()?;
            let start = Instant::now();
            for _ in 0..repetitions {
                run()?;
            }
            device.synchronize()?;
            // The first round warms up.
            if round > 0 {
                times.push(start.elapsed().as_secs_f64() * 1e6 / repetitions as f64);
            }
        }
    }
    Ok(times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    }))
}
