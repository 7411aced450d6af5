//! Tests launches that may start before the previous launch ends. If a kernel does not wait correctly, a checked device
//! must report the kernel.

use cuda_std::{GlobalMut, grid, kernel, thread};
use gpu::device_library::add_neighbours;
use launch::{Error, LaunchConfig};
use simt::FaultKind;
use tests::all_devices;
use tests::reports::devices_and_orders;
use workbench::case::bits;

/// Tests a chain of launches. Each launch reads values that the blocks of the previous launch have written.
#[test]
fn a_chain_of_launches_is_as_if_one_waited_for_the_other() {
    for device in all_devices() {
        let (n, launches) = if device.is_simulated() { (1000, 12) } else { (200_000, 400) };
        let mut expected: Vec<u32> = (0..n).map(|i| bits(i) as u32).collect();
        let mut x = device.upload(&expected).unwrap();
        let mut y = device.alloc::<u32>(n).unwrap();
        for _ in 0..launches {
            let config = LaunchConfig::new(n.div_ceil(256) as u32, 256);
            device.launch(config, add_neighbours(x.view(), y.view_mut())).unwrap();
            std::mem::swap(&mut x, &mut y);
            let first = expected[0];
            for i in 0..n {
                expected[i] = expected[i].wrapping_add(*expected.get(i + 1).unwrap_or(&first));
            }
        }
        assert_eq!(x.download().unwrap(), expected);
    }
}

/// The way in which a kernel waits for the previous launch: all threads before their first access, no thread, all
/// threads too late, or only thread 0.
#[derive(Clone, Copy)]
enum Waiting {
    All,
    None,
    TooLate,
    First,
}

#[kernel]
fn increment(x: GlobalMut<u32>, who: u32) {
    let i = thread::index_1d();
    let is = |other: Waiting| who == other as u32;
    if is(Waiting::All) || is(Waiting::First) && i == 0 {
        grid::wait_for_dependencies();
    }
    thread::sync_threads();
    let before = x.load(i);
    if is(Waiting::TooLate) {
        grid::wait_for_dependencies();
    }
    x.store(i, before + 1);
}

#[test]
fn an_access_before_the_thread_has_waited_is_reported() {
    for (device, order) in devices_and_orders() {
        let launch = |who: Waiting| {
            let mut x = device.zeroed::<u32>(64)?;
            device.launch(LaunchConfig::new(2, 32), increment(x.view_mut(), who as u32))
        };
        for who in [Waiting::All, Waiting::None] {
            assert!(launch(who).is_ok(), "{order}");
        }
        for who in [Waiting::TooLate, Waiting::First] {
            match launch(who) {
                Err(Error::Fault(fault)) => assert_eq!(fault.kind, FaultKind::BeforeDependencies, "{order}: {fault}"),
                other => panic!("{order}: {other:?}"),
            }
        }
    }
}
