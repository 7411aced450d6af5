//! Makes the driver compile kernels for all contexts of this process, each kernel once.
//!
//! A library of the driver needs no context. A kernel can therefore be compiled before or while a context is made, and
//! while copies and launches run. Drivers support this from CUDA 12.0 on. With an older driver, or if a kernel does not
//! compile, this module has no code for the kernel. The launch then loads the kernel as a module of its context and
//! returns the error.
//!
//! # Design
//!
//! A context compiles one module at a time and does nothing else meanwhile, regardless of the number of calling
//! threads. Code loaded by `cuLibraryLoadData` belongs to no context: the driver receives each kernel once per process,
//! for all devices, and compiles several at once. While the driver starts, the PTX of the predicted kernels is
//! extracted. The prediction assumes a GPU with 132 multiprocessors.
//!
//! A wrong prediction of the kernels costs only time. A kernel that was not predicted is compiled at its launch. If the
//! driver refuses a kernel here, the launch loads it again as a module of the context and gets an error with the
//! reason. Kernels with statics or tables, and drivers before CUDA 12.0, always take that path.

use std::cmp::Reverse;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::ffi::CString;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;

use cuda_std::KernelInfo;

use super::discovery::find_usable;
use super::sys::{self, CUfunction, DeviceAttribute, Library};
use crate::module::{self, PtxImage, PtxModule};
use crate::version::CudaVersion;

/// A kernel that the driver has compiled.
#[derive(Clone, Debug)]
pub(super) struct Compiled {
    library: Library,
    name: CString,
    /// The PTX that contains only this kernel.
    pub(super) text: Arc<str>,
}

impl Compiled {
    /// Returns the kernel's function for the current context, or `None` if the driver cannot provide it.
    pub(super) fn function(&self) -> Option<CUfunction> {
        sys::function_of_library(self.library, &self.name)
    }
}

/// The result of compiling a kernel, set when the driver has finished: `None` if there is no code.
type Slot = Arc<OnceLock<Option<Compiled>>>;

/// The slots of all kernels, by the address of the image and the kernel's name.
static SLOTS: Mutex<BTreeMap<(usize, &str), Slot>> = Mutex::new(BTreeMap::new());

/// The number of multiprocessors that is assumed until the GPU is known: that of an H100 or H200.
const GUESSED_MULTIPROCESSORS: u32 = 132;

/// Compiles the kernels that `kernels` returns for the GPU's number of multiprocessors, if the GPU can run the modules.
pub(crate) fn compile(ordinal: u32, known: &'static [PtxModule], kernels: impl Fn(u32) -> Vec<&'static KernelInfo>) {
    if cuda_driver::load().is_err() {
        return;
    }
    // The driver takes longer to initialise than it takes to extract the PTX of these kernels from all images.
    let images_of = |module| module::find(known, module).map_or(&[][..], |place| known[place].images);
    let guessed = kernels(GUESSED_MULTIPROCESSORS);
    let places = guessed.iter().flat_map(|kernel| images_of(kernel.module).iter().map(|image| (image, kernel.name)));
    for (image, names) in by_image(places) {
        image.own_texts(&names);
    }
    let Ok((device, gpu, driver)) = find_usable(ordinal, known) else { return };
    let multiprocessors = sys::device_attribute(device, DeviceAttribute::MULTIPROCESSOR_COUNT);
    if let Ok(multiprocessors) = multiprocessors {
        let kernels = if multiprocessors == GUESSED_MULTIPROCESSORS { guessed } else { kernels(multiprocessors) };
        Target { known, capability: gpu.compute_capability, driver }.compile(&kernels);
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

/// Returns the compiled code of `kernel`, or `None` if there is none. Compiles the kernel if necessary.
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

/// The modules of a program, and the GPU and driver for which these modules are compiled.
pub(super) struct Target {
    pub(super) known: &'static [PtxModule],
    pub(super) capability: (u32, u32),
    pub(super) driver: CudaVersion,
}

impl Target {
    /// Returns the best image that contains `kernel` and that the driver supports.
    fn image(&self, kernel: &'static KernelInfo) -> Option<&'static PtxImage> {
        let images = self.known[module::find(self.known, kernel.module)?].images_for(self.capability);
        images.into_iter().find(|image| image.needs().is_none_or(|need| need <= self.driver))
    }

    /// Compiles those of `kernels` that are not compiled yet and whose PTX can be extracted from their module. Launches
    /// with tables cannot use this code. Each kernel is compiled separately, so that it can be launched as soon as it
    /// is ready. Several kernels are compiled at a time. Another thread may still be compiling some of them when this
    /// returns.
    pub(super) fn compile(&self, kernels: &[&'static KernelInfo]) {
        if !sys::has_libraries() {
            return;
        }
        let mut todo = Vec::new();
        for (image, names) in by_image(kernels.iter().filter_map(|kernel| Some((self.image(kernel)?, kernel.name)))) {
            let begun: Vec<_> = names.into_iter().filter_map(|name| Begun::new(image, name)).collect();
            let names: Vec<_> = begun.iter().map(|begun| begun.name).collect();
            todo.extend(begun.into_iter().zip(image.own_texts(&names)));
        }
        // The longest text is compiled first.
        todo.sort_by_key(|(_, text)| Reverse(text.as_ref().map_or(0, |text| text.len())));
        let threads = thread::available_parallelism().map_or(1, usize::from).min(todo.len());
        let todo = Mutex::new(todo.into_iter());
        let next = || todo.lock().unwrap_or_else(PoisonError::into_inner).next();
        let work = || {
            while let Some((begun, text)) = next() {
                begun.fill(text);
            }
        };
        thread::scope(|scope| {
            for _ in 1..threads {
                // If a thread cannot be started, the others do its work.
                let _ = thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
    }
}

/// The owner of a slot that is not set yet. Dropping the owner sets an empty slot to `None`.
struct Begun {
    name: &'static str,
    slot: Slot,
}

impl Begun {
    /// Claims the slot of a kernel, or returns `None` if it already has an owner.
    fn new(image: &'static PtxImage, name: &'static str) -> Option<Self> {
        let mut slots = SLOTS.lock().unwrap_or_else(PoisonError::into_inner);
        match slots.entry((address(image), name)) {
            Entry::Occupied(_) => None,
            Entry::Vacant(place) => Some(Self { name, slot: place.insert(Slot::default()).clone() }),
        }
    }

    /// Compiles `text`, the PTX that contains only this kernel, and sets the slot.
    fn fill(self, text: Option<Arc<str>>) {
        let compile = |text: Arc<str>| {
            let name = CString::new(self.name).ok()?;
            let library = sys::load_library(&CString::new(&*text).ok()?)?;
            Some(Compiled { library, name, text })
        };
        let _ = self.slot.set(text.and_then(compile));
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        let _ = self.slot.set(None);
    }
}
