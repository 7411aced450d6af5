//! The kernels of a GPU: the driver compiles each when it is first used, by itself or, if it uses statics, with its
//! whole module. They are kept until the device is dropped.

use std::collections::HashMap;
use std::ffi::CString;
use std::sync::{Mutex, PoisonError};

use cuda_std::{DeviceStatic, KernelInfo, LaunchConfig};
use cust::sys::{CUfunction, CUmodule};

use super::code::{self, Target};
use super::context::Context;
use super::kernels::{KernelTable, Key, LoadedKernel};
use super::sys::{self, Code, FunctionAttribute};
use crate::error::{Error, Launched};
use crate::limits::Limits;
use crate::module::{self, PtxModule};
use crate::properties::KernelResources;
use crate::ptx;
use crate::version::CudaVersion;

/// The kernels of a device.
pub(super) struct Modules {
    target: Target,
    /// Who keeps a module or a kernel, or changes one, has the lock.
    loaded: Mutex<Loaded>,
    kernels: KernelTable,
}

/// The modules that are loaded.
#[derive(Default)]
struct Loaded {
    /// The whole ones, by place in the known ones.
    whole: HashMap<usize, LoadedModule>,
    /// Those of single kernels, or of a few.
    alone: Vec<LoadedModule>,
}

struct LoadedModule(CUmodule);

// SAFETY: a module is a handle that any thread may use in which its context is current.
unsafe impl Send for LoadedModule {}

impl Drop for LoadedModule {
    fn drop(&mut self) {
        // SAFETY: the kernels of the module go with it. That the context may be lost, or its module with it, is no harm.
        let _ = unsafe { sys::unload_module(self.0) };
    }
}

impl Modules {
    pub(super) fn new(known: &'static [PtxModule], capability: (u32, u32), driver: CudaVersion) -> Self {
        let target = Target { known, capability, driver };
        Self { target, loaded: Mutex::default(), kernels: KernelTable::new() }
    }

    /// Unloads everything. The context must be current.
    pub(super) fn clear(&mut self) {
        self.kernels = KernelTable::new();
        *self.loaded.get_mut().unwrap_or_else(PoisonError::into_inner) = Loaded::default();
    }

    /// `kernel`, ready for a launch of `config`, if that is within the limits. The context must be current.
    #[inline]
    pub(super) fn prepare(
        &self,
        context: &Context,
        kernel: &'static KernelInfo,
        config: LaunchConfig,
        limits: &Limits,
    ) -> Result<&LoadedKernel, Error> {
        let loaded = self.kernel(context, kernel, config.tables)?;
        limits.check(kernel, config, Some(loaded.max_threads), loaded.static_shared)?;
        if loaded.lacks_tables {
            return Err(missing_table(kernel, config, 0));
        }
        self.allow_dynamic_shared(context, kernel, loaded, config.shared_bytes)?;
        Ok(loaded)
    }

    /// Lets a block have that much dynamic shared memory, where it must be asked for.
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

