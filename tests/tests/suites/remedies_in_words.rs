//! Tests advice in reports that is plain text instead of a [`simt::Remedy`]. A kernel that follows the advice must have
//! no fault and the correct result.

use cuda_std::{Global, GlobalMut, device, dynamic_shared, grid, kernel, shared_array, thread};
use launch::{Device, Error, LaunchConfig};
use tests::reports::devices_and_orders;

use super::remedies::{assert_right, filled};

/// Asserts that in every order the report of the faulty launch contains `advice`, and that the other launch returns
/// `right`. The second argument of `launch` selects the launch: true for the faulty one.
#[track_caller]
fn assert_advised(advice: &str, right: &[u32], launch: impl Fn(&Device, bool) -> Result<Vec<u32>, Error>) {
    for (device, order) in devices_and_orders() {
        match launch(&device, true) {
            Err(Error::Fault(fault)) => assert!(fault.to_string().contains(advice), "{order}: {fault}"),
            other => panic!("{order}: {other:?}"),
        }
        assert_right(right, &launch(&device, false), &order);
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
    assert_advised(".shared_bytes(bytes)", &[1], |device, is_faulty| {
        let config = LaunchConfig::new(1, 1).shared_bytes(if is_faulty { 0 } else { 4 });
        filled!(device, config, 1, |y| dynamic_memory(y))
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
    assert_advised("put the large ones in dynamic shared memory", &[1], |device, is_faulty| {
        let config = LaunchConfig::new(1, 1);
        if is_faulty {
            filled!(device, config, 1, |y| much_static_memory(y))
        } else {
            filled!(device, config.shared_bytes(4 * MANY as u32), 1, |y| much_dynamic_memory(y))
        }
    });
}

/// A kernel in which each block adds up values that earlier blocks have written.
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
    assert_advised("Every thread of the grid must reach each such barrier", &[1, 3, 6], |device, is_faulty| {
        let (mut parts, config) = (device.zeroed(3)?, LaunchConfig::new(3, 32).cooperative());
        filled!(device, config, 3, |y| blocks_meet(parts.view_mut(), y, is_faulty))
    });
}

/// A kernel that copies four elements from index `first` on. It copies them in one access if `is_wide` is true, and one
/// by one otherwise.
#[kernel]
fn four_from(x: Global<u32>, y: GlobalMut<u32>, first: usize, is_wide: bool) {
    if is_wide {
        y.store_vec(0, x.part(first, 4).load_vec::<4>(0));
    } else {
        (0..4).for_each(|i| y.store(i, x.load(first + i)));
    }
}

#[test]
fn a_narrower_access_or_aligned_data() {
    let advice = "use a narrower access or align the data";
    let launch = |device: &Device, first, is_wide| {
        let x = device.upload(&(0..12).collect::<Vec<u32>>())?;
        filled!(device, LaunchConfig::new(1, 1), 4, |y| four_from(x.view(), y, first, is_wide))
    };
    assert_advised(advice, &[3, 4, 5, 6], |device, is_faulty| launch(device, 3, is_faulty));
    assert_advised(advice, &[4, 5, 6, 7], |device, is_faulty| launch(device, if is_faulty { 3 } else { 4 }, true));
}

#[inline(never)]
#[device]
fn from_the_stack(value: u32, i: usize) -> u32 {
    std::hint::black_box([value; 100_000])[i]
}

/// A kernel with a large table. The table is on each thread's stack, or in global memory.
#[kernel]
fn a_large_table(table: GlobalMut<u32>, y: GlobalMut<u32>, is_on_stack: bool) {
    let i = thread::index_1d();
    let len = table.len() / y.len();
    if is_on_stack {
        y.store(i, from_the_stack(1 + i as u32, i));
    } else {
        table.store(len * i, 1 + i as u32);
        y.store(i, table.load(len * i));
    }
}

#[test]
fn large_arrays_are_not_on_the_stack() {
    assert_advised("keep large arrays in shared or global memory", &[1, 2, 3, 4], |device, is_faulty| {
        let mut table = device.zeroed(4 * 1000)?;
        filled!(device, LaunchConfig::new(1, 4), 4, |y| a_large_table(table.view_mut(), y, is_faulty))
    });
}

/// Adds 1 to each element through a pointer that is declared read-only.
#[kernel]
unsafe fn increment_read_only(x: *const u32) {
    // SAFETY: the launch has one thread per element, so the index is in bounds.
    unsafe { *x.cast_mut().add(thread::index_1d()) += 1 };
}

/// Adds 1 to each element through a pointer that is declared writable.
#[kernel]
unsafe fn increment_writable(x: *mut u32) {
    // SAFETY: the launch has one thread per element, so the index is in bounds.
    unsafe { *x.add(thread::index_1d()) += 1 };
}

#[test]
fn a_pointer_that_may_be_written() {
    assert_advised("pass it as `*mut T`", &[8; 4], |device, is_faulty| {
        let (mut x, config) = (device.upload(&[7; 4])?, LaunchConfig::new(1, 4));
        // SAFETY: the buffer has one element per thread.
        unsafe {
            if is_faulty {
                device.launch(config, increment_read_only(x.view()))?;
            } else {
                device.launch(config, increment_writable(x.view_mut()))?;
            }
        }
        x.download()
    });
}
