//! Tests the reports of faults, and that the process remains usable after a fault.

use crate::common;

use std::sync::atomic::{AtomicUsize, Ordering};

use common::{Array, KERNEL, global_index, hostile, simulator, simulators};
use simt::{Dim3, Fault, FaultKind, LaunchConfig, Schedule, Space, shared, thread, warp};

const FULL: u32 = u32::MAX;

/// Returns the source line of the fault, which must be in this file.
fn line(fault: &Fault) -> u32 {
    let location = fault.location.as_ref().unwrap();
    assert!(location.file.ends_with("faults.rs"), "{location}");
    location.line
}

fn x(x: u32) -> Dim3 {
    Dim3::new(x, 0, 0)
}

#[test]
fn a_panic_names_kernel_block_thread_and_line() {
    for simulator in simulators() {
        let at = line!() + 4;
        let fault = simulator
            .launch(&KERNEL, LaunchConfig::new((3, 2), (8, 4)), || {
                if global_index() == 4 * 32 + 19 {
                    panic!("thread {} is unhappy", global_index());
                }
            })
            .unwrap_err();
        assert_eq!(fault.kernel, "test_kernel");
        assert_eq!((fault.block, fault.thread), (Some(Dim3::new(1, 1, 0)), Some(Dim3::new(3, 2, 0))));
        assert_eq!(line(&fault), at);
        assert_eq!(fault.kind, FaultKind::Panic("thread 147 is unhappy".to_owned()));
        let text = fault.to_string();
        assert_eq!(format!("{fault:?}"), text);
        for part in ["test_kernel", "(1, 1, 0)", "(3, 2, 0)", &format!("faults.rs:{at}:"), "thread 147 is unhappy"] {
            assert!(text.contains(part), "{text}");
        }
    }
}

#[test]
fn an_overflowing_index_is_a_panic_with_its_line() {
    let at = line!() + 3;
    let fault = simulator(1, 0)
        .launch(&KERNEL, LaunchConfig::new(1, 4), || {
            std::hint::black_box(thread::thread_idx().x - 1);
        })
        .unwrap_err();
    assert_eq!((line(&fault), fault.thread), (at, Some(x(0))));
    assert!(matches!(&fault.kind, FaultKind::Panic(message) if message.contains("overflow")), "{fault}");
    assert!(fault.to_string().contains("an unsigned number cannot be below 0"), "{fault}");
}

#[test]
fn a_fault_has_the_callers_line() {
    let kind = FaultKind::OutOfBounds { space: Space::Global, array: None, element_type: None, index: 100, len: 100 };
    let at = line!() + 4;
    let fault = simulator(2, 0)
        .launch(&KERNEL, LaunchConfig::new(10, 10), || {
            if global_index() == 99 {
                thread::fault(kind.clone());
            }
        })
        .unwrap_err();
    assert_eq!((fault.block, fault.thread, line(&fault)), (Some(x(9)), Some(x(9)), at));
    assert_eq!(fault.kind, kind);
}

#[test]
fn the_first_block_in_the_order_is_reported() {
    for workers in [1, 2, 4] {
        for _ in 0..20 {
            let fault = simulator(workers, 0)
                .launch(&KERNEL, LaunchConfig::new(400, 32), || {
                    let block = thread::block_idx().x;
                    // The block that faults first takes the longest.
                    for _ in 0..(400 - block) * 10 {
                        std::hint::black_box(block);
                    }
                    assert!(block < 100 || thread::thread_idx().x != 7, "block {block}");
                })
                .unwrap_err();
            assert_eq!((fault.block, fault.thread), (Some(x(100)), Some(x(7))), "{workers} workers");
        }
    }
}

#[test]
fn invalid_launches_run_nothing() {
    let runs = AtomicUsize::new(0);
    let launch = |config: LaunchConfig| {
        let fault = simulator(2, 0).launch(&KERNEL, config, || _ = runs.fetch_add(1, Ordering::Relaxed)).unwrap_err();
        assert_eq!((fault.block, fault.thread, fault.location), (None, None, None));
        match fault.kind {
            FaultKind::InvalidLaunch(reason) => reason,
            other => panic!("{other}"),
        }
    };
    for (config, part) in [
        (LaunchConfig::new(0, 1), "(0, 1, 1)"),
        (LaunchConfig::new((1, 1, 0), 1), "grid (1, 1, 0)"),
        (LaunchConfig::new(1, (1, 0)), "block (1, 0, 1)"),
        (LaunchConfig::new(1, 1025), "block's x is 1025"),
        (LaunchConfig::new(1, (33, 32)), "1056 threads"),
        (LaunchConfig::new(1, (u32::MAX, u32::MAX, u32::MAX)), "allows 1024"),
        (LaunchConfig::new(1, (1, 1, 65)), "65"),
        (LaunchConfig::new((1, 65536), 1), "65535"),
        (LaunchConfig::new((1, 1, 65536), 1), "65535"),
        (LaunchConfig::new(1 << 31, 1), "2147483647"),
    ] {
        let reason = launch(config);
        assert!(reason.contains(part), "{reason}");
    }
    assert_eq!(runs.into_inner(), 0);
}

