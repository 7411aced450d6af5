//! Tests the pipelined scan in further cases: every distance between the tiles of a block, rejected launches, and many
//! blocks.

use std::num::NonZeroUsize;

use cuda_std::warp::Shuffle;
use cuda_std::{Element, Global, GlobalMut};
use gpu::operator::{Affine, Compose, Max, Operator, Product, Sum};
use gpu::scan::{
    AGGREGATE, PIPELINED_THREADS, RING_BYTES, TEAM, TICKET, first_word, pipelined_tile_elements as tile_elements,
    scan_pipelined, state_words,
};
use gridstride::scan::ScanKind;
use launch::{Call, Device, Kernel, LaunchConfig};
use simt::{Schedule, Simulator};
use tests::{devices, devices_and_turns, simulated};
use workbench::scan::reference;

fn config(blocks: u32) -> LaunchConfig {
    LaunchConfig::new(blocks, PIPELINED_THREADS).shared_bytes(RING_BYTES)
}

/// Returns the call of the kernel for views that start at a cache line, so that there is no head (elements before the
/// first cache line).
fn without_head<'a, T: Element, O: Operator<T>, const V: usize>(
    x: Global<'a, T>,
    y: GlobalMut<'a, T>,
    exclusive: u32,
    states: GlobalMut<'a, u64>,
) -> Call<'a>
where
    scan_pipelined<T, O, V>: Kernel,
{
    scan_pipelined::<T, O, V>(x.part(0, 0), y.part(0, 0), x, y, exclusive, states)
}

/// Tests the scan of tile `tile` by one block. All `tile` earlier tiles have published their aggregates. The tile is
/// whole if its number is odd.
fn scan_after<T: Shuffle + PartialEq + std::fmt::Debug, O: Operator<T>, const V: usize>(
    device: &Device,
    tile: usize,
    element: impl Fn(u32) -> T,
) where
    scan_pipelined<T, O, V>: Kernel,
{
    let aggregates: Vec<T> = (0..tile).map(|other| element(other as u32)).collect();
    let before = aggregates.iter().fold(O::IDENTITY, |all, &aggregate| O::combine(all, aggregate));
    let mut words = vec![0; state_words::<T>(tile + 1)];
    // `tile` blocks have drawn a ticket before. The team (the blocks that share the tiles) is closed, with this block
    // as its last member.
    (words[TICKET], words[TEAM]) = (tile as u64, 1 << 32 | (tile as u64 + 1));
    let publish = |words: &mut [u64], tile: usize, value: T| {
        for i in 0..T::WORDS {
            words[first_word::<T>(tile) + i] = u64::from(AGGREGATE) << 32 | u64::from(value.to_words()[i]);
        }
    };
    aggregates.iter().enumerate().for_each(|(tile, &aggregate)| publish(&mut words, tile, aggregate));
    let start = tile * tile_elements(V);
    let len = if tile.is_multiple_of(2) { 77 } else { tile_elements(V) as u32 };
    let own: Vec<T> = (0..len).map(|i| element(i % 1000)).collect();
    let mut x = vec![element(1); start];
    x.extend(&own);
    let scanned = reference::scan::<T, O>(ScanKind::Inclusive, &own);
    let expected: Vec<T> = scanned.into_iter().map(|value| O::combine(before, value)).collect();

    let (dx, mut dy, mut states) =
        (device.upload(&x).unwrap(), device.upload(&x).unwrap(), device.upload(&words).unwrap());
    let call = without_head::<T, O, V>(dx.view(), dy.view_mut(), 0, states.view_mut());
    device.launch(config(1), call).unwrap();
    let y = dy.download().unwrap();
    assert!(y[..start] == x[..start], "wrote before tile {tile}");
    let wrong = (0..own.len()).find(|&i| y[start + i] != expected[i]);
    assert_eq!(wrong, None, "from tile {tile} on");
    // The block publishes only the aggregate of the tile. If the tile is partial, it is the last one, so the value of
    // its aggregate does not matter.
    let (found, place) = (states.download().unwrap(), first_word::<T>(tile));
    publish(&mut words, tile, own.iter().fold(O::IDENTITY, |all, &element| O::combine(all, element)));
    if own.len() < tile_elements(V) {
        for (word, found) in words.iter_mut().zip(&found).skip(place).take(T::WORDS) {
            *word = *word >> 32 << 32 | found & u64::from(u32::MAX);
        }
    }
    assert_eq!(found[first_word::<T>(0)..], words[first_word::<T>(0)..]);
}

