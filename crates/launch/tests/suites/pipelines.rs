//! Tests the texts of reports about a pipeline that tensor maps fill: each leads to the line that is at fault.

use std::time::Instant;

use cuda_std::barrier::{self, Barrier};
use cuda_std::bulk::TensorMap;
use cuda_std::tensor::{SharedTile, Swizzle32};
use cuda_std::{GlobalMut, dynamic_shared, kernel, shared_array, thread};
use launch::{Device, Error, Fault, FaultKind, LaunchConfig, Remedy, Swizzle, checked_devices};

use crate::cured::line_of;

/// The fault that [`pipeline`] has.
const NONE: u32 = 0;
const HALF_EXPECTED: u32 = 1;
const FEWER_EXPECTED: u32 = 2;
const MORE_EXPECTED: u32 = 3;
const NO_WAIT_FOR_EMPTY: u32 = 4;
const OTHER_PARITY: u32 = 5;
const OVERLAP: u32 = 6;

/// The number of threads that read the tiles. One more thread loads them.
const READERS: usize = 64;
const STAGES: usize = 2;
const STEPS: usize = 4;
/// The number of elements of a tile.
const TILE: usize = 64;
/// The number of bytes of both tiles of a stage.
const BYTES: u32 = 2 * 4 * TILE as u32;

/// Adds the products of the elements of [`STEPS`] pairs of tiles.
#[kernel]
fn pipeline(x: TensorMap<f32, 2>, y: GlobalMut<f32>, fault: u32) {
    let offset = if fault == OVERLAP { 0 } else { STAGES * TILE };
    let left = SharedTile::<f32, 8, 8, Swizzle32>::array_at::<STAGES>(dynamic_shared(), 0);
    let right = SharedTile::<f32, 8, 8, Swizzle32>::array_at::<STAGES>(dynamic_shared(), offset);
    let (full, empty) = (shared_array![u64; STAGES], shared_array![u64; STAGES]);
    let i = thread::index_in_block() as usize;
    if i == 0 {
        for stage in 0..STAGES {
            Barrier::at(full, stage).init(1);
            Barrier::at(empty, stage).init(READERS as u32);
        }
        barrier::fence_init();
    }
    thread::sync_threads();
    if i == READERS {
        let bytes = match fault {
            HALF_EXPECTED => BYTES / 2,
            FEWER_EXPECTED => BYTES - 16,
            MORE_EXPECTED => BYTES + 16,
            _ => BYTES,
        };
        for step in 0..STEPS {
            let (stage, round) = (step % STAGES, step / STAGES);
            if fault != NO_WAIT_FOR_EMPTY {
                Barrier::at(empty, stage).await_parity((round % 2 == 0) == (fault != OTHER_PARITY));
            }
            let full = Barrier::at(full, stage);
            let _ = full.arrive_and_expect(bytes); // expect
            x.load_rows([8 * step as i32, 0], left.get(stage).rows::<8>(0), full);
            x.load_rows([8 * step as i32, 8], right.get(stage).rows::<8>(0), full);
        }
    } else if i < READERS {
        let mut sum = 0.0;
        for step in 0..STEPS {
            let (stage, round) = (step % STAGES, step / STAGES);
            Barrier::at(full, stage).await_parity(round % 2 == 1);
            sum += left.get(stage).load(i / 8, i % 8) * right.get(stage).load(i / 8, i % 8);
            let _ = Barrier::at(empty, stage).arrive();
        }
        y.store(i, sum);
    }
}

fn launch(device: &Device, fault: u32) -> Result<Vec<f32>, Error> {
    let x = device.upload(&[2.0_f32; 8 * STEPS * 16])?;
    let mut y = device.zeroed(READERS)?;
    let map = device.tensor_map(x.view(), [8 * STEPS, 16]).tile([8, 8]).swizzle(Swizzle::Bytes32).build()?;
    let config = LaunchConfig::new(1, 96).shared_bytes(STAGES as u32 * BYTES);
    device.launch(config, pipeline(map, y.view_mut(), fault))?;
    y.download()
}

/// Returns the fault and its text in each order.
fn faults(fault: u32) -> Vec<(Box<Fault>, String)> {
    let found = checked_devices().map(|device| match launch(&device, fault) {
        Err(Error::Fault(fault)) => fault,
        other => panic!("{other:?}"),
    });
    found.map(|fault| (fault.clone(), fault.to_string())).collect()
}

