//! The reasons why a GPU cannot be used.

use crate::version::CudaVersion;

/// The reason why a GPU cannot be used. `Debug` writes the text of `Display`, because `main` and `unwrap` print errors
/// by `Debug`.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unavailable {
    /// The driver does not exist for this platform.
    #[error("CUDA is not supported on this platform")]
    UnsupportedPlatform,
    /// No driver is installed.
    #[error("{reason}")]
    NoDriver {
        /// The reason, such as "libcuda.so.1 not found".
        reason: String,
    },
    /// The driver's library exists but cannot be loaded.
    #[error("{reason}")]
    UnloadableDriver {
        /// The dynamic linker's message.
        reason: String,
    },
    /// The driver's library lacks a function that this crate always needs.
    #[error("{reason}")]
    IncompleteDriver {
        /// The reason, with the name of the function.
        reason: String,
    },
    /// The driver is installed but a call of it fails.
    #[error("the NVIDIA driver cannot {what}: {text} ({name}, {code})")]
    DriverFails {
        /// The call's purpose.
        what: String,
        /// The driver's error code.
        code: u32,
        /// The code's name in NVIDIA's manuals.
        name: String,
        /// The driver's description of the code.
        text: String,
    },
    /// The driver works but lists no GPU.
    #[error("the NVIDIA driver finds no GPU")]
    NoGpu,
    /// There are GPUs, but no GPU has this ordinal.
    #[error("there is no GPU {ordinal}: the driver finds {count}, counted from 0")]
    NoSuchGpu {
        /// The ordinal that was chosen.
        ordinal: u32,
        /// The number of GPUs.
        count: u32,
    },
    /// The program was built without the PTX of its kernels.
    #[error("this program has no PTX of `{module}`: no compiler for it was found when the program was built")]
    NotBuilt {
        /// The path of the kernels' module.
        module: &'static str,
    },
    /// The GPU is older than the oldest architecture that the program's kernels were built for.
    #[error("{name} has compute capability {}.{}, and the kernels need {}.{}", have.0, have.1, need.0, need.1)]
    TooOldGpu {
        /// The GPU's name.
        name: String,
        /// The GPU's compute capability.
        have: (u32, u32),
        /// The lowest compute capability that the kernels were built for.
        need: (u32, u32),
    },
    /// The driver is too old for the PTX of the program's kernels.
    #[error("the driver supports CUDA {have}, and the kernels need {need}")]
    TooOldDriver {
        /// The CUDA version that the driver supports.
        have: CudaVersion,
        /// The lowest CUDA version that supports the kernels.
        need: CudaVersion,
    },
}

simt::debug_as_display!(Unavailable);

impl Unavailable {
    /// Returns true if no GPU was found, false if a GPU was found that cannot be used.
    pub(crate) fn is_absence(&self) -> bool {
        match self {
            Self::UnsupportedPlatform
            | Self::NoDriver { .. }
            | Self::UnloadableDriver { .. }
            | Self::IncompleteDriver { .. }
            | Self::NoGpu
            | Self::NoSuchGpu { .. } => true,
            Self::DriverFails { .. } | Self::NotBuilt { .. } | Self::TooOldGpu { .. } | Self::TooOldDriver { .. } => {
                false
            }
        }
    }

    /// Returns the remedy for the user.
    pub fn remedy(&self) -> String {
        match self {
            Self::UnsupportedPlatform => "GPUs are supported on Linux and Windows only".into(),
            Self::UnloadableDriver { .. } => {
                "reinstall the NVIDIA driver: its library is damaged or of another architecture".into()
            }
            Self::IncompleteDriver { .. } => "update the NVIDIA driver to one that supports CUDA 11.0 or later".into(),
            Self::NoDriver { .. } => {
                "install the NVIDIA driver (in a container, pass the host's GPUs: `docker run --gpus all`)".into()
            }
            Self::DriverFails { code: 803, .. } => {
                "the driver's library and its kernel module differ: reboot, or load the new kernel module".into()
            }
            Self::DriverFails { code: 46, .. } => "another process uses the GPU exclusively: see `nvidia-smi`".into(),
            Self::DriverFails { code: 2, .. } => "the GPU's memory is full: see `nvidia-smi`".into(),
            Self::DriverFails { .. } => "check that `nvidia-smi` works".into(),
            Self::NoGpu | Self::NoSuchGpu { .. } => "check `nvidia-smi` and the value of CUDA_VISIBLE_DEVICES".into(),
            Self::NotBuilt { .. } => "build the program again: the warning then names the compiler to install".into(),
            Self::TooOldGpu { .. } => "use another GPU".into(),
            Self::TooOldDriver { need, .. } => format!("install a driver that supports CUDA {need} or later"),
        }
    }
}
