//! Tests streams, events, parts, and page-locked memory in the simulator.

use std::thread::scope;
use std::time::Duration;

use cuda_std::{Element, Global, GlobalMut, kernel, thread};
use launch::{Device, DeviceChoice, Error, Event, Kernel, LaunchConfig};

/// `y[i] = a·x[i] + y[i]` for every `i`; any grid.
#[kernel]
pub fn saxpy(a: f32, x: Global<f32>, y: GlobalMut<f32>) {
    for i in thread::grid_stride(y.len()) {
        y.store(i, a.mul_add(x.load(i), y.load(i)));
    }
}

/// Adds 1 in thread `i` to element `i` of the part `start..start + len`.
#[kernel]
pub fn add_one_to_part(start: u64, len: u64, y: GlobalMut<u32>) {
    let part = y.part(start as usize, len as usize);
    let i = thread::index_1d();
    if i < part.len() {
        part.store(i, part.load(i) + 1);
    }
}

fn device() -> Device {
    Device::open(DeviceChoice::Sim, &[]).expect("the simulator can be opened")
}

fn numbers(len: usize) -> Vec<f32> {
    (0..len).map(|i| (i % 1000) as f32).collect()
}

#[test]
fn streams_upload_compute_and_download() -> Result<(), Error> {
    let device = device();
    for (len, count) in [(0, 3), (1, 3), (33, 1), (1000, 3), (1000, 7), (65_537, 4)] {
        let x = numbers(len);
        let mut y = device.pinned::<f32>(len)?;
        y.copy_from_slice(&numbers(len));
        let mut result = vec![-1.0_f32; len];
        let (mut dx, mut dy) = (device.alloc(len)?, device.alloc(len)?);
        let chunk = len.div_ceil(count);
        let parts = dx.as_part_mut().chunks(chunk).zip(dy.as_part_mut().chunks(chunk));
        let host = x.chunks(chunk.max(1)).zip(y.chunks(chunk.max(1))).zip(result.chunks_mut(chunk.max(1)));
        let (host, parts): (Vec<_>, Vec<_>) = (host.collect(), parts.collect());
        assert_eq!(host.len(), parts.len());
        device.streams(count, |streams| {
            assert_eq!(streams.len(), count);
            for (stream, ((dx, dy), ((x, y), result))) in streams.iter().zip(parts.into_iter().zip(host)) {
                let (dx, dy) = (stream.upload_part(dx, x)?, dy.view_mut());
                stream.upload(dy, y)?;
                stream.launch(LaunchConfig::new(3, 64), saxpy(2.0, dx, dy))?;
                stream.download(dy, result)?;
            }
            Ok(())
        })?;
        let expected: Vec<f32> = numbers(len).iter().map(|x| 3.0 * x).collect();
        assert_eq!(result, expected, "length {len}, {count} streams");
        assert_eq!(dy.download()?, expected);
    }
    Ok(())
}

#[test]
fn elements_of_any_size_are_copied() -> Result<(), Error> {
    fn there_and_back<T: Element + PartialEq + std::fmt::Debug>(data: &[T]) -> Result<(), Error> {
        let device = device();
        let mut buffer = device.alloc(data.len())?;
        let mut back = vec![T::zeroed(); data.len()];
        let view = buffer.view_mut();
        device.streams(1, |streams| {
            streams[0].upload(view, data)?;
            streams[0].download(view, &mut back)
        })?;
        assert_eq!(back, data);
        Ok(())
    }
    there_and_back(&[1_u8, 2, 3])?;
    there_and_back(&[1_i16, -2, 3])?;
    there_and_back(&[1.5_f32, -2.5])?;
    there_and_back(&[1.5_f64, -2.5])?;
    there_and_back(&[[1_u64, 2], [3, 4]])?;
    there_and_back(&[[1_u8, 2, 3], [4, 5, 6], [7, 8, 9]])?;
    there_and_back(&[[0_u32; 0], []])?;
    there_and_back::<u32>(&[])
}

#[test]
fn no_streams_and_a_result() -> Result<(), Error> {
    assert_eq!(device().streams(0, |streams| Ok(streams.len() + 42))?, 42);
    let error = device().streams(usize::MAX, |_| Ok(())).expect_err("too many");
    assert!(matches!(error, Error::TooLarge { .. }), "{error:?}");
    Ok(())
}

