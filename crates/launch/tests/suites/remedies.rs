//! Tests that the remedies of reports make kernels correct that were found in the wild: each kernel is reported with
//! its remedy, and has no fault and the right result once the remedy is applied.

use cuda_std::barrier::Barrier;
use cuda_std::{AsyncCopies, Global, GlobalMut, dynamic_shared, fence, grid, kernel, shared_array, thread, warp};
use launch::{Device, Error, LaunchConfig, Remedy};

use crate::cured::{assert_cured, line_of};

/// Launches a call with a view of `$len` zeros and returns the first `$shown` elements of the view.
macro_rules! filled {
    ($device:ident, $config:expr, $len:expr, $shown:expr, |$view:ident| $call:expr) => {{
        let mut y = $device.zeroed($len)?;
        let $view = y.view_mut();
        $device.launch($config, $call)?;
        y.download().map(|mut found: Vec<u32>| {
            found.truncate($shown);
            found
        })
    }};
}

#[track_caller]
fn assert_remedied(remedy: Remedy, right: &[u32], launch: impl Fn(&Device, bool) -> Result<Vec<u32>, Error>) {
    let fault = assert_cured(&remedy.to_string(), right, launch);
    assert_eq!(fault.remedy(), Some(remedy), "{fault}");
}

/// Finds the largest thread number. A thread updates the result only if its number is larger than the present one.
#[kernel]
fn largest(best: GlobalMut<u32>, is_faulty: bool) {
    let value = thread::index_1d() as u32;
    let seen = if is_faulty { best.load(0) } else { best.load_relaxed(0) };
    if seen < value {
        best.atomic_max(0, value);
    }
}

/// Multiplies a number by 3 in each thread, by the loop of the CUDA guide for updates that have no instruction.
#[kernel]
fn tripled(y: GlobalMut<u32>, is_faulty: bool) {
    let mut old = if is_faulty { y.load(0) } else { y.load_relaxed(0) };
    loop {
        let assumed = old;
        old = y.atomic_compare_exchange(0, assumed, assumed.wrapping_mul(3).wrapping_add(1));
        if old == assumed {
            break;
        }
    }
}

#[test]
fn a_plain_load_before_an_atomic_update() {
    for config in [LaunchConfig::new(1, 32), LaunchConfig::new(1, 64), LaunchConfig::new(4, 8)] {
        let threads = config.grid.x * config.block.x;
        assert_remedied(Remedy::AtomicLoad, &[threads - 1], |device, is_faulty| {
            filled!(device, config, 1, 1, |y| largest(y, is_faulty))
        });
        let value = (0..threads).fold(0_u32, |value, _| value.wrapping_mul(3).wrapping_add(1));
        assert_remedied(Remedy::AtomicLoad, &[value], |device, is_faulty| {
            filled!(device, config, 1, 1, |y| tripled(y, is_faulty))
        });
    }
}

/// Counts the blocks under a lock. `y` has the count and the lock, which a plain store releases if `is_faulty` is true.
#[kernel]
fn unlocked(y: GlobalMut<u32>, is_faulty: bool) {
    if thread::thread_idx_x() == 0 {
        while y.atomic_compare_exchange(1, 0, 1) != 0 {}
        fence();
        y.store(0, y.load(0) + 1);
        fence();
        if is_faulty {
            y.store(1, 0);
        } else {
            y.store_release(1, 0);
        }
    }
}

#[test]
fn a_plain_store_that_releases_a_lock() {
    assert_remedied(Remedy::AtomicStore, &[4, 0], |device, is_faulty| {
        filled!(device, LaunchConfig::new(4, 1), 2, 2, |y| unlocked(y, is_faulty))
    });
}

/// Counts all blocks by an atomic update, and then once more. That the first count says who came before does not order
/// the second.
#[kernel]
fn counted_twice(y: GlobalMut<u32>, is_faulty: bool) {
    y.atomic_add(1, 1);
    if is_faulty {
        y.store(0, y.load(0) + 1);
    } else {
        y.atomic_add(0, 1);
    }
}

#[test]
fn an_update_beside_an_atomic_count() {
    assert_remedied(Remedy::AtomicUpdate, &[4, 4], |device, is_faulty| {
        filled!(device, LaunchConfig::new(4, 1), 2, 2, |y| counted_twice(y, is_faulty))
    });
}

/// Stores to an image of 8 columns, in blocks of 16 × 2 threads.
#[kernel]
fn image(width: usize, y: GlobalMut<u32>, is_faulty: bool) {
    let thread::Index2d { x: column, y: row } = thread::index_2d();
    if (column < width || is_faulty) && row * width + column < y.len() {
        y.store(row * width + column, (10 * row + column) as u32);
    }
}

