//! Tests streams, events and page-locked memory of the GPU back end on machines without a GPU, with the stand-in
//! driver. Its streams execute nothing until a caller waits.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use super::stand_in::kernels::{LOG, config, fail, open, saxpy};
use super::stand_in::{outcome_with_driver, with_driver};
use launch::{Error, LaunchConfig};

const NOTHING_LEFT: &str = "left: memory 0, page-locked 0, streams 0, events 0";

#[test]
fn streams_work_in_their_order() {
    let log = with_driver("gpu_streams::streams_work_in_their_order", LOG, || {
        let device = open()?;
        let (mut x, mut y, mut result) = (device.pinned::<f32>(6)?, device.pinned::<f32>(6)?, device.pinned::<f32>(6)?);
        x.iter_mut().zip(1_u8..).for_each(|(x, i)| *x = i.into());
        y.fill(10.0);
        let (mut dx, mut dy) = (device.alloc::<f32>(6)?, device.alloc::<f32>(6)?);
        let device_parts = dx.as_part_mut().chunks(4).zip(dy.as_part_mut().chunks(4));
        let host_parts = x.chunks(4).zip(y.chunks(4)).zip(result.chunks_mut(4));
        device.streams(2, |streams| {
            for (stream, ((dx, dy), ((x, y), result))) in streams.iter().zip(device_parts.zip(host_parts)) {
                let (dx, dy) = (stream.upload_part(dx, x)?, dy.view_mut());
                stream.upload(dy, y)?;
                stream.launch(config(), saxpy(2.0, dx, dy))?;
                stream.download(dy, result)?;
            }
            Ok(())
        })?;
        assert_eq!(*result, [12.0, 14.0, 16.0, 18.0, 20.0, 22.0]);
        assert_eq!(dy.download()?, *result);
        Ok(())
    });
    let Some(log) = log else { return };
    let expected = [
        "page-lock 24, flags 1",
        "page-lock 24, flags 1",
        "page-lock 24, flags 1",
        "1: created, flags 1",
        "2: created, flags 1",
        "1: upload 16",
        "1: upload 16",
        "1: saxpy",
        "1: download 16",
        "2: upload 8",
        "2: upload 8",
        "2: saxpy",
        "2: download 8",
        "1: destroyed",
        "2: destroyed",
        NOTHING_LEFT,
    ];
    assert_eq!(log, expected);
}

#[test]
fn memory_that_is_not_page_locked_works_too() {
    with_driver("gpu_streams::memory_that_is_not_page_locked_works_too", &[], || {
        let device = open()?;
        let (data, mut back) = (vec![1.5_f32, 2.5, 3.5], vec![0.0_f32; 3]);
        let mut buffer = device.alloc::<f32>(3)?;
        let view = buffer.view_mut();
        device.streams(1, |streams| {
            streams[0].upload(view, &data)?;
            streams[0].download(view, &mut back)?;
            // The part in the middle is copied. For the empty part, the driver is not called.
            streams[0].upload(view.part(1, 1), &[9.0])?;
            streams[0].upload(view.part(3, 0), &[])?;
            streams[0].download(view.part(0, 0), &mut [])
        })?;
        assert_eq!(back, data);
        assert_eq!(buffer.download()?, [1.5, 9.0, 3.5]);
        Ok(())
    });
}

