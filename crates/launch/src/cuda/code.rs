//! Kernels that the driver has compiled for all contexts of this process, each once. It needs none for that: so a
//! kernel can be compiled before a context is made, or meanwhile, and copies and launches go on beside it.
//!
//! Drivers can do so from CUDA 12.0 on. Where one cannot, or a kernel does not compile, there is no code here: whoever
//! launches the kernel loads it as a module of its own context, and is told what is wrong.

use std::cmp::Reverse;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::ffi::CString;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;

use cuda_std::KernelInfo;
use cust::sys::CUfunction;

use super::discovery::find_usable;
use super::sys::{self, DeviceAttribute, Library};
use crate::module::{self, PtxImage, PtxModule};
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

/// Multiprocessors of a GPU that is not known yet: those of an H100 and an H200.
const GUESSED_MULTIPROCESSORS: u32 = 132;

/// Compiles what `kernels` gives for the multiprocessors of the GPU of that ordinal, if that can be used with the
/// modules.
pub(crate) fn compile(ordinal: u32, known: &'static [PtxModule], kernels: impl Fn(u32) -> Vec<&'static KernelInfo>) {
    if cuda_driver::load().is_err() {
        return;
    }
    // The driver takes longer to start than it takes to cut out these kernels' texts, of all images.
    let images_of = |module| module::find(known, module).map_or(&[][..], |place| known[place].images);
    let guessed = kernels(GUESSED_MULTIPROCESSORS);
    let places = guessed.iter().flat_map(|kernel| images_of(kernel.module).iter().map(|image| (image, kernel.name)));
    for (image, names) in by_image(places) {
        image.own_texts(&names);
    }
    let Ok((device, gpu, driver)) = find_usable(ordinal, known) else { return };
    let multiprocessors =
        sys::device_attribute(device.as_raw(), DeviceAttribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    if let Ok(multiprocessors) = multiprocessors {
        let kernels = if multiprocessors == GUESSED_MULTIPROCESSORS { guessed } else { kernels(multiprocessors) };
        Target { known, capability: gpu.compute_capability, driver }.compile(&kernels);
    }
}

/// The names of each image's kernels.
fn by_image(
    places: impl Iterator<Item = (&'static PtxImage, &'static str)>,
) -> impl Iterator<Item = (&'static PtxImage, Vec<&'static str>)> {
    let mut images = HashMap::<_, (_, Vec<_>)>::new();
    for (image, name) in places {
        images.entry(address(image)).or_insert((image, Vec::new())).1.push(name);
    }
    images.into_values()
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

    /// Compiles those of `kernels` that have not been, for launches without tables, as far as they can be had without
    /// the rest of their module: each by itself, so that it can be launched as soon as it is there, and several at the
    /// same time. Another thread may be about some of them still.
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
        // What takes longest begins first.
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
                // Without a further thread, the others do it.
                let _ = thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
    }
}

/// A slot that its owner fills, at the latest when it drops it.
struct Begun {
    name: &'static str,
    slot: Slot,
}

impl Begun {
    /// That of a kernel, unless it had an owner before.
    fn new(image: &'static PtxImage, name: &'static str) -> Option<Self> {
        let mut slots = SLOTS.lock().unwrap_or_else(PoisonError::into_inner);
        match slots.entry((address(image), name)) {
            Entry::Occupied(_) => None,
            Entry::Vacant(place) => Some(Self { name, slot: place.insert(Slot::default()).clone() }),
        }
    }

    /// Compiles the kernel, whose own text this is.
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
