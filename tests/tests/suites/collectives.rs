//! The collectives in kernels of other crates, and mistakes that the checker must report.

use cuda_std::prelude::*;
use gpu::collective::block::block_reduce;
use gpu::collective::warp::warp_inclusive_scan;
use gpu::faults::{aggregates_reused, collective_in_branch};
use gpu::operator::Sum;
use launch::{Device, LaunchConfig, checked_devices};
use tests::reports::{Kind, Marked, Report, report};
use workbench::case::Case;
use workbench::cases::catalogue;
use workbench::check::{Settings, run_cases};

const SOURCE: Marked = Marked { file: "collectives.rs", text: include_str!("collectives.rs") };
const FAULTS: Marked = Marked { file: "collectives.rs", text: include_str!("../../../gpu/src/faults/collectives.rs") };

/// Runs the cases of the collectives in every hostile order. `host check collectives` does the same.
#[test]
fn every_collective_is_right_in_every_order() {
    let cases: Vec<Case> = catalogue().into_iter().filter(|case| case.group() == "collectives").collect();
    assert!(cases.len() >= 6, "{cases:?}");
    for run in run_cases(&cases.iter().collect::<Vec<_>>(), &Settings::default(), &()) {
        if let Some(error) = run.error {
            panic!("{} under {}: {error}", cases[run.case], run.schedule);
        }
    }
}

/// Calls a collective of the warp in a branch that half of the lanes take.
#[kernel(max_threads = 1024)]
fn scans_half_a_warp(x: Global<u32>, y: GlobalMut<u32>) {
    let lane = warp::lane_id();
    if lane < 16 {
        y.store(lane as usize, warp_inclusive_scan::<u32, Sum>(x.load(lane as usize))); // half
    }
    warp::sync_warp(warp::FULL_MASK); // other half
}

/// Gives the block's reduction room for too few warps.
#[kernel(max_threads = 1024)]
fn reduces_in_too_little_memory(x: Global<u32>, y: GlobalMut<u32>) {
    let aggregates = shared_array![u32; 1];
    let sum = block_reduce::<u32, Sum>(aggregates, x.load(thread::index_in_block() as usize));
    y.store(0, sum);
}

/// Launches `kernel` in a block of 64 threads and returns the report.
fn reported(
    device: &Device,
    kernel: impl for<'a> Fn(Global<'a, u32>, GlobalMut<'a, u32>) -> launch::Call<'a>,
) -> Option<Report> {
    let (x, mut y) = (device.upload(&[1; 64]).unwrap(), device.zeroed(64).unwrap());
    report(&device.launch(LaunchConfig::new(1, 64), kernel(x.view(), y.view_mut())))
}

#[test]
fn mistakes_are_reported_at_the_lines_of_the_kernel() {
    let (line, fault) = (|marker| SOURCE.line(marker), |marker| FAULTS.line(marker));
    for device in checked_devices() {
        let race = reported(&device, aggregates_reused);
        assert_eq!(race, Some(Report::new(Kind::Race, "aggregates", &[fault("fault: read"), fault("fault: write")])));
        let barrier = reported(&device, collective_in_branch).unwrap();
        assert_eq!((barrier.kind, barrier.places.contains(&fault("fault: branch"))), (Kind::BarrierNotReached, true));
        let warp = reported(&device, scans_half_a_warp).unwrap();
        assert_eq!(warp.kind, Kind::WarpMismatch);
        assert!(warp.places.contains(&line("half")) || warp.places.contains(&line("other half")), "{warp}");
        let bounds = reported(&device, reduces_in_too_little_memory).unwrap();
        assert_eq!((bounds.kind, bounds.array.as_deref()), (Kind::OutOfBounds, Some("aggregates")));
    }
}