#[test]
fn a_stream_waits_for_anothers_event() {
    let log = with_driver("gpu_streams::a_stream_waits_for_anothers_event", LOG, || {
        let device = open()?;
        let mut result = device.pinned::<f32>(2)?;
        let mut y = device.upload(&[1.0_f32, 2.0])?;
        let x = device.upload(&[10.0_f32, 20.0])?;
        let (x, y_view) = (x.view(), y.view_mut());
        let (start, end) = device.streams(2, |streams| {
            let start = streams[1].record()?;
            streams[1].launch(config(), saxpy(1.0, x, y_view))?;
            let computed = streams[1].record()?;
            // This is the stream for which the end of the scope waits first.
            streams[0].wait(&computed)?;
            streams[0].download(y_view, &mut result)?;
            Ok((start, streams[0].record()?))
        })?;
        assert_eq!(*result, [11.0, 22.0]);
        assert_eq!(end.elapsed_since(&start)?, Duration::from_micros(2500), "not the time of a kernel and a copy");
        assert_eq!(start.elapsed_since(&end)?, Duration::ZERO);
        let error = open()?.streams(1, |streams| streams[0].wait(&end)).expect_err("another device's");
        assert!(matches!(error, Error::WrongDevice { .. }), "{error:?}");
        Ok(())
    });
    let Some(log) = log else { return };
    let work = ["2: event", "2: saxpy", "2: event", "1: waited", "1: download 8", "1: event"];
    assert_eq!(log[3..9], work, "{log:?}");
    assert_eq!(log.last().map(String::as_str), Some(NOTHING_LEFT));
}

#[test]
fn an_event_is_waited_for() {
    with_driver("gpu_streams::an_event_is_waited_for", &[], || {
        let device = open()?;
        let mut y = device.zeroed::<f32>(1)?;
        let x = device.zeroed::<f32>(1)?;
        let (x, y) = (x.view(), y.view_mut());
        device.streams(1, |streams| {
            let start = streams[0].record()?;
            streams[0].launch(config(), saxpy(1.0, x, y))?;
            streams[0].launch(config(), saxpy(1.0, x, y))?;
            assert_eq!(streams[0].record()?.elapsed_since(&start)?, Duration::from_millis(3));
            Ok(())
        })
    });
}

#[test]
fn earlier_launches_are_done() {
    let log = with_driver("gpu_streams::earlier_launches_are_done", LOG, || {
        let device = open()?;
        let mut y = device.upload(&[1.0_f32])?;
        let x = device.upload(&[2.0_f32])?;
        device.launch(config(), saxpy(10.0, x.view(), y.view_mut()))?;
        let (x_view, y_view) = (x.view(), y.view_mut());
        device.streams(1, |streams| streams[0].launch(config(), saxpy(100.0, x_view, y_view)))?;
        device.launch(config(), saxpy(1000.0, x.view(), y.view_mut()))?;
        assert_eq!(y.download()?, [2221.0]);
        Ok(())
    });
    let Some(log) = log else { return };
    let created = log.iter().position(|line| line == "1: created, flags 1").expect("a stream");
    let kernels: Vec<_> = (0..log.len()).filter(|&line| log[line].ends_with(": saxpy")).collect();
    let destroyed = log.iter().position(|line| line == "1: destroyed").expect("a stream");
    let [before, inside, after] = kernels[..] else { panic!("{log:?}") };
    assert!(before < created && created < inside && inside < destroyed && destroyed < after, "{log:?}");
}

#[test]
fn a_scope_ends_only_when_its_work_is_done() {
    let log = with_driver("gpu_streams::a_scope_ends_only_when_its_work_is_done", LOG, || {
        let device = open()?;
        let buffer = device.upload(&[7_u32, 8])?;
        let (mut after_error, mut after_panic) = (device.pinned::<u32>(2)?, device.pinned::<u32>(2)?);
        let error = device
            .streams(1, |streams| {
                streams[0].download(buffer.view(), &mut after_error)?;
                device.alloc::<u64>(usize::MAX).map(|_| ())
            })
            .expect_err("too large");
        assert!(matches!(error, Error::TooLarge { .. }), "the error of the work: {error:?}");
        assert_eq!(*after_error, [7, 8]);
        let panic = catch_unwind(AssertUnwindSafe(|| {
            device.streams(1, |streams| -> Result<(), Error> {
                streams[0].download(buffer.view(), &mut after_panic)?;
                panic!("halfway")
            })
        }));
        assert!(panic.is_err());
        assert_eq!(*after_panic, [7, 8]);
        Ok(())
    });
    assert!(log.is_none_or(|log| log.last().is_some_and(|line| line == NOTHING_LEFT)));
}

