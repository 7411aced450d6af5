//! The built PTX, embedded: one module an algorithm, for each architecture it was built for.

use launch::{KernelInfo, PtxImage, PtxModule};

/// What [`launch::Device::open`] is to find the kernels of the crate `gpu` in.
pub const MODULES: &[PtxModule] = &[
    PtxModule {
        path: "gpu::life",
        images: &[
            PtxImage { arch: 70, ptx: include_str!("../../gpu/ptx/life.sm_70.ptx") },
            PtxImage { arch: 90, ptx: include_str!("../../gpu/ptx/life.sm_90.ptx") },
        ],
    },
    PtxModule {
        path: "gpu::probe",
        images: &[
            PtxImage { arch: 70, ptx: include_str!("../../gpu/ptx/probe.sm_70.ptx") },
            PtxImage { arch: 90, ptx: include_str!("../../gpu/ptx/probe.sm_90.ptx") },
        ],
    },
    PtxModule {
        path: "gpu::saxpy",
        images: &[
            PtxImage { arch: 70, ptx: include_str!("../../gpu/ptx/saxpy.sm_70.ptx") },
            PtxImage { arch: 90, ptx: include_str!("../../gpu/ptx/saxpy.sm_90.ptx") },
        ],
    },
];

/// The kernels of these modules.
pub fn kernels() -> impl Iterator<Item = &'static KernelInfo> {
    [gpu::life::KERNELS, gpu::probe::KERNELS, gpu::saxpy::KERNELS].into_iter().flatten().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kernel whose module is in no list could be launched in the simulator alone.
    #[test]
    fn every_kernel_has_a_module() {
        for kernel in kernels() {
            let module = MODULES.iter().find(|module| kernel.module.starts_with(module.path));
            let module = module.unwrap_or_else(|| panic!("{} of {} is in no module", kernel.name, kernel.module));
            for image in module.images {
                let entry = format!(".entry {}(", kernel.name);
                assert!(image.ptx.contains(&entry), "{} is not in {} for sm_{}", kernel.name, module.path, image.arch);
            }
        }
    }
}
