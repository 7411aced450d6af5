//! The cases of the probe kernels: bandwidth with several operands and grids, access, divergence, and the schedule.

use gpu::probe::{
    RECORD, U32x4, access_offset, access_strided, divergence_by_thread, divergence_by_warp, schedule_print,
    schedule_record,
};
use launch::LaunchConfig;

use crate::case::{Case, CaseError, Stage, bits, equal};
use crate::probe::divergence::{Decision, reference};
use crate::probe::schedule;
use crate::probe::{Arrays, BandwidthKernel, Measured, WORD};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for kernel in BandwidthKernel::ALL {
        let mut add = |what: &str, work: fn(&Stage, BandwidthKernel) -> Result<(), CaseError>| {
            cases.push(Case::new("probe", kernel.name(), kernel.families(), what, move |stage| work(stage, kernel)));
        };
        add("u8, every unroll factor, 2 blocks of 32 or 64 threads", check_bandwidth::<u8>);
        add("16 bytes, every unroll factor, 2 blocks of 32 or 64 threads", check_bandwidth::<U32x4>);
    }
    let mut add = |rung, kernels, what: &str, work: fn(&Stage) -> Result<(), CaseError>| {
        cases.push(Case::new("probe", rung, kernels, what, work));
    };
    add("offset", &["access_offset"], "3 blocks of 256 threads for 600 elements", check_offset);
    add("strided", &["access_strided"], "3 blocks of 256 threads for 600 elements", check_strided);
    add("by_thread", &["divergence_by_thread"], "3 blocks of 256 threads for 600 elements", |stage| {
        check_divergence(stage, Decision::Thread)
    });
    add("by_warp", &["divergence_by_warp"], "3 blocks of 256 threads for 600 elements", |stage| {
        check_divergence(stage, Decision::Warp)
    });
    add("schedule", &["schedule_print"], "2 blocks of 40 threads, of which every 16th prints", check_print);
    add("schedule", &["schedule_record"], "3 blocks of 80 threads", check_record);
    cases
}

/// Checks a bandwidth kernel on arrays of two lengths. With the longer arrays, the threads run several iterations of
/// the kernel's loop, and the last iteration is partial. The shorter arrays have fewer elements than the grid has
/// threads.
fn check_bandwidth<T: Measured>(stage: &Stage, kernel: BandwidthKernel) -> Result<(), CaseError> {
    let device = &stage.device;
    for (n, grid, block) in [(2600, 2, 64), (31, 2, 32)] {
        let [a, b] = [0, n].map(|first| (first..first + n).map(|i| T::from_word(bits(i))).collect::<Vec<_>>());
        let is_read = kernel == BandwidthKernel::Read;
        let mut arrays = Arrays { a: device.upload(&a)?, b: device.upload(&b)?, y: device.zeroed(0)? };
        for instance in T::INSTANCES {
            arrays.y = device.alloc(if is_read { grid * block } else { n })?;
            (instance.launch)(device, kernel, LaunchConfig::new(grid as u32, block as u32), &mut arrays)?;
            let y = arrays.y.download()?;
            let of_all = |elements: &[T]| elements.iter().fold(T::ZERO, |all, &element| all ^ element);
            match kernel {
                BandwidthKernel::Read => equal("exclusive or of y", &[of_all(&y)], &[of_all(&a)])?,
                BandwidthKernel::Write => equal("y", &y, &vec![T::from_word(WORD); n])?,
                BandwidthKernel::Copy | BandwidthKernel::CopyAlternating => equal("y", &y, &a)?,
                BandwidthKernel::Copy2 => {
                    equal("y", &y, &a.iter().zip(&b).map(|(&a, &b)| a ^ b).collect::<Vec<_>>())?;
                }
            }
        }
    }
    Ok(())
}

/// The number of elements that the access and divergence kernels access, in blocks of 256 threads.
const ACCESSED: usize = 600;

fn grid() -> LaunchConfig {
    LaunchConfig::new(ACCESSED.div_ceil(256) as u32, 256)
}

fn check_offset(stage: &Stage) -> Result<(), CaseError> {
    let mut a = stage.device.zeroed::<f32>(ACCESSED + 40)?;
    stage.device.launch(grid(), access_offset::<f32>(ACCESSED, 7, a.view_mut()))?;
    let expected: Vec<f32> = (0..ACCESSED + 40).map(|i| f32::from((7..7 + ACCESSED).contains(&i))).collect();
    equal("a", &a.download()?, &expected)
}

fn check_strided(stage: &Stage) -> Result<(), CaseError> {
    let mut a = stage.device.zeroed::<f64>(3 * ACCESSED)?;
    stage.device.launch(grid(), access_strided::<f64>(ACCESSED, 3, a.view_mut()))?;
    let expected: Vec<f64> = (0..3 * ACCESSED).map(|i| f64::from(i.is_multiple_of(3))).collect();
    equal("a", &a.download()?, &expected)
}

fn check_divergence(stage: &Stage, decision: Decision) -> Result<(), CaseError> {
    let mut y = stage.device.alloc::<f32>(ACCESSED)?;
    match decision {
        Decision::Thread => stage.device.launch(grid(), divergence_by_thread(20, y.view_mut()))?,
        Decision::Warp => stage.device.launch(grid(), divergence_by_warp(20, y.view_mut()))?,
    }
    equal("y", &y.download()?, &(0..ACCESSED).map(|i| reference(decision, i, 20)).collect::<Vec<_>>())
}

fn check_print(stage: &Stage) -> Result<(), CaseError> {
    stage.device.launch(LaunchConfig::new(2, 40), schedule_print(16))?;
    let line = |(block, thread): (u32, u32)| {
        format!("block {block} of 2, warp {}, thread {thread}: multiprocessor 0", thread / 32)
    };
    equal("line", &stage.printed(), &[(0, 0), (0, 16), (0, 32), (1, 0), (1, 16), (1, 32)].map(line))
}

fn check_record(stage: &Stage) -> Result<(), CaseError> {
    let (blocks, threads) = (3_usize, 80_u32);
    let warps = threads.div_ceil(32) as usize;
    let mut records = stage.device.alloc(blocks * warps * RECORD)?;
    stage.device.launch(LaunchConfig::new(blocks as u32, threads), schedule_record(10, records.view_mut()))?;
    let all =
        schedule::multiprocessors(&records.download()?, warps).map_err(|error| CaseError::Wrong(error.to_string()))?;
    let mut ran: Vec<usize> = all.iter().flat_map(|one| &one.runs).map(|run| run.block).collect();
    ran.sort_unstable();
    equal("block", &ran, &[0, 1, 2])
}
