//! Tensor maps: descriptions of tensors in device memory, from which kernels copy boxes.

use cuda_std::bulk::{MAX_DIMENSIONS, TensorMap, TensorMapMut};
use cuda_std::tensor::tf32;
use cuda_std::{Element, Global, GlobalMut, MapHandle, bf16, e4m3, e5m2, f16};
use simt::bulk::Tiling;

use crate::device::Device;
use crate::error::Error;
use crate::view::View;

/// The maximum number of elements of a box along a dimension.
const MAX_BOX: usize = 256;
/// The maximum number of elements along a dimension.
const MAX_LENGTH: usize = 1 << 32;
/// The maximum distance of neighbours in bytes, plus 1.
const MAX_STRIDE: usize = 1 << 40;
/// The maximum step between the elements of a box.
const MAX_STEP: usize = 8;
/// The unit of addresses and sizes in bytes.
const UNIT: usize = 16;

/// A type whose elements a tensor map can describe.
pub trait TensorElement: Element {
    /// The driver's `CUtensorMapDataType`.
    #[doc(hidden)]
    const DATA_TYPE: u32;
}

macro_rules! elements {
    ($($type:ident $number:literal)*) => {$(
        impl TensorElement for $type {
            const DATA_TYPE: u32 = $number;
        }
    )*};
}

// Signed numbers of 8 and 16 bits and floats of 8 bits have no data type of their own, but the hardware only copies
// them. With the data type of `tf32` it might round.
elements! { u8 0 i8 0 e4m3 0 e5m2 0 u16 1 i16 1 u32 2 i32 3 u64 4 i64 5 f16 6 f32 7 tf32 7 f64 8 bf16 9 }

/// The order of the chunks of 16 bytes of a tile in shared memory.
///
/// With a swizzle of `w` bytes, the lower bits of a chunk's number are combined with the number of its 128 bytes by an
/// exclusive disjunction, so that the chunks of one column are in different banks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Swizzle {
    /// The chunks are in order.
    #[default]
    None,
    /// Pairs of chunks change places. A row of a box has at most 32 bytes.
    Bytes32,
    /// Four chunks change places. A row of a box has at most 64 bytes.
    Bytes64,
    /// Eight chunks change places. A row of a box has at most 128 bytes.
    Bytes128,
}

impl Swizzle {
    /// Returns the width in bytes, or 0 without a swizzle.
    pub const fn bytes(self) -> usize {
        match self {
            Self::None => 0,
            Self::Bytes32 => 32,
            Self::Bytes64 => 64,
            Self::Bytes128 => 128,
        }
    }
}

/// A view that a tensor map can describe: a [`Global`], from which kernels load boxes, or a [`GlobalMut`], to which
/// they also store.
pub trait TensorView<'a, T: TensorElement, const D: usize>: View<'a, T> {
    /// The type of the kernel's parameter.
    type Map;

    /// Makes the map.
    ///
    /// # Safety
    /// The handle must describe a tensor of `D` dimensions in the view's memory.
    #[doc(hidden)]
    unsafe fn map(handle: MapHandle) -> Self::Map;
}

macro_rules! views {
    ($($View:ident $Map:ident)*) => {$(
        impl<'a, T: TensorElement, const D: usize> TensorView<'a, T, D> for $View<'a, T> {
            type Map = $Map<'a, T, D>;

            unsafe fn map(handle: MapHandle) -> Self::Map {
                // SAFETY: the caller guarantees the handle, and the map borrows the view's memory.
                unsafe { $Map::from_handle(handle) }
            }
        }
    )*};
}

views! {
    Global TensorMap
    GlobalMut TensorMapMut
}

/// Makes a tensor map; [`Device::tensor_map`] returns it. All lengths, distances and steps count elements, the
/// innermost dimension first.
#[derive(Debug)]
#[must_use = "call `build` to make the map"]
pub struct TensorMapBuilder<'d, V, const D: usize> {
    device: &'d Device,
    view: V,
    shape: [usize; D],
    strides: [usize; D],
    tile: [usize; D],
    steps: [usize; D],
    swizzle: Swizzle,
}

