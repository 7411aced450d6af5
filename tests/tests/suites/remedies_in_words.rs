//! What a report says is to be done, where that is no [`simt::Remedy`]: with it done the kernel is clean.

use cuda_std::{GlobalMut, dynamic_shared, grid, kernel, shared_array, thread};
use launch::{Device, Error, LaunchConfig};
use tests::reports::devices_and_orders;

/// In every order the report of the faulty launch says `advice`, and the other launch is clean.
#[track_caller]
fn assert_advised(advice: &str, launch: impl Fn(&Device, bool) -> Result<(), Error>) {
    for (device, order) in devices_and_orders() {
        match launch(&device, true) {
            Err(Error::Fault(fault)) => assert!(fault.to_string().contains(advice), "{order}: {fault}"),
            other => panic!("{order}: {other:?}"),
        }
        let advised = launch(&device, false);
        assert!(advised.is_ok(), "{order}: {advised:?}");
    }
}

#[kernel]
fn dynamic_memory(y: GlobalMut<u32>) {
    let tile = dynamic_shared::<u32>();
    tile.store(0, 1);
    y.store(0, tile.load(0));
}

#[test]
fn shared_bytes_give_dynamic_memory() {
    assert_advised(".shared_bytes(bytes)", |device, is_faulty| {
        let config = LaunchConfig::new(1, 1).shared_bytes(if is_faulty { 0 } else { 4 });
        device.launch(config, dynamic_memory(device.zeroed(1)?.view_mut()))
    });
}

const MANY: usize = 20_000;

#[kernel]
fn much_static_memory(y: GlobalMut<u32>) {
    let tile = shared_array![u32; MANY];
    tile.store(MANY - 1, 1);
    y.store(0, tile.load(MANY - 1));
}

#[kernel]
fn much_dynamic_memory(y: GlobalMut<u32>) {
    let tile = dynamic_shared::<u32>();
    tile.store(MANY - 1, 1);
    y.store(0, tile.load(MANY - 1));
}

#[test]
fn large_arrays_are_dynamic() {
    assert_advised("have the large ones in dynamic shared memory", |device, is_faulty| {
        let (mut y, config) = (device.zeroed(1)?, LaunchConfig::new(1, 1));
        if is_faulty {
            device.launch(config, much_static_memory(y.view_mut()))
        } else {
            device.launch(config.shared_bytes(4 * MANY as u32), much_dynamic_memory(y.view_mut()))
        }
    });
}

/// The blocks add up what those before them have written.
#[kernel]
fn blocks_meet(parts: GlobalMut<u32>, y: GlobalMut<u32>, some_leave: bool) {
    let (block, blocks) = (thread::block_idx_x() as usize, thread::grid_dim_x() as usize);
    if some_leave && block + 1 == blocks {
        return;
    }
    if thread::thread_idx_x() == 0 {
        parts.store(block, 1 + block as u32);
    }
    grid::sync();
    if thread::thread_idx_x() == 0 {
        y.store(block, (0..=block).map(|i| parts.load(i)).sum());
    }
}

#[test]
fn every_thread_comes_to_a_barrier_of_the_grid() {
    assert_advised("Every thread of the grid must reach each such barrier", |device, is_faulty| {
        let (mut parts, mut y) = (device.zeroed(3)?, device.zeroed(3)?);
        let call = blocks_meet(parts.view_mut(), y.view_mut(), is_faulty);
        device.launch(LaunchConfig::new(3, 32).cooperative(), call)?;
        assert_eq!(y.download()?, [1, 3, 6]);
        Ok(())
    });
}
