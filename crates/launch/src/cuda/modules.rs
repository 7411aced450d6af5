//! The loaded kernels of a GPU. The driver compiles each kernel when it is first used: separately or, if the kernel
//! uses statics, with its whole module. If the module has machine code for the GPU, all its kernels are loaded from
//! this machine code at once. Kernels are kept until the device is dropped.

use std::collections::HashMap;
use std::ffi::CString;
use std::sync::{Mutex, PoisonError};

use cuda_std::{DeviceStatic, KernelInfo, LaunchConfig};

use super::code::{self, Target};
use super::context::Context;
use super::kernels::{KernelTable, Key, LoadedKernel};
use super::sys::{self, CUfunction, CUmodule, Code, FunctionAttribute};
use crate::error::{Error, Launched};
use crate::limits::{Limits, check};
use crate::module::{self, PtxImage, PtxModule};
use crate::properties::KernelResources;
use crate::ptx::{self, Traits};

/// The loaded modules and kernels of a device.
pub(super) struct Modules {
    target: Target,
    /// The loaded modules. The lock of this field also protects every change of a kernel.
    loaded: Mutex<Loaded>,
    kernels: KernelTable,
}

/// A kernel to be loaded with its tables into a context, which must be current.
#[derive(Clone, Copy)]
struct Wanted<'a> {
    context: &'a Context,
    kernel: &'static KernelInfo,
    tables: &'static [u8],
}

/// The modules that are loaded into the context.
#[derive(Default)]
struct Loaded {
    /// The modules that are loaded with their statics, by their index in the known modules.
    whole: HashMap<usize, LoadedModule>,
    /// The modules that are loaded from machine code, by their index. `None` if the driver refused the code.
    machine_code: HashMap<usize, Option<LoadedModule>>,
    /// The modules that are loaded with a single kernel each.
    alone: Vec<LoadedModule>,
}

struct LoadedModule(CUmodule);

// SAFETY: any thread in which the context is current may use the module's handle.
unsafe impl Send for LoadedModule {}

impl Drop for LoadedModule {
    fn drop(&mut self) {
        // SAFETY: the kernels of the module are not used afterwards. If the context is lost, the driver refuses the
        // call.
        let _ = unsafe { sys::unload_module(self.0) };
    }
}

impl Modules {
    pub(super) fn new(target: Target) -> Self {
        Self { target, loaded: Mutex::default(), kernels: KernelTable::new() }
    }

    /// Unloads all modules. The context must be current.
    pub(super) fn clear(&mut self) {
        self.kernels = KernelTable::new();
        *self.loaded.get_mut().unwrap_or_else(PoisonError::into_inner) = Loaded::default();
    }

    /// Loads `kernel` and checks `config` against the limits. The context must be current.
    #[inline]
    pub(super) fn prepare(
        &self,
        context: &Context,
        kernel: &'static KernelInfo,
        config: LaunchConfig,
        limits: &Limits,
    ) -> Result<&LoadedKernel, Error> {
        let loaded = self.kernel(context, kernel, config.tables)?;
        check(limits, kernel, config, Some(loaded.max_threads), loaded.static_shared)?;
        if loaded.lacks_tables {
            return Err(missing_table(kernel, config, 0));
        }
        self.allow_dynamic_shared(context, kernel, loaded, config.shared_bytes)?;
        Ok(loaded)
    }

    /// Raises the kernel's limit of dynamic shared memory to `bytes` if it is lower.
    fn allow_dynamic_shared(
        &self,
        context: &Context,
        kernel: &'static KernelInfo,
        loaded: &LoadedKernel,
        bytes: u32,
    ) -> Result<(), Error> {
        if loaded.allows_dynamic_shared(bytes) {
            return Ok(());
        }
        let _alone = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        loaded.allow_dynamic_shared(context, kernel, bytes)
    }

