//! PTX modules on a GPU: compiled by the driver when a kernel of theirs is first used, and kept.

use std::collections::HashMap;
use std::ffi::CString;
use std::sync::{Mutex, PoisonError};

use cuda_std::{DeviceStatic, KernelInfo, LaunchConfig};
use cust::sys::{CUfunction, CUmodule};

use super::context::Context;
use super::kernels::{KernelTable, LoadedKernel};
use super::sys::{self, Code, FunctionAttribute};
use crate::error::Error;
use crate::limits::Limits;
use crate::module::{self, PtxModule};
use crate::properties::KernelResources;
use crate::version::CudaVersion;

/// The kernels of a device.
pub(super) struct Modules {
    known: &'static [PtxModule],
    capability: (u32, u32),
    driver: CudaVersion,
    /// The modules, by place in the known ones. Who loads a module or a kernel, or changes one, has the lock.
    loaded: Mutex<HashMap<usize, LoadedModule>>,
    kernels: KernelTable,
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
        Self { known, capability, driver, loaded: Mutex::default(), kernels: KernelTable::new() }
    }

    /// Unloads everything. The context must be current.
    pub(super) fn clear(&mut self) {
        self.kernels = KernelTable::new();
        self.loaded.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// `kernel`, ready for a launch of `config`, if that is within the limits. The context must be current.
    #[inline]
    pub(super) fn prepare(
        &self,
        context: &Context,
        kernel: &'static KernelInfo,
        config: LaunchConfig,
        limits: &Limits,
    ) -> Result<CUfunction, Error> {
        let loaded = self.kernel(context, kernel)?;
        limits.check(kernel, config, Some(loaded.max_threads), loaded.static_shared)?;
        self.allow_dynamic_shared(context, kernel, loaded, config.shared_bytes)?;
        Ok(loaded.function)
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
        let loaded = self.kernel(context, kernel)?;
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
        let loaded = self.kernel(context, kernel)?;
        self.allow_dynamic_shared(context, kernel, loaded, shared_bytes)?;
        // SAFETY: the module is loaded.
        unsafe { sys::blocks_per_sm(loaded.function, threads, shared_bytes) }
            .map_err(|code| context.error(code, || format!("find the occupancy of `{}`", kernel.name), ""))
    }

    /// `kernel`, loaded. Only its first use takes a lock, allocates or asks the driver.
    #[inline]
    fn kernel(&self, context: &Context, kernel: &'static KernelInfo) -> Result<&LoadedKernel, Error> {
        match self.kernels.find(kernel) {
            Some(loaded) => Ok(loaded),
            None => self.first_use(context, kernel),
        }
    }

    #[cold]
    fn first_use(&self, context: &Context, kernel: &'static KernelInfo) -> Result<&LoadedKernel, Error> {
        let mut modules = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have been first.
        match self.kernels.find(kernel) {
            Some(loaded) => Ok(loaded),
            None => Ok(self.kernels.insert(self.load(context, &mut modules, kernel)?)),
        }
    }

    fn load(
        &self,
        context: &Context,
        modules: &mut HashMap<usize, LoadedModule>,
        kernel: &'static KernelInfo,
    ) -> Result<LoadedKernel, Error> {
        let (module, path) = self.module(context, modules, kernel.name, kernel.module)?;
        let what = || format!("find the kernel `{}` in the PTX of `{path}`", kernel.name);
        let remedy = "the PTX is not of this program's sources: build it again";
        let function = match CString::new(kernel.name) {
            // SAFETY: the module is loaded.
            Ok(name) => unsafe { sys::function(module, &name) }.map_err(|code| context.error(code, what, remedy))?,
            Err(_) => return Err(context.error(Code::NOT_FOUND, what, remedy)),
        };
        let read = |attribute| {
            // SAFETY: the module is loaded.
            unsafe { sys::function_attribute(function, attribute) }
                .map_err(|code| context.error(code, || format!("describe the kernel `{}`", kernel.name), ""))
        };
        Ok(LoadedKernel::new(
            kernel,
            function,
            read(FunctionAttribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            read(FunctionAttribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
            read(FunctionAttribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)?,
        ))
    }

    /// The module of `name`, which is declared in the Rust module `declared_in`, and the module's path. Loads it if it is not
    /// loaded.
    fn module(
        &self,
        context: &Context,
        modules: &mut HashMap<usize, LoadedModule>,
        name: &'static str,
        declared_in: &'static str,
    ) -> Result<(CUmodule, &'static str), Error> {
        let missing = Error::NoModule { kernel: name, module: declared_in };
        let place = module::find(self.known, declared_in).ok_or(missing)?;
        let module = match modules.get(&place) {
            Some(module) => module.0,
            None => {
                let module = self.compile(context, &self.known[place])?;
                modules.insert(place, LoadedModule(module));
                module
            }
        };
        Ok((module, self.known[place].path))
    }

    /// The address of a static. The context must be current.
    pub(super) fn static_address(&self, context: &Context, of: &'static DeviceStatic) -> Result<u64, Error> {
        let mut modules = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let (module, path) = self.module(context, &mut modules, of.name, of.module)?;
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

    /// Compiles the best image of `module` that the driver reads.
    fn compile(&self, context: &Context, module: &PtxModule) -> Result<CUmodule, Error> {
        let images = module.images_for(self.capability);
        for image in &images {
            if image.needs().is_some_and(|need| need > self.driver) {
                continue;
            }
            let error = |code: Code, log: String| {
                let (name, text) = code.explain();
                Error::Jit { module: module.path, arch: image.arch, code: code.0, name, text, log }
            };
            // A zero inside the text would end it early.
            let Ok(ptx) = CString::new(image.ptx) else {
                return Err(error(Code::INVALID_PTX, "the text of the PTX has a zero byte in it".to_owned()));
            };
            match sys::load_module(&ptx) {
                Ok(module) => return Ok(module),
                Err((Code::UNSUPPORTED_PTX_VERSION, _)) => {}
                Err((code, _)) if code.loses_context() || code == Code::OUT_OF_MEMORY => {
                    return Err(context.error(code, || format!("load the PTX of `{}`", module.path), ""));
                }
                Err((code, log)) => return Err(error(code, log)),
            }
        }
        let need = images.iter().filter_map(|image| image.needs()).filter(|&need| need > self.driver).min();
        Err(Error::PtxTooNew { module: module.path, have: self.driver, need })
    }
}
