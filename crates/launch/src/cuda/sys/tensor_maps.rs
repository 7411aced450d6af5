//! The driver's function that encodes tensor maps.

use std::ffi::{c_uint, c_void};

use simt::bulk::Tiling;

use super::Code;

/// The driver's `CUtensorMap`.
#[repr(C, align(64))]
struct Map([u64; 16]);

type Encode = unsafe extern "C" fn(
    *mut Map,
    c_uint,
    c_uint,
    *mut c_void,
    *const u64,
    *const u64,
    *const u32,
    *const u32,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
) -> u32;

/// `CU_TENSOR_MAP_INTERLEAVE_NONE`
const NO_INTERLEAVE: c_uint = 0;
/// `CU_TENSOR_MAP_L2_PROMOTION_L2_256B`
const PROMOTE_256_BYTES: c_uint = 3;
/// `CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE`: elements outside of the tensor are 0.
const FILL_ZERO: c_uint = 0;

/// Returns the encoded map, whose elements have the driver's type `data_type`.
pub(in crate::cuda) fn encode_tensor_map(tiling: &Tiling, data_type: u32) -> Result<[u64; 16], Code> {
    let Some(encode) = driver_function!(c"cuTensorMapEncodeTiled", 12_000, Encode) else {
        return Err(Code::NOT_SUPPORTED);
    };
    let mut map = Map([0; 16]);
    let shape = tiling.last.map(|last| u64::from(last) + 1);
    let (tile, steps) = (tiling.tile.map(u32::from), tiling.steps.map(u32::from));
    let swizzle = match tiling.swizzle {
        32 => 1,
        64 => 2,
        128 => 3,
        _ => 0,
    };
    // SAFETY: the arrays have at least as many elements as the map has dimensions, and the driver copies them. The map
    // is aligned to 64 bytes.
    let code = unsafe {
        encode(
            &mut map,
            data_type,
            u32::from(tiling.dimensions),
            tiling.base as *mut c_void,
            shape.as_ptr(),
            tiling.strides.as_ptr(),
            tile.as_ptr(),
            steps.as_ptr(),
            NO_INTERLEAVE,
            swizzle,
            PROMOTE_256_BYTES,
            FILL_ZERO,
        )
    };
    if code == 0 { Ok(map.0) } else { Err(Code(code)) }
}
