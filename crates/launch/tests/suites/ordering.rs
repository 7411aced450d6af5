//! Tests races between streams. The checker must find unordered accesses in whatever order the simulator executes them,
//! and must accept ordered accesses.

use cuda_std::{Global, GlobalMut, kernel, thread};
use launch::{
    Checks, Device, DeviceChoice, Error, Group, LaunchConfig, Simulator, StreamRace, StreamWork, checked_devices,
    checked_groups,
};

/// Adds `x[i]` to `y[i]` for every `i`; any grid.
#[kernel]
pub fn add(x: Global<u32>, y: GlobalMut<u32>) {
    for i in thread::grid_stride(y.len()) {
        y.store(i, y.load(i) + x.load(i));
    }
}

/// Stores `i + 1` to `y[i]` for every `i`; any grid.
#[kernel]
pub fn number(y: GlobalMut<u32>) {
    for i in thread::grid_stride(y.len()) {
        y.store(i, i as u32 + 1);
    }
}

/// Adds the elements of `x`, a mutable view that is only read, to `sum[0]`; any grid. Only one thread adds.
#[kernel]
pub fn sum(x: GlobalMut<u32>, sum: GlobalMut<u32>) {
    let len = if thread::index_1d() == 0 { x.len() } else { 0 };
    for i in 0..len {
        sum.store(0, sum.load(0) + x.load(i));
    }
}

/// Returns a launch of one warp.
fn config() -> LaunchConfig {
    LaunchConfig::new(1, 32)
}

fn race<T: std::fmt::Debug>(result: Result<T, Error>) -> StreamRace {
    match result.expect_err("a race") {
        Error::StreamRace(race) => *race,
        error => panic!("{error:?}"),
    }
}

fn checked() -> Device {
    Device::simulated(Simulator::new().with_checks(Checks::default()))
}

#[test]
fn an_upload_that_a_kernel_does_not_wait_for() -> Result<(), Error> {
    for device in checked_devices() {
        let (mut x, mut y) = (device.alloc::<u32>(8)?, device.zeroed::<u32>(8)?);
        let (x, y) = (x.as_part_mut(), y.view_mut());
        let mut lines = (0, 0);
        let result = device.streams(2, |streams| {
            lines.0 = line!() + 1;
            let x = streams[0].upload_part(x, &[1; 8])?;
            lines.1 = line!() + 1;
            streams[1].launch(config(), add(x, y))
        });
        let race = race(result);
        assert_eq!((race.earlier.location.line(), race.later.location.line(), race.bytes), (lines.0, lines.1, 32));
        assert_eq!((race.earlier.is_write, race.later.is_write), (true, false));
        assert!(matches!((race.earlier.work, race.later.work), (StreamWork::Upload, StreamWork::Launch(kernel))
                if kernel.name == "add"));
        let message = race.to_string();
        for part in [
            "race of streams for 32 bytes: the upload enqueued at ".to_owned(),
            format!("ordering.rs:{}:", lines.0),
            " in stream 0 of device 0 writes there, and the launch of `add` (".to_owned(),
            format!("ordering.rs:{}:", lines.1),
            "in stream 1 of device 0 reads there, as `x`, and nothing orders them: record an event".to_owned(),
        ] {
            assert!(message.contains(&part), "{message}\nhas no {part}");
        }
    }
    Ok(())
}

/// The operation that orders the two streams in [`read_after_write_in_two_streams`].
#[derive(Clone, Copy, PartialEq, Debug)]
enum Order {
    Nothing,
    Event,
    EarlyEvent,
    EventOfAThirdStream,
    HostWaits,
    HostWaitsForTheOther,
    HostReadsTheTime,
}

