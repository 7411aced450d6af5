//! Tests the pipelined selection in further cases: whole tiles by every predicate, grids of every size, a block that
//! comes late, successive launches, and rejected launches.

use std::fmt::Debug;
use std::num::NonZeroUsize;

use cuda_std::{Element, Global, GlobalMut};
use gpu::scan::{TEAM, TICKET, first_word, state_words};
use gpu::select::tuning::{PIPELINED_THREADS, RING_BYTES, pipelined_tile_elements as tile_elements};
use gpu::select::{ByFlag, Format, InRange, Predicate, RunStart, select_pipelined};
use launch::{Buffer, Device, Kernel, LaunchConfig};
use simt::{Schedule, Simulator};
use tests::{devices, simulated};
use workbench::select::reference::{begins_run, partition};

fn config(blocks: u32) -> LaunchConfig {
    LaunchConfig::new(blocks, PIPELINED_THREADS).shared_bytes(RING_BYTES)
}

/// Returns zeros for the states of a selection from `n` elements.
fn states(device: &Device, n: usize, vector: usize) -> Buffer<u64> {
    device.zeroed(state_words::<u32>(n.div_ceil(tile_elements(vector)).max(1))).unwrap()
}

/// The predicate of `u32` below 2³¹.
fn low_half() -> InRange {
    InRange::new(Format::unsigned(32), None, Some(u64::from(u32::MAX >> 1)), [false; 2])
}

/// Checks the partition of `x` by `blocks` blocks, in views that begin at a multiple of 16 bytes.
fn check<T: Element + PartialEq + Debug, P: Predicate<T>, const V: usize>(
    device: &Device,
    blocks: u32,
    (x, flags): (&[T], &[u8]),
    predicate: P,
    selects: impl Fn(usize) -> bool,
) where
    select_pipelined<T, P, V>: Kernel,
{
    let n = x.len();
    let (dx, dflags) = (device.upload(x).unwrap(), device.upload(flags).unwrap());
    let [mut y, mut rejected, mut only] = [0; 3].map(|_| device.zeroed::<T>(n).unwrap());
    let (selected, others) = partition(x, selects);
    let run = |y: &mut Buffer<T>, rejected: GlobalMut<'_, T>| {
        let (mut count, mut states) = (device.upload(&[u64::MAX]).unwrap(), states(device, n, V));
        let (view, count_view) = (dflags.view(), count.view_mut());
        let call = select_pipelined::<T, P, V>(
            dx.view(),
            view,
            predicate,
            y.view_mut(),
            rejected,
            count_view,
            states.view_mut(),
        );
        device.launch(config(blocks), call).unwrap();
        let what = format!("{n} {}, {blocks} blocks, {}", std::any::type_name::<T>(), device.name());
        assert_eq!(count.download().unwrap(), [selected.len() as u64], "{what}");
        assert!(y.download().unwrap()[..selected.len()] == selected, "{what}");
        what
    };
    let what = run(&mut y, rejected.view_mut());
    assert!(rejected.download().unwrap()[..others.len()] == others, "{what}");
    // Without the rejected elements, the kernel gathers in another way.
    run(&mut only, rejected.view_mut().part(0, 0));
}

/// Returns `n` elements of which neighbours are often equal, from `from`.
fn elements<T>(n: usize, from: impl Fn(u32) -> T) -> Vec<T> {
    (0..n as u32).map(|i| from(((i / 3).wrapping_mul(i) % 7).wrapping_mul(0x9e37_79b9))).collect()
}

#[test]
fn whole_tiles_are_selected_by_every_predicate() {
    for device in devices() {
        for n in [0, 1, 700].into_iter().chain([1, 2, 5].map(|tiles| tiles * tile_elements(4)).into_iter().flat_map(
            // The last tile is whole, or one element is missing or too many.
            |n| [n - 1, n, n + 1],
        )) {
            let (x, wide) = (elements(n, |i| i), elements(n / 2, |i| u64::from(i) << 32 | u64::from(i)));
            let flags: Vec<u8> = (0..n).map(|i| (i * i % 7 % 3) as u8 * 85).collect();
            check::<u32, _, 4>(&device, 3, (&x, &[]), low_half(), |i| x[i] <= u32::MAX >> 1);
            check::<u32, _, 4>(&device, 3, (&x, &flags), ByFlag, |i| flags[i] != 0);
            let runs = |bits| RunStart::new(Format::unsigned(bits));
            check::<u32, _, 4>(&device, 3, (&x, &[]), runs(32), |i| begins_run(&x, i));
            let half = InRange::new(Format::unsigned(64), Some(1 << 63), None, [false; 2]);
            check::<u64, _, 2>(&device, 3, (&wide, &[]), half, |i| wide[i] >= 1 << 63);
            check::<u64, _, 2>(&device, 3, (&wide, &flags[..n / 2]), ByFlag, |i| flags[i] != 0);
            check::<u64, _, 2>(&device, 3, (&wide, &[]), runs(64), |i| begins_run(&wide, i));
        }
    }
}

