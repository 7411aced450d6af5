//! Versions of CUDA, and of the PTX that they support.

use std::fmt;

/// A version of CUDA, such as 12.4. A driver supports all versions up to its own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct CudaVersion {
    /// The major version: 12 for CUDA 12.4.
    pub major: u32,
    /// The minor version: 4 for CUDA 12.4.
    pub minor: u32,
}

impl CudaVersion {
    /// Creates the version `major.minor`.
    pub const fn new(major: u32, minor: u32) -> Self {
        Self { major, minor }
    }

    /// Creates the version that the driver reports as `1000·major + 10·minor`.
    pub const fn from_driver(number: u32) -> Self {
        Self::new(number / 1000, number % 1000 / 10)
    }

    /// Returns the first CUDA version that supports PTX `major.minor` (release history in NVIDIA's PTX manual).
    pub(crate) const fn reading_ptx(major: u32, minor: u32) -> Self {
        match (major, minor) {
            (..6, _) => Self::new(8, 0),
            (6, ..=2) => Self::new(9, minor),
            (6, _) => Self::new(10, minor - 3),
            // From PTX 7.0 to 8.5 the minor numbers are CUDA's. CUDA 12.6 brought no new PTX version.
            (7, _) => Self::new(11, minor),
            (8, ..=5) => Self::new(12, minor),
            (8, _) => Self::new(12, minor + 1),
            _ => Self::new(major + 4, minor),
        }
    }
}

impl fmt::Display for CudaVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

#[cfg(test)]
mod tests {
    use super::CudaVersion;

    #[test]
    fn reads_the_drivers_number() {
        assert_eq!(CudaVersion::from_driver(11080), CudaVersion::new(11, 8));
        assert_eq!(CudaVersion::from_driver(13000), CudaVersion::new(13, 0));
        assert_eq!(CudaVersion::from_driver(12040).to_string(), "12.4");
    }

    #[test]
    fn knows_which_cuda_reads_which_ptx() {
        let table = [
            ((6, 2), (9, 2)),
            ((6, 3), (10, 0)),
            ((6, 5), (10, 2)),
            ((7, 0), (11, 0)),
            ((7, 8), (11, 8)),
            ((8, 0), (12, 0)),
            ((8, 5), (12, 5)),
            ((8, 7), (12, 8)),
            ((8, 8), (12, 9)),
            ((9, 0), (13, 0)),
        ];
        for ((ptx_major, ptx_minor), (major, minor)) in table {
            assert_eq!(CudaVersion::reading_ptx(ptx_major, ptx_minor), CudaVersion::new(major, minor));
        }
    }
}
