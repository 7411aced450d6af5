//! Calls by which the lanes of a warp come to one barrier are told apart, whatever the function is called.

use crate::common::{Device, view_mut};
use cuda_std::{GlobalMut, device, kernel, thread};
use simt::FaultKind;

/// A block's word, which has methods with the names of a view's.
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

#[kernel]
fn directly(y: GlobalMut<u32>) {
    let (tile, i) = (Tile, thread::index_1d());
    y.store(i, tile.load(i) + tile.read(i) + min(tile, i));
}

#[test]
fn a_barrier_in_a_method_of_a_view_s_name_is_reached_by_different_calls() {
    let device = Device::new();
    let y = device.room::<u32>(32);
    let kernels: [(_, fn(_) -> _); 5] = [
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
