//! Finds the GPUs of this machine and checks that they can be used.

use cuda_driver::LoadError;

use super::sys::{self, CUdevice, Code, DeviceAttribute};
use crate::module::PtxModule;
use crate::properties::Gpu;
use crate::unavailable::Unavailable;
use crate::version::CudaVersion;

/// The oldest compute capability for which Rust's compiler writes PTX.
const LOWEST_CAPABILITY: (u32, u32) = (7, 0);

/// Returns all GPUs that the driver lists.
pub(crate) fn gpus() -> Result<Vec<Gpu>, Unavailable> {
    (0..start()?).map(|ordinal| find(ordinal).map(|(_, gpu)| gpu)).collect()
}

/// Returns the GPU with this ordinal and the driver's version, if the GPU and the driver can run `modules`.
pub(super) fn find_usable(ordinal: u32, modules: &[PtxModule]) -> Result<(CUdevice, Gpu, CudaVersion), Unavailable> {
    let count = start()?;
    if ordinal >= count {
        return Err(Unavailable::NoSuchGpu { ordinal, count });
    }
    let (device, gpu) = find(ordinal)?;
    let version = sys::driver_version().map_err(|code| fails("report its version", code))?;
    let driver = CudaVersion::from_driver(version);
    if gpu.compute_capability < LOWEST_CAPABILITY {
        let (name, have) = (gpu.name, gpu.compute_capability);
        return Err(Unavailable::TooOldGpu { name, have, need: LOWEST_CAPABILITY });
    }
    for module in modules {
        module.check(&gpu.name, gpu.compute_capability, driver)?;
    }
    Ok((device, gpu, driver))
}

/// Returns the error for a failed driver call. `what` is the purpose of the call.
pub(super) fn fails(what: impl Into<String>, code: Code) -> Unavailable {
    let (name, text) = code.explain();
    Unavailable::DriverFails { what: what.into(), code: code.0, name, text }
}

/// Initialises the driver and returns the number of its GPUs, which is at least 1.
fn start() -> Result<u32, Unavailable> {
    cuda_driver::load().map_err(|error| not_loaded(&error))?;
    match sys::init().and_then(|()| sys::device_count()) {
        Ok(0) | Err(Code::NO_DEVICE) => Err(Unavailable::NoGpu),
        Ok(count) => Ok(count),
        Err(code) => Err(fails("start", code)),
    }
}

/// Returns the reason why no driver is loaded. Each reason has its own remedy.
fn not_loaded(error: &LoadError) -> Unavailable {
    let reason = error.to_string();
    match error {
        LoadError::UnsupportedPlatform => Unavailable::UnsupportedPlatform,
        LoadError::Unloadable { .. } => Unavailable::UnloadableDriver { reason },
        LoadError::TooOld { .. } => Unavailable::IncompleteDriver { reason },
        _ => Unavailable::NoDriver { reason },
    }
}

fn find(ordinal: u32) -> Result<(CUdevice, Gpu), Unavailable> {
    let describe = || {
        let device = sys::device(ordinal)?;
        let gpu = Gpu {
            ordinal,
            name: sys::device_name(device)?,
            compute_capability: (
                sys::device_attribute(device, DeviceAttribute::COMPUTE_CAPABILITY_MAJOR)?,
                sys::device_attribute(device, DeviceAttribute::COMPUTE_CAPABILITY_MINOR)?,
            ),
            memory_bytes: sys::device_memory(device)? as u64,
        };
        Ok((device, gpu))
    };
    describe().map_err(|code: Code| fails(format!("describe GPU {ordinal}"), code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_error_of_the_driver_has_its_remedy() {
        let reason = "libcuda.so.1: wrong ELF class: ELFCLASS32".to_owned();
        for (error, begin) in [
            (LoadError::NotFound, "install the NVIDIA driver (in a container"),
            (LoadError::Unloadable { reason }, "reinstall the NVIDIA driver: "),
            (LoadError::TooOld { missing: "cuInit" }, "update the NVIDIA driver to one that supports CUDA 11.0"),
        ] {
            let unavailable = not_loaded(&error);
            assert_eq!(unavailable.to_string(), error.to_string());
            assert!(unavailable.remedy().starts_with(begin), "{}", unavailable.remedy());
            assert!(unavailable.is_absence());
        }
        let unavailable = not_loaded(&LoadError::UnsupportedPlatform);
        assert_eq!(unavailable.to_string(), "CUDA is not supported on this platform");
        assert_eq!(unavailable.remedy(), "GPUs are supported on Linux and Windows only");
        assert!(unavailable.is_absence());
    }
}
