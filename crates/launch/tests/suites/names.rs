//! Tests that the simulator's reports name the array: a parameter of the kernel, or a variable in it.

use cuda_std::{Global, GlobalMut, Shared, dynamic_shared, kernel, shared_array, thread};
use launch::{AccessKind, Device, DeviceChoice, Element, Error, FaultKind, LaunchConfig, Profiles, Simulator, Space};

fn device() -> Device {
    Device::open(DeviceChoice::Sim, &[]).expect("the simulator can be opened")
}

fn message(result: Result<(), Error>) -> String {
    let error = result.expect_err("a fault");
    assert!(matches!(error, Error::Fault(_)), "{error:?}");
    error.to_string()
}

/// Copies element `at` of `from` to element `to` of `into`.
#[kernel]
pub fn copy_one(from: Global<u16>, at: u32, into: GlobalMut<u16>, to: u32) {
    into.store(to as usize, from.load(at as usize));
}

/// Stores to element `at` of a part of `y`.
#[kernel]
pub fn store_in_part(y: GlobalMut<u32>, start: u32, len: u32, at: u32) {
    y.part(start as usize, len as usize).store(at as usize, 1);
}

#[test]
fn out_of_bounds_names_the_parameter() -> Result<(), Error> {
    let device = device();
    let (x, mut y) = (device.upload(&[1_u16; 5])?, device.upload(&[0_u16; 3])?);
    let mut copy = |at, to| device.launch(LaunchConfig::new(1, 1), copy_one(x.view(), at, y.view_mut(), to));
    copy(4, 2)?;
    let text = message(copy(5, 2));
    assert!(text.contains(": index 5 is out of bounds of `from`, global memory of length 5"), "{text}");
    let text = message(copy(4, 3));
    assert!(text.contains(": index 3 is out of bounds of `into`, global memory of length 3"), "{text}");

    // `whole` is divided into two adjacent parts; `empty` has no elements.
    let (mut whole, empty) = (device.upload(&[0_u16; 8])?, device.alloc::<u16>(0)?);
    let (low, high) = whole.as_part_mut().split_at(4);
    let (low, high) = (low.view_mut(), high.view_mut());
    // SAFETY: these elements are not written while the view lives.
    let low = unsafe { Global::from_raw_parts(low.as_ptr(), low.len(), low.device()) };
    let text = message(device.launch(LaunchConfig::new(1, 1), copy_one(low, 4, high, 0)));
    assert!(text.contains("index 4 is out of bounds of `from`, global memory of length 4"), "{text}");
    let text = message(device.launch(LaunchConfig::new(1, 1), copy_one(low, 0, high, 4)));
    assert!(text.contains("index 4 is out of bounds of `into`, global memory of length 4"), "{text}");
    let text = message(device.launch(LaunchConfig::new(1, 1), copy_one(empty.view(), 0, high, 0)));
    assert!(text.contains("index 0 is out of bounds of `from`, global memory of length 0"), "{text}");
    let mut none = device.alloc::<u16>(0)?;
    let text = message(device.launch(LaunchConfig::new(1, 1), copy_one(empty.view(), 0, none.view_mut(), 0)));
    assert!(text.contains("index 0 is out of bounds of `from`, global memory of length 0"), "{text}");
    Ok(())
}

#[test]
fn a_part_has_its_arrays_name_and_its_own_length() -> Result<(), Error> {
    let device = device();
    let mut y = device.zeroed::<u32>(10)?;
    let mut store =
        |start, len, at| device.launch(LaunchConfig::new(1, 1), store_in_part(y.view_mut(), start, len, at));
    store(7, 3, 2)?;
    for (start, len, at, index, length) in [(7, 3, 3, 3, 3), (0, 0, 0, 0, 0), (10, 0, 0, 0, 0), (8, 3, 0, 10, 10)] {
        let text = message(store(start, len, at));
        assert!(
            text.contains(&format!("index {index} is out of bounds of `y`, global memory of length {length}")),
            "{text}"
        );
    }
    assert_eq!(y.download()?[9], 1);
    Ok(())
}

