//! The built PTX, embedded: one module an algorithm, for each architecture it was built for.

use launch::{KernelInfo, PtxImage, PtxModule};

/// Declares the algorithms: each has its kernels in `gpu::<name>`, and its PTX in `gpu/ptx/<name>.sm_<arch>.ptx`.
macro_rules! algorithms {
    ($($name:ident $path:literal [$($arch:literal $file:literal)+];)+) => {
        /// What [`launch::Device::open`] is to find the kernels of the crate `gpu` in.
        pub const MODULES: &[PtxModule] = &[$(PtxModule {
            path: $path,
            images: &[$(PtxImage { arch: $arch, ptx: include_str!(concat!("../../gpu/ptx/", $file)) }),+],
        }),+];

        /// The kernels of these modules.
        pub fn kernels() -> impl Iterator<Item = &'static KernelInfo> {
            [$(gpu::$name::KERNELS),+].into_iter().flatten().copied()
        }

        /// What each module's kernels are for: the module's path, and a sentence.
        pub const SUMMARIES: &[(&str, &str)] = &[$(($path, gpu::$name::SUMMARY)),+];
    };
}

algorithms! {
    life "gpu::life" [70 "life.sm_70.ptx" 90 "life.sm_90.ptx"];
    probe "gpu::probe" [70 "probe.sm_70.ptx" 90 "probe.sm_90.ptx"];
    reduce "gpu::reduce" [70 "reduce.sm_70.ptx" 90 "reduce.sm_90.ptx"];
    saxpy "gpu::saxpy" [70 "saxpy.sm_70.ptx" 90 "saxpy.sm_90.ptx"];
    scale "gpu::scale" [70 "scale.sm_70.ptx" 90 "scale.sm_90.ptx"];
    scan "gpu::scan" [70 "scan.sm_70.ptx" 90 "scan.sm_90.ptx"];
    transpose "gpu::transpose" [70 "transpose.sm_70.ptx" 90 "transpose.sm_90.ptx"];
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
