//! Tests graphs in the simulator.

use cuda_std::{Global, GlobalMut, kernel, thread};
use launch::{Device, Error, Fault, LaunchConfig, checked_devices};

/// `y[i] = y[i] + x[i]` for every `i`; any grid.
#[kernel]
pub fn add(x: Global<u32>, y: GlobalMut<u32>) {
    for i in thread::grid_stride(y.len()) {
        y.store(i, y.load(i) + x.load(i));
    }
}

/// Writes element `i` in thread `i`, even if `y` has no such element.
#[kernel]
pub fn write_own(y: GlobalMut<u32>) {
    let i = thread::index_1d() as usize;
    y.store(i, i as u32);
}

fn config() -> LaunchConfig {
    LaunchConfig::new(2, 32)
}

fn devices() -> impl Iterator<Item = Device> {
    checked_devices().chain([Device::simulated(launch::Simulator::new())])
}

#[test]
fn launches_fills_and_copies_are_done_again_in_their_order() -> Result<(), Error> {
    for device in devices() {
        let (x, y, z) = (device.upload(&[1, 2, 3])?, device.alloc(3)?, device.alloc(3)?);
        let mut graph = device.record((x, y, z), |queue, (x, y, z)| {
            assert!(queue.is_recording());
            queue.fill_zero(y)?;
            queue.launch(config(), add(x.view(), y.view_mut()))?;
            queue.copy(y, z)?;
            queue.launch(config(), add(z.view(), y.view_mut()))?;
            queue.launch(config(), add(z.view(), x.view_mut()))
        })?;
        for x in [1, 2, 4, 8] {
            assert_eq!(graph.resources().0.download()?, [x, 2 * x, 3 * x]);
            graph.launch()?;
            assert_eq!(graph.resources().1.download()?, [2 * x, 4 * x, 6 * x]);
        }
        graph.resources_mut().0.upload(&[100, 0, 0])?;
        graph.launch()?;
        let (x, y, _) = graph.into_resources();
        assert_eq!((x.download()?, y.download()?), (vec![200, 0, 0], vec![200, 0, 0]));
    }
    Ok(())
}

#[test]
fn a_fault_is_returned_by_the_launch_and_the_graph_stays_usable() -> Result<(), Error> {
    let device = Device::simulated(launch::Simulator::new());
    let mut y = device.zeroed(40)?;
    let mut graph = device.record(&mut y, |queue, y| {
        queue.fill_zero(y)?;
        queue.launch(LaunchConfig::new(1, 64), write_own(y.view_mut()))
    })?;
    for _ in 0..2 {
        let error = graph.launch().expect_err("out of bounds");
        let Error::Fault(fault) = &error else { panic!("{error:?}") };
        let Fault { kernel, thread, .. } = &**fault;
        assert_eq!((*kernel, thread.is_some()), ("write_own", true));
    }
    Ok(())
}

/// Tests that a copy of unwritten memory counts as unwritten, so that reading it in a kernel is a fault.
#[test]
fn a_copy_of_nothing_is_nothing() -> Result<(), Error> {
    for device in checked_devices() {
        let (x, y, sum) = (device.alloc(3)?, device.alloc(3)?, device.zeroed(3)?);
        let mut graph = device.record((x, y, sum), |queue, (x, y, sum)| {
            queue.copy(x, y)?;
            queue.launch(config(), add(y.view(), sum.view_mut()))
        })?;
        assert!(matches!(graph.launch(), Err(Error::Fault(_))));
        graph.resources_mut().0.upload(&[1, 2, 3])?;
        graph.launch()?;
        assert_eq!(graph.resources().1.download()?, [1, 2, 3]);
    }
    Ok(())
}

#[test]
fn use_of_memory_that_is_not_held_is_an_error() -> Result<(), Error> {
    let device = Device::simulated(launch::Simulator::new());
    let (x, mut y) = (device.zeroed(3)?, device.zeroed::<u32>(3)?);
    let error = device.record(&x, |queue, x| queue.launch(config(), add(x.view(), y.view_mut()))).expect_err("y");
    assert!(matches!(error, Error::NotHeld { user: "add", how: "writes" }), "{error:?}");
    // The graph holds `y` only for reading. The work writes a buffer that the graph does not hold.
    let error = device.record(&y, |queue, _| queue.fill_zero(&mut device.zeroed::<u32>(3)?)).expect_err("y");
    assert!(matches!(error, Error::NotHeld { user: "fill_zero", how: "writes" }), "{error:?}");

    let other = Device::simulated(launch::Simulator::new());
    let (mut theirs, mut ours) = (other.zeroed::<u32>(3)?, device.zeroed::<u32>(3)?);
    let error = device.record(&mut theirs, |queue, theirs| queue.fill_zero(theirs)).expect_err("another device's");
    assert!(matches!(error, Error::WrongDevice { .. }), "{error:?}");
    let error = device.record((&theirs, &mut ours), |queue, (theirs, ours)| queue.copy(theirs, ours));
    assert!(matches!(error, Err(Error::WrongDevice { .. })), "{error:?}");
    let error = device.record((&x, &mut ours), |queue, (x, _)| queue.copy(x, &mut device.zeroed(4)?));
    assert!(matches!(error, Err(Error::LengthMismatch { .. })), "{error:?}");

    // Two buffers that were exchanged are both still held.
    let mut graph = device.record([x, ours], |queue, [x, y]| queue.launch(config(), add(x.view(), y.view_mut())))?;
    let [x, y] = graph.resources_mut();
    x.upload(&[1, 2, 3])?;
    std::mem::swap(x, y);
    graph.launch()?;
    assert_eq!(graph.resources()[0].download()?, [1, 2, 3]);
    graph.resources_mut()[0] = device.zeroed(3)?;
    assert!(matches!(graph.launch(), Err(Error::NotHeld { .. })));
    Ok(())
}

#[test]
fn nothing_at_all_can_be_recorded() -> Result<(), Error> {
    for device in devices() {
        let (x, mut y) = (device.alloc::<u32>(0)?, device.alloc::<u32>(0)?);
        let mut graph = device.record((), |queue, ()| {
            // Buffers without elements need not be held.
            queue.fill_zero(&mut y)?;
            queue.copy(&x, &mut y)?;
            queue.launch(config(), add(x.view(), y.view_mut()))
        })?;
        assert_eq!(graph.len(), 1);
        graph.launch()?;
    }
    Ok(())
}

/// Tests that a graph can hold a mapped buffer like a device's buffer.
#[test]
fn mapped_memory_can_be_held() -> Result<(), Error> {
    let device = Device::simulated(launch::Simulator::new());
    let mut x = device.mapped(2)?;
    x.as_mut_slice()?.copy_from_slice(&[5, 6]);
    let y = device.zeroed(2)?;
    let mut graph = device.record((x, y), |queue, (x, y)| queue.launch(config(), add(x.view(), y.view_mut())))?;
    graph.launch()?;
    graph.resources_mut().0.as_mut_slice()?[0] = 7;
    graph.launch()?;
    assert_eq!(graph.resources().1.download()?, [12, 12]);
    Ok(())
}

/// Tests that a thread can launch a graph that another thread has recorded.
#[test]
fn a_graph_can_be_sent() -> Result<(), Error> {
    let device = Device::simulated(launch::Simulator::new());
    let y = device.zeroed(64)?;
    let mut graph = device.record(y, |queue, y| queue.launch(config(), write_own(y.view_mut())))?;
    let graph = std::thread::spawn(move || graph.launch().map(|()| graph)).join().expect("no panic")?;
    assert_eq!(graph.resources().download()?[63], 63);
    Ok(())
}
