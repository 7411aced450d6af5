//! Tests remedies for asynchronous copies to shared memory, and for overlapping parts of dynamic shared memory.

use cuda_std::{AsyncCopies, Global, GlobalMut, dynamic_shared, kernel, shared_array, thread};
use launch::{Device, Error, LaunchConfig};
use simt::{FaultKind, Remedy, SharedPart};
use tests::reports::devices_and_orders;

use super::remedies::{assert_cured, filled};

/// Returns the contents of the source of the copies, which are 128 vectors.
fn numbers() -> Vec<u32> {
    (1000..1512).collect()
}

/// Launches a call with a view of `numbers()` and a view of `$len` zeros. Returns the downloaded contents of the second
/// view.
macro_rules! copied {
    ($device:ident, $len:expr, |$x:ident, $y:ident| $call:expr) => {{
        let x = $device.upload(&numbers())?;
        let $x = x.view();
        filled!($device, LaunchConfig::new(1, 64), $len, |$y| $call)
    }};
}

/// Returns the elements of the vectors of `numbers()` with the given indices.
fn vectors(first: impl Iterator<Item = usize>) -> Vec<u32> {
    first.flat_map(|vector| numbers()[4 * vector..][..4].to_vec()).collect()
}

/// A kernel that copies a tile asynchronously. Without the commit, the wait covers no copy, and the kernel is faulty.
#[kernel]
fn a_copy_of_a_group(x: Global<u32>, y: GlobalMut<u32>, is_committed: bool) {
    let (tile, i) = (shared_array![[u32; 4]; 64], thread::thread_idx_x() as usize);
    let mut copies = AsyncCopies::new();
    copies.copy(x, i, tile, i);
    if is_committed {
        copies.commit();
    }
    copies.wait::<0>();
    y.store_vec(i, tile.load(i));
}

#[test]
fn a_commit_of_the_copy() {
    assert_cured(Remedy::WaitForCopy, &numbers()[..256], |device, is_faulty| {
        copied!(device, 256, |x, y| a_copy_of_a_group(x, y, !is_faulty))
    });
    assert!(Remedy::WaitForCopy.to_string().contains("commit"));
}

/// A kernel that copies vectors of `x` to a tile asynchronously. If `is_zeroed` is true, it zeroes the tile first. Then
/// each thread stores a vector of the tile in `y`. This vector is at `distance` from the thread's own vector.
#[kernel]
fn a_copy(x: Global<u32>, y: GlobalMut<u32>, distance: usize, is_zeroed: bool, waits: bool, has_barrier: bool) {
    let (tile, i) = (shared_array![[u32; 4]; 64], thread::thread_idx_x() as usize);
    let mut copies = AsyncCopies::new();
    if is_zeroed {
        tile.store(i, [0; 4]);
        thread::sync_threads();
    }
    copies.copy(x, i, tile, i);
    copies.commit();
    if waits {
        copies.wait::<0>();
    }
    if has_barrier {
        thread::sync_threads();
    }
    y.store_vec(i, tile.load((i + distance) % 64));
    copies.wait::<0>();
}

#[test]
fn a_wait_for_the_copy() {
    let own = vectors(0..64);
    let others = vectors((32..64).chain(0..32));
    let launch = |device: &Device, distance, is_zeroed, waits, has_barrier| {
        copied!(device, 256, |x, y| a_copy(x, y, distance, is_zeroed, waits, has_barrier))
    };
    for (is_zeroed, for_own, for_others) in [
        (false, Remedy::WaitForCopy, Remedy::WaitForCopyAndBarrier),
        (true, Remedy::EitherSideOfCopy, Remedy::EitherSideOfCopyByBarrier),
    ] {
        let cured = |device: &Device, distance| launch(device, distance, is_zeroed, true, true);
        assert_cured(for_own, &own, |device, is_faulty| launch(device, 0, is_zeroed, !is_faulty, false));
        // The first variant has neither the wait nor the barrier. The second variant lacks only the barrier.
        for waits in [false, true] {
            assert_cured(for_others, &others, |device, is_faulty| match is_faulty {
                true => launch(device, 32, is_zeroed, waits, false),
                false => cured(device, 32),
            });
        }
        // In these kernels the copies start before the barrier.
        assert_cured(Remedy::WaitForCopyAndBarrier, &others, |device, is_faulty| {
            launch(device, 32, is_zeroed, !is_faulty, true)
        });
    }
}

