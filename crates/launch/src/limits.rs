//! The limits of a launch, checked before it is made.

use cuda_std::{KernelInfo, LaunchConfig};
pub(crate) use simt::LaunchLimits as Limits;

use crate::error::{Error, Launched};

/// Checks that a device with these limits can launch `kernel` with `config`. The compiled kernel allows
/// `register_threads` threads per block and uses `static_shared` bytes of static shared memory.
///
/// # Errors
/// [`Error::InvalidLaunch`] if the launch exceeds a limit.
#[inline]
pub(crate) fn check(
    limits: &Limits,
    kernel: &KernelInfo,
    config: LaunchConfig,
    register_threads: Option<u32>,
    static_shared: u32,
) -> Result<(), Error> {
    match limits.violation(kernel, config, register_threads, static_shared) {
        Some(reason) => Err(Error::InvalidLaunch { launch: Launched::new(kernel, config), reason }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: KernelInfo = KernelInfo::new("k", "m", "k.rs", 1);

    fn message(kernel: &KernelInfo, config: LaunchConfig) -> String {
        let error = check(&Limits::SIMULATOR, kernel, config, Some(768), 1024).unwrap_err();
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
            assert!(check(&Limits::SIMULATOR, &KERNEL, config, None, 0).is_ok(), "{config:?}");
        }
    }

    #[test]
    fn the_error_of_a_large_launch_names_the_exceeded_limit() {
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
