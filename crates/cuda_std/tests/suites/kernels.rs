//! Tests the functions and types that `#[kernel]` and its companions generate on the host.

use cuda_std::{
    Call, DeviceId, Dim3, Element, Global, GlobalMut, Kernel, LaunchConfig, Region, kernel, shared_array, thread,
};
use simt::{Fault, FaultKind, LaunchStats, Simulator, memory::Allocation};

const DEVICE: DeviceId = DeviceId::simulated(1);

/// Allocates device memory and copies the elements of `data` to it.
fn upload<T: Element>(data: &[T]) -> Allocation {
    let memory = Allocation::new(size_of_val(data)).unwrap();
    // SAFETY: the memory has the data's size, and no other code uses it yet.
    unsafe { std::ptr::copy_nonoverlapping(data.as_ptr().cast(), memory.as_ptr(), memory.len()) };
    memory
}

fn view<T: Element>(memory: &Allocation) -> Global<'_, T> {
    // SAFETY: the memory is aligned to 256 bytes and lives as long as the view.
    unsafe { Global::from_raw_parts(memory.as_ptr().cast(), memory.len() / size_of::<T>(), DEVICE) }
}

fn view_mut<T: Element>(memory: &Allocation) -> GlobalMut<'_, T> {
    // SAFETY: the memory is aligned to 256 bytes and lives as long as the view.
    unsafe { GlobalMut::from_raw_parts(memory.as_ptr().cast(), memory.len() / size_of::<T>(), DEVICE) }
}

fn download<T: Element>(memory: &Allocation) -> Vec<T> {
    let len = memory.len() / size_of::<T>();
    // SAFETY: the memory holds `len` elements of plain data, and no kernel runs.
    unsafe { std::slice::from_raw_parts(memory.as_ptr().cast::<T>(), len) }.to_vec()
}

/// Runs `call` once for each thread of the launch.
fn run(simulator: &Simulator, config: LaunchConfig, call: &Call<'_>) -> Result<LaunchStats, Fault> {
    simulator.launch_threads(call.info(), config, call.params().regions().as_slice(), |threads| call.run(threads))
}

/// The length of a tile. Its name could clash with one in a macro's expansion.
const LEN: usize = 4;

/// A kernel whose parameters have names that the expansion of `#[kernel]` could also use.
#[kernel(max_threads = 64)]
fn awkward_names(head_1: u32, params: u32, mut body: u32, tail_0: GlobalMut<u32>) {
    let tile = shared_array![u32; LEN];
    let other = shared_array![u32; LEN];
    let i = thread::index_1d();
    body += head_1;
    tile.store(i, body);
    other.store(i, params);
    thread::sync_threads();
    tail_0.store(i, 100 * tile.load((i + 1) % LEN) + other.load(i));
}

#[test]
fn no_name_of_a_parameter_is_taken() {
    let out = upload(&[0_u32; LEN]);
    let call = awkward_names(1, 20, 300, view_mut(&out));
    assert_eq!(call.params().slots()[..3], [1, 20, 300]);
    assert_eq!(call.params().slots()[3..], [out.as_ptr().addr() as u64, LEN as u64]);
    assert_eq!(call.params().devices(), [DEVICE]);
    let launch = LaunchConfig::new(1, LEN as u32);
    run(&Simulator::new(), launch, &call).unwrap();
    assert_eq!(download::<u32>(&out), [30_120; LEN]);
}

#[test]
fn a_kernel_is_known_by_its_type() {
    let info = <awkward_names as Kernel>::INFO;
    assert_eq!((info.name, info.max_threads, info.min_blocks), ("awkward_names", Some(64), None));
    assert!(info.file.ends_with("kernels.rs") && info.module.ends_with("kernels"), "{info:?}");
}

#[kernel]
fn first_of_slice(x: &[f32], out: *mut f32) {
    // SAFETY: the tests pass one element.
    unsafe { *out = x[0] };
}

#[test]
fn slices_and_pointers_are_passed_as_views() {
    let (x, out) = (upload(&[2.5_f32, 1.0]), upload(&[0.0_f32]));
    let call = first_of_slice(view(&x), view_mut(&out));
    // A slice is a pointer and a length, and a raw pointer has no length.
    assert_eq!(call.params().slots(), [x.as_ptr().addr() as u64, 2, out.as_ptr().addr() as u64]);
    run(&Simulator::new(), LaunchConfig::new(1, 1), &call).unwrap();
    assert_eq!(download::<f32>(&out), [2.5]);
}

