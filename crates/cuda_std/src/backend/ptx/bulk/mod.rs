//! Bulk copies, transaction counts of barriers, and tensor maps. They need sm_90; on older architectures they end the
//! kernel with an error.

#[cfg(target_feature = "sm_90")]
mod instructions;
#[cfg(target_feature = "sm_90")]
mod maps;
#[cfg(not(target_feature = "sm_90"))]
mod missing;

#[cfg(not(target_feature = "sm_90"))]
pub use missing::*;
#[cfg(target_feature = "sm_90")]
pub use {instructions::*, maps::*};

use super::trap;
use crate::param::Params;

/// The address of a tensor map: the kernel's parameter.
#[derive(Clone, Copy, Debug)]
pub struct MapHandle(u64);

impl MapHandle {
    /// Creates the handle of the map at the generic address `address`.
    #[inline(always)]
    pub const fn new(address: u64) -> Self {
        Self(address)
    }
}

/// The type of the parameter in the PTX. The compiler aligns a parameter to at most 16 bytes; `cuda_builder` then
/// aligns tensor maps to 64.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub struct MapParameter([u64; 16]);

/// Fails to compile, because a copy of a map has no address that the hardware can use.
#[inline(always)]
pub fn map_of_parameter<T>(_: MapParameter) -> MapHandle {
    const {
        assert!(size_of::<T>() == usize::MAX, "write a tensor map's type as `TensorMap<…>` or `TensorMapMut<…>`");
    }
    trap()
}

/// A GPU encodes no parameters.
pub fn encode_map(_: MapHandle, _: &'static str, _: usize, _: bool, _: &mut Params) {
    trap()
}

#[inline(always)]
pub fn unequal_lengths(_shared: usize, _outside: usize) -> ! {
    trap()
}

/// Traps if an address or the size is not a multiple of 16.
#[inline(always)]
pub fn check_bulk(shared: u32, outside: usize, bytes: u32) {
    if (shared | outside as u32 | bytes) % 16 != 0 {
        trap();
    }
}

/// Does nothing: a kernel cannot read a map.
#[inline(always)]
pub fn check_map_tile(_: MapHandle, _: [usize; 2], _: u32) {}