    /// What the kernel takes. The context must be current.
    pub(super) fn resources(&self, context: &Context, kernel: &'static KernelInfo) -> Result<KernelResources, Error> {
        use FunctionAttribute as A;
        let loaded = self.kernel(context, kernel, &[])?;
        // SAFETY: the module is loaded.
        let read = |attribute| unsafe { sys::function_attribute(loaded.function, attribute) };
        let resources = || {
            Ok(KernelResources {
                registers: read(A::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
                static_shared_bytes: loaded.static_shared,
                local_bytes: read(A::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
                constant_bytes: read(A::CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES)?,
                max_threads_per_block: loaded.max_threads,
                ptx_arch: read(A::CU_FUNC_ATTRIBUTE_PTX_VERSION)?,
                binary_arch: read(A::CU_FUNC_ATTRIBUTE_BINARY_VERSION)?,
            })
        };
        resources().map_err(|code: Code| context.error(code, || format!("describe the kernel `{}`", kernel.name), ""))
    }

    /// Blocks of the kernel that an SM holds at once. The context must be current.
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

    /// `kernel`, loaded, with these tables. Only its first use takes a lock, allocates or asks the driver.
    #[inline]
    fn kernel(
        &self,
        context: &Context,
        kernel: &'static KernelInfo,
        tables: &'static [u8],
    ) -> Result<&LoadedKernel, Error> {
        match self.kernels.find(Key::new(kernel, tables)) {
            Some(loaded) => Ok(loaded),
            None => self.first_use(context, kernel, tables),
        }
    }

    #[cold]
    fn first_use(
        &self,
        context: &Context,
        kernel: &'static KernelInfo,
        tables: &'static [u8],
    ) -> Result<&LoadedKernel, Error> {
        // Without the lock, which a launch of what is loaded does not take anyway.
        let (module, kernel) = self.load(context, kernel, tables)?;
        let mut modules = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have been first; then its module stays, and this one goes.
        if let Some(loaded) = self.kernels.find(kernel.key()) {
            return Ok(loaded);
        }
        modules.alone.extend(module);
        Ok(self.kernels.insert(kernel))
    }

    /// `kernel`, and the module that it is alone in, if it has one of its own in this context.
    fn load(
        &self,
        context: &Context,
        kernel: &'static KernelInfo,
        tables: &'static [u8],
    ) -> Result<(Option<LoadedModule>, LoadedKernel), Error> {
        if tables.is_empty()
            && let Some(code) = code::of(&self.target, kernel)
            && let Some(function) = code.function()
        {
            return Ok((None, describe(context, function, kernel, tables, &code.text)?));
        }
        let place = self.place(kernel.name, kernel.module)?;
        let known = &self.target.known[place];
        let alone = |text: &str| match ptx::entries_alone(text, &[kernel.name]) {
            Some(text) if tables.is_empty() => Ok(Some(text)),
            Some(text) => {
                let missing = |index| missing_table(kernel, LaunchConfig::new(1, 1).tables(tables), index);
                ptx::with_tables(&text, tables).map(Some).map_err(missing)
            }
            None if ptx::asks_for_tables(text) && !tables.is_empty() => {
                let reason =
                    "tables are for kernels that use no statics, in PTX without debugging information".to_owned();
                Err(Error::InvalidLaunch { launch: Launched::new(kernel, LaunchConfig::new(1, 1)), reason })
            }
            None => Ok(None),
        };
        let Some((module, text)) = self.compile(context, known, alone)? else {
            let module = self.whole(context, place)?;
            return Ok((None, self.find_in(context, module, kernel, tables, "")?));
        };
        let kernel = self.find_in(context, module.0, kernel, tables, &text)?;
        Ok((Some(module), kernel))
    }

    /// `kernel` in `module`, of which `text` is its own part; none where that is the whole module.
    fn find_in(
        &self,
        context: &Context,
        module: CUmodule,
        kernel: &'static KernelInfo,
        tables: &'static [u8],
        text: &str,
    ) -> Result<LoadedKernel, Error> {
        let path = self.target.known[self.place(kernel.name, kernel.module)?].path;
        let what = || format!("find the kernel `{}` in the PTX of `{path}`", kernel.name);
        let remedy = "the PTX is not of this program's sources: build it again";
        let function = match CString::new(kernel.name) {
            // SAFETY: the module is loaded.
            Ok(name) => unsafe { sys::function(module, &name) }.map_err(|code| context.error(code, what, remedy))?,
            Err(_) => return Err(context.error(Code::NOT_FOUND, what, remedy)),
        };
        describe(context, function, kernel, tables, text)
    }

    /// As [`Target::compile`].
    pub(super) fn compile_together(&self, kernels: &[&'static KernelInfo]) {
        self.target.compile(kernels);
    }

    /// The place of the module of `name`, which is declared in the Rust module `declared_in`.
    fn place(&self, name: &'static str, declared_in: &'static str) -> Result<usize, Error> {
        module::find(self.target.known, declared_in).ok_or(Error::NoModule { kernel: name, module: declared_in })
    }

    /// The module at `place`, with all that is in it. Loads it if it is not loaded.
    fn whole(&self, context: &Context, place: usize) -> Result<CUmodule, Error> {
        let mut modules = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(module) = modules.whole.get(&place) {
            return Ok(module.0);
        }
        let known = &self.target.known[place];
        let module = self.compile(context, known, |text| Ok(Some(text.to_owned())))?;
        let (module, _) = module.ok_or(Error::NoModule { kernel: "", module: known.path })?;
        Ok(modules.whole.entry(place).or_insert(module).0)
    }

    /// The address of a static. The context must be current.
    pub(super) fn static_address(&self, context: &Context, of: &'static DeviceStatic) -> Result<u64, Error> {
        let place = self.place(of.name, of.module)?;
        let (module, path) = (self.whole(context, place)?, self.target.known[place].path);
        // SAFETY: the module is loaded.
        let found = CString::new(of.symbol).ok().map(|symbol| unsafe { sys::global(module, &symbol) });
        match found.unwrap_or(Err(Code::NOT_FOUND)) {
            Ok((address, bytes)) if bytes == of.bytes => Ok(address),
            Ok(_) => Err(Code::NOT_FOUND),
            Err(code) => Err(code),
        }
        .map_err(|code| {
            let what = || format!("find the static `{}` in the PTX of `{path}`", of.name);
            context.error(code, what, "the PTX is not of this program's sources: build it again")
        })
    }

    /// Compiles the best image of `module` that the driver reads: what `part` gives of it, which is returned as well. None where that
    /// is None.
    fn compile(
        &self,
        context: &Context,
        module: &PtxModule,
        mut part: impl FnMut(&str) -> Result<Option<String>, Error>,
    ) -> Result<Option<(LoadedModule, String)>, Error> {
        let images = module.images_for(self.target.capability);
        for image in &images {
            if image.needs().is_some_and(|need| need > self.target.driver) {
                continue;
            }
            let Some(text) = part(&image.shared_text())? else { return Ok(None) };
            let error = |code: Code, log: String| {
                let (name, text) = code.explain();
                Error::Jit { module: module.path, arch: image.arch, code: code.0, name, text, log }
            };
            // A zero inside the text would end it early.
            let Ok(ptx) = CString::new(text) else {
                return Err(error(Code::INVALID_PTX, "the text of the PTX has a zero byte in it".to_owned()));
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

/// `function`, which is `kernel` with these tables, with all that a launch asks of it. `text` is the kernel's own part of its module; none
/// where that is the whole module. The context must be current.
fn describe(
    context: &Context,
    function: CUfunction,
    kernel: &'static KernelInfo,
    tables: &'static [u8],
    text: &str,
) -> Result<LoadedKernel, Error> {
    let read = |attribute| {
        // SAFETY: the function's module or library is loaded.
        unsafe { sys::function_attribute(function, attribute) }
            .map_err(|code| context.error(code, || format!("describe the kernel `{}`", kernel.name), ""))
    };
    let mut loaded = LoadedKernel::new(
        Key::new(kernel, tables),
        function,
        read(FunctionAttribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
        read(FunctionAttribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
        read(FunctionAttribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)?,
    );
    loaded.lacks_tables = tables.is_empty() && ptx::asks_for_tables(text);
    loaded.waits = ptx::waits_for_dependencies(text);
    Ok(loaded)
}

/// That `kernel` asks for table `index`, which the launch does not give.
fn missing_table(kernel: &'static KernelInfo, config: LaunchConfig, index: usize) -> Error {
    let reason = simt::thread::missing_table(index, config.tables.len());
    Error::InvalidLaunch { launch: Launched::new(kernel, config), reason }
}
