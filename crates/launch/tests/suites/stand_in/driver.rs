//! The driver functions that `launch` calls, in host memory. The suites `gpu_*` compile them to `libcuda.so.1`.
//!
//! The stand-in driver checks the real driver's requirements (a current context, live memory, allowed shared memory),
//! compiles no PTX, and runs two kernels that it knows by name. The operations of a stream are executed when a caller
//! waits (`streams.rs`). A kernel named `fail` loses the context, as an illegal address does.
//!
//! Environment variables select the properties of the stand-in GPU:
//!
//! - `STAND_IN_VERSION`, `STAND_IN_CAPABILITY`, `STAND_IN_MULTIPROCESSORS`, `STAND_IN_PTX_ARCH`: properties that the
//!   driver reports;
//!   `STAND_IN_OPEN`: the result of opening the GPU;
//! - `STAND_IN_GPUS`: the number of GPUs; with `STAND_IN_PEERS=0` they cannot access each other's memory;
//! - `STAND_IN_STREAMS`: the number of streams that a caller can create;
//! - `STAND_IN_WAIT`: the result of waiting for a stream other than a device's own;
//! - `STAND_IN_WAIT_FOR_ALL`: the result of waiting for the context;
//! - `STAND_IN_LOG`: prints the operations of streams on standard error, and at the end the objects not freed;
//! - `STAND_IN_COMPILES`: prints the kernels and options of a compilation; `STAND_IN_COMPILE_TIME`: its milliseconds.
#![allow(non_snake_case, clippy::missing_safety_doc)]

use std::cell::Cell;
use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_void};
use std::mem;
use std::sync::{LazyLock, Mutex, MutexGuard};

use aligned::Aligned;
use codes::explain;
use graphs::Graphs;
use libraries::{compile, entries_of_machine_code};
use streams::{Operation, Streams, run};
mod aligned;
mod streams;

const MEMORY: usize = 1 << 30;
/// The number of GPU 0's context; other GPUs have the next numbers. A default stream has its context's number.
const CONTEXT: usize = 0x40_0000;
/// The maximum number of GPUs.
const MAX_GPUS: usize = 8;
/// The lowest number of a device's own stream. Synchronous calls wait for it. Callers' streams have lower numbers.
const FIRST_BLOCKING: usize = 0x57_0000;
/// The difference between the address of page-locked memory for kernels and its address for the host.
const MAPPED: u64 = 1 << 50;

const INVALID_VALUE: i32 = 1;
const OUT_OF_MEMORY: i32 = 2;
const INVALID_CONTEXT: i32 = 201;
const INVALID_PTX: i32 = 218;
const UNSUPPORTED_PTX_VERSION: i32 = 222;
const INVALID_HANDLE: i32 = 400;
const NOT_FOUND: i32 = 500;
const NOT_READY: i32 = 600;
const ILLEGAL_ADDRESS: i32 = 700;

#[derive(Default)]
struct State {
    /// The number of references to each GPU's context.
    retained: [u32; MAX_GPUS],
    /// The pairs of contexts in which the first may access the memory of the second.
    peers: Vec<(usize, usize)>,
    /// The result that every call returns after the context was lost, or 0 before.
    lost: i32,
    /// The allocated memory, each piece with its context.
    memory: HashMap<u64, (Aligned, usize)>,
    /// The page-locked memory, each piece with its flags.
    page_locked: HashMap<usize, (&'static mut [u8], u32)>,
    modules: HashMap<usize, String>,
    functions: HashMap<usize, Function>,
    /// The code that belongs to no context, and its kernels.
    libraries: HashMap<usize, String>,
    kernels: HashMap<usize, String>,
    streams: Streams,
    graphs: Graphs,
    next: usize,
}

struct Function {
    name: String,
    dynamic_shared: i32,
}

static STATE: LazyLock<Mutex<State>> = LazyLock::new(Mutex::default);

thread_local! {
    static CURRENT: Cell<usize> = const { Cell::new(0) };
}

fn number(variable: &str, default: i32) -> i32 {
    std::env::var(variable).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// Returns the driver's state if the calling thread has a current context that is not lost.
fn state() -> Result<MutexGuard<'static, State>, i32> {
    let state = STATE.lock().unwrap();
    match state.lost {
        _ if !state.exists(CURRENT.get()) => Err(INVALID_CONTEXT),
        0 => Ok(state),
        lost => Err(lost),
    }
}

impl State {
    fn exists(&self, context: usize) -> bool {
        context.checked_sub(CONTEXT).and_then(|gpu| self.retained.get(gpu)).is_some_and(|&retained| retained > 0)
    }