#[test]
fn blocks_that_take_turns_share_the_tiles() {
    let x = elements(23 * tile_elements(4) + 77, |i| i);
    for seed in 0..4 {
        let simulator = Simulator::new().with_schedule(Schedule::Interleaved(seed)).with_workers(NonZeroUsize::MIN);
        let device = Device::simulated(simulator);
        for blocks in [1, 2, 5, 23, 40] {
            check::<u32, _, 4>(&device, blocks, (&x, &[]), low_half(), |i| x[i] <= u32::MAX >> 1);
        }
    }
}

/// The arguments of a selection from `u32` by [`low_half`], which stores nothing rejected.
fn launch(
    device: &Device,
    config: LaunchConfig,
    x: Global<'_, u32>,
    y: GlobalMut<'_, u32>,
    count: &mut Buffer<u64>,
    states: &mut Buffer<u64>,
) -> Result<(), launch::Error> {
    let (none, rejected) = (device.zeroed::<u8>(0)?, y.part(0, 0));
    let (count, states) = (count.view_mut(), states.view_mut());
    let call = select_pipelined::<u32, InRange, 4>(x, none.view(), low_half(), y, rejected, count, states);
    device.launch(config, call)
}

/// Tests a block that starts too late to join the team, the blocks that share the tiles. The block must store nothing,
/// even if there are tiles left.
#[test]
fn a_block_that_comes_late_writes_nothing() {
    let (n, number) = (9 * tile_elements(4) + 3, 5);
    for device in devices() {
        let (x, mut y) = (device.upload(&vec![1; n]).unwrap(), device.zeroed(n).unwrap());
        let mut words = vec![0; state_words::<u32>(10)];
        (words[TICKET], words[TEAM]) = (number, 1 << 32 | number);
        let (mut states, mut count) = (device.upload(&words).unwrap(), device.upload(&[7]).unwrap());
        launch(&device, config(1), x.view(), y.view_mut(), &mut count, &mut states).unwrap();
        assert!(y.download().unwrap().iter().all(|&y| y == 0));
        assert_eq!(count.download().unwrap(), [7]);
        let found = states.download().unwrap();
        assert_eq!(found[first_word::<u32>(0)..], words[first_word::<u32>(0)..]);
    }
}

/// Tests launches that start with the state words of the previous launch, but have other grids. The number of the
/// launch wraps after 2³².
#[test]
fn launches_follow_one_another_on_the_same_states() {
    let n = 5 * tile_elements(4) + 3;
    for device in devices() {
        let mut words = vec![0; state_words::<u32>(6)];
        words[TICKET] = u64::from(u32::MAX - 1) << 32;
        let (mut states, mut count) = (device.upload(&words).unwrap(), device.zeroed(1).unwrap());
        for (launched, blocks) in [3, 7, 1, 2, 6].into_iter().enumerate() {
            let x = elements(n, |i| i.rotate_left(launched as u32));
            let (expected, _) = partition(&x, |i| x[i] <= u32::MAX >> 1);
            let (dx, mut y) = (device.upload(&x).unwrap(), device.alloc(n).unwrap());
            launch(&device, config(blocks), dx.view(), y.view_mut(), &mut count, &mut states).unwrap();
            assert!(y.download().unwrap()[..expected.len()] == expected, "launch {launched}");
            assert_eq!(count.download().unwrap(), [expected.len() as u64], "launch {launched}");
        }
        assert_eq!(states.download().unwrap()[TICKET], 3 << 32);
    }
}

/// Tests that the kernel rejects blocks and sizes of shared memory that do not fit. The kernel's accesses are
/// unchecked, and a block of another size would leave out elements.
#[test]
fn it_refuses_blocks_and_memory_that_it_is_not_for() {
    let device = simulated(0);
    let (x, mut y) = (device.upload(&[1; 40]).unwrap(), device.alloc(40).unwrap());
    for (block, bytes, words, file) in [
        (256, RING_BYTES, state_words::<u32>(1), "select/pipelined/mod.rs:"),
        (288, RING_BYTES - 16, state_words::<u32>(1), "ring.rs:"),
        (288, RING_BYTES, state_words::<u32>(0), "select/pipelined/mod.rs:"),
    ] {
        let (mut count, mut states) = (device.zeroed(1).unwrap(), device.zeroed(words).unwrap());
        let config = LaunchConfig::new(1, block).shared_bytes(bytes);
        let launched = launch(&device, config, x.view(), y.view_mut(), &mut count, &mut states);
        let message = launched.unwrap_err().to_string();
        assert!(message.contains(file), "{block}, {bytes}, {words}: {message}");
    }
}