/// Writes an array by a kernel in one stream, and reads it by a kernel or a download in another stream.
fn read_after_write_in_two_streams(device: &Device, order: Order, is_read_by_kernel: bool) -> Result<Vec<u32>, Error> {
    let (mut x, mut y, mut into) = (device.zeroed::<u32>(40)?, device.zeroed::<u32>(40)?, vec![0; 40]);
    let (x_view, y_view) = (x.view_mut(), y.view_mut());
    device.streams(3, |streams| {
        let start = streams[0].record()?;
        streams[0].launch(config(), number(x_view))?;
        let end = streams[0].record()?;
        match order {
            Order::Nothing => {}
            Order::Event => streams[1].wait(&end)?,
            Order::EarlyEvent => streams[1].wait(&start)?,
            Order::EventOfAThirdStream => {
                streams[2].wait(&end)?;
                streams[1].wait(&streams[2].record()?)?;
            }
            Order::HostWaits => streams[0].synchronize()?,
            Order::HostWaitsForTheOther => streams[1].synchronize()?,
            Order::HostReadsTheTime => drop(end.elapsed_since(&start)?),
        }
        if is_read_by_kernel {
            streams[1].launch(config(), sum(x_view, y_view))?;
            streams[1].download(y_view, &mut into)
        } else {
            streams[1].download(x_view, &mut into)
        }
    })?;
    Ok(into)
}

#[test]
fn operations_that_order_two_streams() -> Result<(), Error> {
    for device in checked_devices() {
        for is_read_by_kernel in [false, true] {
            for order in [Order::Nothing, Order::EarlyEvent, Order::HostWaitsForTheOther] {
                let race = race(read_after_write_in_two_streams(&device, order, is_read_by_kernel));
                assert_eq!((race.earlier.array, race.bytes), (Some("y"), 160), "{order:?}");
                assert_eq!(race.later.array, is_read_by_kernel.then_some("x"), "{order:?}");
            }
            for order in [Order::Event, Order::EventOfAThirdStream, Order::HostWaits, Order::HostReadsTheTime] {
                let result = read_after_write_in_two_streams(&device, order, is_read_by_kernel)?;
                assert_eq!(result[0], if is_read_by_kernel { 820 } else { 1 }, "{order:?}");
            }
        }
    }
    // A device without checks accepts the race.
    let device = Device::open(DeviceChoice::Sim, &[])?;
    assert_eq!(read_after_write_in_two_streams(&device, Order::Nothing, true)?[0], 820);
    Ok(())
}

#[test]
fn a_write_after_a_read() -> Result<(), Error> {
    let device = checked();
    let run = |waits: bool| {
        let (mut x, mut y) = (device.upload(&[1_u32; 8])?, device.zeroed::<u32>(8)?);
        let (x, y) = (x.view_mut(), y.view_mut());
        device.streams(2, |streams| {
            streams[0].launch(config(), sum(x, y))?;
            if waits {
                streams[1].wait(&streams[0].record()?)?;
            }
            streams[1].upload(x.part(2, 2), &[5, 6])
        })
    };
    run(true)?;
    let race = race(run(false));
    assert_eq!((race.bytes, race.earlier.is_write, race.later.is_write), (8, false, true));
    assert!(matches!(race.later.work, StreamWork::Upload));
    Ok(())
}

#[test]
fn two_writes() -> Result<(), Error> {
    let device = checked();
    let mut y = device.zeroed::<u32>(8)?;
    let y = y.view_mut();
    let race = race(device.streams(2, |streams| {
        streams[0].launch(config(), number(y.part(0, 5)))?;
        streams[1].launch(config(), number(y.part(4, 4)))
    }));
    assert_eq!((race.bytes, race.earlier.is_write, race.later.array), (4, true, Some("y")));
    Ok(())
}

#[test]
fn a_read_does_not_hide_a_write() -> Result<(), Error> {
    let device = checked();
    let mut y = device.zeroed::<u32>(8)?;
    let (y, mut first, mut second) = (y.view_mut(), [0; 8], [0; 4]);
    let race = race(device.streams(2, |streams| {
        streams[0].launch(config(), number(y))?;
        streams[0].download(y, &mut first)?;
        streams[1].download(y.part(4, 4), &mut second)
    }));
    assert!(matches!(race.earlier.work, StreamWork::Launch(_)), "{race}");
    Ok(())
}