/// Loads two neighbouring elements of `x` as a vector.
#[kernel]
pub fn load_pair(x: Global<u32>, start: u32, y: GlobalMut<u32>) {
    let [a, b] = x.part(start as usize, 2).load_vec::<2>(0);
    y.store(0, a + b);
}

#[test]
fn a_misaligned_access_names_the_element() -> Result<(), Error> {
    let device = device();
    let (x, mut y) = (device.upload(&[1_u32, 2, 3, 4])?, device.zeroed::<u32>(1)?);
    device.launch(LaunchConfig::new(1, 1), load_pair(x.view(), 2, y.view_mut()))?;
    assert_eq!(y.download()?, [7]);
    let text = message(device.launch(LaunchConfig::new(1, 1), load_pair(x.view(), 1, y.view_mut())));
    assert!(text.contains("global access of 8 bytes at address 0x"), "{text}");
    assert!(text.contains(" (`x[1]`), which is not a multiple of 8"), "{text}");
    Ok(())
}

/// Loads vector `at` of `x`.
#[kernel]
pub fn load_vector(x: Global<u32>, at: u32, y: GlobalMut<u32>) {
    let [first, ..] = x.load_vec::<4>(at as usize);
    y.store(0, first);
}

#[test]
fn a_vector_out_of_bounds_names_its_first_missing_element() -> Result<(), Error> {
    let device = device();
    let (x, mut y) = (device.upload(&[1_u32, 2, 3, 4, 5, 6])?, device.zeroed::<u32>(1)?);
    for (at, expected) in [(1, "index 6 is out of bounds of `x`"), (2, "index 8 is out of bounds of `x`")] {
        let text = message(device.launch(LaunchConfig::new(1, 1), load_vector(x.view(), at, y.view_mut())));
        assert!(text.contains(expected), "{text}");
    }
    Ok(())
}

/// Declares shared arrays in each possible way. The access to element `at` of array `which` is out of bounds.
#[kernel(instances(T = [u32, u64]))]
pub fn shared_arrays<T: Element>(which: u32, at: u32) {
    let plain = shared_array![T; 8];
    let typed: Shared<T> = cuda_std::shared_array![T; 9];
    let (first, second) = (shared_array![T; 10], shared_array![T; 11]);
    let whole = {
        let mut inner = shared_array![T; 12];
        inner = inner.part(2, 4);
        inner
    };
    let [unnamed] = [shared_array![T; 13]];
    let dynamic = dynamic_shared::<T>();
    let arrays = [plain, typed, first, second, whole, unnamed, dynamic];
    arrays[which as usize].store(at as usize, T::zeroed());
    thread::sync_threads();
}

#[test]
fn out_of_bounds_names_the_shared_array() -> Result<(), Error> {
    fn launch(which: u32, at: u32) -> Result<(), Error> {
        let config = LaunchConfig::new(1, 2).shared_bytes(40);
        let device = device();
        device.launch(config, shared_arrays::<u32>(which, at))?;
        device.launch(config, shared_arrays::<u64>(which, at))
    }
    let names = ["`plain`", "`typed`", "`first`", "`second`", "`inner`"];
    for (which, (name, len)) in (0..).zip(names.into_iter().zip([8, 9, 10, 11, 4])) {
        launch(which, len - 1)?;
        let text = message(launch(which, len));
        assert!(
            text.contains(&format!("index {len} is out of bounds of {name}, shared memory of length {len}")),
            "{text}"
        );
    }
    let text = message(launch(5, 13));
    assert!(text.contains("index 13 is out of bounds of shared array at "), "{text}");
    let line = text.split("names.rs:").last().and_then(|rest| rest.split(' ').next());
    let here = include_str!("names.rs").lines().position(|line| line.contains("let [unnamed]"));
    assert_eq!(line.and_then(|line| line.parse().ok()), here.map(|line| line + 1), "{text}");
    // 40 bytes are 5 elements of 8 bytes.
    launch(6, 4)?;
    let text = message(launch(6, 5));
    assert!(text.contains("index 5 is out of bounds of dynamic shared memory of length 5"), "{text}");
    Ok(())
}

