//! Transpose of a matrix of any width and height.
//!
//! [`transpose`] runs one of the kernels of `gpu::transpose`. [`plan`] returns the grid and block of the launch.
//!
//! ```
//! use gridstride::Size;
//! use gridstride::transpose::{TransposeRung, transpose};
//! use launch::{Device, DeviceChoice};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let device = Device::open(DeviceChoice::Sim, gridstride::MODULES)?; // or `Auto`: a GPU where there is one
//! let x = device.upload(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?; // two rows of three
//! let mut y = device.alloc(6)?;
//! transpose(&device, TransposeRung::Vectorised, Size { width: 3, height: 2 }, &x, &mut y)?;
//! assert_eq!(y.download()?, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
//! # Ok(())
//! # }
//! ```
//!
//! The borrow checker rejects input and output that overlap:
//!
//! ```compile_fail,E0502
//! # use gridstride::{Size, transpose::{TransposeRung, transpose}};
//! # fn in_place(device: &launch::Device, x: &mut launch::Buffer<f32>) {
//! let size = Size { width: 3, height: 2 };
//! let _ = transpose(device, TransposeRung::Vectorised, size, &x, &mut x); // does not compile: x is both
//! # }
//! ```

use std::borrow::Borrow;

use cuda_std::Ladder;
pub use gpu::transpose::TransposeRung;
use gpu::transpose::{
    BLOCK_ROWS, Bits, GATHERED_FROM, GATHERED_THREADS, TILE, gathered_tile_columns, gathered_tile_rows,
    plain_row_bytes, plain_rows, plain_threads, transpose_gathered, transpose_plain, transpose_unaligned,
    unaligned_tile_columns, unaligned_tile_rows,
};
use launch::{Buffer, Device, Dim3, Element, LaunchConfig, Queue};

use crate::capabilities;
use crate::error::AlgorithmError;
use crate::size::Size;
use crate::vector::Vector;
use views::{view, view_mut};

mod views;

/// The largest number of blocks along y, and along z, that every GPU allows.
const MAX_ALONG_Y: usize = 65535;

/// Returns true if the rung transposes, and false if it is a baseline that only copies `x`, for comparison.
pub fn is_transpose(rung: TransposeRung) -> bool {
    !matches!(rung, TransposeRung::Copy | TransposeRung::CopyTile)
}

/// The plan of a transpose, which is a single launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plan {
    /// The grid and block of the launch.
    pub config: LaunchConfig,
    /// True if all rows of `x` and of `y` begin at a multiple of 16 bytes. If true, the last rung launches
    /// [`transpose_vectorised`](gpu::transpose::transpose_vectorised()), otherwise
    /// [`transpose_unaligned`](gpu::transpose::transpose_unaligned()).
    pub is_aligned: bool,
}

/// Returns the plan for a matrix of size `size`, if input and output are whole buffers. `U` is the integer type of the
/// same size as the elements.
///
/// If the matrix is too large for any grid, the function returns a grid with which the launch fails.
pub fn plan<U: Bits>(rung: TransposeRung, size: Size) -> Plan {
    let Size { width, height } = size;
    // A buffer begins at a multiple of 16 bytes.
    let is_aligned = width.is_multiple_of(U::PER_VECTOR) && height.is_multiple_of(U::PER_VECTOR);
    let config = if rung != TransposeRung::Vectorised {
        LaunchConfig::new(grid(width.div_ceil(TILE), height.div_ceil(TILE)), (TILE as u32, BLOCK_ROWS as u32))
    } else if is_aligned {
        let shape = U::ALIGNED;
        // Consecutive blocks process the tiles of a column of tiles, so that they write along the rows of `y`.
        LaunchConfig::new(grid(height.div_ceil(shape.rows), width.div_ceil(shape.columns)), shape.threads as u32)
    } else {
        return unaligned_plan::<U>(size);
    };
    Plan { config, is_aligned }
}

/// Returns the plan that launches [`transpose_unaligned`](gpu::transpose::transpose_unaligned()), for a matrix of
/// `size` in views that may begin at any element of a buffer.
pub fn unaligned_plan<U: Bits>(size: Size) -> Plan {
    let grid = grid(unaligned_tile_rows::<U>(size.height), unaligned_tile_columns::<U>(size.width));
    Plan { config: LaunchConfig::new(grid, U::UNALIGNED.threads as u32), is_aligned: false }
}