#[test]
fn accesses_that_need_no_order() -> Result<(), Error> {
    for device in checked_devices() {
        let (mut x, mut y) = (device.upload(&[1_u32; 64])?, device.zeroed::<u32>(64)?);
        let (mut sums, mut into) = (device.zeroed::<u32>(2)?, [0; 2]);
        let (mut first, mut second) = ([0; 64], [0; 64]);
        // The streams access disjoint parts.
        let parts: Vec<_> = y.as_part_mut().chunks(32).collect();
        let x_view = x.view();
        device.streams(2, |streams| {
            for ((stream, part), from) in streams.iter().zip(parts).zip([0, 16]) {
                stream.launch(config(), add(x_view.part(from, 32), part.view_mut()))?;
            }
            Ok(())
        })?;
        // Both streams only read, also through mutable views.
        let (x_view, sums_view) = (x.view_mut(), sums.view_mut());
        device.streams(3, |streams| {
            streams[0].launch(config(), sum(x_view, sums_view.part(0, 1)))?;
            streams[1].launch(config(), sum(x_view, sums_view.part(1, 1)))?;
            streams[1].download(x_view, &mut first)?;
            streams[2].download(x_view, &mut second)
        })?;
        // The first operations belong to another scope or to the device itself, and precede this scope.
        device.launch(config(), number(y.view_mut()))?;
        let (y_view, sums_view) = (y.view_mut(), sums.view_mut());
        device.streams(1, |streams| streams[0].launch(config(), number(y_view)))?;
        device.streams(2, |streams| {
            streams[0].download(sums_view, &mut into)?;
            streams[1].launch(config(), number(y_view))
        })?;
        assert_eq!((into, y.download()?[63]), ([64, 64], 64));
    }
    Ok(())
}

#[test]
fn scopes_within_a_scope() -> Result<(), Error> {
    let device = checked();
    let mut y = device.zeroed::<u32>(8)?;
    let view = y.view_mut();
    let race = race(device.streams(1, |outer| {
        outer[0].launch(config(), number(view))?;
        device.streams(1, |inner| inner[0].upload(view, &[0; 8]))
    }));
    assert_eq!(race.bytes, 32);
    // After a failure, the checker starts with an empty state.
    device.streams(1, |outer| {
        outer[0].launch(config(), number(view))?;
        outer[0].synchronize()?;
        device.streams(1, |inner| inner[0].upload(view, &[0; 8]))?;
        outer[0].launch(config(), number(view))
    })?;
    assert_eq!(y.download()?[7], 8);
    Ok(())
}

/// Exchanges the last elements of two members' parts as halos, with copies that run beside the kernels. If `without` is
/// `Some(i)`, the wait with index `i` is left out.
fn exchange(group: &Group, without: Option<usize>) -> Result<Vec<u32>, Error> {
    let [first, second] = group.members() else { panic!("two members") };
    let mut edges = 0..;
    let mut is_there = || edges.next() != without;
    let (mut here, mut there) = (first.zeroed::<u32>(34)?, second.zeroed::<u32>(34)?);
    let mut sums = (first.zeroed::<u32>(1)?, second.zeroed::<u32>(1)?);
    // Each member has 32 elements, and a halo for the last two elements of the other part.
    let (here_view, there_view, sum_views) =
        (here.view_mut(), there.view_mut(), (sums.0.view_mut(), sums.1.view_mut()));
    group.streams(2, |streams| {
        let [[compute, copy], [other_compute, other_copy]] = [&streams[0][..], &streams[1][..]].map(|s| [&s[0], &s[1]]);
        compute.launch(config(), number(here_view.part(0, 32)))?;
        other_compute.launch(config(), number(there_view.part(0, 32)))?;
        let (written, other_written) = (compute.record()?, other_compute.record()?);
        // One member copies to its own memory, the other from its own memory.
        if is_there() {
            copy.wait(&other_written)?;
        }
        copy.copy(here_view.part(32, 2), there_view.part(30, 2))?;
        if is_there() {
            copy.wait(&written)?;
        }
        copy.copy(there_view.part(32, 2), here_view.part(30, 2))?;
        let copied = copy.record()?;
        // Meanwhile, a kernel sums the interior.
        compute.launch(config(), sum(here_view.part(0, 32), sum_views.0))?;
        if is_there() {
            compute.wait(&copied)?;
        }
        compute.launch(config(), sum(here_view.part(32, 2), sum_views.0))?;
        if is_there() {
            other_copy.wait(&copied)?;
        }
        let done = other_copy.record()?;
        if is_there() {
            other_compute.wait(&done)?;
        }
        other_compute.launch(config(), sum(there_view, sum_views.1))
    })?;
    Ok([sums.0.download()?, sums.1.download()?].concat())
}