    /// Returns the numbers of registers and bytes of memory that the kernel uses. The context must be current.
    pub(super) fn resources(&self, context: &Context, kernel: &'static KernelInfo) -> Result<KernelResources, Error> {
        use FunctionAttribute as A;
        let loaded = self.kernel(context, kernel, &[])?;
        // SAFETY: the module is loaded.
        let read = |attribute| unsafe { sys::function_attribute(loaded.function, attribute) };
        let resources = || {
            Ok(KernelResources {
                registers: read(A::NUM_REGS)?,
                static_shared_bytes: loaded.static_shared,
                local_bytes: read(A::LOCAL_SIZE_BYTES)?,
                constant_bytes: read(A::CONST_SIZE_BYTES)?,
                max_threads_per_block: loaded.max_threads,
                ptx_arch: read(A::PTX_VERSION)?,
                binary_arch: read(A::BINARY_VERSION)?,
            })
        };
        resources().map_err(|code: Code| context.error(code, || format!("describe the kernel `{}`", kernel.name), ""))
    }

    /// Returns how many blocks of the kernel a multiprocessor holds at once. The context must be current.
    pub(super) fn blocks_per_sm(
        &self,
        context: &Context,
        kernel: &'static KernelInfo,
        threads: u32,
        shared_bytes: u32,
    ) -> Result<u32, Error> {
        let loaded = self.kernel(context, kernel, &[])?;
        self.allow_dynamic_shared(context, kernel, loaded, shared_bytes)?;
        // SAFETY: the module is loaded.
        unsafe { sys::blocks_per_sm(loaded.function, threads, shared_bytes) }
            .map_err(|code| context.error(code, || format!("find the occupancy of `{}`", kernel.name), ""))
    }

    /// Returns `kernel`, loaded with these tables. Only the first use of a kernel locks, allocates or calls the driver.
    #[inline]
    fn kernel(
        &self,
        context: &Context,
        kernel: &'static KernelInfo,
        tables: &'static [u8],
    ) -> Result<&LoadedKernel, Error> {
        match self.kernels.find(Key::new(kernel, tables)) {
            Some(loaded) => Ok(loaded),
            None => self.first_use(Wanted { context, kernel, tables }),
        }
    }

    #[cold]
    fn first_use(&self, wanted: Wanted<'_>) -> Result<&LoadedKernel, Error> {
        // The lock is not held while the driver compiles.
        let (module, kernel) = self.load(wanted)?;
        let mut modules = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        // If another thread has loaded the kernel meanwhile, the module of that thread is kept, and `module` is
        // dropped.
        if let Some(loaded) = self.kernels.find(kernel.key) {
            return Ok(loaded);
        }
        modules.alone.extend(module);
        Ok(self.kernels.insert(kernel))
    }

