//! The launch configurations that the rungs use.

use gpu::life::tuning::{BLOCKS_PER_MULTIPROCESSOR, VECTOR_ROWS, VECTOR_WARPS};
use gpu::life::{CELLS_PER_VECTOR, VECTORS_PER_WARP};
use launch::{Device, LaunchConfig};

/// The number of threads per block for kernels that work with any number.
pub(super) const THREADS: u32 = 256;

/// Returns a launch configuration with one thread per item, but at most `max_blocks` blocks. If there are more items,
/// the kernels' grid-stride loops process them.
pub(super) fn linear(items: usize, max_blocks: u32) -> LaunchConfig {
    let blocks = items.div_ceil(THREADS as usize).clamp(1, max_blocks as usize);
    LaunchConfig::new(blocks as u32, THREADS)
}

/// Returns the maximum number of blocks of [`THREADS`] threads for one launch. This number of blocks is enough to keep
/// the device busy.
pub(super) fn max_blocks(device: &Device) -> u32 {
    device.multiprocessors().saturating_mul(BLOCKS_PER_MULTIPROCESSOR)
}

/// The maximum numbers of blocks of a grid along x and y in CUDA.
pub(super) const LARGEST_GRID: (usize, usize) = (i32::MAX as usize, 65_535);

/// Returns a launch configuration with one thread for each of `columns × rows` items, up to CUDA's maximum grid. If
/// there are more items, the kernels' grid-stride loops process them.
pub(super) fn planar(columns: usize, rows: usize) -> LaunchConfig {
    // A block is as wide as a warp, but not wider than the board. Further lanes would be idle.
    let block_x = columns.next_power_of_two().min(32);
    let block_y = THREADS as usize / block_x;
    let grid_x = columns.div_ceil(block_x).min(LARGEST_GRID.0);
    let grid_y = rows.div_ceil(block_y).min(LARGEST_GRID.1);
    LaunchConfig::new((grid_x as u32, grid_y as u32), (block_x as u32, block_y as u32))
}

/// Returns a launch configuration with one warp for each 32 vectors along x and each strip of rows along y. The kernel
/// has no grid-stride loops. If there are more strips than CUDA's maximum grid in y, the other strips are distributed
/// along z.
pub(super) fn of_vectors(width: usize, height: usize) -> LaunchConfig {
    let across = width.div_ceil(CELLS_PER_VECTOR * VECTORS_PER_WARP).min(LARGEST_GRID.0);
    let down = height.div_ceil(VECTOR_ROWS * VECTOR_WARPS as usize);
    let planes = down.div_ceil(LARGEST_GRID.1).clamp(1, LARGEST_GRID.1);
    let down = down.div_ceil(planes).min(LARGEST_GRID.1);
    LaunchConfig::new((across as u32, down as u32, planes as u32), (VECTORS_PER_WARP as u32, VECTOR_WARPS))
}

/// Returns a launch configuration of one block. The block has one thread per cell, rounded up to whole warps, but at
/// most 1024 threads.
pub(super) fn one_block(cells: usize) -> LaunchConfig {
    LaunchConfig::new(1, cells.next_multiple_of(32).min(1024) as u32)
}

#[cfg(test)]
mod tests {
    use launch::Dim3;

    use super::*;

    #[test]
    fn grids_are_no_taller_than_cudas_tallest() {
        let height = |columns, rows| planar(columns, rows).grid.y;
        assert_eq!([height(17, 65_535 * 8), height(17, 65_535 * 8 + 1), height(1 << 20, 1 << 30)], [65_535; 3]);
        assert_eq!((height(17, 100), height(3, 65)), (13, 2));
    }

    #[test]
    fn the_grid_of_vectors_covers_boards_of_any_height() {
        let grid = |width, height| of_vectors(width, height).grid;
        assert_eq!(grid(128, 1), Dim3::new(1, 1, 1));
        assert_eq!(grid(128 * 33, VECTOR_ROWS + 1), Dim3::new(2, 2u32.div_ceil(VECTOR_WARPS), 1));
        for strips in [65_534, 65_535, 65_536, 131_070, 131_071, 1_000_003] {
            let Dim3 { y, z, .. } = grid(128, strips * VECTOR_ROWS);
            let enough = y as usize * z as usize * VECTOR_WARPS as usize;
            assert!(y <= 65_535 && (strips..strips + 65_536).contains(&enough), "{strips}: {y} x {z}");
        }
    }
}
