//! Kernels that the driver has compiled for all contexts of this process, each once. It needs none for that: so a kernel can be
//! compiled before a context is made, or meanwhile, and copies and launches go on beside it.
//!
//! Drivers can do so from CUDA 12.0 on. Where one cannot, or a kernel does not compile, there is no code here: whoever launches the
//! kernel loads it as a module of its own context, and is told what is wrong.

use std::collections::{BTreeMap, HashMap};
use std::ffi::CString;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use cuda_std::KernelInfo;
use cust::sys::CUfunction;

use super::discovery::find_usable;
use super::sys::{self, DeviceAttribute, Library};
use crate::module::{self, PtxImage, PtxModule};
use crate::ptx;
use crate::version::CudaVersion;

/// A kernel's code.
#[derive(Clone, Debug)]
pub(super) struct Compiled {
    library: Library,
    name: CString,
    /// The kernel's own text.
    pub(super) text: Arc<str>,
}

impl Compiled {
    /// The kernel for the current context, if it can be had.
    pub(super) fn function(&self) -> Option<CUfunction> {
        sys::function_of_library(self.library, &self.name)
    }
}

/// Filled when the driver is done: with nothing if there is no code.
type Slot = Arc<OnceLock<Option<Compiled>>>;

/// By the address of the image and the kernel's name.
static SLOTS: Mutex<BTreeMap<(usize, &str), Slot>> = Mutex::new(BTreeMap::new());

/// Compiles what `kernels` gives for the multiprocessors of the GPU of that ordinal, if that can be used with the modules.
pub(crate) fn compile(
    ordinal: u32,
    known: &'static [PtxModule],
    kernels: impl FnOnce(u32) -> Vec<&'static KernelInfo>,
) {
    let Ok((device, gpu, driver)) = find_usable(ordinal, known) else { return };
    let multiprocessors =
        sys::device_attribute(device.as_raw(), DeviceAttribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    if let Ok(multiprocessors) = multiprocessors {
        Target { known, capability: gpu.compute_capability, driver }.compile(&kernels(multiprocessors));
    }
}

/// The code of `kernel`, as soon as it has been compiled.
pub(super) fn of(target: &Target, kernel: &'static KernelInfo) -> Option<Compiled> {
    target.compile(&[kernel]);
    let slots = SLOTS.lock().unwrap_or_else(PoisonError::into_inner);
    let slot = slots.get(&(address(target.image(kernel)?), kernel.name)).cloned();
    drop(slots);
    slot?.wait().clone()
}

fn address(image: &'static PtxImage) -> usize {
    std::ptr::from_ref(image).addr()
}

/// The modules of a program, and for what they are compiled.
pub(super) struct Target {
    pub(super) known: &'static [PtxModule],
    pub(super) capability: (u32, u32),
    pub(super) driver: CudaVersion,
}

impl Target {
    /// The best image that has `kernel` and that the driver reads.
    fn image(&self, kernel: &'static KernelInfo) -> Option<&'static PtxImage> {
        let images = self.known[module::find(self.known, kernel.module)?].images_for(self.capability);
        images.into_iter().find(|image| image.needs().is_none_or(|need| need <= self.driver))
    }

    /// Compiles those of `kernels` that have not been, for launches without tables, as far as they can be had without the rest of
    /// their module: those of a module together, which takes less time. Another thread may be about some of them still.
    pub(super) fn compile(&self, kernels: &[&'static KernelInfo]) {
        if !sys::has_libraries() {
            return;
        }
        let mut by_image = HashMap::<_, (_, Vec<_>)>::new();
        for kernel in kernels {
            if let Some(image) = self.image(kernel) {
                by_image.entry(address(image)).or_insert((image, Vec::new())).1.push(kernel.name);
            }
        }
        for (image, names) in by_image.into_values() {
            let mut begun = Begun(Vec::new());
            let mut slots = SLOTS.lock().unwrap_or_else(PoisonError::into_inner);
            for name in names {
                slots.entry((address(image), name)).or_insert_with(|| {
                    begun.0.push((name, Slot::default()));
                    begun.0[begun.0.len() - 1].1.clone()
                });
            }
            drop(slots);
            let _ = begun.compile(image, self.driver);
        }
    }
}

/// Slots that this thread fills, at the latest when it drops them.
struct Begun(Vec<(&'static str, Slot)>);

impl Begun {
    fn compile(&self, image: &'static PtxImage, driver: CudaVersion) -> Option<()> {
        let names: Vec<_> = self.0.iter().map(|&(name, _)| name).collect();
        if names.is_empty() {
            return None;
        }
        let text = ptx::entries_alone(&image.shared_text(), &names)?;
        let library = sys::load_library(&CString::new(text.as_str()).ok()?, driver)?;
        for (name, slot) in &self.0 {
            let own = ptx::entries_alone(&text, &[name])?;
            let _ = slot.set(Some(Compiled { library, name: CString::new(*name).ok()?, text: own.into() }));
        }
        Some(())
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        self.0.iter().for_each(|(_, slot)| drop(slot.set(None)));
    }
}
