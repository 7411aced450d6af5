//! The resources that `ptxas` assigns to the kernels of a program's own PTX.

use std::collections::BTreeMap;
use std::env;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use launch::PtxModule;
use ptxas::Ptxas;

use crate::occupancy::{LocalMemory, Resources};

/// The kernels that `ptxas` assembled for one architecture, by their names in the PTX.
#[derive(Debug, Default)]
pub struct AssembledKernels(BTreeMap<String, (Resources, LocalMemory)>);

impl AssembledKernels {
    /// Assembles the best image of each of `modules` for the architecture `arch`, such as 90 for sm_90.
    ///
    /// # Errors
    /// A text that says why nothing is known.
    pub fn new(modules: &[PtxModule], arch: u32) -> Result<Self, String> {
        let of_module = |module: &PtxModule| module.images_for(arch).first().copied().copied();
        let images: Vec<_> = distinct(modules).filter_map(of_module).collect();
        if images.is_empty() {
            return Err("the build made no PTX that this GPU runs".to_owned());
        }
        let paths = ptxas::programs("ptxas", &[]);
        if paths.is_empty() {
            return Err(NO_ASSEMBLER.to_owned());
        }
        // A program called ptxas that is none does not stop the others.
        let assemblers: Vec<Ptxas> = paths.iter().filter_map(|path| Ptxas::open(path).ok()).collect();
        let Some(ptxas) = ptxas::by_arch(&assemblers, arch, arch).remove(&arch) else {
            return Err(format!("`{}` does not know sm_{arch}: install a newer one", paths[0].display()));
        };
        let mut kernels = BTreeMap::new();
        for image in images {
            let file = TemporaryFile::new(&image.text()).map_err(|error| format!("no temporary file: {error}"))?;
            let assembled = ptxas.assemble(file.path(), arch, None).map_err(|error| error.to_string())?;
            for kernel in assembled.functions.into_iter().filter(|function| function.is_kernel) {
                let resources = Resources { registers: kernel.registers, static_shared_bytes: kernel.shared };
                let local = LocalMemory {
                    stack_bytes: kernel.stack,
                    spill_store_bytes: kernel.spill_stores,
                    spill_load_bytes: kernel.spill_loads,
                };
                kernels.insert(kernel.name, (resources, local));
            }
        }
        Ok(Self(kernels))
    }

    /// Returns the resources of the kernel with the name `entry` in the PTX, if it was assembled.
    pub fn of(&self, entry: &str) -> Option<(Resources, LocalMemory)> {
        self.0.get(entry).copied()
    }
}

/// Returns the modules without those that share their images with an earlier one.
pub fn distinct(modules: &[PtxModule]) -> impl Iterator<Item = &PtxModule> {
    let is_first = |&(at, module): &(usize, &PtxModule)| {
        !modules[..at].iter().any(|earlier| std::ptr::eq(earlier.images, module.images))
    };
    modules.iter().enumerate().filter(is_first).map(|(_, module)| module)
}

/// The reason if no assembler is found.
const NO_ASSEMBLER: &str = "no `ptxas` in PATH, in CUDA_HOME/bin, in /usr/local/cuda/bin or in the active virtual \
    environment; `pip install nvidia-cuda-nvcc` installs one";

/// A file that is removed when it is dropped.
struct TemporaryFile(PathBuf);

impl TemporaryFile {
    fn new(text: &str) -> io::Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = env::temp_dir().join(format!("gridstride-{}-{number}.ptx", std::process::id()));
        // An older file of that name is of a process that ended without removing it, or a link: it is not followed.
        let _ = fs::remove_file(&path);
        let mut file = File::create_new(&path)?;
        let temporary = Self(path);
        file.write_all(text.as_bytes())?;
        Ok(temporary)
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use launch::PtxImage;

    use super::*;

    #[test]
    fn a_gpu_without_ptx_is_said() {
        static NEW: &[PtxImage] = &[PtxImage::new(90, "")];
        for images in [&[][..], NEW] {
            let error = AssembledKernels::new(&[PtxModule { path: "a", images }], 80).unwrap_err();
            assert!(error.contains("no PTX"), "{error}");
        }
    }

    #[test]
    fn shared_images_are_assembled_once() {
        static SHARED: &[PtxImage] = &[PtxImage::new(90, "")];
        static OTHER: &[PtxImage] = &[PtxImage::new(70, "")];
        let modules = [("a", SHARED), ("b", SHARED), ("c", OTHER)].map(|(path, images)| PtxModule { path, images });
        assert_eq!(distinct(&modules).map(|module| module.path).collect::<Vec<_>>(), ["a", "c"]);
    }

    #[test]
    fn a_temporary_file_is_removed() {
        let file = TemporaryFile::new("text").unwrap();
        let path = file.path().to_owned();
        assert_eq!(fs::read_to_string(&path).unwrap(), "text");
        drop(file);
        assert!(!path.exists());
    }
}