#[test]
fn events_order_and_time() -> Result<(), Error> {
    let (device, other) = (device(), device());
    let (start, end): (Event, Event) = device.streams(2, |streams| {
        let start = streams[0].record()?;
        std::thread::sleep(Duration::from_millis(5));
        streams[1].wait(&start)?;
        streams[1].synchronize()?;
        Ok((start, streams[1].record()?))
    })?;
    let time = end.elapsed_since(&start)?;
    assert!((Duration::from_millis(5)..Duration::from_secs(10)).contains(&time), "{time:?}");
    assert_eq!(start.elapsed_since(&end)?, Duration::ZERO);

    let elsewhere = other.streams(1, |streams| {
        let error = streams[0].wait(&start).expect_err("another device's");
        assert!(matches!(error, Error::WrongDevice { .. }), "{error:?}");
        streams[0].record()
    })?;
    for error in [end.elapsed_since(&elsewhere), elsewhere.elapsed_since(&start)] {
        assert!(matches!(error, Err(Error::WrongDevice { .. })), "{error:?}");
    }
    Ok(())
}

#[test]
fn views_of_other_lengths_are_refused() -> Result<(), Error> {
    let (device, other) = (device(), device());
    let mut here = device.zeroed::<u32>(4)?;
    let mut there = other.zeroed::<u32>(4)?;
    let (here_view, there_view) = (here.view_mut(), there.view_mut());
    let (short, long, mut into) = ([1_u32; 3], [1_u32; 5], [9_u32; 5]);
    let mut other_into = [9_u32; 4];
    device.streams(1, |streams| {
        let stream = &streams[0];
        for error in [
            stream.upload(here_view, &short).expect_err("short"),
            stream.upload(here_view, &long).expect_err("long"),
            stream.download(here_view, &mut into).expect_err("long"),
        ] {
            assert!(matches!(error, Error::LengthMismatch { buffer: 4, .. }), "{error:?}");
        }
        for error in [
            stream.upload(there_view, &[1; 4]).expect_err("elsewhere"),
            stream.download(there_view, &mut other_into).expect_err("elsewhere"),
            stream.launch(LaunchConfig::new(1, 32), add_one_to_part(0, 4, there_view)).expect_err("elsewhere"),
        ] {
            assert!(matches!(error, Error::WrongDevice { .. }), "{error:?}");
        }
        Ok(())
    })?;
    assert_eq!((here.download()?, there.download()?), (vec![0; 4], vec![0; 4]), "elements were changed");
    assert_eq!((into, other_into), ([9; 5], [9; 4]));
    Ok(())
}

#[test]
fn failures_leave_the_scope() -> Result<(), Error> {
    let device = device();
    let mut y = device.zeroed::<u32>(8)?;
    let view = y.view_mut();
    let fault = |error: &Error| matches!(error, Error::Fault(fault) if fault.kernel == add_one_to_part::INFO.name);
    // A kernel makes a part beyond the view's end. The fault names the kernel's line.
    let error = device
        .streams(1, |streams| streams[0].launch(LaunchConfig::new(1, 32), add_one_to_part(4, 5, view)))
        .expect_err("a fault");
    assert!(fault(&error), "{error:?}");
    let message = error.to_string();
    assert!(message.contains("index 8 is out of bounds of `y`, global memory of length 8"), "{message}");
    assert!(message.contains("streams.rs"), "{message}");

    let panic =
        scope(|threads| threads.spawn(|| device.streams(1, |_| -> Result<(), Error> { panic!("halfway") })).join());
    assert!(panic.is_err());
    // The device remains usable.
    device.streams(1, |streams| streams[0].launch(LaunchConfig::new(1, 32), add_one_to_part(2, 3, view)))?;
    assert_eq!(y.download()?, [0, 0, 1, 1, 1, 0, 0, 0]);
    Ok(())
}

#[test]
fn parts_on_the_host() -> Result<(), Error> {
    let device = device();
    let mut buffer = device.upload(&[0_u32, 1, 2, 3, 4, 5, 6])?;
    let mut y = device.zeroed::<f32>(1)?;
    let whole = buffer.view();
    let part = whole.part(2, 4);
    assert_eq!((part.len(), part.load(0), part.load(3)), (4, 2, 5));
    assert_eq!((part.part(4, 0).len(), part.part(1, 2).load(1)), (0, 4));
    for (start, len) in [(5, 3), (8, 0), (0, 8), (usize::MAX, 1), (1, usize::MAX)] {
        let line = line!() + 1;
        let part = whole.part(start, len);
        let mut into = vec![0; part.len()];
        let error = device.streams(1, |streams| streams[0].download(part, &mut into)).expect_err("out of range");
        let Error::PartOutOfRange { start: first, len: of, location, .. } = &error else { panic!("{error:?}") };
        assert_eq!((*first, *of, location.line()), (start, 7, line));
        let message = format!("of a view that has elements 0..7: the part was made at {location}; make it shorter");
        assert!(error.to_string().ends_with(&message), "{error}");
        // A part of such a part is no better, nor is the launch of a kernel.
        let call = saxpy(1.0, part.part(0, 1).cast(), y.view_mut());
        let error = device.launch(LaunchConfig::new(1, 32), call).expect_err("out of range");
        assert!(matches!(error, Error::PartOutOfRange { .. }), "{error:?}");
    }
    let (short, long) = buffer.as_part_mut().split_at(8);
    for part in [short, long] {
        let call = add_one_to_part(0, 1, part.view_mut());
        let error = device.launch(LaunchConfig::new(1, 32), call).expect_err("out of range");
        assert!(matches!(error, Error::PartOutOfRange { .. }), "{error:?}");
    }

    let lens = |len: usize| -> Vec<usize> {
        let mut buffer = device.zeroed::<u8>(len).expect("memory");
        buffer.as_part_mut().chunks(3).map(|part| part.len()).collect()
    };
    assert_eq!((lens(0), lens(2), lens(3), lens(7)), (vec![], vec![2], vec![3], vec![3, 3, 1]));
    assert_eq!(buffer.as_part_mut().chunks(0).count(), 7);
    let (first, rest) = buffer.as_part_mut().split_at(2);
    assert_eq!((first.view().load(1), rest.len(), rest.view_mut().load(0)), (1, 5, 2));
    Ok(())
}