/// The view types under user-defined names.
mod renamed {
    pub use cuda_std::{Global as Input, GlobalMut as Output};
    pub type Words<'a> = Output<'a, u32>;
}

/// Adds `N` times `x[i]`, converted to `u32`, and `z[i]` to `y[i]`.
#[kernel(instances(T = [u8, u16], N = [2, 3]))]
fn add_times<T: Element + Into<u32>, const N: u32>(x: renamed::Input<T>, mut y: renamed::Words, z: Global<'_, u32>) {
    y = y.part(0, 2);
    let i = thread::index_1d() as usize;
    y.store(i, y.load(i) + N * x.load(i).into() + z.load(i));
}

#[test]
fn a_view_may_have_any_name_and_each_instance_is_a_kernel() {
    let (x, z) = (upload(&[1_u16, 10]), upload(&[1000_u32, 2000]));
    let y = upload(&[0_u32; 2]);
    for (call, name) in [
        (add_times::<_, 2>(view::<u16>(&x), view_mut(&y), view(&z)), "add_times_u16_2"),
        (add_times::<_, 3>(view::<u16>(&x), view_mut(&y), view(&z)), "add_times_u16_3"),
    ] {
        assert_eq!(call.info().name, name);
        run(&Simulator::new(), LaunchConfig::new(1, 2), &call).unwrap();
    }
    assert_eq!(download::<u32>(&y), [2005, 4050]);
}

#[test]
fn a_call_knows_the_memory_of_its_parameters() {
    let (x, out) = (upload(&[2.5_f32, 1.0]), upload(&[0.0_f32]));
    let region = |name, memory: &Allocation, is_writable| Region {
        name,
        start: memory.as_ptr().addr(),
        bytes: memory.len(),
        element: 4,
        is_writable,
    };
    let call = first_of_slice(view(&x), view_mut(&out));
    assert_eq!(call.params().regions().as_slice(), [region("x", &x, false), region("out", &out, true)]);
    // For a part of a buffer, the call records that part. For numbers, it records no region.
    let call = awkward_names(1, 20, 300, view_mut(&x).part(1, 1));
    let second = Region { start: x.as_ptr().addr() + 4, bytes: 4, ..region("tail_0", &x, true) };
    assert_eq!(call.params().regions().as_slice(), [second]);
}

#[test]
fn the_memory_of_a_gpu_is_out_of_the_hosts_reach() {
    // SAFETY: the view is never accessed. The test checks that its elements cannot be accessed.
    let x: Global<f32> = unsafe { Global::from_raw_parts(std::ptr::dangling(), 8, DeviceId::gpu(0)) };
    assert_eq!(x.len(), 8);
    assert!(std::panic::catch_unwind(|| x.load(0)).is_err());
    let out = upload(&[0.0_f32]);
    let call = first_of_slice(x, view_mut(&out));
    let fault = run(&Simulator::new(), LaunchConfig::new(1, 1), &call).unwrap_err();
    assert!(matches!(fault.kind, FaultKind::OutOfBounds { array: Some("x"), len: 0, .. }), "{fault}");
}

#[kernel]
fn maximum(x: Global<u32>, best: GlobalMut<u32>) {
    for i in thread::grid_stride(x.len()) {
        best.atomic_max(0, x.load(i));
    }
}

#[kernel]
fn sum_read_anew(x: GlobalMut<u32>, sum: GlobalMut<u32>) {
    let mut mine = 0;
    for i in thread::grid_stride(x.len()) {
        mine += x.load_relaxed(i);
    }
    sum.atomic_add(1, mine);
}

/// Checks two kernels that access memory many millions of times, like a thread that waits. The simulator must not
/// report a lack of progress for them.
#[test]
fn work_is_not_taken_for_waiting() {
    let n = 1 << 24;
    let (x, out) = (upload(&vec![1_u32; n]), upload(&[1_u32, 0]));
    let simulator = Simulator::new().with_workers(std::num::NonZeroUsize::MIN);
    let config = LaunchConfig::new(Dim3::from(1), 256);
    let call = maximum(view(&x), view_mut(&out));
    run(&simulator, config, &call).unwrap();
    let call = sum_read_anew(view_mut(&x), view_mut(&out));
    run(&simulator, config, &call).unwrap();
    assert_eq!(download::<u32>(&out), [1, n as u32]);
}
