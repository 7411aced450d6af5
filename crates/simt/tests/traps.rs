//! Tests that a memory fault of a simulated thread ends the launch with a fault, and leaves the process unchanged.
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU32, Ordering};

use simt::raw::{Through, Use};
use simt::{Checks, Dim3, Fault, FaultKind, KernelInfo, LaunchConfig, Simulator, raw, thread};

static WILD: KernelInfo = KernelInfo::new("wild", module_path!(), file!(), line!());

const NOWHERE: usize = 0x5000_0000_0010;

/// Accesses memory at `address` without reporting the access to the simulator. The tests pass addresses that are not
/// mapped.
#[inline(never)]
fn access(address: usize, writes: bool) {
    let pointer = black_box(address) as *mut u32;
    // SAFETY: none, because the test expects the fault.
    unsafe { if writes { pointer.write_volatile(1) } else { _ = black_box(pointer.read_volatile()) } }
}

fn launch(simulator: &Simulator, body: impl Fn() + Sync) -> Result<(), Box<Fault>> {
    simulator.launch(&WILD, LaunchConfig::new(4, 64), body).map(drop).map_err(Box::new)
}

#[test]
fn an_unreported_access_to_unmapped_memory_is_a_fault() {
    let checks = Simulator::new().with_checks(Checks::default());
    for simulator in [Simulator::new().with_workers(NonZeroUsize::MIN), checks, Simulator::new()] {
        for writes in [false, true] {
            // There are more launches than fibres of a block.
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

/// Launches `body` several times. Each launch must end with a panic that cannot unwind. Returns the last fault.
fn ends_without_unwinding(body: impl Fn(usize) + Sync) -> Box<Fault> {
    let checks = Simulator::new().with_checks(Checks::default());
    let simulators = [Simulator::new().with_workers(NonZeroUsize::MIN), checks, Simulator::new()];
    let faults = simulators.iter().cycle().take(9).map(|simulator| {
        let fault = launch(simulator, || {
            thread::sync_threads();
            body(if thread::thread_idx().x == 40 { NOWHERE } else { 0 });
            thread::sync_threads();
        });
        let fault = fault.unwrap_err();
        assert_eq!((fault.block, fault.thread), (Some(Dim3::new(0, 0, 0)), Some(Dim3::new(40, 0, 0))));
        assert!(!std::thread::panicking(), "the panic must end with its simulated thread");
        fault
    });
    let last = faults.last().expect("launches");
    // The previous hook still handles panics of this thread.
    assert!(std::panic::catch_unwind(|| panic!("as ever")).is_err());
    assert!(!std::thread::panicking());
    let previous = std::panic::take_hook();
    std::panic::set_hook(previous);
    launch(&Simulator::new(), thread::sync_threads).unwrap();
    last
}

#[test]
#[cfg(debug_assertions)]
fn a_misaligned_pointer_is_a_fault_with_its_line() {
    let aligned = 0_u64;
    let address = (&raw const aligned).addr();
    let fault = ends_without_unwinding(|at| {
        let pointer = black_box(address + usize::from(at == NOWHERE)) as *const u32;
        // SAFETY: none, because the test expects the fault.
        black_box(unsafe { *pointer });
    });
    let line = line!() - 2;
    assert!(matches!(&fault.kind, FaultKind::Panic(text) if text.contains("misaligned pointer")), "{fault}");
    let location = fault.location.as_ref().expect("a line");
    assert_eq!((location.line, location.file.ends_with("traps.rs")), (line, true), "{fault}");
}

#[test]
#[cfg(debug_assertions)]
fn an_unsafe_precondition_that_does_not_hold_is_a_fault() {
    let values = [0_u8; 32];
    let fault = ends_without_unwinding(|at| {
        // SAFETY: none, because the test expects the fault.
        black_box(unsafe { values.get_unchecked(black_box(at.min(32))) });
    });
    let line = line!() - 2;
    assert!(matches!(&fault.kind, FaultKind::Panic(text) if text.contains("get_unchecked")), "{fault}");
    assert_eq!(fault.location.as_ref().map(|location| location.line), Some(line), "{fault}");
}

#[test]
fn an_abort_is_a_fault() {
    let fault = ends_without_unwinding(|at| {
        if at == NOWHERE {
            std::process::abort();
        }
    });
    assert_eq!(fault.kind, FaultKind::Panic("aborted".to_owned()));
}

#[test]
fn a_panic_of_a_drop_while_unwinding_is_a_fault() {
    struct Bad;
    impl Drop for Bad {
        fn drop(&mut self) {
            panic!("second");
        }
    }
    ends_without_unwinding(|at| {
        if at == NOWHERE {
            let _bad = Bad;
            panic!("first");
        }
    });
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