/// Stores to element `at` of part `which` of dynamic shared memory. Reports name each part by its variable.
#[kernel]
pub fn dynamic_parts(which: u32, at: u32) {
    let all = dynamic_shared::<u32>();
    let a = all.part(0, 8);
    let (b, c) = (all.part(8, 4), all.cast::<u64>().part(6, 2));
    match which {
        0 => a.store(at as i32 as usize, 1),
        1 => b.store(at as usize, 1),
        2 => c.store(at as usize, 1),
        3 => _ = c.load(at as usize),
        _ => all.store(at as usize, 1),
    }
}

#[test]
fn parts_of_dynamic_shared_memory_have_their_own_names() {
    let launch = |which, at, bytes| {
        let device = launch::checked_devices().next().unwrap();
        message(device.launch(LaunchConfig::new(1, 2).shared_bytes(bytes), dynamic_parts(which, at)))
    };
    for (which, at, part) in [
        (0, 8, "index 8 is out of bounds of `a` of type `u32`, shared memory of length 8"),
        (0, u32::MAX, "index -1 is out of bounds of `a` of type `u32`, shared memory of length 8"),
        (1, 3, "data race on `b[3]` of type `u32` in shared memory"),
        (2, 1, "data race on `c[1]` of type `u64` in shared memory"),
        (3, 1, "a read of `c[1]` of type `u64` in shared memory, which no thread of the block has written"),
        (4, 14, "data race on `c[1]` of type `u64` in shared memory"),
        (4, 16, "index 16 is out of bounds of dynamic shared memory of length 16; the launch sets this length"),
    ] {
        let text = launch(which, at, 64);
        assert!(text.contains(part), "{part}: {text}");
    }
    let text = launch(0, 0, 0);
    let expected = "index 8 is out of bounds of dynamic shared memory of length 0; the launch sets this length: \
                    `.shared_bytes(bytes)` of its `LaunchConfig`";
    assert!(text.contains(expected), "{text}");
}

/// Reads in lane 1 the value that lane 0 wrote before a vote.
#[kernel]
pub fn ordered_by_a_vote(y: GlobalMut<u32>) {
    let i = thread::thread_idx_x() as usize;
    if i == 0 {
        y.store(0, 7);
    }
    cuda_std::warp::any(u32::MAX, i == 0);
    if i == 1 {
        y.store(1, y.load(0));
    }
}

#[test]
fn strict_devices_count_on_no_vote() -> Result<(), Error> {
    let launch = |device: Device| {
        device.launch(LaunchConfig::new(1, 32), ordered_by_a_vote(device.zeroed::<u32>(2)?.view_mut()))
    };
    launch::checked_devices().try_for_each(launch)?;
    for device in launch::checked_devices_strict() {
        let Err(Error::Fault(fault)) = launch(device) else { panic!("no race") };
        let FaultKind::Race(race) = fault.kind else { panic!("{fault}") };
        let race: launch::Race = *race;
        assert_eq!((race.element.array, race.remedy), (Some("y"), launch::Remedy::WarpSynchronisation));
    }
    Ok(())
}

/// Uses more static shared memory than a GPU allows.
#[kernel]
pub fn static_too_large(y: GlobalMut<u32>) {
    let tile = shared_array![f32; 20_000];
    tile.store(0, 1.0);
    y.store(0, tile.load(0) as u32);
}

#[test]
fn static_shared_memory_has_the_limit_of_a_gpu() -> Result<(), Error> {
    let device = device();
    let mut y = device.zeroed(1)?;
    let text = message(device.launch(LaunchConfig::new(1, 1), static_too_large(y.view_mut())));
    assert!(text.contains("the kernel's static shared arrays need 80000 bytes, and 49152 are allowed"), "{text}");
    Ok(())
}