#[test]
fn a_stream_that_cannot_be_made() {
    let environment = [LOG[0], ("STAND_IN_STREAMS", "2")];
    let log = with_driver("gpu_streams::a_stream_that_cannot_be_made", &environment, || {
        let device = open()?;
        let error = device.streams(3, |_| Ok(())).expect_err("too many");
        let message = error.to_string();
        assert!(message.starts_with("cannot create a stream: "), "{message}");
        device.streams(2, |_| Ok(()))
    });
    assert!(log.is_none_or(|log| log.last().is_some_and(|line| line == NOTHING_LEFT)));
}

#[test]
fn a_kernel_that_fails_in_a_stream() {
    with_driver("gpu_streams::a_kernel_that_fails_in_a_stream", &[], || {
        let device = open()?;
        let mut mapped = device.mapped::<u32>(4)?;
        let mut pinned = device.pinned::<u32>(4)?;
        let buffer = device.upload(&[1_u32; 4])?;
        let error = device
            .streams(2, |streams| {
                streams[1].launch(LaunchConfig::new(2, 64), fail())?;
                let event = streams[1].record()?;
                streams[0].wait(&event)?;
                streams[0].download(buffer.view(), &mut pinned)
            })
            .expect_err("the kernel failed");
        let Error::ContextLost { launch: Some(launch), code: 700, .. } = &error else { panic!("{error:?}") };
        assert_eq!((launch.kernel, launch.grid.x), ("fail", 2));
        assert_eq!(*pinned, [0; 4], "a copy ran after a failed kernel");
        // After the failure every call returns this error, and no call panics. Dropped objects are left to the driver.
        let message = error.to_string();
        for error in [
            device.streams(1, |_| Ok(())).expect_err("lost"),
            device.pinned::<u32>(1).expect_err("lost"),
            device.mapped::<u32>(1).expect_err("lost"),
            mapped.as_slice().expect_err("lost"),
            mapped.as_mut_slice().expect_err("lost"),
        ] {
            assert_eq!(error.to_string(), message);
        }
        Ok(())
    });
}

#[test]
fn a_stream_reports_its_error_when_it_is_waited_for() {
    with_driver("gpu_streams::a_stream_reports_its_error_when_it_is_waited_for", &[], || {
        let device = open()?;
        let mut later = None;
        let error = device.streams(1, |streams| {
            streams[0].launch(config(), fail())?;
            let error = streams[0].synchronize().expect_err("it failed");
            later = Some(streams[0].record().expect_err("lost").to_string());
            Err::<(), _>(error)
        });
        let error = error.expect_err("it failed");
        assert!(matches!(error, Error::ContextLost { code: 700, .. }), "{error:?}");
        assert_eq!(later, Some(error.to_string()));
        Ok(())
    });
}

#[test]
fn a_stream_that_cannot_be_waited_for() {
    // Waiting for the whole context succeeds. No work runs afterwards, so the failure is returned as an error.
    with_driver("gpu_streams::a_stream_that_cannot_be_waited_for", &[("STAND_IN_WAIT", "1")], || {
        let device = open()?;
        let buffer = device.upload(&[7_u32])?;
        let mut pinned = device.pinned::<u32>(1)?;
        let error = device.streams(1, |streams| streams[0].download(buffer.view(), &mut pinned));
        let message = error.expect_err("no waiting").to_string();
        assert_eq!(message, "cannot wait for a stream: invalid argument (CUDA_ERROR_INVALID_VALUE, 1)");
        assert_eq!(*pinned, [7]);
        Ok(())
    });
}