#[test]
fn pinned_memory_is_a_slice() -> Result<(), Error> {
    let device = device();
    let mut pinned = device.pinned::<u32>(1000)?;
    assert!(pinned.iter().all(|&word| word == 0));
    pinned.iter_mut().zip(0..).for_each(|(word, i)| *word = i);
    let buffer = device.upload(&pinned)?;
    let mut back = device.pinned::<u32>(1000)?;
    buffer.download_into(&mut back)?;
    assert_eq!(*back, *pinned);
    assert!(device.pinned::<f64>(0)?.is_empty());
    assert_eq!(device.pinned::<[u32; 0]>(5)?.len(), 5);

    let error = device.pinned::<u64>(usize::MAX).expect_err("too large");
    assert!(matches!(error, Error::TooLarge { .. }), "{error:?}");
    let error = device.pinned::<u8>(isize::MAX as usize / 2).expect_err("too large");
    assert!(
        matches!(error, Error::OutOfPageLockedMemory { requested_bytes } if requested_bytes > 1 << 60),
        "{error:?}"
    );
    // Another thread can write it.
    scope(|threads| threads.spawn(|| pinned[999] = 7).join()).expect("no panic");
    assert_eq!(pinned[999], 7);
    Ok(())
}

#[test]
fn kernels_access_mapped_memory() -> Result<(), Error> {
    let device = device();
    for len in [0, 1, 33, 1000] {
        let mut x = device.mapped::<f32>(len)?;
        let mut y = device.mapped::<f32>(len)?;
        assert!(y.as_slice()?.iter().all(|&y| y == 0.0));
        assert_eq!((x.len(), x.is_empty()), (len, len == 0));
        x.as_mut_slice()?.copy_from_slice(&numbers(len));
        y.as_mut_slice()?.fill(1.0);
        device.launch(LaunchConfig::new(2, 64), saxpy(2.0, x.view(), y.view_mut()))?;
        let expected: Vec<f32> = numbers(len).iter().map(|x| 2.0 * x + 1.0).collect();
        assert_eq!(y.as_slice()?, expected);
        // The same accesses work in a stream.
        let (x_view, y_view) = (x.view(), y.view_mut());
        device.streams(1, |streams| streams[0].launch(LaunchConfig::new(2, 64), saxpy(-2.0, x_view, y_view)))?;
        assert!(y.as_slice()?.iter().all(|&y| y == 1.0));
    }
    let error = device.mapped::<u64>(usize::MAX).expect_err("too large");
    assert!(matches!(error, Error::TooLarge { .. }), "{error:?}");
    Ok(())
}

#[test]
fn a_fault_in_mapped_memory_names_the_line() -> Result<(), Error> {
    let device = device();
    let x = device.mapped::<f32>(3)?;
    let mut y = device.mapped::<f32>(40)?;
    let error = device.launch(LaunchConfig::new(1, 64), saxpy(2.0, x.view(), y.view_mut())).expect_err("short");
    assert!(matches!(error, Error::Fault(_)), "{error:?}");
    assert!(y.as_slice().is_ok(), "the device fails after a fault");
    Ok(())
}

#[test]
fn streams_are_shared_by_threads() -> Result<(), Error> {
    let device = device();
    let mut buffer = device.zeroed::<u32>(64)?;
    let view = buffer.view_mut();
    device.streams(2, |streams| {
        scope(|threads| {
            for (stream, start) in streams.iter().zip([0, 32]) {
                threads.spawn(move || stream.launch(LaunchConfig::new(1, 32), add_one_to_part(start, 32, view)));
            }
        });
        Ok(())
    })?;
    assert_eq!(buffer.download()?, [1; 64]);
    Ok(())
}
