//! A memory fault of a simulated thread ends the launch with a fault, and leaves the process as it was.
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU32, Ordering};

use simt::raw::{Through, Use};
use simt::{Checks, Dim3, Fault, FaultKind, KernelInfo, LaunchConfig, Simulator, raw, thread};

static WILD: KernelInfo = KernelInfo::new("wild", module_path!(), file!(), line!());

const NOWHERE: usize = 0x5000_0000_0010;

/// Accesses memory that is not there, and tells nobody.
#[inline(never)]
fn access(address: usize, writes: bool) {
    let pointer = black_box(address) as *mut u32;
    // SAFETY: none: that is what is tested.
    unsafe { if writes { pointer.write_volatile(1) } else { _ = black_box(pointer.read_volatile()) } }
}

fn launch(simulator: &Simulator, body: impl Fn() + Sync) -> Result<(), Box<Fault>> {
    simulator.launch(&WILD, LaunchConfig::new(4, 64), body).map(drop).map_err(Box::new)
}

#[test]
fn an_access_that_nobody_sees_is_a_fault() {
    let checks = Simulator::new().with_checks(Checks::default());
    for simulator in [Simulator::new().with_workers(NonZeroUsize::MIN), checks, Simulator::new()] {
        for writes in [false, true] {
            // More often than there are fibres of one block.
            for _ in 0..100 {
                let fault = launch(&simulator, || {
                    thread::sync_threads();
                    if thread::thread_idx().x == 40 {
                        access(NOWHERE, writes);
                    }
                    thread::sync_threads();
                });
                let fault = fault.unwrap_err();
                assert_eq!(fault.kind, FaultKind::Unseen { address: NOWHERE });
                assert_eq!((fault.block, fault.thread), (Some(Dim3::new(0, 0, 0)), Some(Dim3::new(40, 0, 0))));
            }
        }
        let threads = AtomicU32::new(0);
        let count = || {
            thread::sync_threads();
            threads.fetch_add(1, Ordering::Relaxed);
        };
        launch(&simulator, count).unwrap();
        assert_eq!(threads.into_inner(), 256);
    }
}

#[test]
fn the_line_is_the_last_that_is_known() {
    let simulator = Simulator::new().with_checks(Checks::default());
    let fault = launch(&simulator, || {
        let own = 1_u32;
        raw::touch((&raw const own).addr(), 4, 4, Use::Read, Through::Pointer);
        access(NOWHERE, false);
    });
    let fault = fault.unwrap_err();
    let location = fault.location.as_ref().expect("a line");
    assert_eq!((location.line, location.file.ends_with("traps.rs")), (line!() - 5, true), "{fault}");
    assert!(fault.to_string().contains("cuda_std::device"), "{fault}");
}

#[test]
fn memory_that_may_only_be_read_is_not_written() {
    static TEXT: [u32; 2] = [1, 2];
    let address = TEXT.as_ptr().addr();
    let fault = launch(&Simulator::new(), || access(address, true)).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Unseen { address });
    launch(&Simulator::new(), || access(address, false)).unwrap();
}

#[inline(never)]
fn descend(depth: u64) -> u64 {
    let frame = black_box([depth; 64]);
    if black_box(depth) == 0 { 0 } else { descend(depth - 1) + frame[3] }
}

#[test]
fn a_stack_that_overflows_is_a_fault() {
    for _ in 0..3 {
        let fault = launch(&Simulator::new(), || {
            black_box(descend(1 << 20));
        });
        assert_eq!(fault.unwrap_err().kind, FaultKind::StackOverflow { bytes: 128 * 1024 });
        launch(&Simulator::new(), || _ = black_box(descend(10))).unwrap();
    }
}