    /// Loads the wanted kernel. Also returns the module that contains only this kernel, if such a module was loaded
    /// into this context.
    fn load(&self, wanted: Wanted<'_>) -> Result<(Option<LoadedModule>, LoadedKernel), Error> {
        let Wanted { context, kernel, tables } = wanted;
        if tables.is_empty()
            && let Some((module, image)) = self.machine_code(context, self.module_index(kernel.name, kernel.module)?)?
        {
            let text = image.outline().and_then(|outline| outline.part(&[kernel.name]));
            return Ok((None, self.find_in(wanted, module, text.as_deref().map(Traits::of).unwrap_or_default())?));
        }
        if tables.is_empty()
            && let Some(code) = code::of(&self.target, kernel)
            && let Some(function) = code.function()
        {
            return Ok((None, describe(wanted, function, code.traits)?));
        }
        let index = self.module_index(kernel.name, kernel.module)?;
        let known = &self.target.known[index];
        let part = |image: &'static PtxImage| image.outline()?.part(&[kernel.name]);
        let alone = |image: &'static PtxImage| match part(image) {
            Some(text) if tables.is_empty() => Ok(Some(text)),
            Some(text) => {
                let missing = |index| missing_table(kernel, LaunchConfig::new(1, 1).tables(tables), index);
                ptx::with_tables(&text, tables).map(Some).map_err(missing)
            }
            None if Traits::of(&image.shared_text()).has_placeholders && !tables.is_empty() => {
                let reason = "tables need a kernel without statics, in PTX without debugging information: build it \
                    without both, or launch it without tables"
                    .to_owned();
                Err(Error::InvalidLaunch { launch: Launched::new(kernel, LaunchConfig::new(1, 1)), reason })
            }
            None => Ok(None),
        };
        let Some((module, text)) = self.compile(context, known, alone)? else {
            let module = self.whole(context, index)?;
            return Ok((None, self.find_in(wanted, module, Traits::default())?));
        };
        let kernel = self.find_in(wanted, module.0, Traits::of(&text))?;
        Ok((Some(module), kernel))
    }

    /// Returns the module at `index`, loaded from machine code, and the image that has it. Returns `None` if there is
    /// no machine code for this GPU, or if the driver refuses it.
    fn machine_code(&self, context: &Context, index: usize) -> Result<Option<(CUmodule, &'static PtxImage)>, Error> {
        let Some((image, code)) = self.target.machine_code(index) else { return Ok(None) };
        let mut modules = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(module) = modules.machine_code.get(&index) {
            return Ok(module.as_ref().map(|module| (module.0, image)));
        }
        let module = match sys::load_machine_code(code) {
            Ok(module) => Some(LoadedModule(module)),
            Err(code) if code.loses_context() || code == Code::OUT_OF_MEMORY => {
                let path = self.target.known[index].path;
                return Err(context.error(code, || format!("load the machine code of `{path}`"), ""));
            }
            Err(_) => None,
        };
        let module = modules.machine_code.entry(index).or_insert(module);
        Ok(module.as_ref().map(|module| (module.0, image)))
    }

    /// Finds the wanted kernel in `module`. `traits` are the properties of this kernel's text, or the default if the
    /// whole module was loaded.
    fn find_in(&self, wanted: Wanted<'_>, module: CUmodule, traits: Traits) -> Result<LoadedKernel, Error> {
        let Wanted { context, kernel, .. } = wanted;
        let what = || format!("find the kernel `{}` of `{}` in the PTX", kernel.name, kernel.module);
        let remedy = "build the PTX again from this program's sources; it has the kernels of a library only if the \
            crate that it is built from uses the library: write `pub use library;` there, with the library's name";
        let function = match CString::new(kernel.name) {
            // SAFETY: the module is loaded.
            Ok(name) => unsafe { sys::function(module, &name) }.map_err(|code| context.error(code, what, remedy))?,
            Err(_) => return Err(context.error(Code::NOT_FOUND, what, remedy)),
        };
        describe(wanted, function, traits)
    }

    /// Compiles the kernels as [`Target::compile_ahead`] does.
    pub(super) fn compile_together(&self, kernels: &[&'static KernelInfo]) {
        self.target.compile_ahead(kernels);
    }

    /// Compiles all kernels as [`Target::compile_all`] does.
    pub(super) fn compile_all(&self) {
        self.target.compile_all();
    }

    /// Returns the index of the module that contains `name`, which is declared in the Rust module `declared_in`.
    fn module_index(&self, name: &'static str, declared_in: &'static str) -> Result<usize, Error> {
        module::find(self.target.known, declared_in).ok_or(Error::NoModule { kernel: name, module: declared_in })
    }

    /// Returns the module at `index`, loaded with all statics and the kernels that use them. Loads it if necessary. If
    /// the PTX has debugging information, all kernels are loaded.
    fn whole(&self, context: &Context, index: usize) -> Result<CUmodule, Error> {
        if let Some((module, _)) = self.machine_code(context, index)? {
            return Ok(module);
        }
        let mut modules = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(module) = modules.whole.get(&index) {
            return Ok(module.0);
        }
        let known = &self.target.known[index];
        let part = |image: &'static PtxImage| image.outline().and_then(|outline| outline.part_with_statics());
        let text = |image| Ok(Some(part(image).unwrap_or_else(|| image.shared_text().to_string())));
        let module = self.compile(context, known, text)?;
        let (module, _) = module.ok_or(Error::NoModule { kernel: "", module: known.path })?;
        Ok(modules.whole.entry(index).or_insert(module).0)
    }

    /// Returns the address of the static variable `of`. The context must be current.
    pub(super) fn static_address(&self, context: &Context, of: &'static DeviceStatic) -> Result<u64, Error> {
        let index = self.module_index(of.name, of.module)?;
        let module = self.whole(context, index)?;
        // SAFETY: the module is loaded.
        let found = CString::new(of.symbol).ok().map(|symbol| unsafe { sys::global(module, &symbol) });
        match found.unwrap_or(Err(Code::NOT_FOUND)) {
            Ok((address, bytes)) if bytes == of.bytes => Ok(address),
            Ok(_) => Err(Code::NOT_FOUND),
            Err(code) => Err(code),
        }
        .map_err(|code| {
            let what = || format!("find the static `{}` of `{}` in the PTX", of.name, of.module);
            context.error(code, what, "the PTX was not built from this program's sources: build it again")
        })
    }

    /// Compiles and loads the best image of `module` that the driver supports. The function `part` returns the
    /// text of the image to compile. Returns the loaded module and this text, or `None` if `part` returns `None`.
    fn compile(
        &self,
        context: &Context,
        module: &PtxModule,
        mut part: impl FnMut(&'static PtxImage) -> Result<Option<String>, Error>,
    ) -> Result<Option<(LoadedModule, String)>, Error> {
        let images = module.images_for(module::arch(self.target.capability));
        for &image in &images {
            if image.needs().is_some_and(|need| need > self.target.driver) {
                continue;
            }
            let Some(text) = part(image)? else { return Ok(None) };
            let error = |code: Code, log: String| {
                let (name, text) = code.explain();
                Error::Jit { module: module.path, arch: image.arch, code: code.0, name, text, log }
            };
            // A zero byte inside the text would end it early.
            let Ok(ptx) = CString::new(text) else {
                return Err(error(Code::INVALID_PTX, "the PTX contains a zero byte: build it again".to_owned()));
            };
            match sys::load_module(&ptx, self.target.driver) {
                Ok(module) => return Ok(Some((LoadedModule(module), ptx.into_string().unwrap_or_default()))),
                Err((Code::UNSUPPORTED_PTX_VERSION, _)) => {}
                Err((code, _)) if code.loses_context() || code == Code::OUT_OF_MEMORY => {
                    return Err(context.error(code, || format!("load the PTX of `{}`", module.path), ""));
                }
                Err((code, log)) => return Err(error(code, log)),
            }
        }
        let need = images.iter().filter_map(|image| image.needs()).filter(|&need| need > self.target.driver).min();
        Err(Error::PtxTooNew { module: module.path, have: self.target.driver, need })
    }
}

/// Returns those properties of the loaded kernel `function` that a launch needs. `traits` are the properties of this
/// kernel's text, or the default if the whole module was loaded.
fn describe(wanted: Wanted<'_>, function: CUfunction, traits: Traits) -> Result<LoadedKernel, Error> {
    let Wanted { context, kernel, tables } = wanted;
    let read = |attribute| {
        // SAFETY: the function's module or library is loaded.
        unsafe { sys::function_attribute(function, attribute) }
            .map_err(|code| context.error(code, || format!("describe the kernel `{}`", kernel.name), ""))
    };
    Ok(LoadedKernel {
        key: Key::new(kernel, tables),
        function,
        max_threads: read(FunctionAttribute::MAX_THREADS_PER_BLOCK)?,
        static_shared: read(FunctionAttribute::SHARED_SIZE_BYTES)?,
        lacks_tables: tables.is_empty() && traits.has_placeholders,
        waits: traits.waits,
        dynamic_shared: read(FunctionAttribute::MAX_DYNAMIC_SHARED_SIZE_BYTES)?.into(),
    })
}

/// Returns the error for a launch without the table `index`, which `kernel` needs.
fn missing_table(kernel: &'static KernelInfo, config: LaunchConfig, index: usize) -> Error {
    let reason = simt::thread::missing_table(index, config.tables.len());
    Error::InvalidLaunch { launch: Launched::new(kernel, config), reason }
}