#[test]
fn a_launch_bound_is_kept() {
    static BOUNDED: simt::KernelInfo =
        simt::KernelInfo::new("bounded", module_path!(), file!(), line!()).max_threads(128);
    simulator(1, 0).launch(&BOUNDED, LaunchConfig::new(1, (16, 8)), || {}).unwrap();
    let fault = simulator(1, 0).launch(&BOUNDED, LaunchConfig::new(1, 129), || {}).unwrap_err();
    let text = fault.to_string();
    assert!(text.contains("bounded") && text.contains("129") && text.contains("128"), "{text}");
}

#[test]
fn the_simulator_is_usable_after_a_fault() {
    for simulator in simulators() {
        for round in 0..20 {
            let fault = simulator
                .launch(&KERNEL, LaunchConfig::new(20, 64), || {
                    thread::sync_threads();
                    warp::sync(FULL);
                    assert!(global_index() != 700 + round, "round {round}");
                    thread::sync_threads();
                })
                .unwrap_err();
            assert_eq!(fault.kind, FaultKind::Panic(format!("round {round}")));
            let sums = Array::<u32>::filled(1, 0);
            simulator
                .launch(&KERNEL, LaunchConfig::new(20, 64), || {
                    thread::sync_threads();
                    assert_eq!(warp::ballot(FULL, true), FULL);
                    sums.update(0, |sum| sum + 1);
                    thread::sync_threads();
                })
                .unwrap();
            assert_eq!(sums.load(0), 1280);
        }
    }
}

#[test]
fn abandoned_threads_drop_their_values() {
    struct Counted<'a>(&'a AtomicUsize);
    impl<'a> Counted<'a> {
        fn new(live: &'a AtomicUsize) -> Self {
            live.fetch_add(1, Ordering::Relaxed);
            Self(live)
        }
    }
    impl Drop for Counted<'_> {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::Relaxed);
            // A destructor may use all operations of a thread. No other thread waits for it.
            thread::sync_threads();
            assert!(thread::thread_idx().x < 100);
        }
    }
    for simulator in simulators() {
        let (live, made) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let fault = simulator
            .launch(&KERNEL, LaunchConfig::new(8, 100), || {
                let _counted = Counted::new(&live);
                made.fetch_add(1, Ordering::Relaxed);
                thread::sync_threads();
                let _second = Counted::new(&live);
                warp::exchange(FULL, 1, 0);
                if global_index() % 100 == 99 {
                    thread::fault(FaultKind::InvalidLaunch("of its own making".to_owned()));
                }
                thread::sync_threads();
            })
            .unwrap_err();
        assert_eq!(fault.thread, Some(x(99)));
        assert_eq!(live.into_inner(), 0);
        assert!(made.into_inner() >= 100);
    }
}

#[test]
fn preempted_threads_drop_their_values() {
    struct Counted<'a>(&'a AtomicUsize, &'a Array<u32>);
    impl Drop for Counted<'_> {
        fn drop(&mut self) {
            // A thread that unwinds accesses memory without yielding.
            self.1.store(0, self.1.load(0) + 1);
            self.0.fetch_sub(1, Ordering::Relaxed);
        }
    }
    for simulator in hostile() {
        let (live, begun) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let cells = Array::<u32>::filled(1, 0);
        let fault = simulator
            .launch(&KERNEL, LaunchConfig::new(12, 100), || {
                live.fetch_add(1, Ordering::Relaxed);
                begun.fetch_add(1, Ordering::Relaxed);
                let _counted = Counted(&live, &cells);
                for round in 0..20 {
                    cells.update(0, |value| value + 1);
                    assert!(global_index() % 100 != 57 || round < 10, "enough");
                }
                // A thread that catches its unwinding unwinds again at its next wait.
                let _caught = std::panic::catch_unwind(|| cells.load(0));
                thread::sync_threads();
            })
            .unwrap_err();
        assert_eq!((fault.thread, fault.kind), (Some(x(57)), FaultKind::Panic("enough".to_owned())));
        assert_eq!(live.into_inner(), 0, "{}", simulator.schedule());
        let most = match simulator.schedule() {
            Schedule::Interleaved(_) | Schedule::BlocksInTurn(_) => 101..=12 * 100,
            Schedule::EveryAccess(_) => 90..=100,
            _ => 1..=100 * simulator.workers(),
        };
        assert!(most.contains(&begun.into_inner()), "{}", simulator.schedule());
    }
}

#[test]
fn a_thread_that_catches_its_fault_does_not_hide_it() {
    let fault = simulator(1, 0)
        .launch(&KERNEL, LaunchConfig::new(1, 40), || {
            let _caught = std::panic::catch_unwind(|| {
                if thread::thread_idx().x == 20 {
                    shared::store(0, 1_u8);
                }
            });
            thread::sync_threads();
        })
        .unwrap_err();
    assert_eq!(
        fault.kind,
        FaultKind::OutOfBounds { space: Space::Shared, array: None, element_type: None, index: 0, len: 0 }
    );
    assert_eq!(fault.thread, Some(x(20)));
}

#[test]
fn a_panic_that_a_kernel_catches_is_its_own_affair() {
    simulator(1, 0)
        .launch(&KERNEL, LaunchConfig::new(2, 40), || {
            let caught = std::panic::catch_unwind(|| assert!(thread::lane_id() > 100));
            assert!(caught.is_err());
            thread::sync_threads();
        })
        .unwrap();
}
