//! Tests accesses by raw pointers and slices: bounds, races, uninitialised memory, and the reported line.

use crate::common::{Device, bounds, download, line, view, view_mut};
use cuda_std::{GlobalMut, device, kernel, thread};
use simt::{Checks, Fault, FaultKind, PointerProblem, Simulator, Space};

/// Copies `x` to `y` with index offsets that may be out of bounds.
#[kernel]
fn copy(x: *const f32, y: *mut f32, from: isize, to: isize) {
    let i = thread::index_1d() as isize;
    // SAFETY: none. The test checks that the simulator reports the invalid access.
    unsafe {
        let value = *x.offset(from + i); // read
        *y.offset(to + i) = value; // write
    }
}

/// Returns the first line after the start of the function `kernel` that ends with `comment`.
fn line_of(kernel: &str, comment: &str) -> u32 {
    let lines = || include_str!("pointers.rs").lines().zip(1..);
    let (_, start) = lines().find(|(text, _)| text.contains(&format!("fn {kernel}("))).unwrap();
    lines().find(|(text, line)| *line > start && text.ends_with(&format!("// {comment}"))).unwrap().1
}

fn problem_of(kind: &FaultKind) -> Option<PointerProblem> {
    match kind {
        FaultKind::Pointer(fault) => Some(fault.problem),
        _ => None,
    }
}

#[test]
fn an_index_too_far_is_out_of_bounds_of_the_parameter() {
    for device in [Device::new(), Device::unchecked()] {
        let (x, y) = (device.upload(&[1.0_f32; 8]), device.upload(&[0.0_f32; 8]));
        let run = |from, to| device.run(1, 8, &copy(view(&x), view_mut(&y), from, to));
        run(0, 0).unwrap();
        assert_eq!(download::<f32>(&y), [1.0; 8]);
        // The offsets are one element, many elements, the distance to the other buffer, and distances beyond both
        // buffers.
        let between = (y.as_ptr().addr() as isize - x.as_ptr().addr() as isize) / 4;
        for far in [1, 100, between, -between, 1 << 20, 1 << 45] {
            let fault = run(far, 0).unwrap_err();
            assert_eq!(line(&fault), line_of("copy", "read"), "{fault}");
            if far > 0 {
                let (array, index, len) = bounds(&fault);
                assert_eq!((array, len), (Some("x"), 8), "{fault}");
                let thread = fault.thread.unwrap().x as usize;
                assert_eq!(index, far as usize + thread, "{fault}");
            }
            let fault = run(0, far).unwrap_err();
            assert_eq!(line(&fault), line_of("copy", "write"), "{fault}");
            assert!(fault.to_string().contains("`y`"), "{fault}");
        }
        let fault = run(-2, 0).unwrap_err();
        let problem = PointerProblem::BeforeStart { array: Some("x"), elements: 2, len: 8 };
        assert!(problem_of(&fault.kind) == Some(problem), "{fault}");
    }
}

#[test]
fn a_part_is_as_long_as_it_is() {
    let device = Device::new();
    let memory = device.upload(&[1.0_f32; 16]);
    let (x, y) = (view::<f32>(&memory).part(0, 8), view_mut::<f32>(&memory).part(8, 8));
    device.run(1, 8, &copy(x, y, 0, 0)).unwrap();
    let fault = device.fault(1, 8, &copy(x, y, 1, 0));
    assert_eq!(bounds(&fault), (Some("x"), 8, 8));
}

#[kernel]
fn neighbours(x: &[u32], y: GlobalMut<u32>, distance: usize) {
    let i = thread::index_1d();
    y.store(i, x[i] + x[i + distance]); // sum
}

#[test]
fn an_index_too_far_is_out_of_bounds_of_the_slice() {
    let device = Device::new();
    let (x, y) = (device.upload(&[1_u32; 8]), device.room::<u32>(4));
    device.run(1, 4, &neighbours(view(&x), view_mut(&y), 4)).unwrap();
    let fault = device.fault(1, 4, &neighbours(view(&x), view_mut(&y), 5));
    assert_eq!(bounds(&fault), (Some("x"), 8, 8));
    assert_eq!(line(&fault), line_of("neighbours", "sum"));
}