/// Returns the plan that launches [`transpose_gathered`](gpu::transpose::transpose_gathered()), for elements of 1 or 2
/// bytes in views that may begin at any element of a buffer.
pub fn gathered_plan<U: Bits>(size: Size) -> Plan {
    let grid = grid(gathered_tile_rows::<U>(size.height), gathered_tile_columns::<U>(size.width));
    Plan { config: LaunchConfig::new(grid, GATHERED_THREADS as u32), is_aligned: false }
}

/// Returns the plan that launches [`transpose_plain`](gpu::transpose::transpose_plain()) in blocks of `THREADS`
/// threads, for elements of 4 or 8 bytes in views that may begin at any element of a buffer.
pub fn plain_plan<U: Bits, const THREADS: usize>(size: Size) -> Plan {
    let columns = plain_row_bytes(THREADS) / size_of::<U>();
    let grid = grid(size.height.div_ceil(plain_rows(THREADS)), size.width.div_ceil(columns));
    Plan { config: LaunchConfig::new(grid, THREADS as u32), is_aligned: false }
}

/// Returns a grid of `along_x` blocks along x and at least `others` blocks along y and z together.
fn grid(along_x: usize, others: usize) -> Dim3 {
    let z = others.div_ceil(MAX_ALONG_Y).max(1);
    let blocks = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    Dim3::new(blocks(along_x), blocks(others.div_ceil(z)), blocks(z))
}

/// Writes the transpose of `x` into `y`. Both are in row-major order: `x` has `size.height` rows of `size.width`
/// elements, and `y` has `size.width` rows of `size.height` elements. The baseline rungs (see [`is_transpose`]) write a
/// copy of `x` instead.
///
/// `T` may be any element type of 1, 2, 4 or 8 bytes; a type of another size does not compile. The kernels move the
/// bits of an element unchanged.
///
/// On a GPU this function returns before the kernel has finished. Later work on the same device sees the result.
///
/// # Errors
/// Returns [`AlgorithmError::SizeMismatch`] if `x` or `y` does not have `size.width * size.height` elements. Otherwise
/// returns the error of the launch.
pub fn transpose<'q, T: Element>(
    queue: impl Into<Queue<'q>>,
    rung: TransposeRung,
    size: Size,
    x: &Buffer<T>,
    y: &mut Buffer<T>,
) -> Result<(), AlgorithmError> {
    const { assert!(matches!(size_of::<T>(), 1 | 2 | 4 | 8), "the elements of a matrix must have 1, 2, 4 or 8 bytes") };
    let Size { width, height } = size;
    for (what, len) in [("x", x.len()), ("y", y.len())] {
        if width.checked_mul(height) != Some(len) {
            return Err(AlgorithmError::SizeMismatch { width, height, what, len });
        }
    }
    if x.is_empty() {
        return Ok(());
    }
    let queue = queue.into();
    // SAFETY: in each arm the integer type has the size of `T`.
    unsafe {
        match size_of::<T>() {
            1 => launch::<T, u8>(queue, rung, size, x, y),
            2 => launch::<T, u16>(queue, rung, size, x, y),
            4 => launch::<T, u32>(queue, rung, size, x, y),
            _ => launch::<T, u64>(queue, rung, size, x, y),
        }
    }
}

/// Enqueues the transpose. The kernel moves the elements of type `T` as integers of type `U`.
///
/// # Safety
/// `T` and `U` must have the same size.
unsafe fn launch<T: Element, U: Bits>(
    queue: Queue<'_>,
    rung: TransposeRung,
    size: Size,
    x: &Buffer<T>,
    y: &mut Buffer<T>,
) -> Result<(), AlgorithmError> {
    let Size { width, height } = size;
    let Plan { mut config, is_aligned } = plan::<U>(rung, size);
    // SAFETY: by this function's contract, `T` and `U` have the same size.
    let (x, y) = unsafe { (view::<T, U>(x), view_mut::<T, U>(y)) };
    let bytes = x.len() * size_of::<U>();
    /// Sets the launch configuration for the plain kernel and builds the kernel's call.
    macro_rules! plain {
        ($threads:literal) => {{
            config = plain_plan::<U, $threads>(size).config;
            transpose_plain::if_built::<U, $threads>(x, y, width, height)
        }};
    }
    let is_last = rung == TransposeRung::Vectorised;
    let call = match plain_threads(size_of::<U>(), x.len(), is_aligned).filter(|_| is_last) {
        Some(128) => plain!(128),
        Some(256) => plain!(256),
        Some(_) => plain!(512),
        None if !is_last || is_aligned => rung.call(x, y, width, height),
        None if size_of::<U>() <= 2 && bytes >= GATHERED_FROM && (width | height) >> 31 == 0 => {
            config = gathered_plan::<U>(size).config;
            transpose_gathered::if_built::<U>(x, y, width, height)
        }
        None => transpose_unaligned::if_built::<U>(x, y, width, height),
    };
    let call = call.ok_or_else(|| capabilities::not_built(rung, &capabilities::of_type::<U>()))?;
    Ok(queue.launch(config, call)?)
}