/// Returns the position of the call that expects bytes.
fn place_of_expect() -> String {
    format!("crates/launch/tests/suites/pipelines.rs:{}:26", line_of(include_str!("pipelines.rs"), "// expect"))
}

#[test]
fn the_pipeline_is_sound() {
    for device in checked_devices() {
        assert_eq!(launch(&device, NONE).unwrap(), [4.0 * STEPS as f32; READERS]);
    }
}

#[test]
fn a_phase_that_ends_before_its_copies() {
    for (fault, text) in faults(HALF_EXPECTED) {
        assert_eq!(fault.remedy(), Some(Remedy::ExpectAllBytes), "{text}");
        let cause = "A phase of the barrier `full[0]` has ended after 256 of 512 bytes of its copies, because thread \
                     (64, 0, 0) has expected 256 at ";
        assert!(text.contains(cause) && text.contains(&place_of_expect()), "{text}");
    }
}

#[test]
fn a_loading_thread_that_does_not_wait_for_its_readers() {
    let mut panics = 0;
    for (fault, text) in faults(NO_WAIT_FOR_EMPTY) {
        assert!(!text.contains("give `init`"), "{text}");
        if let FaultKind::Panic(_) = fault.kind {
            assert!(text.contains("the barrier at which the readers arrive"), "{text}");
            panics += 1;
        }
    }
    assert!(panics > 0);
}

#[test]
fn overlapping_tiles_have_their_names() {
    for (fault, text) in faults(OVERLAP) {
        assert_eq!(fault.remedy(), Some(Remedy::PartsApart), "{text}");
        let tiles = "overlap there: `left` of type `f32` (bytes 0..512) and `right` of type `f32` (bytes 0..512)";
        assert!(text.contains(tiles), "{text}");
    }
}

#[test]
fn a_report_of_waiting_threads_begins_with_the_cause() {
    let long = |bytes, state: &str| {
        format!(
            "no progress: phase 0 (parity false) of the barrier `full[0]` never ends, because it {state}. Thread \
             (64, 0, 0) was the last to expect bytes, at {}: {bytes} are expected and 512 have arrived. Expect exactly \
             the bytes",
            place_of_expect()
        )
    };
    let all_stages = "no progress: every unfinished thread waits for the first phase of a barrier, and no thread has \
                      arrived there. In a pipeline, all stages are free at the beginning: let the loading thread begin \
                      with parity true";
    for (fault, cause) in [
        (FEWER_EXPECTED, long(BYTES - 16, "has received 16 bytes more than it expects")),
        (MORE_EXPECTED, long(BYTES + 16, "expects 16 bytes more than have arrived")),
        (OTHER_PARITY, all_stages.to_owned()),
    ] {
        for (fault, text) in faults(fault) {
            assert!(matches!(fault.kind, FaultKind::NoProgress { .. }), "{text}");
            assert!(text.contains(&cause), "{text}\n{cause}");
            assert!(text.matches(" waits at ").count() <= 3, "{text}");
        }
    }
}

/// Waits for a phase that never ends: by the method, or by a loop that gives up after some tries.
#[kernel]
fn waits_in_vain(tries: u32) {
    let barrier = Barrier::at(shared_array![u64; 1], 0);
    if thread::first() {
        barrier.init(1);
    }
    thread::sync_threads();
    if tries == 0 {
        barrier.await_parity(false);
    }
    for _ in 0..tries {
        if barrier.try_wait_parity(false) {
            return;
        }
    }
}

#[test]
fn waits_for_a_phase_that_never_ends_are_reported_at_once() {
    let launch = |tries| {
        let device = checked_devices().next().unwrap();
        let begun = Instant::now();
        (device.launch(LaunchConfig::new(1, 64), waits_in_vain(tries)), begun.elapsed())
    };
    let [(waits, short), (loops, long)] = [0, u32::MAX].map(launch);
    for result in [waits, loops] {
        let Err(Error::Fault(fault)) = result else { panic!("{result:?}") };
        assert!(matches!(fault.kind, FaultKind::NoProgress { polling: 64, .. }), "{fault}");
    }
    assert!(5 * short < long, "{short:?}, {long:?}");
    launch(1000).0.unwrap();
}