#[test]
fn a_column_past_the_end_of_its_row() {
    let right: Vec<u32> = (0..4).flat_map(|row| (0..8).map(move |column| 10 * row + column)).collect();
    assert_cured("with rows of 8 elements, column ", &right, |device, is_faulty| {
        filled!(device, LaunchConfig::new((1, 2), (16, 2)), 32, 32, |y| image(8, y, is_faulty))
    });
}

/// Sends a value from block 0 to block 1. `y` has the value, the flag and the result.
#[kernel]
fn flag_first(y: GlobalMut<u32>, is_faulty: bool) {
    if thread::block_idx_x() == 0 {
        if is_faulty {
            y.store_relaxed(1, 1);
            y.store(0, 42);
        } else {
            y.store(0, 42);
            y.store_release(1, 1);
        }
    } else {
        if is_faulty {
            while y.load_relaxed(1) == 0 {}
        } else {
            while y.load_acquire(1) == 0 {}
        }
        y.store(2, y.load(0));
    }
}

#[test]
fn a_flag_that_is_set_before_the_value() {
    let launch =
        |device: &Device, is_faulty| filled!(device, LaunchConfig::new(2, 1), 3, 3, |y| flag_first(y, is_faulty));
    let remedies: Vec<Option<Remedy>> = launch::checked_devices()
        .map(|device| match launch(&device, true) {
            Err(Error::Fault(fault)) => fault.remedy(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(remedies[0], Some(Remedy::FlagAfterAccess), "{remedies:?}");
    let wrong = [Remedy::Release, Remedy::Acquire, Remedy::ReleaseAndAcquire];
    assert!(!remedies.iter().flatten().any(|remedy| wrong.contains(remedy)), "{remedies:?}");
    crate::cured::assert_sound(&[42, 1, 42], |device| launch(device, false));
}

/// Sums all elements in each thread, tile by tile.
#[kernel]
fn tiles(x: Global<u32>, y: GlobalMut<u32>, is_faulty: bool) {
    let (tile, i) = (shared_array![u32; 64], thread::thread_idx_x() as usize);
    let mut sum = 0;
    for round in 0..3 {
        tile.store(i, x.load(64 * round + i));
        thread::sync_threads();
        for other in 0..64 {
            sum += tile.load(other);
        }
        if !is_faulty {
            thread::sync_threads();
        }
    }
    y.store(i, sum);
}

#[test]
fn a_tile_that_is_loaded_again() {
    let numbers: Vec<u32> = (0..192).collect();
    assert_remedied(Remedy::BarrierAfterLoads, &[numbers.iter().sum(); 64], |device, is_faulty| {
        let x = device.upload(&numbers)?;
        filled!(device, LaunchConfig::new(1, 64), 64, 64, |y| tiles(x.view(), y, is_faulty))
    });
}

/// Replaces each parent by its parent, in place or from a copy of the parents.
#[kernel]
fn shortened(parents: GlobalMut<u32>, is_faulty: bool) {
    let (n, i) = (64, thread::index_1d());
    let grandparent = parents.load(parents.load(i) as usize);
    parents.store(if is_faulty { i } else { n + i }, grandparent);
}

#[test]
fn an_update_in_place_of_what_others_load() {
    let words = Remedy::AnotherArray.to_string();
    let right: Vec<u32> = (0..64_u32).map(|i| i.saturating_sub(2)).collect();
    assert_cured(&words, &right, |device, is_faulty| {
        let parents: Vec<u32> = (0..64_u32).map(|i| i.saturating_sub(1)).chain([0; 64]).collect();
        let mut y = device.upload(&parents)?;
        device.launch(LaunchConfig::new(2, 32), shortened(y.view_mut(), is_faulty))?;
        y.download().map(|found| found[64..].to_vec())
    });
}

/// Reads a tile while the next one is copied to the same buffer, or to another one.
#[kernel]
fn copied_too_early(x: Global<u32>, y: GlobalMut<u32>, is_faulty: bool) {
    let (tiles, i) = (shared_array![[u32; 4]; 128], thread::thread_idx_x() as usize);
    let mut copies = AsyncCopies::new();
    tiles.store(i, [i as u32; 4]);
    thread::sync_threads();
    let next = if is_faulty { 0 } else { 64 };
    copies.copy(x, i, tiles, next + i);
    copies.commit();
    thread::sync_threads();
    y.store(i, tiles.load(63 - i)[0]);
    copies.wait::<0>();
    thread::sync_threads();
    y.store(64 + i, tiles.load(next + 63 - i)[0]);
}

#[test]
fn a_copy_into_a_buffer_that_is_still_read() {
    let numbers: Vec<u32> = (1000..1256).collect();
    let right: Vec<u32> = (0..64).rev().chain((0..64).rev().map(|i| 1000 + 4 * i)).collect();
    assert_cured(
        "if the access needs the value before the copy, copy to another buffer",
        &right,
        |device, is_faulty| {
            let x = device.upload(&numbers)?;
            filled!(device, LaunchConfig::new(1, 64), 128, 128, |y| copied_too_early(x.view(), y, is_faulty))
        },
    );
}

#[cuda_std::device]
fn put(words: cuda_std::Shared<u32>, i: usize, value: u32) {
    words.store(i, value);
}

/// Stores to two parts of shared memory in one line. The second part begins within the first one if `is_faulty` is
/// true.
#[kernel]
fn overlapping(y: GlobalMut<u32>, is_faulty: bool) {
    let i = thread::thread_idx_x() as usize;
    let all = dynamic_shared::<u32>();
    let keys = all.part(0, 32);
    let values = all.part(if is_faulty { 16 } else { 32 }, 32);
    put(keys, i, 1);
    put(values, i, 2);
    thread::sync_threads();
    y.store(i, keys.load(i) + values.load(i));
}

#[test]
fn parts_that_overlap_and_are_written_in_one_line() {
    assert_remedied(Remedy::PartsApart, &[3; 32], |device, is_faulty| {
        filled!(device, LaunchConfig::new(1, 32).shared_bytes(256), 32, 32, |y| overlapping(y, is_faulty))
    });
}

/// Passes two tiles from warp 0 to warp 1. One lane of each warp arrives at a barrier for its warp: at `full` when the
/// tile is stored, and at `empty` when it is read.
#[kernel]
fn elected(y: GlobalMut<u32>, lacks_full: bool, lacks_empty: bool) {
    let (tile, words) = (shared_array![u32; 32], shared_array![u64; 2]);
    let (full, empty) = (Barrier::at(words, 0), Barrier::at(words, 1));
    let (lane, i) = (warp::lane_id() as usize, thread::thread_idx_x());
    if i == 0 {
        full.init(1);
        empty.init(1);
    }
    thread::sync_threads();
    for round in 0..2 {
        if i < 32 {
            if round > 0 {
                empty.wait_parity(false);
            }
            tile.store(lane, 100 * round + lane as u32);
            if !lacks_full {
                warp::sync_warp(warp::FULL_MASK);
            }
            if lane == 0 {
                let _ = full.arrive();
            }
        } else {
            full.wait_parity(round == 1);
            y.store(32 * round as usize + lane, tile.load(31 - lane));
            if !lacks_empty {
                warp::sync_warp(warp::FULL_MASK);
            }
            if lane == 0 {
                let _ = empty.arrive();
            }
        }
    }
}

#[test]
fn an_elected_arrival_without_a_warp_synchronisation() {
    let right: Vec<u32> = (0..32).rev().chain((0..32).rev().map(|lane| 100 + lane)).collect();
    for (lacks_full, lacks_empty) in [(true, false), (false, true)] {
        let launch = |device: &Device, is_faulty| {
            let config = LaunchConfig::new(1, 64);
            filled!(device, config, 64, 64, |y| elected(y, lacks_full && is_faulty, lacks_empty && is_faulty))
        };
        let faults: Vec<_> = launch::checked_devices()
            .map(|device| match launch(&device, true) {
                Err(Error::Fault(fault)) => fault,
                other => panic!("{other:?}"),
            })
            .collect();
        let texts: Vec<String> = faults.iter().map(|fault| fault.to_string()).collect();
        let has = |remedy| faults.iter().filter(|fault| fault.remedy() == Some(remedy)).count();
        assert_eq!(has(Remedy::WarpBeforeArrival), 8, "{texts:#?}");
        crate::cured::assert_sound(&right, |device| launch(device, false));
    }
}

/// Waits for the previous launches before or after an access.
#[kernel]
fn waits_late(y: GlobalMut<u32>, is_faulty: bool) {
    let i = thread::index_1d();
    if !is_faulty {
        grid::wait_for_dependencies();
    }
    let before = y.load(i); // the early access
    if is_faulty {
        grid::wait_for_dependencies();
    }
    y.store(i, before + 1);
}

#[test]
fn an_access_before_the_wait_for_earlier_launches() {
    let line = line_of(include_str!("remedies.rs"), "// the early access");
    let fault = assert_cured("before `grid::wait_for_dependencies()`", &[1; 64], |device, is_faulty| {
        filled!(device, LaunchConfig::new(2, 32), 64, 64, |y| waits_late(y, is_faulty))
    });
    assert_eq!(fault.location.as_ref().unwrap().line, line, "{fault}");
}