impl Device {
    /// Begins to describe the elements of `view` as a tensor of the shape `shape`, whose innermost dimension comes
    /// first, for kernels that copy boxes of it (`cuTensorMapEncodeTiled`). The tensor may have padding, but begins
    /// with the first element of the view. The map borrows the view's memory.
    ///
    /// ```
    /// use cuda_std::barrier::{self, Barrier};
    /// use cuda_std::bulk::TensorMap;
    /// use cuda_std::{GlobalMut, kernel, shared_array, thread};
    /// use launch::{Device, LaunchConfig};
    /// # use launch::Error;
    ///
    /// /// Copies the box of 8 × 4 elements at (4, 2) to `y`. Elements outside of the matrix become 0.
    /// #[kernel]
    /// pub fn cut(x: TensorMap<f32, 2>, y: GlobalMut<f32>) {
    ///     let tile = shared_array![f32; 32 + 28].aligned(128).part(0, 32);
    ///     let full = Barrier::at(shared_array![u64; 1], 0);
    ///     if thread::first() {
    ///         full.init(1);
    ///         barrier::fence_init();
    ///     }
    ///     thread::sync_threads();
    ///     if thread::first() {
    ///         let _ = full.arrive_and_expect(4 * 32);
    ///         x.load([4, 2], tile, full);
    ///     }
    ///     full.wait_parity(false);
    ///     for i in thread::grid_stride(32) {
    ///         y.store(i, tile.load(i));
    ///     }
    /// }
    ///
    /// # fn main() -> Result<(), Error> {
    /// let device = Device::simulated(Default::default());
    /// let matrix: Vec<f32> = (0..8 * 4).map(|i| i as f32).collect();
    /// let (x, mut y) = (device.upload(&matrix)?, device.zeroed(32)?);
    /// let map = device.tensor_map(x.view(), [8, 4]).tile([8, 4]).build()?;
    /// device.launch(LaunchConfig::new(1, 32), cut(map, y.view_mut()))?;
    /// assert_eq!(y.download()?[..9], [20.0, 21.0, 22.0, 23.0, 0.0, 0.0, 0.0, 0.0, 28.0]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn tensor_map<'a, T, V, const D: usize>(&self, view: V, shape: [usize; D]) -> TensorMapBuilder<'_, V, D>
    where
        T: TensorElement,
        V: TensorView<'a, T, D>,
    {
        let mut strides = [1; D];
        for dimension in 1..D {
            strides[dimension] = strides[dimension - 1] * shape[dimension - 1];
        }
        let tile = shape.map(|len| len.clamp(1, MAX_BOX));
        TensorMapBuilder { device: self, view, shape, strides, tile, steps: [1; D], swizzle: Swizzle::None }
    }
}