/// Extends [`Device`] with the transpose by the default rung, the fastest kernel.
pub trait TransposeExt: Borrow<Device> {
    /// Returns the transpose of a matrix. `x` has `height` rows of `width` elements. The result has `width` rows of
    /// `height` elements.
    ///
    /// ```
    /// # use gridstride::prelude::*;
    /// # let device = launch::Device::open(launch::DeviceChoice::Sim, gridstride::MODULES)?;
    /// assert_eq!(device.transpose(b"abcdef", 3, 2)?, b"adbecf");
    /// # Ok::<(), AlgorithmError>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`AlgorithmError::SizeMismatch`] if `x` does not have `width · height` elements. Returns
    /// [`AlgorithmError::Launch`] if the device fails or has too little memory.
    fn transpose<X: Vector>(&self, x: X, width: usize, height: usize) -> Result<X::Output, AlgorithmError> {
        let device = self.borrow();
        x.mapped(device, |x, y| transpose(device, TransposeRung::LAST, Size { width, height }, x, y))
    }
}

impl TransposeExt for Device {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that each plan has a block for every tile, and that its grid is within the limits of GPUs.
    #[test]
    fn grids_cover_the_matrix_within_the_limits() {
        fn check<U: Bits>(width: usize, height: usize) {
            let size = Size { width, height };
            let mut plans: Vec<Plan> = TransposeRung::ALL.iter().map(|&rung| plan::<U>(rung, size)).collect();
            plans.push(unaligned_plan::<U>(size));
            for (index, Plan { config, .. }) in plans.into_iter().enumerate() {
                let is_last_rung = index + 1 >= TransposeRung::ALL.len();
                // The smallest and the largest number of rows or columns of a block's tile.
                let (least, most) = if is_last_rung { (32, 128) } else { (TILE, TILE) };
                let (along, others) = if is_last_rung { (height, width) } else { (width, height) };
                let Dim3 { x, y, z } = config.grid;
                let what = format!("{index} {width}x{height}: {config:?}");
                assert!(x as usize >= along.div_ceil(most) && x <= i32::MAX as u32, "{what}");
                assert!(y <= 65535 && z <= 65535, "{what}");
                let blocks = y as usize * z as usize;
                assert!(blocks >= others.div_ceil(most), "{what}");
                // Only a few blocks may have no tile.
                let tiles = (along.div_ceil(least) + 1) * (others.div_ceil(least) + 1);
                assert!(x as usize * blocks <= 2 * tiles, "{what}");
            }
        }
        for (width, height) in [
            (1, 1),
            (1, 1 << 36),
            (1 << 35, 1),
            (65535 * 32 + 1, 33),
            (33, 65535 * 32 + 1),
            (16384, 16384),
            (3, 65537 * 256),
        ] {
            check::<u8>(width, height);
            check::<u32>(width, height);
            check::<u64>(width, height);
        }
    }

    #[test]
    fn a_matrix_that_no_grid_covers_gets_one_that_is_refused() {
        let tall = Size { width: 1, height: usize::MAX };
        assert_eq!(plan::<u8>(TransposeRung::LAST, tall).config.grid.x, u32::MAX);
        let wide = Size { width: usize::MAX, height: 1 };
        let Dim3 { y, z, .. } = plan::<u8>(TransposeRung::LAST, wide).config.grid;
        assert!(y == u32::MAX || z == u32::MAX, "{y} {z}");
    }

    #[test]
    fn only_whole_vectors_are_aligned() {
        let is_aligned = |width, height| {
            let size = Size { width, height };
            let rung = TransposeRung::LAST;
            [
                plan::<u8>(rung, size).is_aligned,
                plan::<u16>(rung, size).is_aligned,
                plan::<u32>(rung, size).is_aligned,
                plan::<u64>(rung, size).is_aligned,
            ]
        };
        assert_eq!(is_aligned(16384, 16), [true; 4]);
        assert_eq!(is_aligned(8, 16), [false, true, true, true]);
        assert_eq!(is_aligned(16, 12), [false, false, true, true]);
        assert_eq!(is_aligned(2, 4), [false, false, false, true]);
        assert_eq!(is_aligned(16, 1), [false; 4]);
    }
}
