//! GPU architectures, by compute capability.

use std::fmt;
use std::str::FromStr;

/// An NVIDIA GPU architecture, from `sm_70` on.
///
/// PTX for one architecture runs on that architecture and on every later one. PTX for a specific architecture, such as
/// [`Sm90a`](Self::Sm90a), has instructions that later architectures lack, and runs on GPUs of that compute capability
/// alone.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Arch {
    number: u32,
    is_specific: bool,
}

#[allow(non_upper_case_globals, reason = "they read like the variants of an enumeration that can grow")]
impl Arch {
    /// The Volta architecture (V100).
    pub const Sm70: Arch = Arch::sm(70);
    /// The Turing architecture.
    pub const Sm75: Arch = Arch::sm(75);
    /// The Ampere architecture (A100).
    pub const Sm80: Arch = Arch::sm(80);
    /// The Ampere architecture (GeForce 30, A40).
    pub const Sm86: Arch = Arch::sm(86);
    /// The Ada architecture (GeForce 40, L40).
    pub const Sm89: Arch = Arch::sm(89);
    /// The Hopper architecture (H100, H200).
    pub const Sm90: Arch = Arch::sm(90);
    /// The Hopper architecture with its own instructions, such as `wgmma`. No other GPU runs this PTX.
    pub const Sm90a: Arch = Arch { is_specific: true, ..Arch::sm(90) };
    /// The Blackwell architecture (B200).
    pub const Sm100: Arch = Arch::sm(100);
    /// The Blackwell architecture (GeForce 50).
    pub const Sm120: Arch = Arch::sm(120);

    /// Rust-CUDA's name of [`Sm70`](Self::Sm70).
    pub const Compute70: Arch = Arch::Sm70;
    /// Rust-CUDA's name of [`Sm75`](Self::Sm75).
    pub const Compute75: Arch = Arch::Sm75;
    /// Rust-CUDA's name of [`Sm80`](Self::Sm80).
    pub const Compute80: Arch = Arch::Sm80;
    /// Rust-CUDA's name of [`Sm86`](Self::Sm86).
    pub const Compute86: Arch = Arch::Sm86;
    /// Rust-CUDA's name of [`Sm89`](Self::Sm89).
    pub const Compute89: Arch = Arch::Sm89;
    /// Rust-CUDA's name of [`Sm90`](Self::Sm90).
    pub const Compute90: Arch = Arch::Sm90;
    /// Rust-CUDA's name of [`Sm90a`](Self::Sm90a).
    pub const Compute90a: Arch = Arch::Sm90a;
    /// Rust-CUDA's name of [`Sm100`](Self::Sm100).
    pub const Compute100: Arch = Arch::Sm100;
    /// Rust-CUDA's name of [`Sm120`](Self::Sm120).
    pub const Compute120: Arch = Arch::Sm120;

    /// Returns the architecture of a compute capability without its decimal point: `Arch::sm(90)` is 9.0. If the
    /// compiler does not know the number, the build fails.
    pub const fn sm(number: u32) -> Arch {
        Arch { number, is_specific: false }
    }

    /// Returns the compute capability without its decimal point, such as 90.
    pub const fn number(self) -> u32 {
        self.number
    }

    /// Returns true if PTX for this architecture runs on GPUs of its compute capability alone, as that of
    /// [`Sm90a`](Self::Sm90a) does.
    pub const fn is_specific(self) -> bool {
        self.is_specific
    }

    /// Returns true if PTX for this architecture runs on GPUs of the architecture `gpu`.
    pub const fn runs_on(self, gpu: Arch) -> bool {
        if self.is_specific { self.number == gpu.number } else { self.number <= gpu.number }
    }

    /// Returns the PTX version to request, or `None` if LLVM's default for the architecture is new enough for kernels.
    /// `activemask` needs 6.2, `.ptr` attributes and newer fences need 7.0, and waiting for a barrier's parity (from
    /// sm_80 on) needs 7.1.
    pub(crate) fn ptx_feature(self) -> Option<&'static str> {
        match self.number {
            ..80 => Some("+ptx70"),
            80 => Some("+ptx71"),
            _ => None,
        }
    }
}

/// Rust-CUDA's name of [`Arch`]: its `NvvmArch::Compute80` is [`Arch::Compute80`].
pub type NvvmArch = Arch;

impl Default for Arch {
    fn default() -> Self {
        Arch::Sm70
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}{}", self.number, if self.is_specific { "a" } else { "" })
    }
}

/// The error for a text that does not name a GPU architecture.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no GPU architecture: write one as `sm_70` or `70`")]
pub struct ArchError(String);

impl fmt::Debug for ArchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Arch {
    type Err = ArchError;

    fn from_str(text: &str) -> Result<Self, ArchError> {
        let name = text.strip_prefix("sm_").unwrap_or(text);
        let digits = name.strip_suffix('a').unwrap_or(name);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(ArchError(text.to_owned()));
        }
        let number = digits.parse().map_err(|_| ArchError(text.to_owned()))?;
        Ok(Arch { number, is_specific: digits != name })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes_names() {
        assert_eq!("sm_70".parse(), Ok(Arch::Sm70));
        assert_eq!("120".parse(), Ok(Arch::Sm120));
        assert_eq!(Arch::sm(103).to_string(), "sm_103");
        assert!("sm_".parse::<Arch>().is_err());
        assert!(format!("{:?}", "sm_+7".parse::<Arch>().unwrap_err()).starts_with("`sm_+7` is no GPU architecture"));
        assert_eq!("sm_90a".parse(), Ok(Arch::Sm90a));
        assert_eq!(Arch::Sm90a.to_string(), "sm_90a");
        assert!("sm_90f".parse::<Arch>().is_err() && "a".parse::<Arch>().is_err() && "sm_a90".parse::<Arch>().is_err());
        assert!("99999999999".parse::<Arch>().is_err());
    }

    #[test]
    fn a_specific_architecture_runs_on_its_own_gpus_alone() {
        assert!(Arch::Sm90a.runs_on(Arch::Sm90) && Arch::Sm80.runs_on(Arch::Sm90));
        assert!(!Arch::Sm90a.runs_on(Arch::Sm100) && !Arch::Sm90.runs_on(Arch::Sm89));
        assert!(Arch::Sm90 < Arch::Sm90a && Arch::Sm90a < Arch::Sm100);
    }

    #[test]
    fn asks_for_a_newer_ptx_only_where_the_default_is_older() {
        assert_eq!(Arch::Sm70.ptx_feature(), Some("+ptx70"));
        assert_eq!(Arch::Sm80.ptx_feature(), Some("+ptx71"));
        assert_eq!(Arch::Sm86.ptx_feature(), None);
        assert_eq!(Arch::Sm90.ptx_feature(), None);
    }
}
