//! Makes the driver compile kernels for all contexts of this process, each kernel once.
//!
//! A library of the driver needs no context. A kernel can therefore be compiled before or while a context is made, and
//! while copies and launches run. Drivers support this from CUDA 12.0 on. With an older driver, or if a kernel does not
//! compile, this module has no code for the kernel. The launch then loads the kernel as a module of its context, and
//! returns the error if the driver cannot compile it.
//!
//! # Design
//!
//! A context compiles one module at a time and does nothing else meanwhile, regardless of the number of calling
//! threads. Code loaded by `cuLibraryLoadData` belongs to no context. The driver therefore receives each kernel once
//! per process, for all devices, and compiles several kernels at once. While the driver starts, this module extracts
//! the PTX of the kernels that it expects to need. It assumes a GPU with 132 multiprocessors.
//!
//! A wrong prediction of the kernels costs only time. A kernel that was not predicted is compiled at its launch. If the
//! driver refuses a kernel here, the launch loads it again as a module of the context and gets an error with the
//! reason. Kernels with statics or tables, and drivers before CUDA 12.0, always take that path.

use std::collections::{BTreeMap, HashMap};
use std::ffi::CString;
use std::sync::atomic::AtomicBool;
use std::thread;

use cuda_std::KernelInfo;

use super::discovery::find_usable;
use super::sys::{self, CUfunction, DeviceAttribute, Library};
use crate::compiling::{Slots, largest_first};
use crate::module::{self, PtxImage, PtxModule};
use crate::ptx::Traits;
use crate::version::CudaVersion;

/// A kernel that the driver has compiled.
#[derive(Clone, Debug)]
pub(super) struct Compiled {
    library: Library,
    name: CString,
    pub(super) traits: Traits,
}

impl Compiled {
    /// Returns the kernel's function for the current context, or `None` if the driver cannot provide it.
    pub(super) fn function(&self) -> Option<CUfunction> {
        sys::function_of_library(self.library, &self.name)
    }
}

/// The compiled kernels of all images.
static SLOTS: Slots<Compiled> = Slots::new();

/// The number of multiprocessors of an H100 or H200, which is assumed until the GPU is known.
const GUESSED_MULTIPROCESSORS: u32 = 132;

/// The maximum number of kernels that are compiled when a device is opened. A program with more kernels probably
/// launches few of them.
const MAX_AT_OPEN: usize = 256;

/// Compiles the kernels that `kernels` returns for the GPU's number of multiprocessors, if the GPU can run the modules.
pub(crate) fn compile(ordinal: u32, known: &'static [PtxModule], kernels: impl Fn(u32) -> Vec<&'static KernelInfo>) {
    if cuda_driver::load().is_err() {
        return;
    }
    // This thread extracts the PTX from all images while the driver initialises, which takes longer.
    let images_of = |module| module::find(known, module).map_or(&[][..], |place| known[place].images);
    let guessed = kernels(GUESSED_MULTIPROCESSORS);
    let places = guessed.iter().flat_map(|kernel| images_of(kernel.module).iter().map(|image| (image, kernel.name)));
    for (image, names) in by_image(places) {
        jobs(image, &names);
    }
    let Ok((device, gpu, driver)) = find_usable(ordinal, known) else { return };
    let multiprocessors = sys::device_attribute(device, DeviceAttribute::MULTIPROCESSOR_COUNT);
    if let Ok(multiprocessors) = multiprocessors {
        let kernels = if multiprocessors == GUESSED_MULTIPROCESSORS { guessed } else { kernels(multiprocessors) };
        Target { known, capability: gpu.compute_capability, driver }.compile_ahead(&kernels);
    }
}

/// Groups the names of kernels by the images that contain them.
fn by_image(
    places: impl Iterator<Item = (&'static PtxImage, &'static str)>,
) -> impl Iterator<Item = (&'static PtxImage, Vec<&'static str>)> {
    let mut images = HashMap::<_, (_, Vec<_>)>::new();
    for (image, name) in places {
        images.entry(address(image)).or_insert((image, Vec::new())).1.push(name);
    }
    images.into_values()
}

/// Returns the compiled code of `kernel`, after compiling the kernel if necessary. Returns `None` if the kernel cannot
/// be compiled separately.
pub(super) fn of(target: &Target, kernel: &'static KernelInfo) -> Option<Compiled> {
    let image = if sys::has_libraries() { target.image(kernel)? } else { return None };
    compiled(image, kernel.name)
}

/// Returns the compiled code of the kernel `name`, or `None` if there is none. Compiles the kernel unless a thread has
/// already begun to compile it.
fn compiled(image: &'static PtxImage, name: &str) -> Option<Compiled> {
    SLOTS.get(address(image), name, || {
        let text = image.outline()?.part(&[name])?;
        let traits = Traits::of(&text);
        let library = sys::load_library(&CString::new(text).ok()?)?;
        Some(Compiled { library, name: CString::new(name).ok()?, traits })
    })
}

fn address(image: &'static PtxImage) -> usize {
    std::ptr::from_ref(image).addr()
}

/// The compute capability from which on GPUs have clusters, and the architecture whose PTX has their instructions.
pub(super) const FIRST_CLUSTER_ARCH: u32 = 90;

/// The maximum number of blocks per cluster for which a kernel needs no permission of its own.
pub(super) const PORTABLE_CLUSTER_BLOCKS: u32 = 8;

