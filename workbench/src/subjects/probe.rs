//! The probe kernels as subjects of `host explain`.

use gpu::probe::{
    RECORD, U32x4, access_offset, access_strided, divergence_by_thread, divergence_by_warp, schedule_print,
    schedule_record,
};
use launch::{Buffer, Device, LaunchConfig};

use super::{LENGTH, Problem, Subject, Wanted};
use crate::error::{WorkbenchError, invalid};
use crate::inputs::{self, RandomVector};
use crate::probe::{Arrays, BandwidthKernel, Measured};

pub(super) const ALGORITHM: &str = "probe";

/// The number of threads per block.
const BLOCK: u32 = 256;

/// The number of elements that a thread of a bandwidth kernel accesses in one iteration of its loop.
const UNROLL: usize = 4;

/// The offset of the misaligned access, in elements.
const OFFSET: usize = 1;
/// The stride of the strided access, in elements.
const STRIDE: usize = 2;

/// The number of multiply-adds per path of the divergence kernels.
const ROUNDS: u32 = 16;

/// The default number of threads of the divergence and schedule kernels.
const THREADS: usize = 1 << 14;

/// Each thread whose index in its block is a multiple of this number prints a line.
const EVERY: u32 = 16;

pub(super) fn subjects() -> Vec<Subject> {
    let subject = |families: &'static [&'static str], idea, run| Subject {
        algorithm: ALGORITHM,
        rung: families[0],
        idea,
        families,
        is_rung: true,
        run,
    };
    let bandwidth = BandwidthKernel::ALL.iter().map(|&kernel| {
        subject(kernel.families(), kernel.idea(), Box::new(move |device, wanted| bandwidth(kernel, device, wanted)))
    });
    let others = [
        subject(&["access_offset"], "Each warp's accesses begin one element late.", Box::new(offset)),
        subject(&["access_strided"], "Each lane accesses every second element.", Box::new(strided)),
        subject(&["divergence_by_thread"], "Odd and even lanes take different paths.", Box::new(by_thread)),
        subject(&["divergence_by_warp"], "Odd and even warps take different paths.", Box::new(by_warp)),
        subject(&["schedule_print"], "Some threads print where they run.", Box::new(print)),
        subject(&["schedule_record"], "Each warp records where and when it runs.", Box::new(record)),
    ];
    bandwidth.chain(others).collect()
}

fn bandwidth(kernel: BandwidthKernel, device: &Device, wanted: &Wanted) -> Result<Problem, WorkbenchError> {
    wanted.no_operator(ALGORITHM)?;
    let n = wanted.length(ALGORITHM, LENGTH)?;
    wanted.element(ALGORITHM, &OPERANDS)?(kernel, device, n)
}

type BandwidthOf = fn(BandwidthKernel, &Device, usize) -> Result<Problem, WorkbenchError>;

/// The operands of the bandwidth kernels, each with its function. The first operand is the default.
const OPERANDS: [(&str, BandwidthOf); 5] =
    [operand::<u32>(), operand::<u8>(), operand::<u16>(), operand::<u64>(), operand::<U32x4>()];

const fn operand<T: Measured>() -> (&'static str, BandwidthOf) {
    (T::NAME, bandwidth_of::<T>)
}

fn bandwidth_of<T: Measured>(kernel: BandwidthKernel, device: &Device, n: usize) -> Result<Problem, WorkbenchError> {
    let bits = RandomVector::<u64>::new(0, 0);
    let mut host = inputs::host_memory::<T>(n, super::SMALLER)?;
    inputs::fill_with(&mut host, |i| T::from_word(bits.bits(i)));
    let results = if kernel == BandwidthKernel::Read { 0 } else { n };
    let mut arrays = Arrays { a: device.upload(&host)?, b: device.upload(&host)?, y: device.alloc(results)? };
    let config = LaunchConfig::new(blocks(n, BLOCK as usize * UNROLL)?, BLOCK);
    for instance in T::INSTANCES.iter().filter(|instance| instance.unroll == UNROLL) {
        (instance.launch)(device, kernel, config, &mut arrays)?;
    }
    Ok(Problem::vector(n, T::NAME).with_detail(format!("unroll {UNROLL}")))
}