    fn add_function(&mut self, name: String) -> usize {
        self.next += 1;
        self.functions.insert(self.next, Function { name, dynamic_shared: (48 << 10) - 1024 });
        self.next
    }

    /// Returns the number of bytes that are allocated in the context.
    fn used(&self, context: usize) -> usize {
        self.memory.values().filter(|(_, owner)| *owner == context).map(|(bytes, _)| bytes.len()).sum()
    }

    /// Returns the context that owns the memory at `address`.
    fn owner(&self, address: u64) -> Option<usize> {
        let holds = |(start, (bytes, _)): &(&u64, &(Aligned, usize))| {
            (**start..**start + bytes.len() as u64).contains(&address)
        };
        self.memory.iter().find(holds).map(|(_, (_, owner))| *owner)
    }
}

fn answer(result: Result<(), i32>) -> i32 {
    result.err().unwrap_or(0)
}

fn log(line: &str) {
    if std::env::var_os("STAND_IN_LOG").is_some() {
        eprintln!("driver: {line}");
    }
}

/// Returns the `len` bytes that start at `address`, in an allocation or in mapped page-locked memory.
fn bytes_at(state: &mut State, address: u64, len: usize) -> Result<&mut [u8], i32> {
    if address >= MAPPED {
        let host = (address - MAPPED) as usize;
        let (start, (bytes, _)) = state
            .page_locked
            .iter_mut()
            .find(|(start, (bytes, flags))| *flags == 2 && (**start..**start + bytes.len()).contains(&host))
            .ok_or(INVALID_VALUE)?;
        return bytes.get_mut(host - start..).and_then(|bytes| bytes.get_mut(..len)).ok_or(INVALID_VALUE);
    }
    let (start, (bytes, _)) = state
        .memory
        .iter_mut()
        .find(|(start, (bytes, _))| (**start..**start + bytes.len() as u64).contains(&address))
        .ok_or(INVALID_VALUE)?;
    bytes.get_mut((address - start) as usize..).and_then(|bytes| bytes.get_mut(..len)).ok_or(INVALID_VALUE)
}

macro_rules! functions {
    ($($name:ident($($argument:ident: $type:ty),*) $body:block)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> i32 {
            #[allow(unused_unsafe)]
            answer((|| unsafe { $body })())
        }
    )*};
}

mod asynchronous;
mod clusters;
mod codes;
mod graphs;
mod heap;
mod libraries;
mod peers;

