//! The bandwidth kernels by operand and unroll factor.

use gpu::probe::{Operand, U32x4, global_copy, global_copy_alternating, global_copy2, global_read, global_write};
use launch::{Buffer, Device, Error, Kernel, KernelInfo, LaunchConfig};

use super::BandwidthKernel;

/// The word that [`BandwidthKernel::Write`] writes. No two of its bytes are equal.
pub const WORD: u64 = 0x9e37_79b9_7f4a_7c15;

/// The arrays of a run. All have one length, except `y` of [`BandwidthKernel::Read`].
#[derive(Debug)]
pub struct Arrays<T: Operand> {
    /// The input.
    pub a: Buffer<T>,
    /// The second input of [`BandwidthKernel::Copy2`].
    pub b: Buffer<T>,
    /// The output. [`BandwidthKernel::Read`] writes one element per thread, up to its length.
    pub y: Buffer<T>,
}

/// The kernels of one operand and unroll factor.
#[derive(Clone, Copy, Debug)]
pub struct Instance<T: Operand> {
    /// The number of elements that a thread handles in a pass.
    pub unroll: usize,
    /// Returns the instance of that kernel.
    pub info: fn(BandwidthKernel) -> &'static KernelInfo,
    /// Launches that kernel.
    pub launch: fn(&Device, BandwidthKernel, LaunchConfig, &mut Arrays<T>) -> Result<(), Error>,
}

/// An operand that the kernels are built for.
pub trait Measured: Operand {
    /// Its name, such as "u32".
    const NAME: &'static str;

    /// The instances, by unroll factors from 1 to 16.
    const INSTANCES: [Instance<Self>; 5];
}

macro_rules! measured {
    ($($operand:ident $name:literal)*) => {$(
        impl Measured for $operand {
            const NAME: &'static str = $name;
            const INSTANCES: [Instance<Self>; 5] = [
                instance::<$operand, 1>(),
                instance::<$operand, 2>(),
                instance::<$operand, 4>(),
                instance::<$operand, 8>(),
                instance::<$operand, 16>(),
            ];
        }
    )*};
}

measured! { u8 "u8" u16 "u16" u32 "u32" u64 "u64" U32x4 "u32x4" }

const fn instance<T: Operand, const UNROLL: usize>() -> Instance<T>
where
    global_read<T, UNROLL>: Kernel,
    global_write<T, UNROLL>: Kernel,
    global_copy<T, UNROLL>: Kernel,
    global_copy2<T, UNROLL>: Kernel,
    global_copy_alternating<T, UNROLL>: Kernel,
{
    Instance { unroll: UNROLL, info: info::<T, UNROLL>, launch: launch::<T, UNROLL> }
}

fn info<T: Operand, const UNROLL: usize>(kernel: BandwidthKernel) -> &'static KernelInfo
where
    global_read<T, UNROLL>: Kernel,
    global_write<T, UNROLL>: Kernel,
    global_copy<T, UNROLL>: Kernel,
    global_copy2<T, UNROLL>: Kernel,
    global_copy_alternating<T, UNROLL>: Kernel,
{
    match kernel {
        BandwidthKernel::Read => <global_read<T, UNROLL> as Kernel>::INFO,
        BandwidthKernel::Write => <global_write<T, UNROLL> as Kernel>::INFO,
        BandwidthKernel::Copy => <global_copy<T, UNROLL> as Kernel>::INFO,
        BandwidthKernel::Copy2 => <global_copy2<T, UNROLL> as Kernel>::INFO,
        BandwidthKernel::CopyAlternating => <global_copy_alternating<T, UNROLL> as Kernel>::INFO,
    }
}

fn launch<T: Operand, const UNROLL: usize>(
    device: &Device,
    kernel: BandwidthKernel,
    config: LaunchConfig,
    arrays: &mut Arrays<T>,
) -> Result<(), Error>
where
    global_read<T, UNROLL>: Kernel,
    global_write<T, UNROLL>: Kernel,
    global_copy<T, UNROLL>: Kernel,
    global_copy2<T, UNROLL>: Kernel,
    global_copy_alternating<T, UNROLL>: Kernel,
{
    let Arrays { a, b, y } = arrays;
    let (a, b, y) = (a.view(), b.view(), y.view_mut());
    match kernel {
        BandwidthKernel::Read => device.launch(config, global_read::<T, UNROLL>(a, y)),
        BandwidthKernel::Write => device.launch(config, global_write::<T, UNROLL>(WORD, y)),
        BandwidthKernel::Copy => device.launch(config, global_copy::<T, UNROLL>(a, y)),
        BandwidthKernel::Copy2 => device.launch(config, global_copy2::<T, UNROLL>(a, b, y)),
        BandwidthKernel::CopyAlternating => device.launch(config, global_copy_alternating::<T, UNROLL>(a, y)),
    }
}