#[test]
fn a_block_takes_in_any_number_of_tiles_of_others_in_order() {
    let map = |i: u32| Affine { factor: 2 * i + 3, offset: 7 * i + 1 };
    for (device, turns) in devices_and_turns(usize::MAX) {
        for tile in [0, 1, 31, 32, 33, 255, 256, 257, 263].into_iter().filter(|&tile| turns.takes(tile)) {
            scan_after::<Affine, Compose, 2>(&device, tile, map);
        }
    }
    for device in devices() {
        for tile in [0, 1, 256, 511, 512, 513, 800] {
            scan_after::<Affine, Compose, 2>(&device, tile, map);
            scan_after::<i32, Sum, 4>(&device, tile, |i| i as i32 - 500);
            scan_after::<f64, Max, 2>(&device, tile, |i| f64::from(i % 13 * 100 + i));
        }
    }
}

#[test]
fn blocks_that_take_turns_share_the_tiles() {
    take_turns::<Affine, Compose>(|i| Affine { factor: 2 * i + 3, offset: 7 * i + 1 });
    // With this operator, the kernel computes a block's last tile again instead of keeping it.
    take_turns::<i64, Product>(|i| 2 * i64::from(i) + 3);
}

fn take_turns<T: Shuffle + PartialEq, O: Operator<T>>(element: impl Fn(u32) -> T)
where
    scan_pipelined<T, O, 2>: Kernel,
{
    let n = 30 * tile_elements(2) + 1234;
    let x: Vec<T> = (0..n as u32).map(element).collect();
    for seed in 0..4 {
        let simulator = Simulator::new().with_schedule(Schedule::Interleaved(seed)).with_workers(NonZeroUsize::MIN);
        let device = Device::simulated(simulator);
        for (i, kind) in [ScanKind::Inclusive, ScanKind::Exclusive].into_iter().enumerate() {
            let expected = reference::scan::<_, O>(kind, &x);
            // Each number of blocks runs in two of the four orders. Every kind of scan runs in all orders.
            for blocks in [2, 3, 7, 20, 31].into_iter().skip((i + seed as usize) % 2).step_by(2) {
                let (dx, mut dy) = (device.upload(&x).unwrap(), device.alloc(n).unwrap());
                let mut states = device.zeroed(state_words::<T>(31)).unwrap();
                let exclusive = u32::from(kind == ScanKind::Exclusive);
                let call = without_head::<_, O, 2>(dx.view(), dy.view_mut(), exclusive, states.view_mut());
                device.launch(config(blocks), call).unwrap();
                assert!(dy.download().unwrap() == expected, "{kind:?}, {blocks} blocks, seed {seed}");
            }
        }
    }
}

/// Tests grids that have more blocks than tiles, and a grid with one block for all tiles.
#[test]
fn any_grid_gives_the_same() {
    let n = 5 * tile_elements(4) + 3;
    let x: Vec<i32> = (0..n as i32).map(|i| i * 7 % 1000 - 400).collect();
    let expected = reference::scan::<_, Sum>(ScanKind::Inclusive, &x);
    for device in devices() {
        for blocks in [1, 2, 5, 6, 7, 40] {
            let (dx, mut dy) = (device.upload(&x).unwrap(), device.alloc(n).unwrap());
            let mut states = device.zeroed(state_words::<i32>(6)).unwrap();
            let call = without_head::<_, Sum, 4>(dx.view(), dy.view_mut(), 0, states.view_mut());
            device.launch(config(blocks), call).unwrap();
            assert!(dy.download().unwrap() == expected, "{blocks} blocks");
        }
    }
}