functions! {
    cuInit(_flags: u32) { Ok(()) }
    cuDriverGetVersion(version: *mut i32) { *version = number("STAND_IN_VERSION", 12040); Ok(()) }
    cuDeviceGetCount(count: *mut i32) { *count = number("STAND_IN_GPUS", 1); Ok(()) }
    cuDeviceGet(device: *mut i32, ordinal: i32) { *device = ordinal; Ok(()) }
    cuDeviceGetName(name: *mut c_char, len: i32, _device: i32) {
        let text = c"Stand-in GPU".to_bytes_with_nul();
        assert!(text.len() <= len as usize);
        name.copy_from(text.as_ptr().cast(), text.len());
        Ok(())
    }
    cuDeviceTotalMem_v2(bytes: *mut usize, _device: i32) { *bytes = MEMORY; Ok(()) }
    cuDeviceGetAttribute(value: *mut i32, attribute: i32, _device: i32) {
        let capability = number("STAND_IN_CAPABILITY", 90);
        *value = match attribute {
            1..=3 => 1024,
            4 => 64,
            5 => i32::MAX,
            6 | 7 => 65535,
            8 => 48 << 10,
            10 => 32,
            12 | 82 => 65536,
            13 => 1_980_000,
            16 => number("STAND_IN_MULTIPROCESSORS", 4),
            36 => 0,
            37 => 5120,
            38 => 50 << 20,
            39 => 2048,
            75 => capability / 10,
            76 => capability % 10,
            81 => 228 << 10,
            95 => 1,
            97 => 227 << 10,
            _ => return Err(INVALID_VALUE),
        };
        Ok(())
    }
    cuDevicePrimaryCtxRetain(context: *mut usize, device: i32) {
        match number("STAND_IN_OPEN", 0) {
            0 => {}
            code => return Err(code),
        }
        STATE.lock().unwrap().retained[device as usize] += 1;
        *context = CONTEXT + device as usize;
        Ok(())
    }
    cuDevicePrimaryCtxRelease_v2(device: i32) {
        let mut state = STATE.lock().unwrap();
        let retained = &mut state.retained[device as usize];
        *retained = retained.checked_sub(1).ok_or(INVALID_CONTEXT)?;
        if state.retained == [0; MAX_GPUS] {
            let (streams, events) = state.streams.counts();
            let (memory, page_locked) = (state.memory.len(), state.page_locked.len());
            assert!(state.lost != 0 || state.graphs.count() == 0, "a graph is left over");
            log(&format!("left: memory {memory}, page-locked {page_locked}, streams {streams}, events {events}"));
            // Objects that belong to no context are kept.
            let State { libraries, kernels, next, .. } = mem::take(&mut *state);
            *state = State { libraries, kernels, next, ..State::default() };
        }
        Ok(())
    }
    cuMemGetInfo_v2(free: *mut usize, total: *mut usize) {
        let used = state()?.used(CURRENT.get());
        (*free, *total) = (MEMORY - used, MEMORY);
        Ok(())
    }
    cuMemAlloc_v2(address: *mut u64, bytes: usize) {
        let mut state = state()?;
        let used = state.used(CURRENT.get());
        if bytes == 0 {
            return Err(INVALID_VALUE);
        }
        if bytes > MEMORY - used {
            return Err(OUT_OF_MEMORY);
        }
        let memory = Aligned::new(0x5A, bytes);
        *address = memory.as_ptr() as u64;
        state.memory.insert(*address, (memory, CURRENT.get()));
        Ok(())
    }
    cuMemFree_v2(address: u64) {
        let mut state = state()?;
        wait(&mut state)?;
        assert_eq!(state.owner(address), Some(CURRENT.get()), "memory is freed in another context");
        let (bytes, _) = state.memory.remove(&address).ok_or(INVALID_VALUE)?;
        assert!(!state.streams.are_to_copy(address, bytes.len() as u64), "memory is freed while it is copied");
        Ok(())
    }
    cuMemcpyHtoD_v2(to: u64, from: *const u8, bytes: usize) {
        let mut state = state()?;
        wait(&mut state)?;
        bytes_at(&mut state, to, bytes)?;
        state.streams.push_staged(to, std::slice::from_raw_parts(from, bytes));
        Ok(())
    }
    cuMemcpyDtoH_v2(to: *mut u8, from: u64, bytes: usize) {
        let mut state = state()?;
        wait(&mut state)?;
        to.copy_from(bytes_at(&mut state, from, bytes)?.as_ptr(), bytes);
        Ok(())
    }
    cuModuleLoadDataEx(
        module: *mut usize, image: *const c_char, count: u32, options: *const i32, values: *const *mut c_void
    ) {
        let mut state = state()?;
        let asked = if count == 0 { &[] } else { std::slice::from_raw_parts(options, count as usize) };
        let code = if count == 0 { Some(entries_of_machine_code(image)?) } else { None };
        let ptx = code.as_deref().unwrap_or_else(|| CStr::from_ptr(image).to_str().unwrap());
        if code.is_none()
            && let Err(code) = compile(ptx, asked)
        {
            if code != INVALID_PTX {
                return Err(code);
            }
            assert_eq!(asked, [5, 6]);
            let (log, size) = (*values, *values.add(1) as usize);
            let text = c"ptxas error: line 3: no such instruction".to_bytes_with_nul();
            assert!(text.len() <= size);
            log.cast::<u8>().copy_from(text.as_ptr(), text.len());
            return Err(code);
        }
        state.next += 1;
        *module = state.next;
        let key = state.next;
        state.modules.insert(key, ptx.to_owned());
        Ok(())
    }
    cuModuleUnload(module: usize) { state()?.modules.remove(&module).map(drop).ok_or(INVALID_HANDLE) }
    cuModuleGetFunction(function: *mut usize, module: usize, name: *const c_char) {
        let mut state = state()?;
        let name = CStr::from_ptr(name).to_str().unwrap().to_owned();
        if !state.modules.get(&module).ok_or(INVALID_HANDLE)?.contains(&format!(".entry {name}(")) {
            return Err(NOT_FOUND);
        }
        *function = state.add_function(name);
        Ok(())
    }
    cuFuncGetAttribute(value: *mut i32, attribute: i32, function: usize) {
        let state = state()?;
        let function = state.functions.get(&function).ok_or(INVALID_HANDLE)?;
        *value = match attribute {
            0 => 512,
            1 => 1024,
            2 => 64,
            3 => 0,
            4 => 40,
            5 => number("STAND_IN_PTX_ARCH", 70),
            6 => 90,
            8 => function.dynamic_shared,
            _ => return Err(INVALID_VALUE),
        };
        Ok(())
    }
    cuFuncSetAttribute(function: usize, attribute: i32, value: i32) {
        if attribute == 14 {
            log("allows large clusters");
            return Ok(());
        }
        assert_eq!(attribute, 8);
        state()?.functions.get_mut(&function).ok_or(INVALID_HANDLE)?.dynamic_shared = value;
        Ok(())
    }
    cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks: *mut i32, _function: usize, threads: i32, shared: usize) {
        *blocks = (2048 / threads).min(((228 << 10) / (shared as i32 + 2048)).max(1));
        state().map(drop)
    }
    cuGetErrorName(code: i32, text: *mut *const c_char) { explain(code, text, 0) }
    cuGetErrorString(code: i32, text: *mut *const c_char) { explain(code, text, 1) }
    cuLaunchKernel(
        function: usize, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32, block_y: u32, block_z: u32, shared: u32,
        stream: usize, parameters: *const *const c_void, extra: *const c_void
    ) {
        assert!(extra.is_null());
        launch(function, [grid_x * grid_y * grid_z, block_x * block_y * block_z], shared, stream, parameters)
    }
    cuLaunchCooperativeKernel(
        function: usize, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32, block_y: u32, block_z: u32, shared: u32,
        stream: usize, parameters: *const *const c_void
    ) {
        launch(function, [grid_x * grid_y * grid_z, block_x * block_y * block_z], shared, stream, parameters)
    }
}