/// Adds the left neighbour's number to the calling thread's number.
#[device]
unsafe fn add_left(y: *mut u32, i: usize) {
    if i > 0 {
        // SAFETY: the tests pass as many elements as threads.
        let left = unsafe { *y.add(i - 1) }; // left
        // SAFETY: the tests pass as many elements as threads.
        unsafe { *y.add(i) += left }; // own
    }
}

#[kernel]
fn sum_left(y: *mut u32, with_barrier: u32) {
    let i = thread::index_1d();
    // SAFETY: the tests pass as many elements as threads.
    unsafe { y.add(i).write(i as u32) }; // first
    if with_barrier != 0 {
        thread::sync_threads();
    }
    if i % 2 == 1 || with_barrier == 0 {
        // SAFETY: the tests pass as many elements as threads.
        unsafe { add_left(y, i) };
    }
}

fn sides(fault: &Fault) -> (u32, u32) {
    let FaultKind::Race(race) = &fault.kind else { panic!("{fault}") };
    (race.here.location.line, race.there.location.line)
}

#[test]
fn a_missing_barrier_is_a_race() {
    for schedule in simt::Schedule::HOSTILE {
        let device = Device(Simulator::new().with_checks(Checks::default()).with_schedule(schedule));
        let y = device.room::<u32>(64);
        device.run(1, 64, &sum_left(view_mut(&y), 1)).unwrap();
        assert_eq!(download::<u32>(&y)[..4], [0, 1, 2, 5], "{schedule}");
        let fault = device.fault(1, 64, &sum_left(view_mut(&y), 0));
        let (here, there) = sides(&fault);
        let lines = [line_of("add_left", "left"), line_of("add_left", "own"), line_of("sum_left", "first")];
        assert!(lines.contains(&here) && lines.contains(&there) && here != there, "{schedule}: {fault}");
        assert!(fault.to_string().contains("`y["), "{fault}");
        // Between blocks there is a race with or without a barrier.
        assert!(matches!(device.fault(8, 8, &sum_left(view_mut(&y), 0)).kind, FaultKind::Race(_)));
    }
}

#[kernel]
fn fields(pairs: *mut [u32; 2], one: u32) {
    let i = thread::index_1d();
    // SAFETY: the buffer has one pair for two threads.
    unsafe { (*pairs.add(i / 2))[if one != 0 { 0 } else { i % 2 }] = i as u32 };
}

/// Checks that an access to one half of a pair does not race with an access to the other half.
#[test]
fn what_is_accessed_of_an_element_is_what_counts() {
    let device = Device::new();
    let pairs = device.room::<[u32; 2]>(4);
    device.run(1, 8, &fields(view_mut(&pairs), 0)).unwrap();
    assert_eq!(download::<[u32; 2]>(&pairs), [[0, 1], [2, 3], [4, 5], [6, 7]]);
    assert!(matches!(device.fault(1, 8, &fields(view_mut(&pairs), 1)).kind, FaultKind::Race(_)));
}

#[kernel]
fn read_all(x: &[u32], y: *const u32, sum: *mut u32, way: u32) {
    let total = match way {
        0 => x.iter().sum(),
        1 => {
            let mut total = 0;
            for element in x {
                total += element;
            }
            total
        }
        // SAFETY: both buffers have three elements.
        2 => unsafe { *y + *y.add(1) + *y.add(2) },
        // SAFETY: both buffers have three elements.
        3 => unsafe { y.read_volatile() + *x.get_unchecked(2) },
        4 => x.get(2).copied().unwrap_or(0),
        5 => x[2..][0],
        // SAFETY: both buffers have three elements.
        6 => unsafe { core::slice::from_raw_parts(y, 3)[2] },
        7 => match x[2] {
            1 => 1,
            _ => 2,
        },
        8 => (x[2] == 1) as u32,
        9 => *&x[2],
        10 => x[2].count_ones(),
        // SAFETY: both buffers have three elements.
        _ => unsafe { (*y.cast::<[u32; 3]>())[2] },
    };
    // SAFETY: `sum` points to one element.
    unsafe { *sum = total };
}