#[test]
fn a_halo_that_nothing_orders() -> Result<(), Error> {
    for group in checked_groups(2) {
        let sum = (1..=32).sum::<u32>() + 31 + 32;
        assert_eq!(exchange(&group, None)?, [sum, sum]);
        for (edge, bytes) in [8, 8, 8, 8, 8].into_iter().enumerate() {
            let race = race(exchange(&group, Some(edge)));
            assert_eq!(race.bytes, bytes, "without {edge}: {race}");
            let message = race.to_string();
            let of_both = ["of device 0", "of device 1"].map(|device| message.contains(device));
            assert_eq!(of_both, if matches!(edge, 1 | 2) { [true, false] } else { [true, true] }, "{message}");
        }
    }
    Ok(())
}

#[test]
fn members_of_several_threads() -> Result<(), Error> {
    let group = checked_groups(4).next().expect("a group");
    let mut buffers = Vec::new();
    for member in group.members() {
        buffers.push(member.zeroed::<u32>(100)?);
    }
    let views: Vec<_> = buffers.iter_mut().map(|buffer| buffer.view_mut()).collect();
    group.streams(1, |streams| {
        std::thread::scope(|threads| {
            for (streams, view) in streams.iter().zip(&views) {
                threads
                    .spawn(|| (0..20).try_for_each(|_| streams[0].launch(config(), number(*view))).expect("no race"));
            }
        });
        Ok(())
    })?;
    assert!(buffers.iter().all(|buffer| buffer.download().is_ok_and(|elements| elements[99] == 100)));
    Ok(())
}

#[test]
fn a_stream_and_the_device_itself() -> Result<(), Error> {
    let device = checked();
    let (mut x, mut y, mut other) = (device.zeroed::<u32>(8)?, device.zeroed::<u32>(8)?, device.zeroed::<u32>(8)?);
    let (x, y, mut into) = (x.view_mut(), y.view_mut(), [0; 8]);
    // Operations that were enqueued before the scope are complete.
    device.launch(config(), number(x))?;
    device.streams(1, |streams| streams[0].download(x, &mut into))?;
    let found = race(device.streams(1, |streams| {
        streams[0].launch(config(), number(y))?;
        device.launch(config(), sum(y, x))
    }));
    assert_eq!((found.earlier.stream, found.later.stream, found.bytes), (Some((0, 0)), None, 32));
    assert!(found.to_string().contains(" on the device itself reads there, as `x`"), "{found}");
    let mut wait = |wait: fn(&Device, &mut launch::Buffer<u32>) -> Result<(), Error>| {
        device.streams(1, |streams| {
            device.launch(config(), number(y))?;
            wait(&device, &mut other)?;
            streams[0].launch(config(), sum(y, x))
        })
    };
    assert_eq!(race(wait(|_, _| Ok(()))).earlier.stream, None);
    // These are some of the operations that wait for the device.
    wait(|device, _| device.synchronize())?;
    wait(|_, other| other.download().map(drop))?;
    wait(|_, other| other.download_into(&mut [0; 8]))?;
    wait(|_, other| other.upload(&[0; 8]))?;
    wait(|_, other| other.upload_range(1, &[0; 2]))?;
    wait(|_, other| other.download_range(1, &mut [0; 2]))
}

#[test]
fn copies_of_the_devices_themselves() -> Result<(), Error> {
    for group in checked_groups(2) {
        let [first, second] = group.members() else { panic!("two members") };
        let (mut here, mut there) = (first.zeroed::<u32>(8)?, second.zeroed::<u32>(8)?);
        let (here, there) = (here.view_mut(), there.view_mut());
        let run = |waits: bool| {
            group.streams(1, |streams| {
                streams[1][0].launch(config(), number(there))?;
                if waits {
                    streams[1][0].synchronize()?;
                }
                group.copy_all(&[(here, there)])?;
                // The copy is complete before later operations of the source device.
                second.launch(config(), sum(there, there.part(0, 1)))?;
                second.synchronize()?;
                streams[0][0].launch(config(), number(here))
            })
        };
        run(true)?;
        let race = race(run(false));
        assert!(matches!(race.later.work, StreamWork::Copy), "{race}");
        assert_eq!((race.earlier.stream, race.later.stream, race.bytes), (Some((1, 0)), None, 32));
    }
    Ok(())
}