/// Rotates the elements of a block through static or dynamic shared memory. The kernel executes the barrier only if
/// `is_faulty` is 0.
#[kernel]
pub fn rotate(x: Global<u32>, is_faulty: u32, y: GlobalMut<u32>) {
    let mut tile = shared_array![u32; 64];
    tile = tile.part(32, 32);
    let copy = dynamic_shared::<u32>();
    let i = thread::index_in_block() as usize;
    tile.store(i, x.load(i));
    copy.store(i, x.load(i));
    if is_faulty == 0 {
        thread::sync_threads();
    }
    let j = (i + 1) % 32;
    y.store(i, if is_faulty == 2 { copy.load(j) } else { tile.load(j) });
}

#[test]
fn races_and_profiles_name_arrays() -> Result<(), Error> {
    fn launch(device: &Device, is_faulty: u32) -> Result<(), Error> {
        let x = device.upload(&std::array::from_fn::<u32, 32, _>(|i| i as u32))?;
        let mut y = device.alloc::<u32>(32)?;
        device.launch(LaunchConfig::new(1, 32).shared_bytes(128), rotate(x.view(), is_faulty, y.view_mut()))
    }
    for device in launch::checked_devices() {
        launch(&device, 0)?;
        // In some orders the read is too early, because another thread has not yet written the element. In the other
        // orders it races with the later write.
        for (is_faulty, (before, after)) in
            [(1, ("`tile[", "]` in shared memory")), (2, ("element ", " of dynamic shared memory"))]
        {
            let text = message(launch(&device, is_faulty));
            let element = ["data race on ", "a read of "].iter().find_map(|fault| text.split_once(fault));
            let index = element.and_then(|(_, text)| text.strip_prefix(before)?.split_once(after));
            assert!(index.is_some_and(|(index, _)| index.parse::<u32>().is_ok()), "{text}");
        }
    }
    let profiles = Profiles::default();
    launch(&Device::simulated(Simulator::new().with_profiles(profiles.clone())), 0)?;
    let [profile] = &profiles.take()[..] else { panic!("one launch") };
    let arrays: Vec<_> =
        profile.accesses.iter().map(|access| (access.space, access.kind, &access.arrays[..])).collect();
    let (dynamic, tile): (&[_], &[_]) = (&["dynamic shared memory"], &["tile"]);
    let expected: [(_, _, &[&str]); 6] = [
        (Space::Shared, AccessKind::Store, tile),
        (Space::Global, AccessKind::Load, &["x"]),
        (Space::Shared, AccessKind::Store, dynamic),
        (Space::Global, AccessKind::Load, &["x"]),
        (Space::Global, AccessKind::Store, &["y"]),
        (Space::Shared, AccessKind::Load, tile),
    ];
    assert_eq!(arrays, expected);
    Ok(())
}

#[test]
fn an_uninitialised_read_names_the_array() -> Result<(), Error> {
    for device in launch::checked_devices() {
        let (x, mut y) = (device.alloc::<u16>(3)?, device.zeroed::<u16>(3)?);
        let text = message(device.launch(LaunchConfig::new(1, 1), copy_one(x.view(), 2, y.view_mut(), 0)));
        assert!(text.contains("a read of `from[2]` in global memory, which neither"), "{text}");
        // An element that a kernel wrote counts as written for the next kernel.
        let mut z = device.alloc::<u16>(3)?;
        device.launch(LaunchConfig::new(1, 1), copy_one(y.view(), 1, z.view_mut(), 2))?;
        device.launch(LaunchConfig::new(1, 1), copy_one(z.view(), 2, y.view_mut(), 0))?;
        let text = message(device.launch(LaunchConfig::new(1, 1), copy_one(z.view(), 1, y.view_mut(), 0)));
        assert!(text.contains("a read of `from[1]`"), "{text}");
    }
    Ok(())
}
