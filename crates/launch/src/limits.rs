//! What a launch may ask for, checked before it is made.

use cuda_std::{Dim3, KernelInfo, LaunchConfig};

use crate::error::{Error, Launched};

/// The largest launch that a device runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Blocks in each dimension of the grid.
    pub grid: Dim3,
    /// Threads in each dimension of a block.
    pub block: Dim3,
    /// Threads in a block.
    pub block_threads: u32,
    /// Shared memory of a block in bytes, static and dynamic together.
    pub shared_bytes: u32,
}

impl Limits {
    /// The limits of the simulator: those of every GPU since 2017, with the shared memory of an H100.
    pub(crate) const SIMULATOR: Self = Self {
        grid: Dim3::new(i32::MAX as u32, 65535, 65535),
        block: Dim3::new(1024, 1024, 64),
        block_threads: 1024,
        shared_bytes: 227 * 1024,
    };

    /// Whether the device can run `config` of `kernel`, which itself has room for `kernel_threads` threads per block
    /// and `static_shared` bytes of static shared memory.
    #[inline]
    pub(crate) fn check(
        &self,
        kernel: &KernelInfo,
        config: LaunchConfig,
        kernel_threads: Option<u32>,
        static_shared: u32,
    ) -> Result<(), Error> {
        match self.violation(kernel, config, kernel_threads, static_shared) {
            Some(reason) => Err(Error::InvalidLaunch { launch: Launched::new(kernel, config), reason }),
            None => Ok(()),
        }
    }

    fn violation(
        &self,
        kernel: &KernelInfo,
        config: LaunchConfig,
        kernel_threads: Option<u32>,
        static_shared: u32,
    ) -> Option<String> {
        let LaunchConfig { grid, block, shared_bytes, .. } = config;
        let threads = block.count();
        if grid.count() == 0 {
            return Some("the grid has no block; where there is nothing to do, do not launch".into());
        }
        if threads == 0 {
            return Some("the block has no thread; it needs at least one in each dimension".into());
        }
        for (what, have, most) in [("grid", grid, self.grid), ("block", block, self.block)] {
            for (axis, have, most) in [('x', have.x, most.x), ('y', have.y, most.y), ('z', have.z, most.z)] {
                if have > most {
                    return Some(format!("the {what}'s {axis} is {have}, and this device allows {most}"));
                }
            }
        }
        if threads > u128::from(self.block_threads) {
            return Some(format!("the block has {threads} threads, and this device allows {}", self.block_threads));
        }
        if let Some(bound) = kernel.max_threads.filter(|&bound| threads > u128::from(bound)) {
            return Some(format!("the block has {threads} threads, and the kernel's launch bound is {bound}"));
        }
        if let Some(most) = kernel_threads.filter(|&most| threads > u128::from(most)) {
            return Some(format!("the block has {threads} threads, and the kernel's registers leave room for {most}"));
        }
        let shared = u64::from(shared_bytes) + u64::from(static_shared);
        if shared > u64::from(self.shared_bytes) {
            return Some(format!(
                "a block needs {shared} bytes of shared memory ({static_shared} static, {shared_bytes} dynamic), and \
                 this device has {} for it",
                self.shared_bytes
            ));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: KernelInfo = KernelInfo::new("k", "m", "k.rs", 1);

    fn message(kernel: &KernelInfo, config: LaunchConfig) -> String {
        let error = Limits::SIMULATOR.check(kernel, config, Some(768), 1024).unwrap_err();
        error.to_string()
    }

    #[test]
    fn the_largest_launches_pass() {
        for config in [
            LaunchConfig::new(1, 1),
            LaunchConfig::new((i32::MAX as u32, 65535, 65535), 1024),
            LaunchConfig::new(1, (4, 4, 64)),
            LaunchConfig::new(1, 1).shared_bytes(227 * 1024),
        ] {
            assert!(Limits::SIMULATOR.check(&KERNEL, config, None, 0).is_ok(), "{config:?}");
        }
    }

    #[test]
    fn a_launch_too_large_is_told_which_limit_it_exceeds() {
        let bounded = KERNEL.max_threads(128);
        for (kernel, config, part) in [
            (&KERNEL, LaunchConfig::new(0, 32), "no block"),
            (&KERNEL, LaunchConfig::new((1, 0), 32), "no block"),
            (&KERNEL, LaunchConfig::new(1, (32, 0)), "no thread"),
            (&KERNEL, LaunchConfig::new(1 << 31, 32), "grid's x is 2147483648, and this device allows 2147483647"),
            (&KERNEL, LaunchConfig::new((1, 65536), 32), "grid's y is 65536, and this device allows 65535"),
            (&KERNEL, LaunchConfig::new(1, (1, 1, 65)), "block's z is 65, and this device allows 64"),
            (&KERNEL, LaunchConfig::new(1, 1025), "block's x is 1025, and this device allows 1024"),
            (&KERNEL, LaunchConfig::new(1, (64, 32)), "2048 threads, and this device allows 1024"),
            (&KERNEL, LaunchConfig::new(1, 1024), "registers leave room for 768"),
            (&bounded, LaunchConfig::new(1, 129), "129 threads, and the kernel's launch bound is 128"),
            (&KERNEL, LaunchConfig::new(1, 32).shared_bytes(227 * 1024), "233472 bytes of shared memory"),
            (&KERNEL, LaunchConfig::new(1, 32).shared_bytes(u32::MAX), "bytes of shared memory"),
        ] {
            let message = message(kernel, config);
            assert!(message.contains(part), "{message}");
            assert!(message.contains("`k`") && message.contains(&config.grid.to_string()), "{message}");
        }
    }
}