#[test]
fn a_driver_that_never_says_when_it_is_done() {
    // The driver never reports the end of the copy. The memory of the copy must not be freed, so the process ends.
    let environment = [("STAND_IN_WAIT", "1"), ("STAND_IN_WAIT_FOR_ALL", "1")];
    let outcome = outcome_with_driver("gpu_streams::a_driver_that_never_says_when_it_is_done", &environment, || {
        let device = open()?;
        let buffer = device.upload(&[7_u32])?;
        let mut pinned = device.pinned::<u32>(1)?;
        let _ = device.streams(1, |streams| streams[0].download(buffer.view(), &mut pinned));
        std::process::exit(0)
    });
    let Some(outcome) = outcome else { return };
    let errors = String::from_utf8_lossy(&outcome.stderr);
    assert_eq!(outcome.status.code(), None, "{errors}");
    assert!(errors.contains("fatal: cannot wait for a stream: invalid argument"), "{errors}");
}

#[test]
fn page_locked_memory() {
    let log = with_driver("gpu_streams::page_locked_memory", LOG, || {
        let device = open()?;
        let mut x = device.mapped::<f32>(3)?;
        let mut y = device.mapped::<f32>(3)?;
        assert_eq!(y.as_slice()?, [0.0; 3]);
        x.as_mut_slice()?.copy_from_slice(&[1.0, 2.0, 3.0]);
        // The kernel has not run when the launch returns. A read waits for it.
        device.launch(config(), saxpy(2.0, x.view(), y.view_mut()))?;
        assert_eq!(y.as_slice()?, [2.0, 4.0, 6.0]);
        device.launch(config(), saxpy(1.0, x.view(), y.view_mut()))?;
        y.as_mut_slice()?[0] += 0.5;
        assert_eq!(y.as_slice()?, [3.5, 6.0, 9.0]);
        // The memory is not freed before the kernel has run either.
        device.launch(config(), saxpy(1.0, x.view(), y.view_mut()))?;
        drop((x, y));

        assert!(device.pinned::<u64>(0)?.is_empty() && device.mapped::<u64>(0)?.is_empty());
        for error in
            [device.pinned::<u8>(1 << 30).map(|_| ()), device.mapped::<u8>(1 << 30).map(|_| ())].map(Result::unwrap_err)
        {
            assert!(matches!(error, Error::OutOfPageLockedMemory { requested_bytes: 0x4000_0000 }), "{error:?}");
            assert!(error.to_string().contains("1073741824 bytes cannot be page-locked"), "{error}");
        }
        Ok(())
    });
    let Some(log) = log else { return };
    assert_eq!(log[..2], ["page-lock 12, flags 2", "page-lock 12, flags 2"]);
    assert_eq!(log.iter().filter(|line| line.ends_with(": saxpy")).count(), 3, "{log:?}");
    assert_eq!(log.last().map(String::as_str), Some(NOTHING_LEFT));
}

#[test]
fn views_do_not_cross_devices() {
    with_driver("gpu_streams::views_do_not_cross_devices", &[], || {
        let (device, other) = (open()?, open()?);
        let mut buffer = other.zeroed::<f32>(3)?;
        let x = other.mapped(3)?;
        let view = buffer.view_mut();
        let mut into = [5.0; 3];
        device.streams(1, |streams| {
            for error in [
                streams[0].upload(view, &[1.0; 3]).expect_err("elsewhere"),
                streams[0].launch(config(), saxpy(1.0, x.view(), view)).expect_err("elsewhere"),
                streams[0].download(view, &mut into).expect_err("elsewhere"),
            ] {
                assert!(matches!(error, Error::WrongDevice { .. }), "{error:?}");
            }
            Ok(())
        })?;
        // A GPU's view can be split on the host, although its elements cannot be read there.
        assert_eq!(view.part(1, 2).as_ptr() as usize, view.as_ptr() as usize + 4);
        assert_eq!((view.part(1, 2).len(), into), (2, [5.0; 3]));
        let error = other.launch(config(), saxpy(1.0, x.view(), view.part(1, 3))).expect_err("out of range");
        let message = error.to_string();
        assert!(
            message.starts_with("cannot use elements 1..4 of a view that has elements 0..3: the part was"),
            "{message}"
        );
        assert!(catch_unwind(|| view.part(1, 2).load(0)).is_err());
        Ok(())
    });
}
