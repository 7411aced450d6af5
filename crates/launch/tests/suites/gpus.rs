//! Tests copies between devices, and streams across a group, on all GPUs of the machine and on simulated devices. If
//! the environment variable `GRIDSTRIDE_TEST_GPU` is set, the tests fail if no GPU can be used. If the machine has one
//! GPU, the tests open it twice.
//!
//! ```text
//! GRIDSTRIDE_TEST_GPU=1 cargo test --release -p gridstride-launch --test suites gpus --  --nocapture
//! ```

use std::time::Instant;

use super::queues::block_on;
use cuda_std::{GlobalMut, kernel, thread};
use launch::{
    Buffer, Device, DeviceChoice, Ends, Error, Group, LaunchConfig, PtxImage, PtxModule, Queue, SplitBuffer,
    checked_groups,
};

/// Adds `amount` to every element. On a GPU, each block waits `cycles` cycles first. Launch with one thread per
/// element.
#[kernel]
pub fn add_late(amount: u32, _cycles: u64, y: GlobalMut<u32>) {
    let i = thread::index_1d() as usize;
    if i < y.len() {
        y.store(i, y.load(i).wrapping_add(amount));
    }
}

/// The PTX of the kernel `add_late`, written by hand.
const PTX: &str = r"
.version 7.0
.target sm_70
.address_size 64

.visible .entry add_late(.param .u32 amount, .param .u64 cycles, .param .u64 pointer, .param .u64 length)
{
    .reg .pred %p;
    .reg .b32 %r<5>;
    .reg .b64 %rd<7>;
    ld.param.u32 %r4, [amount];
    ld.param.u64 %rd6, [cycles];
    ld.param.u64 %rd0, [pointer];
    ld.param.u64 %rd1, [length];
    mov.u64 %rd4, %clock64;
WAIT:
    mov.u64 %rd5, %clock64;
    sub.u64 %rd5, %rd5, %rd4;
    setp.lt.u64 %p, %rd5, %rd6;
    @%p bra WAIT;
    mov.u32 %r0, %ctaid.x;
    mov.u32 %r1, %ntid.x;
    mov.u32 %r2, %tid.x;
    mad.lo.u32 %r0, %r0, %r1, %r2;
    cvt.u64.u32 %rd2, %r0;
    setp.ge.u64 %p, %rd2, %rd1;
    @%p ret;
    cvta.to.global.u64 %rd0, %rd0;
    shl.b64 %rd2, %rd2, 2;
    add.u64 %rd0, %rd0, %rd2;
    ld.global.u32 %r3, [%rd0];
    add.u32 %r3, %r3, %r4;
    st.global.u32 [%rd0], %r3;
    ret;
}
";

const MODULES: &[PtxModule] = &[PtxModule { path: "suites::gpus", images: &[PtxImage::new(70, PTX)] }];

/// Returns the number of cycles by which a kernel on `len` elements delays each block. A kernel with few blocks then
/// takes about half a millisecond, so that a copy that does not wait for it copies old values. A kernel with many
/// blocks takes that long with a short delay.
fn late(len: usize) -> u64 {
    if len > 1 << 20 { 10_000 } else { 1_000_000 }
}

fn config(len: usize) -> LaunchConfig {
    LaunchConfig::new((len as u32).div_ceil(256).max(1), 256)
}

fn add(device: &Device, amount: u32, y: &mut Buffer<u32>) -> Result<(), Error> {
    device.launch(config(y.len()), add_late(amount, late(y.len()), y.view_mut()))
}

/// Returns the GPUs, or `None` if there are none. If there is only one, the list has it twice.
pub fn gpus() -> Option<Vec<Device>> {
    let open = |ordinal| Device::open(DeviceChoice::Gpu(Some(ordinal)), MODULES);
    let found = match launch::gpus() {
        Ok(found) => found,
        Err(reason) => {
            assert!(std::env::var_os("GRIDSTRIDE_TEST_GPU").is_none(), "no GPU can be used: {reason}");
            return None;
        }
    };
    let ordinals = if found.len() == 1 { vec![0, 0] } else { (0..found.len() as u32).collect() };
    Some(ordinals.into_iter().map(|ordinal| open(ordinal).expect("a usable GPU")).collect())
}

