//! Why a GPU cannot be used.

use std::fmt;

use crate::version::CudaVersion;

/// Why a GPU cannot be used. `Debug` is the same text, since `main` and `unwrap` show that one.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unavailable {
    /// This platform has no driver to look for.
    #[error("CUDA is not supported on this platform")]
    UnsupportedPlatform,
    /// No driver is installed.
    #[error("{reason}")]
    NoDriver {
        /// What is wrong: "libcuda.so.1 not found".
        reason: String,
    },
    /// The driver's library is there but cannot be loaded.
    #[error("{reason}")]
    UnloadableDriver {
        /// What is wrong, in the dynamic linker's words.
        reason: String,
    },
    /// The driver's library lacks a function that every use needs, so that nothing can be asked of it.
    #[error("{reason}")]
    IncompleteDriver {
        /// What is wrong: the function that it lacks.
        reason: String,
    },
    /// The driver is there but does not work.
    #[error("the NVIDIA driver cannot {what}: {text} ({name}, {code})")]
    DriverFails {
        /// What it was asked to do.
        what: String,
        /// Its answer.
        code: u32,
        /// The answer's name.
        name: String,
        /// The answer in words.
        text: String,
    },
    /// The driver works but shows no GPU.
    #[error("the NVIDIA driver finds no GPU")]
    NoGpu,
    /// There are GPUs, but none of that ordinal.
    #[error("there is no GPU {ordinal}: the driver finds {count}, counted from 0")]
    NoSuchGpu {
        /// The ordinal asked for.
        ordinal: u32,
        /// How many there are.
        count: u32,
    },
    /// The program was built without the PTX of its kernels.
    #[error("this program has no PTX of `{module}`, as no compiler for it was found when it was built")]
    NotBuilt {
        /// The path of the kernels' module.
        module: &'static str,
    },
    /// The GPU is older than the oldest that the program's kernels were built for.
    #[error("{name} has compute capability {}.{}, and the kernels need {}.{}", have.0, have.1, need.0, need.1)]
    TooOldGpu {
        /// The GPU's name.
        name: String,
        /// Its compute capability.
        have: (u32, u32),
        /// The lowest that the kernels were built for.
        need: (u32, u32),
    },
    /// The driver is older than the PTX of the program's kernels.
    #[error("the driver supports CUDA {have}, and the kernels need {need}")]
    TooOldDriver {
        /// The CUDA version that the driver supports.
        have: CudaVersion,
        /// The lowest that reads the kernels.
        need: CudaVersion,
    },
}

impl fmt::Debug for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Unavailable {
    /// Whether no GPU was found at all, rather than one that cannot be used.
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

    /// What its reader can do about it.
    pub fn remedy(&self) -> String {
        match self {
            Self::UnsupportedPlatform => "GPUs are used on Linux on x86-64 and AArch64 alone".into(),
            Self::UnloadableDriver { .. } => {
                "reinstall the NVIDIA driver: its library is damaged or of another architecture".into()
            }
            Self::IncompleteDriver { .. } => "update the NVIDIA driver to one that supports CUDA 11.0 or later".into(),
            Self::NoDriver { .. } => {
                "install the NVIDIA driver (in a container, give it the host's: `docker run --gpus all`)".into()
            }
            Self::DriverFails { code: 803, .. } => {
                "the driver's library and its kernel module differ: reboot, or load the new kernel module".into()
            }
            Self::DriverFails { code: 46, .. } => "another process has the GPU for itself: see `nvidia-smi`".into(),
            Self::DriverFails { code: 2, .. } => "the GPU's memory is full: see `nvidia-smi`".into(),
            Self::DriverFails { .. } => "see whether `nvidia-smi` works".into(),
            Self::NoGpu | Self::NoSuchGpu { .. } => "see `nvidia-smi`, and what CUDA_VISIBLE_DEVICES is set to".into(),
            Self::NotBuilt { .. } => "build it again: the warning then says which compiler to install".into(),
            Self::TooOldGpu { .. } => "use another GPU".into(),
            Self::TooOldDriver { need, .. } => format!("install a driver that supports CUDA {need} or later"),
        }
    }
}