#[test]
fn memory_that_nobody_has_written_is_not_read() {
    let device = Device::new();
    let sum = device.room::<u32>(1);
    for way in 0..12 {
        // Two of the three elements are written. Each `way` reads the third element.
        let x = device.room::<u32>(3);
        // SAFETY: the memory has three elements, and no kernel runs.
        unsafe { x.as_ptr().cast::<[u32; 3]>().write([1; 3]) };
        x.note_written(0, 8);
        let call = read_all(view(&x), view(&x), view_mut(&sum), way);
        let fault = device.fault(1, 1, &call);
        let expected = FaultKind::Uninitialised {
            space: Space::Global,
            array: Some("x"),
            element_type: None,
            index: 2,
            copy: None,
        };
        assert_eq!(fault.kind, expected, "{way}: {fault}");
        x.note_written(8, 4);
        device.run(1, 1, &call).unwrap();
    }
}

#[kernel]
fn write_read_only(x: *const u32) {
    // SAFETY: none. The test checks that the simulator reports the invalid access.
    unsafe { *x.cast_mut().add(1) = 3 };
}

#[test]
fn what_is_read_only_is_not_written() {
    for device in [Device::new(), Device::unchecked()] {
        let x = device.upload(&[1_u32, 2]);
        let fault = device.fault(1, 1, &write_read_only(view(&x)));
        let problem = PointerProblem::ReadOnly { array: "x", index: 1 };
        assert!(problem_of(&fault.kind) == Some(problem), "{fault}");
    }
}

/// Reads the number at `address`.
#[kernel]
fn read_at(address: usize, y: *mut u32) {
    let pointer = address as *const u32;
    // SAFETY: none. The test checks that the simulator reports the invalid access.
    unsafe { *y = *pointer };
}

#[test]
fn a_pointer_that_leads_nowhere_is_a_fault() {
    for device in [Device::new(), Device::unchecked()] {
        let y = device.upload(&[0_u32, 7]);
        let inside = y.as_ptr().addr();
        let problem = |address| {
            let fault = device.fault(1, 1, &read_at(address, view_mut(&y).part(0, 1)));
            assert!(fault.thread.is_some() && fault.to_string().contains("pointers.rs"), "{fault}");
            fault.kind
        };
        assert_eq!(problem_of(&problem(0)), Some(PointerProblem::Null));
        assert_eq!(problem_of(&problem(0x5000_0000_0000)), Some(PointerProblem::Nowhere));
        assert_eq!(problem_of(&problem(usize::MAX - 3)), Some(PointerProblem::Nowhere));
        let before = PointerProblem::BeforeStart { array: Some("y"), elements: 1, len: 1 };
        assert_eq!(problem_of(&problem(inside - 4)), Some(before));
        assert!(matches!(problem(inside + 1), FaultKind::Misaligned { size: 4, .. }));
        // These addresses are beside the part that the kernel received, and beside the buffer.
        for far in [4, 8, 400] {
            let expected = (Some("y"), far / 4, 1);
            let FaultKind::OutOfBounds { array, index, len, .. } = problem(inside + far) else { panic!("{far}") };
            assert_eq!((array, index, len), expected);
        }
    }
    let device = Device::new();
    let (y, freed) = (device.upload(&[0_u32]), device.upload(&[1_u32]).as_ptr().addr());
    let fault = device.fault(1, 1, &read_at(freed, view_mut(&y)));
    assert_eq!(problem_of(&fault.kind), Some(PointerProblem::Freed), "{fault}");
}

static NUMBERS: [u32; 3] = [1, 2, 3];

/// Accesses a static, a local array, the heap, and a buffer whose address is stored in another buffer.
#[kernel]
fn elsewhere(list: *const usize, y: *mut u32) {
    let mut own = [4_u32, 5];
    let own = own.as_mut_ptr();
    let heap = vec![6_u32];
    let heap = heap.as_slice();
    // SAFETY: the list has the address of such a buffer.
    unsafe {
        let inner = *list as *const u32;
        *own.add(1) += 1;
        *y = *inner.add(1) + *(&raw const NUMBERS[1]) + *own.add(1) + heap[0];
    }
}

#[test]
fn memory_that_is_no_parameter_may_be_accessed() {
    let device = Device::new();
    let inner = device.upload(&[10_u32, 20]);
    let (list, y) = (device.upload(&[inner.as_ptr().addr()]), device.room::<u32>(1));
    device.run(1, 1, &elsewhere(view(&list), view_mut(&y))).unwrap();
    assert_eq!(download::<u32>(&y), [20 + 2 + 6 + 6]);
    let list = device.upload(&[inner.as_ptr().addr() + 4]);
    let fault = device.fault(1, 1, &elsewhere(view(&list), view_mut(&y)));
    assert!(matches!(fault.kind, FaultKind::OutOfBounds { array: None, .. }), "{fault}");
}