/// A kernel whose threads store a value, start a copy to the same element, and read the value before or after they
/// start the copy.
#[kernel]
fn a_read_of_its_own(x: Global<u32>, y: GlobalMut<u32>, is_early: bool) {
    let (tile, i) = (shared_array![[u32; 4]; 64], thread::thread_idx_x() as usize);
    let mut copies = AsyncCopies::new();
    tile.store(i, [7; 4]);
    let mut found = [0; 4];
    if is_early {
        found = tile.load(i);
    }
    copies.copy(x, i, tile, i);
    copies.commit();
    if !is_early {
        found = tile.load(i);
    }
    copies.wait::<0>();
    y.store_vec(i, found);
}

#[test]
fn a_read_before_the_copy() {
    assert_cured(Remedy::EitherSideOfCopy, &[7; 256], |device, is_faulty| {
        copied!(device, 256, |x, y| a_read_of_its_own(x, y, !is_faulty))
    });
}

/// A kernel that reverses two tiles, one after the other. Each thread reads a vector that another thread has stored.
/// Then it starts a copy of a vector of the second tile to the same array.
#[kernel]
fn a_tile_filled_again(x: Global<u32>, y: GlobalMut<u32>, has_barrier: bool, waits: bool, is_of_a_warp: bool) {
    let (tile, i) = (shared_array![[u32; 4]; 64], thread::thread_idx_x() as usize);
    let mut copies = AsyncCopies::new();
    tile.store(i, [i as u32; 4]);
    thread::sync_threads();
    for round in 0..2 {
        y.store_vec(64 * round + i, tile.load(63 - i));
        if has_barrier {
            thread::sync_threads();
        }
        if round == 0 {
            if !is_of_a_warp {
                copies.copy(x, i, tile, i);
            } else if i < 32 {
                copies.copy(x, i, tile, i);
                copies.copy(x, i + 32, tile, i + 32);
            }
            copies.commit();
        }
        if waits {
            copies.wait::<0>();
            thread::sync_threads();
        }
    }
    copies.wait::<0>();
}

#[test]
fn a_barrier_before_the_copy() {
    let first = (0..64).rev().flat_map(|vector| [vector; 4]);
    let right: Vec<u32> = first.chain(vectors((0..64).rev())).collect();
    for is_of_a_warp in [false, true] {
        // The first variant has no wait and no barrier between the rounds. In the second variant, a wait and a barrier
        // come only after the copy, which leaves the first round wrong on GPUs.
        for waits in [false, true] {
            assert_cured(Remedy::EitherSideOfCopyByBarrier, &right, |device, is_faulty| {
                copied!(device, 512, |x, y| a_tile_filled_again(x, y, !is_faulty, waits || !is_faulty, is_of_a_warp))
            });
        }
    }
}

/// A kernel that copies to a tile asynchronously. After a barrier, threads store to the destination of a copy in
/// flight, or start another copy to that destination.
#[kernel]
fn a_tile_overwritten(x: Global<u32>, y: GlobalMut<u32>, distance: usize, by_copy: bool, waits: bool) {
    let (tile, i) = (shared_array![[u32; 4]; 64], thread::thread_idx_x() as usize);
    let mut copies = AsyncCopies::new();
    copies.copy(x, i, tile, i);
    copies.commit();
    if waits {
        copies.wait::<0>();
    }
    thread::sync_threads();
    if by_copy {
        copies.copy(x, 64 + i, tile, (i + distance) % 64);
    } else {
        tile.store((i + distance) % 64, [7; 4]);
    }
    copies.commit();
    copies.wait::<0>();
    thread::sync_threads();
    y.store_vec(i, tile.load((i + distance) % 64));
}

#[test]
fn a_wait_before_the_copys_place_is_written_again() {
    for (by_copy, right) in [(false, vec![7; 256]), (true, vectors(64..128))] {
        for (distance, remedy) in [(0, Remedy::WaitForCopy), (32, Remedy::WaitForCopyAndBarrier)] {
            assert_cured(remedy, &right, |device, is_faulty| {
                copied!(device, 256, |x, y| a_tile_overwritten(x, y, distance, by_copy, !is_faulty))
            });
        }
    }
}