/// Enqueues a launch of `function` in `stream`, or adds it to the graph that `stream` captures.
///
/// # Safety
/// `parameters` must point to the addresses of the kernel's parameters.
unsafe fn launch(
    function: usize,
    [blocks, threads]: [u32; 2],
    shared: u32,
    stream: usize,
    parameters: *const *const c_void,
) -> Result<(), i32> {
    assert!(blocks > 0 && threads <= 512);
    let mut state = state()?;
    let function = state.functions.get(&function).ok_or(INVALID_HANDLE)?;
    if shared > function.dynamic_shared as u32 {
        return Err(INVALID_VALUE);
    }
    let slots = match function.name.as_str() {
        "saxpy" => 5,
        "fail" => 0,
        _ => return Err(701),
    };
    let kernel = function.name.clone();
    // SAFETY: the caller guarantees that these are the addresses of the kernel's parameters.
    let slots = (0..slots).map(|place| unsafe { *(*parameters.add(place)).cast::<u64>() }).collect();
    let work = Operation::Launch { kernel, slots };
    match state.graphs.captures.get_mut(&stream) {
        Some(captured) => {
            captured.push(work);
            Ok(())
        }
        None => state.streams.push(stream, work),
    }
}

/// Waits for the context's default stream and the device's own stream, as synchronous calls do, and returns the result.
fn wait(state: &mut State) -> Result<(), i32> {
    let context = CURRENT.get();
    run(state, context, None)?;
    let streams = state.streams.all().into_iter().filter(|&stream| stream > FIRST_BLOCKING);
    let streams = streams.filter(|&stream| state.streams.context(stream) == Some(context));
    streams.collect::<Vec<_>>().into_iter().try_for_each(|stream| run(state, stream, None))
}