impl<V, const D: usize> TensorMapBuilder<'_, V, D> {
    /// Sets the distances of neighbours along each dimension, the first of which is 1. Without this call the elements
    /// of the tensor have no gaps.
    pub fn strides(self, strides: [usize; D]) -> Self {
        Self { strides, ..self }
    }

    /// Sets the lengths of a box along each dimension, at most 256. A row has a multiple of 16 bytes. Without this call
    /// a box is the whole tensor, up to 256 elements along each dimension.
    pub fn tile(self, tile: [usize; D]) -> Self {
        Self { tile, ..self }
    }

    /// Sets the distances of the elements of a box in the tensor along each dimension, from 1 to 8. That of the
    /// innermost dimension is 1. A box then has `tile / step` elements along a dimension, rounded up.
    pub fn element_strides(self, steps: [usize; D]) -> Self {
        Self { steps, ..self }
    }

    /// Sets the order of the chunks of a tile in shared memory.
    pub fn swizzle(self, swizzle: Swizzle) -> Self {
        Self { swizzle, ..self }
    }

    /// Makes the map.
    ///
    /// # Errors
    /// [`Error::TensorMap`] if the hardware has no such map, or if the tensor exceeds the view.
    /// [`Error::WrongDevice`] if the view is of another device. On a GPU: [`Error::Driver`] if the driver refuses the
    /// map, as one before CUDA 12.0 does; [`Error::ContextLost`] when an earlier launch failed.
    pub fn build<'a, T>(self) -> Result<V::Map, Error>
    where
        T: TensorElement,
        V: TensorView<'a, T, D>,
    {
        let region = self.view.region();
        if region.device != self.device.id() {
            return Err(Error::wrong_device(region.device, "a tensor map".to_owned(), self.device.name()));
        }
        let tiling = self.tiling(region.start as usize, region.len, size_of::<T>())?;
        let words = self.device.backend().encode_map(&tiling, T::DATA_TYPE)?;
        let memory = (region.start as usize, region.len * size_of::<T>());
        // SAFETY: the map describes elements of the view, whose memory it borrows for `'a`.
        Ok(unsafe { V::map(MapHandle::new(words, region.device, memory)) })
    }

    /// Returns the description of the map, for `len` elements of `element` bytes at `start`.
    fn tiling(&self, start: usize, len: usize, element: usize) -> Result<Tiling, Error> {
        let refused = self.refused(start, len, element).map(|reason| Err(Error::TensorMap { reason }));
        if let Some(refused) = refused {
            return refused;
        }
        let mut tiling = Tiling {
            base: start as u64,
            strides: [0; MAX_DIMENSIONS - 1],
            last: [0; MAX_DIMENSIONS],
            tile: [1; MAX_DIMENSIONS],
            steps: [1; MAX_DIMENSIONS],
            element: element as u8,
            dimensions: D as u8,
            swizzle: self.swizzle.bytes() as u8,
            padding: [0; 50],
        };
        for dimension in 0..D {
            if dimension > 0 {
                tiling.strides[dimension - 1] = (self.strides[dimension] * element) as u64;
            }
            tiling.last[dimension] = (self.shape[dimension] - 1) as u32;
            tiling.tile[dimension] = self.tile[dimension] as u16;
            tiling.steps[dimension] = self.steps[dimension] as u8;
        }
        Ok(tiling)
    }

    /// Returns the reason why the hardware has no such map, or why the tensor is not in the `len` elements of `element`
    /// bytes at `start`. Returns `None` if the map is valid.
    fn refused(&self, start: usize, len: usize, element: usize) -> Option<String> {
        let Self { shape, strides, tile, .. } = self;
        if !start.is_multiple_of(UNIT) {
            return Some(format!(
                "the view begins at {start:#x}, no multiple of 16 bytes: take the view of a whole buffer"
            ));
        }
        if let Some(reason) = (0..D).find_map(|dimension| self.refused_dimension(dimension, element)) {
            return Some(reason);
        }
        let (row, width) = (tile[0] * element, self.swizzle.bytes());
        if !row.is_multiple_of(UNIT) {
            return Some(format!(
                "a row of a box has {} elements of {element} bytes: take a multiple of {}, so that it has a multiple of \
                 16 bytes",
                tile[0],
                UNIT / element
            ));
        }
        if width > 0 && row > width {
            return Some(format!(
                "a row of a box has {row} bytes, more than the {width} of the swizzle: take at most {} elements, or \
                 another swizzle",
                width / element
            ));
        }
        let last = shape.iter().zip(strides).map(|(length, stride)| (length - 1).saturating_mul(*stride));
        let last = last.fold(0, usize::saturating_add);
        (last >= len).then(|| {
            format!("its last element is element {last} of a view of {len}: make the shape or the strides smaller")
        })
    }

    /// Returns the reason why `dimension` of the map is invalid, for elements of `element` bytes.
    fn refused_dimension(&self, dimension: usize, element: usize) -> Option<String> {
        let [length, stride, tile, step] =
            [&self.shape, &self.strides, &self.tile, &self.steps].map(|values| values[dimension]);
        let bytes = stride.saturating_mul(element);
        if length == 0 || length > MAX_LENGTH {
            return Some(format!("dimension {dimension} has the length {length}: it must be 1 to 2³²"));
        }
        if tile == 0 || tile > MAX_BOX {
            return Some(format!("a box has the length {tile} along dimension {dimension}: it must be 1 to {MAX_BOX}"));
        }
        if step == 0 || step > MAX_STEP {
            return Some(format!("the element stride of dimension {dimension} is {step}: it must be 1 to {MAX_STEP}"));
        }
        if dimension == 0 && (stride != 1 || step != 1) {
            return Some(format!(
                "the innermost dimension has the stride {stride} and the element stride {step}: both must be 1"
            ));
        }
        let is_far = dimension > 0 && (!bytes.is_multiple_of(UNIT) || bytes >= MAX_STRIDE);
        is_far.then(|| {
            format!(
                "neighbours along dimension {dimension} are {bytes} bytes apart: the distance must be a multiple of 16 \
                 bytes below 2⁴⁰; pad the rows"
            )
        })
    }
}

/// The part of a back end that makes the parameters for tensor maps.
pub(crate) trait EncodeMaps {
    /// Returns the parameter of the map `tiling`, whose elements have the driver's type `data_type`.
    fn encode_map(&self, tiling: &Tiling, data_type: u32) -> Result<[u64; 16], Error>;
}
