//! Tests calls by which the lanes of a warp reach one barrier. The checker distinguishes these calls, whatever names
//! the functions have.

use crate::common::{Device, view_mut};
use cuda_std::{GlobalMut, device, kernel, thread};
use simt::FaultKind;

/// A type whose methods contain barriers and have the same names as methods of a view.
#[derive(Clone, Copy)]
struct Tile;

#[device]
impl Tile {
    fn load(self, i: usize) -> u32 {
        thread::sync_threads_count(i > 0)
    }

    fn read(self, i: usize) -> u32 {
        self.load(i)
    }
}

trait Words {
    fn get(self, i: usize) -> u32;
}

#[device]
impl Words for Tile {
    fn get(self, i: usize) -> u32 {
        self.load(i)
    }
}

#[device]
fn min(tile: Tile, i: usize) -> u32 {
    tile.load(i)
}

fn through<W: Words>(words: W, i: usize) -> u32 {
    words.get(i)
}

macro_rules! kernels {
    ($($name:ident $tile:ident $i:ident: $one:expr, $other:expr;)*) => {$(
        #[kernel]
        fn $name(y: GlobalMut<u32>) {
            let ($tile, $i) = (Tile, thread::index_1d());
            let count = if $i % 2 == 0 {
                $one // one
            } else {
                $other // other
            };
            y.store($i, count);
        }
    )*};
}

kernels! {
    by_load tile i: tile.load(i), tile.load(i + 1);
    by_read tile i: tile.read(i), tile.read(i + 1);
    by_trait tile i: tile.get(i), through(tile, i);
    by_function tile i: min(tile, i), min(tile, i + 1);
    by_receiver tile i: { let tiles = [tile]; tiles[0].load(i) }, Some(tile).unwrap().load(i);
}

/// A type like `Tile`, but without `#[device]`, so that the macro sees only the kernel's own calls.
#[derive(Clone, Copy)]
struct Unmarked;

impl Unmarked {
    fn load(&self, i: usize) -> u32 {
        thread::sync_threads_count(i > 0)
    }
}

fn max(i: usize) -> u32 {
    Unmarked.load(i)
}

struct Held {
    tiles: [Unmarked; 2],
}

kernels! {
    unmarked_by_load tile i: { let _ = tile; Unmarked.load(i) }, Unmarked.load(i + 1);
    unmarked_by_field tile i: { let held = Held { tiles: [Unmarked; 2] }; let _ = tile; held.tiles[1].load(i) },
        { let other = &Unmarked; other.load(i) };
    unmarked_by_function tile i: { let _ = tile; max(i) }, max(i + 1);
    unmarked_in_chain tile i: { let _ = tile; [Unmarked].into_iter().last().unwrap().load(i).max(1) },
        [Unmarked; 2].into_iter().next().unwrap().load(i);
}

/// Lets odd lanes reach the barrier in the second iteration of a loop. Every call in the loop has the name of a view's
/// method.
#[kernel]
fn unmarked_in_loop(y: GlobalMut<u32>) {
    let (tile, i) = (Unmarked, thread::index_1d());
    let mut sum = 0;
    for round in 0..2 + i % 2 {
        if round + 1 > i % 2 {
            sum += tile.load(round);
        }
        sum += y.load(i);
    }
    y.store(i, sum);
}

#[kernel]
fn directly(y: GlobalMut<u32>) {
    let (tile, i) = (Tile, thread::index_1d());
    y.store(i, tile.load(i) + tile.read(i) + min(tile, i));
}

#[test]
fn a_barrier_in_a_method_of_a_view_s_name_is_reached_by_different_calls() {
    let device = Device::new();
    let y = device.upload(&[0_u32; 32]);
    let kernels: [(_, fn(_) -> _); 10] = [
        ("unmarked_by_load", unmarked_by_load),
        ("unmarked_by_field", unmarked_by_field),
        ("unmarked_by_function", unmarked_by_function),
        ("unmarked_in_chain", unmarked_in_chain),
        ("unmarked_in_loop", unmarked_in_loop),
        ("by_load", by_load),
        ("by_read", by_read),
        ("by_trait", by_trait),
        ("by_function", by_function),
        ("by_receiver", by_receiver),
    ];
    for (name, kernel) in kernels {
        let fault = device.fault(1, 32, &kernel(view_mut(&y)));
        let FaultKind::BarrierApart { paths, .. } = &fault.kind else { panic!("{name}: {fault}") };
        assert_ne!(paths[0], paths[1], "{name}: {fault}");
    }
    device.run(1, 32, &directly(view_mut(&y))).unwrap();
}