/// Tests a block that starts too late to join the team, the blocks that share the tiles. The block must scan no tile,
/// even if there are tiles left.
#[test]
fn a_block_that_comes_late_writes_nothing() {
    let (n, number) = (9 * tile_elements(4) + 3, 5);
    for device in devices() {
        let (x, mut y) = (device.upload(&vec![1; n]).unwrap(), device.zeroed::<i32>(n).unwrap());
        let mut words = vec![0; state_words::<i32>(10)];
        (words[TICKET], words[TEAM]) = (number, 1 << 32 | number);
        let mut states = device.upload(&words).unwrap();
        device.launch(config(1), without_head::<_, Sum, 4>(x.view(), y.view_mut(), 0, states.view_mut())).unwrap();
        assert!(y.download().unwrap().iter().all(|&y| y == 0));
        let found = states.download().unwrap();
        assert_eq!(found[first_word::<i32>(0)..], words[first_word::<i32>(0)..]);
    }
}

/// Tests launches that start with the state words of the previous launch, but have other grids and other numbers of
/// elements before the first cache line. The number of the launch wraps after 2³².
#[test]
fn launches_follow_one_another_on_the_same_states() {
    let n = 5 * tile_elements(4) + 3;
    for device in devices() {
        let mut words = vec![0; state_words::<i32>(6)];
        words[TICKET] = u64::from(u32::MAX - 1) << 32;
        let mut states = device.upload(&words).unwrap();
        for (launch, (blocks, head)) in [(3, 0), (7, 4), (1, 0), (2, 3), (6, 0)].into_iter().enumerate() {
            let x: Vec<i32> = (0..n as i32).map(|i| i * (7 + launch as i32) % 1000 - 400).collect();
            let expected = reference::scan::<_, Sum>(ScanKind::Inclusive, &x);
            let (x, mut y) = (device.upload(&x).unwrap(), device.alloc(n).unwrap());
            let (from, to) = (x.view(), y.view_mut());
            let (from, to) =
                ([from.part(0, head), from.part(head, n - head)], [to.part(0, head), to.part(head, n - head)]);
            let call = scan_pipelined::<_, Sum, 4>(from[0], to[0], from[1], to[1], 0, states.view_mut());
            device.launch(config(blocks), call).unwrap();
            assert!(y.download().unwrap() == expected, "launch {launch}");
        }
        assert_eq!(states.download().unwrap()[TICKET], 3 << 32);
    }
}

#[test]
fn views_need_not_start_at_a_multiple_of_16_bytes() {
    let n = 3 * tile_elements(4) + 100;
    let x: Vec<i32> = (0..=n as i32).map(|i| i * 7 % 1000 - 400).collect();
    let expected = reference::scan::<_, Sum>(ScanKind::Inclusive, &x[1..]);
    for device in devices() {
        for (from, to) in [(1, 0), (1, 1), (1, 3)] {
            let (dx, mut dy) = (device.upload(&x).unwrap(), device.zeroed::<i32>(n + to).unwrap());
            let mut states = device.zeroed(state_words::<i32>(4)).unwrap();
            let (source, target) = (dx.view().part(from, n), dy.view_mut().part(to, n));
            let call = without_head::<_, Sum, 4>(source, target, 0, states.view_mut());
            device.launch(config(3), call).unwrap();
            let y = dy.download().unwrap();
            assert!(y[..to].iter().all(|&y| y == 0) && y[to..] == expected, "from {from} to {to}");
        }
    }
}

/// Tests that the kernel rejects views, blocks and sizes of shared memory that do not fit. The kernel's accesses are
/// unchecked, and a block of another size would leave out elements.
#[test]
fn it_refuses_views_blocks_and_shared_memory_that_it_is_not_for() {
    let device = simulated(0);
    let x = device.upload(&[1_i32; 40]).unwrap();
    let cases = [(39, 288, RING_BYTES), (41, 288, RING_BYTES), (40, 256, RING_BYTES), (40, 288, RING_BYTES - 16)];
    for (len, block, bytes) in cases {
        let (mut y, mut states) = (device.alloc(len).unwrap(), device.zeroed(state_words::<i32>(1)).unwrap());
        let call = without_head::<_, Sum, 4>(x.view(), y.view_mut(), 0, states.view_mut());
        let message = device.launch(LaunchConfig::new(1, block).shared_bytes(bytes), call).unwrap_err().to_string();
        let file = if bytes == RING_BYTES { "pipelined/mod.rs:" } else { "ring.rs:" };
        assert!(message.contains(file), "{len}, {block}, {bytes}: {message}");
    }
}
