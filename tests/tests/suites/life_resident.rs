//! Tests the kernel `life_resident` in each hostile order, with grids and margins that plans use only for large boards.
//! Grids have up to three blocks in each direction. A block may therefore be its own neighbour, or may have the same
//! neighbour on both sides. Rows may end within a word, and margins may be higher than the rows that belong to a tile.

use gpu::life::{CELLS_PER_WORD, RESIDENT_THREADS, RESIDENT_WARPS, TEMPORAL_WORDS, life_resident, resident_published};
use launch::{Device, LaunchConfig};
use life::{Board, reference};
use tests::{checked_devices, devices};

/// The number of columns that belong to a tile.
const TILE: usize = TEMPORAL_WORDS * CELLS_PER_WORD;

/// Compares the board with the reference after each launch. `launches` contains the number of generations of each
/// launch.
fn conforms(device: &Device, rows: usize, margin: u32, (width, height): (usize, usize), launches: &[u32]) {
    let inner = RESIDENT_WARPS * rows - 2 * margin as usize;
    let grid = (width.div_ceil(TILE) as u32, height.div_ceil(inner) as u32);
    let mut expected = Board::random(width, height, 0.4, 11).unwrap();
    let words = expected.words().len();
    let (mut now, mut next) = (device.upload(expected.words()).unwrap(), device.alloc(words).unwrap());
    let mut published = device.zeroed(resident_published(words, (grid.0 * grid.1) as usize).unwrap()).unwrap();
    for &generations in launches {
        let config = LaunchConfig::new(grid, RESIDENT_THREADS).cooperative();
        let (from, to, places) = (now.view(), next.view_mut(), published.view_mut());
        let launched = match rows {
            2 => device.launch(config, life_resident::<2>(from, to, places, width, height, generations, margin)),
            _ => device.launch(config, life_resident::<4>(from, to, places, width, height, generations, margin)),
        };
        let what = format!("{rows} rows, margin {margin}, {width}x{height}, {generations}, {}", device.name());
        launched.unwrap_or_else(|error| panic!("{what}: {error}"));
        expected = reference::advance(&expected, generations.into());
        assert!(next.download().unwrap() == expected.words(), "{what}");
        std::mem::swap(&mut now, &mut next);
    }
}

/// Tests boards of each of `widths`, with several heights. Each board runs on one unchecked and one checked device.
fn all_conform(rows: usize, margin: u32, widths: &[usize], launches: &[u32]) {
    let inner = RESIDENT_WARPS * rows - 2 * margin as usize;
    let heights = [1, inner, inner + 1, 2 * inner + 3];
    let (plain, checked): (Vec<_>, Vec<_>) = (devices().collect(), checked_devices().collect());
    let sizes = widths.iter().flat_map(|&width| heights.map(|height| (width, height)));
    for (i, size) in sizes.enumerate() {
        conforms(&plain[i % plain.len()], rows, margin, size, launches);
        conforms(&checked[i % checked.len()], rows, margin, size, launches);
    }
}

/// Tests numbers of generations near the height of a margin. The kernel continues to count exchanges from launch to
/// launch.
#[test]
fn narrow_boards_conform_around_a_margin() {
    all_conform(2, 4, &[1, 31, 33, 64, 65], &[0, 1, 3, 4, 5, 12, 7, 8, 9, 1, 21]);
}

#[test]
fn tiles_beside_each_other_conform() {
    all_conform(4, 8, &[TILE - 1, TILE, TILE + 1, 2 * TILE + 31], &[17, 8, 25]);
}

#[test]
fn margins_of_more_than_a_tile_conform() {
    all_conform(2, 12, &[20, TILE + 33, 2 * TILE + 1], &[25, 37]);
    all_conform(4, 24, &[20, TILE + 33], &[49]);
}