#[test]
fn simulated_devices() -> Result<(), Error> {
    let group = Group::open(&"sim:3".parse().expect("a valid choice"), &[])?;
    check_copies(group.members(), &[0, 1, 100, 1000])?;
    check_copies_in_streams(group.members(), &[0, 1, 1000])?;
    check_streams(&group, &[1, 100, 1000])?;
    check_queues(group.members(), &[1, 1000])?;
    check_halos(&group, &[1, 2, 100, 1000])?;
    for group in checked_groups(3) {
        check_copies(group.members(), &[100])?;
        check_copies_in_streams(group.members(), &[100])?;
        check_streams(&group, &[100])?;
        check_queues(group.members(), &[100])?;
    }
    Ok(())
}

#[test]
fn all_gpus() -> Result<(), Error> {
    const LENS: &[usize] = &[1, 1000, 1 << 16, 1 << 20, (32 << 20) + 3];
    // Times copies before the devices form a group, while the copies are not direct.
    let Some(devices) = gpus() else { return Ok(()) };
    time_copies("not of a group", &devices)?;
    check_copies(&devices, LENS)?;
    let group = Group::of(devices)?;
    println!("{}; direct: {}", group.summary(), group.are_peers());
    check_copies(group.members(), LENS)?;
    check_copies_in_streams(group.members(), LENS)?;
    check_streams(&group, LENS)?;
    check_queues(group.members(), LENS)?;
    check_halos(&group, LENS)?;
    time_halos(&group)?;
    time_copies("of a group", group.members())?;
    // Opens the group by its name, in addition to these devices.
    let all = Group::open(&"gpu:all".parse().expect("a valid choice"), MODULES)?;
    check_copies(all.members(), &[1000])?;
    let count = launch::gpus().map_or(0, |gpus| gpus.len());
    let error = Group::open(&format!("gpu:0,{count}").parse().expect("a valid choice"), MODULES).expect_err("too many");
    assert!(error.to_string().contains(&format!("there is no GPU {count}: the driver finds {count}")), "{error}");
    Ok(())
}

/// Checks copies around the ring of `devices`. Delayed kernels run before each copy, and after it on its source and on
/// its target.
fn check_copies(devices: &[Device], lens: &[usize]) -> Result<(), Error> {
    for &len in lens {
        for (number, here) in devices.iter().enumerate() {
            let there = &devices[(number + 1) % devices.len()];
            let data: Vec<u32> = (0..len as u32).collect();
            // The copy from the host may still be running when `upload` returns.
            let mut source = here.upload(&data)?;
            let mut target = there.upload(&vec![7; len + 2])?;
            target.copy_range_from(1, &source, 0..len)?;
            let first = target.download()?;
            assert_eq!((first[0], first[len + 1]), (7, 7), "elements beside the target changed");
            assert_eq!(first[1..=len], data, "length {len}, from {number}");
            for round in 1..=3 {
                add(here, 100, &mut source)?;
                add(there, 5, &mut target)?;
                target.copy_range_from(1, &source, 0..len)?;
                add(here, 10_000, &mut source)?;
                add(there, 1, &mut target)?;
                // The first kernel of a round reads the results of the last kernel of the previous round.
                let before = |i: u32| i + round * 100 + (round - 1) * 10_000;
                let expected: Vec<u32> = (0..len as u32).map(|i| before(i) + 1).collect();
                // In the second round, the host waits for the source first.
                if round == 2 {
                    here.synchronize()?;
                }
                let found = target.download()?;
                assert!(found[1..=len] == expected, "length {len}, from {number}, round {round}");
                assert_eq!((found[0], found[len + 1]), (7 + round * 6, 7 + round * 6));
            }
            // A copy from the host to the source follows a copy from the source.
            add(there, 1, &mut target)?;
            target.copy_range_from(2, &source, 0..len)?;
            source.upload(&vec![0; len])?;
            let expected: Vec<u32> = (0..len as u32).map(|i| i + 30_300).collect();
            assert!(target.download()?[2..] == expected, "length {len}, from {number}, upload");
            // One buffer is freed before its copy is done, and another is allocated in the same memory.
            add(here, 3, &mut source)?;
            target.copy_range_from(0, &source, 0..len)?;
            drop(source);
            let other = here.upload(&vec![9_u32; len])?;
            assert!(target.download()?[..len].iter().all(|&element| element == 3), "length {len}, freed");
            add(there, 3, &mut target)?;
            let mut back = here.zeroed::<u32>(len)?;
            back.copy_range_from(0, &target, 0..len)?;
            drop((target, other));
            assert!(back.download()?.iter().all(|&element| element == 6), "length {len}, and back");
        }
    }
    Ok(())
}

