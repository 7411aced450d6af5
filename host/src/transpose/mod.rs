//! The transpose of a matrix of any width and height.
//!
//! [`transpose`] runs one of the kernels of `gpu::transpose`, [`plan`] says on what grid; the plain CPU answer is in
//! [`mod@reference`].
//!
//! ```
//! use host::options::Size;
//! use host::transpose::{TransposeKernel, transpose};
//! use launch::{Device, DeviceChoice};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let device = Device::open(DeviceChoice::Sim, host::modules::MODULES)?; // or `Auto`: a GPU where there is one
//! let x = device.upload(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?; // two rows of three
//! let mut y = device.alloc(6)?;
//! transpose(&device, TransposeKernel::Vectorised, Size { width: 3, height: 2 }, &x, &mut y)?;
//! assert_eq!(y.download()?, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
//! # Ok(())
//! # }
//! ```
//!
//! Input and output are two buffers, and cannot overlap:
//!
//! ```compile_fail,E0502
//! # use host::{options::Size, transpose::{TransposeKernel, transpose}};
//! # fn in_place(device: &launch::Device, x: &mut launch::Buffer<f32>) {
//! let size = Size { width: 3, height: 2 };
//! let _ = transpose(device, TransposeKernel::Vectorised, size, &x, &mut x); // does not compile: x is both
//! # }
//! ```

use gpu::transpose::{
    BLOCK_ROWS, Bits, THREADS, TILE, transpose_copy, transpose_copy_tile, transpose_naive, transpose_padded,
    transpose_tile, transpose_vectorised,
};
use launch::{Buffer, Device, Dim3, Element, LaunchConfig};

use crate::options::Size;
use crate::rungs::{AlgorithmError, rungs};
use views::{view, view_mut};

pub mod command;
pub mod reference;

mod views;

/// The most blocks along y that every GPU allows.
const MOST_ALONG_Y: usize = 65535;

/// Tile rows of a band of the vectorised kernel, as a power of two, where the matrix has so many.
const BAND: u32 = 6;

rungs! {
    /// The kernels that transpose, and the two that copy, for comparison.
    pub enum TransposeKernel: "transpose" {
        /// No transpose: the textbook's blocks copy x, the yardstick.
        Copy = "copy",
        /// The copy by way of shared memory.
        CopyTile = "copy_tile",
        /// Reads along rows, writes down columns.
        Naive = "naive",
        /// A tile in shared memory, so that both reads and writes go along rows.
        Tile = "tile",
        /// A tile whose rows are one element longer, so that its columns meet no bank conflicts.
        Padded = "padded",
        /// 16-byte accesses, larger tiles, several loads in flight.
        Vectorised = "vectorised",
    }
}

impl TransposeKernel {
    /// The kernels of `gpu` that it launches.
    pub(crate) const fn families(self) -> &'static [&'static str] {
        match self {
            Self::Copy => &["transpose_copy"],
            Self::CopyTile => &["transpose_copy_tile"],
            Self::Naive => &["transpose_naive"],
            Self::Tile => &["transpose_tile"],
            Self::Padded => &["transpose_padded"],
            Self::Vectorised => &["transpose_vectorised"],
        }
    }

    /// The fastest.
    pub const BEST: Self = Self::Vectorised;

    /// Whether it transposes. The yardsticks copy: their result is `x` itself.
    pub fn is_transpose(self) -> bool {
        !matches!(self, Self::Copy | Self::CopyTile)
    }
}

/// How a kernel is launched for a matrix.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plan {
    /// Grid and block.
    pub config: LaunchConfig,
    /// The power of two of tile rows that the vectorised kernel takes together.
    pub band: u32,
}

/// The launch for a matrix of `size` with elements of type `U`, which stands for every type of its width.
///
/// A matrix that no grid covers gets a grid that the launch refuses.
pub fn plan<U: Bits>(kernel: TransposeKernel, size: Size) -> Plan {
    if kernel != TransposeKernel::Vectorised {
        let grid = grid(size.width.div_ceil(TILE), size.height.div_ceil(TILE));
        return Plan { config: LaunchConfig::new(grid, (TILE as u32, BLOCK_ROWS as u32)), band: 0 };
    }
    let (columns, rows) = (size.width.div_ceil(U::SIDE), size.height.div_ceil(U::SIDE));
    let band = BAND.min(rows.next_power_of_two().ilog2());
    let grid = grid(columns.saturating_mul(1 << band), rows.div_ceil(1 << band));
    Plan { config: LaunchConfig::new(grid, THREADS as u32), band }
}