/// A kernel in which either all threads or only the first thread copy to the same element.
#[kernel]
fn a_copy_by_all(x: Global<u32>, y: GlobalMut<u32>, is_by_all: bool) {
    let (vector, i) = (shared_array![[u32; 4]; 1], thread::thread_idx_x() as usize);
    let mut copies = AsyncCopies::new();
    if is_by_all || i == 0 {
        copies.copy(x, 3, vector, 0);
    }
    copies.commit();
    copies.wait::<0>();
    thread::sync_threads();
    y.store_vec(i, vector.load(0));
}

#[test]
fn one_thread_copies() {
    assert_cured(Remedy::OneCopy, &vectors([3; 64].into_iter()), |device, is_faulty| {
        copied!(device, 256, |x, y| a_copy_by_all(x, y, is_faulty))
    });
}

/// A kernel with two parts of dynamic shared memory. `offset` is the start of the second part.
#[kernel]
fn two_parts(y: GlobalMut<u32>, offset: usize) {
    let i = thread::thread_idx_x() as usize;
    let keys = dynamic_shared::<u32>().part(0, 64);
    let weights = dynamic_shared::<u16>().part(offset, 64);
    keys.store(i, 1000);
    weights.store(i, 1);
    thread::sync_threads();
    y.store(i, keys.load(i) + u32::from(weights.load(i)));
}

#[test]
fn another_offset_of_a_part() {
    let launch = |device: &Device, is_faulty| {
        let config = LaunchConfig::new(1, 64).shared_bytes(512);
        filled!(device, config, 64, |y| two_parts(y, if is_faulty { 96 } else { 128 }))
    };
    assert_cured(Remedy::PartsApart, &[1001; 64], launch);
    for (device, order) in devices_and_orders() {
        let Err(Error::Fault(fault)) = launch(&device, true) else { panic!("{order}") };
        let text = fault.to_string();
        for part in ["`keys` of type `u32` (bytes 0..256)", "`weights` of type `u16` (bytes 192..320)"] {
            assert!(text.contains(part), "{order}: {text}");
        }
        let FaultKind::Race(race) = fault.kind else { panic!("{order}: {text}") };
        let [keys, weights] = *race.overlap.unwrap();
        assert_eq!(keys, SharedPart { name: "keys", element_type: Some("u32"), start: 0, end: 256 });
        assert_eq!((weights.start, weights.end), (192, 320));
    }
}

/// A kernel that uses two parts of dynamic shared memory, one after the other. The two parts overlap.
#[kernel]
fn parts_by_turns(y: GlobalMut<u32>, has_barrier: bool) {
    let i = thread::thread_idx_x() as usize;
    let all = dynamic_shared::<u32>();
    let (first, second) = (all.part(0, 64), all.part(0, 64));
    first.store(i, i as u32);
    thread::sync_threads();
    let found = first.load(63 - i);
    if has_barrier {
        thread::sync_threads();
    }
    second.store(i, 1000 * i as u32);
    thread::sync_threads();
    y.store(i, found + second.load(63 - i));
}

#[test]
fn a_barrier_between_parts_that_share_bytes() {
    let right: Vec<u32> = (0..64).rev().map(|i| 1001 * i).collect();
    assert_cured(Remedy::PartsApart, &right, |device, is_faulty| {
        filled!(device, LaunchConfig::new(1, 64).shared_bytes(256), 64, |y| parts_by_turns(y, !is_faulty))
    });
}

/// A kernel whose threads process overlapping windows of one array. Each thread reads an element of its window that
/// another thread stores.
#[kernel]
fn windows(y: GlobalMut<u32>, has_barrier: bool) {
    let i = thread::thread_idx_x() as usize;
    let all = dynamic_shared::<u32>();
    let window = all.part(i, 4);
    window.store(0, 1);
    if has_barrier {
        thread::sync_threads();
    }
    if i < 29 {
        y.store(i, window.load(3));
    }
}

#[test]
fn windows_of_one_array_are_no_parts_that_overlap() {
    let right: Vec<u32> = [1; 29].into_iter().chain([0; 3]).collect();
    assert_cured(Remedy::WarpSynchronisation, &right, |device, is_faulty| {
        filled!(device, LaunchConfig::new(1, 32).shared_bytes(4 * 35), 32, |y| windows(y, !is_faulty))
    });
}