/// Accesses `x` by a pointer that leaves the buffer and comes back.
#[kernel]
fn walk(x: *const u32, y: *mut u32, steps: usize) {
    let mut sum = 0;
    let mut pointer = x;
    let end = x.wrapping_add(steps);
    while pointer != end {
        // SAFETY: none beyond the end. The test checks that the simulator reports the invalid access.
        sum += unsafe { *pointer };
        pointer = pointer.wrapping_add(1);
    }
    // SAFETY: `y` points to one element, and the pointer into `x` returns to its first element.
    unsafe { *y = sum + *x.wrapping_add(1000).wrapping_sub(1000) };
}

#[test]
fn a_pointer_knows_where_it_came_from() {
    let device = Device::new();
    let (memory, y) = (device.upload(&[1_u32; 16]), device.room::<u32>(1));
    let x = view::<u32>(&memory).part(0, 8);
    device.run(1, 1, &walk(x, view_mut(&y), 8)).unwrap();
    assert_eq!(download::<u32>(&y), [9]);
    let fault = device.fault(1, 1, &walk(x, view_mut(&y), 9));
    assert_eq!(bounds(&fault), (Some("x"), 8, 8));
}

/// Replaces each thread's number by that of its right neighbour.
///
/// # Safety
/// There must be a barrier, so that no thread writes an element that another thread reads.
#[kernel]
unsafe fn shift(mut x: &mut [u32], with_barrier: u32) {
    let i = thread::index_1d();
    x = &mut x[..];
    let right = x[(i + 1) % x.len()];
    if with_barrier != 0 {
        thread::sync_threads();
    }
    x[i] = right; // shifted
}

#[test]
fn a_mutable_slice_is_every_thread_s() {
    let numbers: Vec<u32> = (0..64).collect();
    for schedule in simt::Schedule::HOSTILE {
        let device = Device(Simulator::new().with_checks(Checks::default()).with_schedule(schedule));
        let x = device.upload(&numbers);
        let run = |threads, with_barrier| {
            // SAFETY: the simulator reports a race before the racing access is executed.
            device.run(1, threads, &unsafe { shift(view_mut(&x), with_barrier) })
        };
        run(64, 1).unwrap();
        let expected: Vec<u32> = (0..64).map(|i| (i + 1) % 64).collect();
        assert_eq!(download::<u32>(&x), expected, "{schedule}");
        assert!(matches!(run(64, 0).unwrap_err().kind, FaultKind::Race(_)), "{schedule}");
        let fault = run(65, 1).unwrap_err();
        assert_eq!((bounds(&fault), line(&fault)), ((Some("x"), 64, 64), line_of("shift", "shifted")), "{schedule}");
    }
}

/// Computes `y += a·x` for one element.
///
/// # Safety
/// Both pointers must be valid for one element, and no other thread may access that of `y`.
#[device]
unsafe fn axpy(a: f32, x: *const f32, y: *mut f32) {
    // SAFETY: by this function's contract, both pointers are valid.
    unsafe { *y += a * *x };
}

#[kernel]
fn axpy_everywhere(a: f32, x: *const f32, y: *mut f32, n: usize) {
    for i in thread::grid_stride(n) {
        // SAFETY: if the length is too large, the test checks that the simulator reports the access.
        unsafe { axpy(a, x.add(i), y.add(i)) };
    }
}

#[test]
fn a_pointer_is_as_good_in_a_marked_function() {
    let device = Device::new();
    let (x, y) = (device.upload(&[1.0_f32, 2.0, 3.0]), device.upload(&[10.0_f32, 20.0, 30.0]));
    device.run(2, 2, &axpy_everywhere(2.0, view(&x), view_mut(&y), 3)).unwrap();
    assert_eq!(download::<f32>(&y), [12.0, 24.0, 36.0]);
    let fault = device.fault(2, 2, &axpy_everywhere(2.0, view(&x), view_mut(&y), 4));
    assert_eq!(bounds(&fault), (Some("x"), 3, 3));
}