/// A grid with at least `rows` blocks along y and z together, as evenly as they go.
fn grid(columns: usize, rows: usize) -> Dim3 {
    let z = rows.div_ceil(MOST_ALONG_Y).max(1);
    let blocks = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    Dim3::new(blocks(columns), blocks(rows.div_ceil(z)), blocks(z))
}

/// Makes `y` the transpose of `x`, which has `size.height` rows of `size.width` elements, row after row; `y` then has
/// `size.width` rows of `size.height`. For the kernels that copy, `y` becomes `x`.
///
/// Elements are of any type of 1, 2, 4 or 8 bytes, and every bit of them is kept; another size does not compile. On a
/// GPU it returns at once: `y` is there for whatever is asked of the device next.
///
/// # Errors
/// [`AlgorithmError::SizeMismatch`] when `x` or `y` has not `size.width * size.height` elements, and whatever prevents
/// the launch.
pub fn transpose<T: Element>(
    device: &Device,
    kernel: TransposeKernel,
    size: Size,
    x: &Buffer<T>,
    y: &mut Buffer<T>,
) -> Result<(), AlgorithmError> {
    const { assert!(matches!(size_of::<T>(), 1 | 2 | 4 | 8), "an element of a matrix has 1, 2, 4 or 8 bytes") };
    let Size { width, height } = size;
    for (what, len) in [("x", x.len()), ("y", y.len())] {
        if width.checked_mul(height) != Some(len) {
            return Err(AlgorithmError::SizeMismatch { width, height, what, len });
        }
    }
    if x.is_empty() {
        return Ok(());
    }
    macro_rules! launch {
        ($bits:ty) => {{
            let Plan { config, band } = plan::<$bits>(kernel, size);
            // SAFETY: this branch is for elements of the size of these bits.
            let (x, y) = unsafe { (view::<T, $bits>(x), view_mut::<T, $bits>(y)) };
            match kernel {
                TransposeKernel::Copy => device.launch(config, transpose_copy(x, y, width, height)),
                TransposeKernel::CopyTile => device.launch(config, transpose_copy_tile(x, y, width, height)),
                TransposeKernel::Naive => device.launch(config, transpose_naive(x, y, width, height)),
                TransposeKernel::Tile => device.launch(config, transpose_tile(x, y, width, height)),
                TransposeKernel::Padded => device.launch(config, transpose_padded(x, y, width, height)),
                TransposeKernel::Vectorised => device.launch(config, transpose_vectorised(x, y, width, height, band)),
            }
        }};
    }
    match size_of::<T>() {
        1 => launch!(u8),
        2 => launch!(u16),
        4 => launch!(u32),
        _ => launch!(u64),
    }?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rungs::Rung;

    /// Blocks for every tile, and grids that a GPU accepts, for anything that fits in its memory.
    #[test]
    fn grids_cover_the_matrix_within_the_limits() {
        fn check<U: Bits>(width: usize, height: usize) {
            for &kernel in TransposeKernel::ALL {
                let Plan { config, band } = plan::<U>(kernel, Size { width, height });
                let side = if kernel == TransposeKernel::Vectorised { U::SIDE } else { TILE };
                let (columns, rows) = (width.div_ceil(side), height.div_ceil(side));
                let Dim3 { x, y, z } = config.grid;
                assert!(x as usize == columns << band && x <= i32::MAX as u32, "{kernel} {width}x{height}: {config:?}");
                assert!(y <= 65535 && z <= 65535, "{kernel} {width}x{height}: {config:?}");
                let along = y as usize * z as usize;
                assert!(along << band >= rows, "{kernel} {width}x{height}: {config:?}");
                // Few blocks find nothing to do.
                assert!(x as usize * along <= 4 * columns * rows, "{kernel} {width}x{height}: {config:?}");
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
        let Plan { config, .. } = plan::<u8>(TransposeKernel::BEST, Size { width: usize::MAX, height: 1 });
        assert_eq!(config.grid.x, u32::MAX);
    }
}