/// Checks copies around the ring of `devices` in streams of their targets. Delayed kernels run on the source before
/// each copy, and after it. The last copy is not done when its source is freed.
fn check_copies_in_streams(devices: &[Device], lens: &[usize]) -> Result<(), Error> {
    for &len in lens {
        for (number, here) in devices.iter().enumerate() {
            let there = &devices[(number + 1) % devices.len()];
            let (stream, mut source) = (there.stream()?, here.upload(&vec![1_u32; len])?);
            let mut target = there.upload(&vec![7_u32; len + 2])?;
            let copy = |source: &Buffer<u32>, target: &mut Buffer<u32>| -> Result<(), Error> {
                stream.queue().wait(&here.queue().record()?)?;
                stream.queue().copy_between(source, target)
            };
            let is_right = |target: &Buffer<u32>, expected: u32| -> Result<bool, Error> {
                let found = target.download()?;
                Ok(found[..len].iter().all(|&element| element == expected) && found[len..] == [7, 7])
            };
            for round in 0..3 {
                add(here, 10, &mut source)?;
                copy(&source, &mut target)?;
                add(here, 100, &mut source)?;
                assert!(is_right(&target, 11 + 110 * round)?, "length {len}, from {number}, round {round}");
            }
            add(here, 1, &mut source)?;
            copy(&source, &mut target)?;
            drop(source);
            let other = here.upload(&vec![0_u32; len])?;
            assert!(is_right(&target, 332)?, "length {len}, from {number}, freed");
            let error = stream.queue().copy_between(&target, &mut there.zeroed(len + 1)?).expect_err("too short");
            assert!(matches!(error, Error::OutOfRange { .. }), "{error}");
            let error = here.queue().copy_between(&other, &mut target).expect_err("another device");
            assert!(matches!(error, Error::WrongDevice { .. }), "{error}");
        }
    }
    Ok(())
}

/// Checks streams of all members that pass a buffer around the ring, once by copies in the target's stream and once by
/// copies in the source's stream.
fn check_streams(group: &Group, lens: &[usize]) -> Result<(), Error> {
    let members = group.members().len();
    for &len in lens {
        for is_pulled in [false, true] {
            let mut buffers = Vec::new();
            for member in group.members() {
                buffers.push(member.zeroed::<u32>(len)?);
            }
            let views: Vec<_> = buffers.iter_mut().map(|buffer| buffer.view_mut()).collect();
            let mut result = group.members()[0].pinned::<u32>(len)?;
            group.streams(2, |streams| {
                for step in 0..2 * members {
                    let (here, there) = (step % members, (step + 1) % members);
                    let (compute, copy) = (&streams[here][0], &streams[if is_pulled { there } else { here }][1]);
                    compute.launch(config(len), add_late(1 + step as u32, late(len), views[here]))?;
                    copy.wait(&compute.record()?)?;
                    copy.copy(views[there], views[here])?;
                    let copied = copy.record()?;
                    streams[there][0].wait(&copied)?;
                    // The copy must not see the result of this launch.
                    compute.wait(&copied)?;
                    compute.launch(config(len), add_late(1 << 20, late(len), views[here]))?;
                    // The next copy to this device runs after this launch.
                    let done = compute.record()?;
                    streams.iter().try_for_each(|streams| streams[1].wait(&done))?;
                }
                streams[0][0].download(views[0], &mut result)
            })?;
            let expected = (1..=2 * members as u32).sum::<u32>();
            assert!(result.iter().all(|&element| element == expected), "length {len}, pulled: {is_pulled}");
        }
    }
    Ok(())
}

/// Checks queues in streams: delayed kernels run before each operation that must come after them.
fn check_queues(devices: &[Device], lens: &[usize]) -> Result<(), Error> {
    for (device, &len) in devices.iter().flat_map(|device| lens.iter().map(move |len| (device, len))) {
        let add = |queue: Queue<'_>, amount, y: &mut Buffer<u32>| {
            queue.launch(config(len), add_late(amount, late(len), y.view_mut()))
        };
        let is_all = |y: Vec<u32>, value: u32| y.len() == len && y.iter().all(|&y| y == value);
        let (first, second) = (device.stream()?, device.stream()?);
        let mut y = device.zeroed::<u32>(len)?;
        add(first.queue(), 1, &mut y)?;
        assert!(is_all(y.download()?, 1), "length {len}: a download");
        add(first.queue(), 1, &mut y)?;
        second.queue().wait(&first.queue().record()?)?;
        add(second.queue(), 1, &mut y)?;
        assert!(is_all(second.queue().download(&y)?, 3), "length {len}: an event");
        add(second.queue(), 1, &mut y)?;
        block_on(second.queue().finished())?;
        assert!(is_all(first.queue().download(&y)?, 4), "length {len}: a future");
        let mut copy = device.zeroed::<u32>(len)?;
        add(first.queue(), 1, &mut y)?;
        copy.copy_from(&y)?;
        add(first.queue(), 1, &mut copy)?;
        assert!(is_all(copy.download()?, 6), "length {len}: a copy");
        // The memory's former owner must not write it any more.
        add(first.queue(), 1, &mut y)?;
        drop(y);
        let y = device.upload(&vec![9; len])?;
        first.queue().synchronize()?;
        assert!(is_all(y.download()?, 9), "length {len}: freed by a stream");
        add(device.queue(), 1, &mut copy)?;
        drop(copy);
        let mut y = device.alloc::<u32>(len)?;
        second.queue().fill_zero(&mut y)?;
        device.synchronize()?;
        assert!(is_all(y.download()?, 0), "length {len}: freed by the device");
        add(second.queue(), 3, &mut y)?;
        drop(second);
        assert!(is_all(y.download()?, 3), "length {len}: a dropped stream");
    }
    Ok(())
}

