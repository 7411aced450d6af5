//! The instances of the bandwidth kernels, by operand and unroll factor.

use gpu::probe::{Operand, U32x4, global_copy, global_copy_alternating, global_copy2, global_read, global_write};
use launch::{Buffer, Device, Error, Kernel, KernelInfo, LaunchConfig};

use super::BandwidthKernel;

/// The word that [`BandwidthKernel::Write`] writes. No two of its bytes are equal.
pub const WORD: u64 = 0x9e37_79b9_7f4a_7c15;

/// The arrays that a bandwidth kernel reads and writes. All have the same length, except `y` for
/// [`BandwidthKernel::Read`].
#[derive(Debug)]
pub struct Arrays<T: Operand> {
    /// The input array, which all kernels that read use.
    pub a: Buffer<T>,
    /// The second input array, which only [`BandwidthKernel::Copy2`] reads.
    pub b: Buffer<T>,
    /// The output array. [`BandwidthKernel::Read`] writes one element per thread, up to the length of `y`.
    pub y: Buffer<T>,
}

/// The bandwidth kernels for one operand and unroll factor.
#[derive(Clone, Copy, Debug)]
pub struct Instance<T: Operand> {
    /// The number of elements that a thread accesses in one iteration of the kernel's loop.
    pub unroll: usize,
    /// Returns the description of a kernel's instance.
    pub info: fn(BandwidthKernel) -> &'static KernelInfo,
    /// Launches a kernel's instance on the arrays.
    pub launch: fn(&Device, BandwidthKernel, LaunchConfig, &mut Arrays<T>) -> Result<(), Error>,
}

/// An operand that the bandwidth kernels are built for.
pub trait Measured: Operand {
    /// The name of the operand, such as "u32".
    const NAME: &'static str;

    /// The instances for the unroll factors 1, 2, 4, 8 and 16.
    const INSTANCES: [Instance<Self>; 5];
}

/// The [`Instance`] for an operand and an unroll factor.
macro_rules! instance {
    ($T:ident $unroll:literal) => {
        Instance {
            unroll: $unroll,
            info: |kernel| match kernel {
                BandwidthKernel::Read => <global_read<$T, $unroll> as Kernel>::INFO,
                BandwidthKernel::Write => <global_write<$T, $unroll> as Kernel>::INFO,
                BandwidthKernel::Copy => <global_copy<$T, $unroll> as Kernel>::INFO,
                BandwidthKernel::Copy2 => <global_copy2<$T, $unroll> as Kernel>::INFO,
                BandwidthKernel::CopyAlternating => <global_copy_alternating<$T, $unroll> as Kernel>::INFO,
            },
            launch: |device, kernel, config, Arrays { a, b, y }| {
                let (a, b, y) = (a.view(), b.view(), y.view_mut());
                let call = match kernel {
                    BandwidthKernel::Read => global_read::<$T, $unroll>(a, y),
                    BandwidthKernel::Write => global_write::<$T, $unroll>(WORD, y),
                    BandwidthKernel::Copy => global_copy::<$T, $unroll>(a, y),
                    BandwidthKernel::Copy2 => global_copy2::<$T, $unroll>(a, b, y),
                    BandwidthKernel::CopyAlternating => global_copy_alternating::<$T, $unroll>(a, y),
                };
                device.launch(config, call)
            },
        }
    };
}

macro_rules! measured {
    ($($T:ident $name:literal)*) => {$(
        impl Measured for $T {
            const NAME: &'static str = $name;
            const INSTANCES: [Instance<Self>; 5] =
                [instance!($T 1), instance!($T 2), instance!($T 4), instance!($T 8), instance!($T 16)];
        }
    )*};
}

measured! { u8 "u8" u16 "u16" u32 "u32" u64 "u64" U32x4 "u32x4" }