/// Returns the number of blocks for `n` elements, with `each` elements per block.
fn blocks(n: usize, each: usize) -> Result<u32, WorkbenchError> {
    u32::try_from(n.div_ceil(each).max(1))
        .map_err(|_| WorkbenchError::Options(format!("--n {n} is too large for one grid: choose a smaller --n")))
}

fn offset(device: &Device, wanted: &Wanted) -> Result<Problem, WorkbenchError> {
    let launch = |n, config, a: &mut Buffer<f32>| device.launch(config, access_offset::<f32>(n, OFFSET, a.view_mut()));
    access(device, wanted, OFFSET, 1, launch).map(|problem| problem.with_detail(format!("offset {OFFSET}")))
}

fn strided(device: &Device, wanted: &Wanted) -> Result<Problem, WorkbenchError> {
    let launch = |n, config, a: &mut Buffer<f32>| device.launch(config, access_strided::<f32>(n, STRIDE, a.view_mut()));
    access(device, wanted, 0, STRIDE, launch).map(|problem| problem.with_detail(format!("stride {STRIDE}")))
}

fn access(
    device: &Device,
    wanted: &Wanted,
    offset: usize,
    stride: usize,
    launch: impl Fn(usize, LaunchConfig, &mut Buffer<f32>) -> Result<(), launch::Error>,
) -> Result<Problem, WorkbenchError> {
    wanted.no_operator(ALGORITHM)?;
    let n = wanted.length(ALGORITHM, LENGTH)?;
    wanted.element(ALGORITHM, &[("f32", ())])?;
    let mut a = device.zeroed(n.saturating_mul(stride).saturating_add(offset))?;
    launch(n, LaunchConfig::new(blocks(n, BLOCK as usize)?, BLOCK), &mut a)?;
    Ok(Problem::vector(n, "f32"))
}

fn by_thread(device: &Device, wanted: &Wanted) -> Result<Problem, WorkbenchError> {
    divergence(device, wanted, |config, y| device.launch(config, divergence_by_thread(ROUNDS, y.view_mut())))
}

fn by_warp(device: &Device, wanted: &Wanted) -> Result<Problem, WorkbenchError> {
    divergence(device, wanted, |config, y| device.launch(config, divergence_by_warp(ROUNDS, y.view_mut())))
}

fn divergence(
    device: &Device,
    wanted: &Wanted,
    launch: impl Fn(LaunchConfig, &mut Buffer<f32>) -> Result<(), launch::Error>,
) -> Result<Problem, WorkbenchError> {
    wanted.no_operator(ALGORITHM)?;
    let n = wanted.length(ALGORITHM, THREADS)?;
    wanted.element(ALGORITHM, &[("f32", ())])?;
    let config = LaunchConfig::new(blocks(n, BLOCK as usize)?, BLOCK);
    launch(config, &mut device.alloc(n)?)?;
    Ok(Problem::vector(n, "f32").with_detail(format!("{ROUNDS} multiply-adds per path")))
}

fn print(device: &Device, wanted: &Wanted) -> Result<Problem, WorkbenchError> {
    let (n, config) = schedule(wanted)?;
    device.launch(config, schedule_print(EVERY))?;
    Ok(Problem { n: Some(n), elements: n as u64, ..Problem::default() }.with_detail(format!("every {EVERY}th thread")))
}

fn record(device: &Device, wanted: &Wanted) -> Result<Problem, WorkbenchError> {
    let (n, config) = schedule(wanted)?;
    let warps = config.grid.x as usize * (BLOCK / 32) as usize;
    device.launch(config, schedule_record(0, device.zeroed(warps * RECORD)?.view_mut()))?;
    Ok(Problem { n: Some(n), elements: n as u64, ..Problem::default() })
}

fn schedule(wanted: &Wanted) -> Result<(usize, LaunchConfig), WorkbenchError> {
    wanted.no_operator(ALGORITHM)?;
    if wanted.element.is_some() {
        return invalid!("the schedule's kernels have no element type: leave out --type");
    }
    let n = wanted.length(ALGORITHM, THREADS)?;
    Ok((n, LaunchConfig::new(blocks(n, BLOCK as usize)?, BLOCK)))
}