/// Checks a split buffer whose parts change, exchange halos, and change again.
fn check_halos(group: &Group, lens: &[usize]) -> Result<(), Error> {
    for &len in lens {
        let halo = len.min(1000) / 3 + 1;
        let mut split = group.split::<u32>(len, halo, Ends::Wrap)?;
        split.upload(&(0..len as u32).collect::<Vec<_>>())?;
        let add_all = |split: &mut SplitBuffer<u32>, amount: u32| {
            let parts = split.parts_mut().iter_mut().zip(group.members());
            parts.into_iter().try_for_each(|(part, member)| {
                let own = part.range().len();
                member.launch(config(own), add_late(amount, late(own), part.own_mut()))
            })
        };
        for _ in 0..3 {
            add_all(&mut split, 100)?;
            split.exchange_halos()?;
            add_all(&mut split, 1 << 20)?;
        }
        assert!(split.download()?.iter().zip(0..).all(|(&element, i)| element == i + 300 + (3 << 20)), "length {len}");
        for part in split.parts().iter().filter(|part| !part.range().is_empty()) {
            let (start, found) = (part.range().start + 3 * len - halo % len, part.buffer().download()?);
            let is_own = |place| (halo..halo + part.range().len()).contains(&place);
            let late = |place| if is_own(place) { 3 << 20 } else { 2 << 20 };
            let expected = |place| ((start + place) % len) as u32 + 300 + late(place);
            let wrong = found.iter().enumerate().find(|&(place, &element)| element != expected(place));
            assert_eq!(wrong, None, "length {len}, part {:?}", part.range());
        }
    }
    Ok(())
}

/// Prints the time that an exchange of halos takes.
fn time_halos(group: &Group) -> Result<(), Error> {
    const COUNT: u32 = 200;
    for halo in [1 << 10, 1 << 14, 1 << 18] {
        let mut split = group.split::<u32>(4 << 20, halo, Ends::Wrap)?;
        let wait = || group.members().iter().try_for_each(Device::synchronize);
        split.exchange_halos()?;
        wait()?;
        let begun = Instant::now();
        (0..COUNT).try_for_each(|_| split.exchange_halos())?;
        let asked = begun.elapsed() / COUNT;
        wait()?;
        let done = begun.elapsed() / COUNT;
        println!("an exchange of halos of {} KiB on both sides takes {done:?} (host: {asked:?})", halo / 256);
    }
    Ok(())
}

/// Prints the times that copies between the first two devices take.
fn time_copies(what: &str, devices: &[Device]) -> Result<(), Error> {
    let [first, second, ..] = devices else { return Ok(()) };
    for len in [1 << 10, 1 << 14, 1 << 18, 64 << 20_usize] {
        let source = first.upload(&vec![1_u32; len])?;
        let mut target = second.zeroed::<u32>(len)?;
        let count = if len > 1 << 20 { 5 } else { 200 };
        target.copy_range_from(0, &source, 0..len)?;
        second.synchronize()?;
        let begun = Instant::now();
        for _ in 0..count {
            target.copy_range_from(0, &source, 0..len)?;
        }
        let asked = begun.elapsed() / count;
        second.synchronize()?;
        let done = begun.elapsed() / count;
        let rate = (4 * len) as f64 / done.as_secs_f64() / 1e9;
        println!("{what}: a copy of {} KiB takes {done:?} ({rate:.1} GB/s; host: {asked:?})", len / 256);
    }
    Ok(())
}