/// The modules of a program, and the GPU and driver for which these modules are compiled.
#[derive(Clone, Copy)]
pub(super) struct Target {
    pub(super) known: &'static [PtxModule],
    pub(super) capability: (u32, u32),
    pub(super) driver: CudaVersion,
}

impl Target {
    /// Returns the best image that contains `kernel` and that the driver supports.
    fn image(&self, kernel: &'static KernelInfo) -> Option<&'static PtxImage> {
        self.best_image(module::find(self.known, kernel.module)?)
    }

    /// Returns the best image of the module at `index` that the driver supports.
    fn best_image(&self, index: usize) -> Option<&'static PtxImage> {
        let images = self.known[index].images_for(module::arch(self.capability));
        images.into_iter().find(|image| image.needs().is_none_or(|need| need <= self.driver))
    }

    /// Returns the maximum number of blocks per cluster, or 1 if the GPU has no clusters. The driver refuses a cluster
    /// that is too large for the GPU.
    pub(super) fn max_cluster_blocks(&self) -> u32 {
        let (major, minor) = self.capability;
        if 10 * major + minor >= FIRST_CLUSTER_ARCH { 2 * PORTABLE_CLUSTER_BLOCKS } else { 1 }
    }

    /// Returns the machine code of the module at `index` for this GPU, if there is any, and the image that has it.
    pub(super) fn machine_code(&self, index: usize) -> Option<(&'static PtxImage, &'static [u8])> {
        let image = self.best_image(index)?;
        Some((image, image.machine_code_for(self.capability)?))
    }

    /// Compiles `kernels` like [`compile`](Self::compile) before they are launched, except those with machine code.
    pub(super) fn compile_ahead(&self, kernels: &[&'static KernelInfo]) {
        let has_machine_code =
            |kernel: &KernelInfo| module::find(self.known, kernel.module).and_then(|index| self.machine_code(index));
        let without: Vec<_> = kernels.iter().copied().filter(|kernel| has_machine_code(kernel).is_none()).collect();
        self.compile(&without);
    }

    /// Compiles those of `kernels` that are not compiled yet and whose PTX can be extracted from their module. Launches
    /// with tables cannot use this code. Each kernel is compiled separately, so that it can be launched as soon as it
    /// is ready. Several kernels are compiled at a time. Another thread may still be compiling some of them when this
    /// returns.
    pub(super) fn compile(&self, kernels: &[&'static KernelInfo]) {
        if !sys::has_libraries() {
            return;
        }
        let kernels = kernels.iter().filter_map(|kernel| Some((self.image(kernel)?, kernel.name)));
        let jobs = by_image(kernels).flat_map(|(image, names)| jobs(image, &names)).collect();
        compile_jobs(jobs, threads(), &AtomicBool::new(false));
    }

    /// Compiles all kernels of the modules like [`compile`](Self::compile).
    pub(super) fn compile_all(&self) {
        if sys::has_libraries() {
            compile_jobs(self.all_jobs(|_| true), threads(), &AtomicBool::new(false));
        }
    }

    /// Compiles the kernels of the images that are to be compiled when a device is opened, until `stop` is set. One
    /// core is left to the program.
    pub(super) fn compile_at_open(&self, stop: &AtomicBool) {
        let jobs = self.all_jobs(PtxImage::is_compiled_at_open);
        if jobs.len() <= MAX_AT_OPEN {
            compile_jobs(jobs, threads() - 1, stop);
        }
    }

    /// Returns true if a module's best image is to be compiled when a device is opened.
    pub(super) fn has_images_to_compile(&self) -> bool {
        self.images_without_machine_code().any(PtxImage::is_compiled_at_open) && sys::has_libraries()
    }

    /// Returns the modules' best images, except those with machine code for this GPU.
    fn images_without_machine_code(&self) -> impl Iterator<Item = &'static PtxImage> {
        let best = (0..self.known.len()).filter_map(|index| self.best_image(index));
        best.filter(|image| image.machine_code_for(self.capability).is_none())
    }

    /// Returns a job for each kernel of the modules' best images for which `is_wanted` returns true.
    fn all_jobs(&self, is_wanted: impl Fn(&PtxImage) -> bool) -> Vec<Job> {
        let images = self.images_without_machine_code().filter(|image| is_wanted(image));
        // Several modules may share an image.
        let images: BTreeMap<_, _> = images.map(|image| (address(image), image)).collect();
        let outlines = images.into_values().filter_map(|image| Some((image, image.outline()?)));
        outlines.flat_map(|(image, outline)| jobs(image, &outline.entries())).collect()
    }
}

/// A kernel to compile, with the size of its text.
type Job = (usize, (&'static PtxImage, Box<str>));

/// Returns a job for each of the kernels `names` of `image`.
fn jobs(image: &'static PtxImage, names: &[&str]) -> Vec<Job> {
    let outline = image.outline();
    let bytes = |name| outline.and_then(|outline| outline.text_bytes(name)).unwrap_or(0);
    names.iter().map(|&name| (bytes(name), (image, name.into()))).collect()
}

fn compile_jobs(jobs: Vec<Job>, threads: usize, stop: &AtomicBool) {
    largest_first(jobs, threads, stop, |(image, name)| drop(compiled(image, &name)));
}

/// Returns the number of threads that compile at the same time.
fn threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}
