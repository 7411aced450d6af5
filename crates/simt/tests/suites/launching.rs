//! Tests many launches, simultaneous launches and nested launches, and the output of kernels.

use crate::common;

use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use common::{Array, KERNEL, global_index, simulator, simulators};
use simt::{FaultKind, LaunchConfig, Simulator, thread};

#[test]
fn settings_are_kept() {
    let simulator = simulator(3, 42);
    assert_eq!((simulator.workers(), simulator.seed()), (3, 42));
    assert_eq!((simulator.clone().workers(), simulator.clone().seed()), (3, 42));
    assert_eq!((Simulator::new().seed(), Simulator::default().seed()), (0, 0));
    assert!(Simulator::new().workers() >= 1);
}

#[test]
fn small_launches_are_cheap() {
    let simulator = simulator(2, 0);
    let count = Array::<u32>::filled(1, 0);
    let start = Instant::now();
    for _ in 0..5000 {
        simulator.launch(&KERNEL, LaunchConfig::new(1, 32), || count.store(0, count.load(0) + 1)).unwrap();
    }
    assert_eq!(count.load(0), 160_000);
    // Each launch takes about 1 µs on an idle machine. A thread or a pool per launch would take far longer.
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
}

#[test]
fn several_threads_launch_at_once() {
    for simulator in [simulator(2, 0), simulator(4, 9)] {
        std::thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| {
                    for blocks in 1..60 {
                        let count = Array::<u32>::filled(1, 0);
                        let config = LaunchConfig::new(blocks, 48);
                        let stats = simulator
                            .launch(&KERNEL, config, || {
                                thread::sync_threads();
                                count.update(0, |count| count + 1);
                            })
                            .unwrap();
                        assert_eq!((count.load(0), stats.blocks), (blocks * 48, blocks.into()));
                    }
                });
            }
        });
    }
}

#[test]
fn a_launch_from_a_kernel_is_refused() {
    let inner = simulator(2, 0);
    simulator(2, 0)
        .launch(&KERNEL, LaunchConfig::new(2, 2), || {
            let fault = inner.launch(&KERNEL, LaunchConfig::new(1, 1), || {}).unwrap_err();
            assert!(matches!(fault.kind, FaultKind::InvalidLaunch(_)), "{fault}");
            assert!(thread::is_simulated());
        })
        .unwrap();
}

#[test]
fn messages_are_written_whole_and_in_order() {
    for seed in [0, 8] {
        let printed = [1, 4].map(|workers| {
            let sink = Arc::new(Mutex::new(Vec::new()));
            simulator(workers, seed)
                .with_output(sink.clone())
                .launch(&KERNEL, LaunchConfig::new(20, 33), || {
                    thread::print(format_args!("thread {}", global_index()));
                    thread::print(format_args!(" of block {}\n", thread::block_idx().x));
                })
                .unwrap();
            String::from_utf8(std::mem::take(&mut *sink.lock().unwrap())).unwrap()
        });
        assert_eq!(printed[0], printed[1]);
        if seed == 0 {
            let line = |i: usize| format!("thread {i} of block {}\n", i / 33);
            assert_eq!(printed[0], (0..660).map(line).collect::<String>());
        }
    }
}

#[test]
fn output_that_is_closed_is_no_fault() {
    struct Closed;
    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
    }
    simulator(2, 0)
        .with_output(Arc::new(Mutex::new(Closed)))
        .launch(&KERNEL, LaunchConfig::new(4, 4), || thread::print(format_args!("into the void\n")))
        .unwrap();
}

#[test]
fn stats_are_exact() {
    for simulator in simulators() {
        let stats = simulator
            .launch(&KERNEL, LaunchConfig::new((3, 5), (10, 10)), || {
                thread::sync_threads();
                thread::sync_threads();
            })
            .unwrap();
        assert_eq!((stats.threads, stats.blocks, stats.barriers, stats.warp_operations), (1500, 15, 30, 0));
    }
}

#[test]
fn large_blocks_with_barriers_on_many_launches_reuse_their_stacks() {
    let simulator = simulator(2, 0);
    for _ in 0..50 {
        simulator
            .launch(&KERNEL, LaunchConfig::new(8, 1024), || {
                let buffer = [thread::thread_idx().x; 64];
                thread::sync_threads();
                assert_eq!(std::hint::black_box(buffer)[63], thread::thread_idx().x);
            })
            .unwrap();
    }
}
