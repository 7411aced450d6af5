//! Shared memory: arrays with a function's own lengths, statics, pointers, parts of dynamic memory.

use cuda_std::{
    AsyncCopies, DeviceCopy, GlobalMut, Shared, SharedStatic, address_space, dynamic_shared, kernel, shared_array,
    thread,
};
use launch::{Device, DeviceChoice, Error, FaultKind, LaunchConfig, checked_devices};

/// `value` as the thread at the other end of the block's `N` has it.
fn reversed<T: DeviceCopy, const N: usize>(value: T, thread: usize) -> T {
    let tile = shared_array![fn T; N];
    tile.store(thread, value);
    thread::sync_threads();
    let other = tile.load(N - 1 - thread);
    thread::sync_threads();
    other
}

/// Lengths that the function alone knows. Blocks of `N` threads.
#[kernel(instances(N = [32, 64]))]
fn lengths<const N: usize>(y: GlobalMut<u32>) {
    const EXTRA: usize = 3;
    type Pair = (u32, u32);
    let pairs = shared_array![Pair; N + EXTRA];
    let thread = thread::thread_idx_x() as usize;
    pairs.store(thread + EXTRA, (thread as u32, 1));
    thread::sync_threads();
    let (other, one) = pairs.load(N + EXTRA - 1 - thread);
    // The same place in the source for arrays of two sizes, which are two.
    let wide = reversed::<u64, N>(u64::from(other), thread);
    y.store(thread, reversed::<u32, N>(wide as u32 + one, thread));
}

#[test]
fn lengths_may_be_those_of_the_function() {
    for device in checked_devices() {
        let mut y = device.alloc(32).unwrap();
        device.launch(LaunchConfig::new(1, 32), lengths::<32>(y.view_mut())).unwrap();
        assert_eq!(y.download().unwrap(), (0..32).map(|i| 32 - i).collect::<Vec<u32>>());
        let mut y = device.alloc(64).unwrap();
        device.launch(LaunchConfig::new(1, 64), lengths::<64>(y.view_mut())).unwrap();
        assert_eq!(y.download().unwrap(), (0..64).map(|i| 64 - i).collect::<Vec<u32>>());
    }
}

/// As Rust-CUDA has it: statics of a kernel, and a shared array as a pointer.
#[kernel]
unsafe fn statics_of_a_kernel(y: *mut f32) {
    const SIZE: usize = 4;
    #[address_space(shared)]
    static mut TILE: [[f32; SIZE]; SIZE] = [[0.0; SIZE]; SIZE];
    #[cuda_std::address_space(shared)]
    static mut COUNT: std::mem::MaybeUninit<u32> = std::mem::MaybeUninit::uninit();

    let x = thread::thread_idx_x() as usize;
    let line = shared_array![f32; SIZE];
    unsafe {
        for row in 0..SIZE {
            TILE[row][x] = (row * SIZE + x) as f32;
        }
        if x == 0 {
            (&raw mut COUNT).cast::<u32>().write(7);
        }
        *line.add(x) = x as f32;
    }
    thread::sync_threads();
    unsafe {
        assert_eq!(TILE[x][0], (x * SIZE) as f32);
        *y.add(x) = TILE[x][SIZE - 1] + COUNT.assume_init() as f32 + *line.as_mut_ptr().add(SIZE - 1 - x);
    }
}

#[test]
fn a_kernels_statics_are_in_shared_memory() {
    let device = Device::open(DeviceChoice::Sim, &[]).unwrap();
    let mut y = device.zeroed(4).unwrap();
    // SAFETY: the buffer has an element for each thread.
    let call = unsafe { statics_of_a_kernel(y.view_mut()) };
    device.launch(LaunchConfig::new(3, 4), call).unwrap();
    let expected: Vec<f32> = (0..4).map(|x| (4 * x + 3) as f32 + 7.0 + (3 - x) as f32).collect();
    assert_eq!(y.download().unwrap(), expected);
}

/// Used by two functions.
#[address_space(shared)]
pub static mut TILE: [u32; 32] = [0; 32];

fn neighbour(thread: usize) -> u32 {
    TILE.get().load((thread + 1) % 32)
}

#[kernel]
fn rotate(y: GlobalMut<u32>) {
    let tile: Shared<u32> = TILE.get();
    let thread = thread::thread_idx_x() as usize;
    tile.store(thread, y.load(thread));
    thread::sync_threads();
    y.store(thread, neighbour(thread));
}

#[kernel]
fn too_far(y: GlobalMut<u32>) {
    y.store(0, TILE.get().load(32));
}

#[test]
fn an_array_may_be_declared_outside_of_a_kernel() {
    let _: SharedStatic<u32> = TILE;
    for device in checked_devices() {
        let mut y = device.upload(&(0..32).collect::<Vec<u32>>()).unwrap();
        device.launch(LaunchConfig::new(1, 32), rotate(y.view_mut())).unwrap();
        assert_eq!(y.download().unwrap(), (1..33).map(|i| i % 32).collect::<Vec<u32>>());
        let error = device.launch(LaunchConfig::new(1, 1), too_far(y.view_mut())).unwrap_err();
        assert!(error.to_string().contains("`TILE`"), "{error}");
    }
}

/// Two arrays in dynamic memory; the second is read before anybody has written it.
#[kernel]
fn parts(n: usize, y: GlobalMut<u32>) {
    let keys = dynamic_shared::<u32>().part(0, n);
    let flags = dynamic_shared::<u32>().part(n, n).cast::<u8>();
    keys.store(3, 1);
    y.store(0, keys.load(3) + u32::from(flags.load(5)));
}

#[test]
fn parts_of_dynamic_memory_keep_their_names() {
    for device in checked_devices() {
        let mut y = device.zeroed(1).unwrap();
        let config = LaunchConfig::new(1, 1).shared_bytes(64);
        let error = device.launch(config, parts(8, y.view_mut())).unwrap_err();
        assert!(error.to_string().contains("`flags[5]`"), "{error}");
        let error = device.launch(config, parts(2, y.view_mut())).unwrap_err();
        assert!(error.to_string().contains("`keys`"), "{error}");
    }
}

/// Each thread writes its vector, and copies that of its neighbour asynchronously. Blocks of 32 threads.
#[kernel(max_threads = 32)]
fn copy_what_is_written(is_ordered: bool, y: GlobalMut<u32>) {
    let vectors = shared_array![[u32; 4]; 32];
    let thread = thread::thread_idx_x() as usize;
    y.store_vec(thread, [thread as u32; 4]);
    if is_ordered {
        thread::sync_threads();
    }
    let mut copies = AsyncCopies::new();
    copies.copy(y, (thread + 1) % 32, vectors, thread);
    copies.commit();
    copies.wait::<0>();
    thread::sync_threads();
    y.store_vec(thread, vectors.load(thread));
}

#[test]
fn an_asynchronous_copy_may_come_from_what_is_written() {
    for device in checked_devices() {
        let mut y = device.alloc(128).unwrap();
        device.launch(LaunchConfig::new(1, 32), copy_what_is_written(true, y.view_mut())).unwrap();
        assert_eq!(y.download().unwrap(), (0..128).map(|i| (i / 4 + 1) % 32).collect::<Vec<u32>>());
        let error = device.launch(LaunchConfig::new(1, 32), copy_what_is_written(false, y.view_mut())).unwrap_err();
        assert!(matches!(&error, Error::Fault(fault) if matches!(fault.kind, FaultKind::Race(_))), "{error}");
    }
}
