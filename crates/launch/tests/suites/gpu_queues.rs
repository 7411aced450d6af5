//! Tests queues in streams, events and futures of the GPU back end on machines without a GPU, with the stand-in driver.
//! Its streams execute nothing until a caller waits.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use super::queues::Woken;
use super::stand_in::kernels::{LOG, config, fail, open, saxpy};
use super::stand_in::with_driver;
use launch::{Buffer, Device, Error, Finished};

const NOTHING_LEFT: &str = "left: memory 0, page-locked 0, streams 0, events 0";

fn vectors(device: &Device) -> Result<(Buffer<f32>, Buffer<f32>), Error> {
    Ok((device.upload(&[1.0, 2.0])?, device.upload(&[10.0, 20.0])?))
}

#[test]
fn operations_of_buffers_come_after_the_work_of_streams() {
    let log = with_driver("gpu_queues::operations_of_buffers_come_after_the_work_of_streams", LOG, || {
        let device = open()?;
        let stream = device.stream()?;
        let (x, mut y) = vectors(&device)?;
        stream.queue().launch(config(), saxpy(2.0, x.view(), y.view_mut()))?;
        assert_eq!(y.download()?, [12.0, 24.0]);
        // A copy and a fill on the device itself.
        let mut z = device.zeroed(2)?;
        stream.queue().launch(config(), saxpy(1.0, x.view(), y.view_mut()))?;
        z.copy_from(&y)?;
        stream.queue().launch(config(), saxpy(1.0, x.view(), z.view_mut()))?;
        assert_eq!(stream.queue().download(&z)?, [14.0, 28.0]);
        stream.queue().launch(config(), saxpy(1.0, x.view(), z.view_mut()))?;
        z.fill_zero()?;
        assert_eq!(z.download()?, [0.0; 2]);
        // In the stream.
        stream.queue().copy(&y, &mut z)?;
        stream.queue().fill_zero(&mut y)?;
        stream.queue().launch(config(), saxpy(1.0, z.view(), y.view_mut()))?;
        stream.queue().upload(&mut z, &[7.0, 8.0])?;
        assert_eq!((stream.queue().download(&y)?, z.download()?), (vec![13.0, 26.0], vec![7.0, 8.0]));
        // Mapped memory is read by the host itself.
        let mut mapped = device.mapped(2)?;
        stream.queue().launch(config(), saxpy(3.0, x.view(), mapped.view_mut()))?;
        assert_eq!(mapped.as_slice()?, [3.0, 6.0]);
        stream.queue().launch(config(), saxpy(3.0, x.view(), mapped.view_mut()))?;
        drop(mapped);
        Ok(())
    });
    assert!(log.is_none_or(|log| log.last().is_some_and(|line| line == NOTHING_LEFT)));
}

#[test]
fn memory_is_reused_after_the_work_of_streams() {
    with_driver("gpu_queues::memory_is_reused_after_the_work_of_streams", &[], || {
        let device = open()?;
        let stream = device.stream()?;
        let (x, mut y) = vectors(&device)?;
        stream.queue().launch(config(), saxpy(1.0, x.view(), y.view_mut()))?;
        drop(y);
        let z = device.upload(&[5.0_f32; 2])?;
        stream.queue().synchronize()?;
        assert_eq!(z.download()?, [5.0; 2], "the memory's former owner wrote it");
        // The device itself used the memory that the stream then uses.
        let mut y = device.upload(&[10.0, 20.0])?;
        device.launch(config(), saxpy(1.0, x.view(), y.view_mut()))?;
        drop(y);
        let mut z = device.alloc::<f32>(2)?;
        stream.queue().fill_zero(&mut z)?;
        stream.queue().synchronize()?;
        device.synchronize()?;
        assert_eq!(z.download()?, [0.0; 2], "the memory's former owner wrote it");
        Ok(())
    });
}

#[test]
fn events_order_queues() {
    with_driver("gpu_queues::events_order_queues", &[], || {
        let device = open()?;
        let (x, mut y) = vectors(&device)?;
        let [first, second] = [device.stream()?, device.stream()?];
        first.queue().launch(config(), saxpy(1.0, x.view(), y.view_mut()))?;
        second.queue().wait(&first.queue().record()?)?;
        second.queue().launch(config(), saxpy(10.0, x.view(), y.view_mut()))?;
        assert_eq!(second.queue().download(&y)?, [21.0, 42.0]);
        first.queue().launch(config(), saxpy(1.0, x.view(), y.view_mut()))?;
        device.queue().wait(&first.queue().record()?)?;
        device.launch(config(), saxpy(1.0, x.view(), y.view_mut()))?;
        second.queue().wait(&device.queue().record()?)?;
        assert_eq!(second.queue().download(&y)?, [23.0, 46.0]);
        // The host waits.
        let mut mapped = device.mapped(2)?;
        first.queue().launch(config(), saxpy(1.0, x.view(), mapped.view_mut()))?;
        let woken = Arc::<Woken>::default();
        let mut finished = first.queue().finished();
        assert!(poll(&mut finished, &woken).is_pending());
        first.queue().record()?.synchronize()?;
        assert_eq!(woken.count(), 1, "the event did not wait for the kernel");
        Ok(())
    });
}

#[test]
fn a_stream_that_is_dropped_continues() {
    let log = with_driver("gpu_queues::a_stream_that_is_dropped_continues", LOG, || {
        let device = open()?;
        let (x, mut y) = vectors(&device)?;
        let stream = device.stream()?;
        stream.queue().launch(config(), saxpy(1.0, x.view(), y.view_mut()))?;
        drop(stream);
        assert_eq!(y.download()?, [11.0, 22.0]);
        Ok(())
    });
    let Some(log) = log else { return };
    let position = |line: &str| log.iter().position(|found| found == line).expect("it is in the log");
    assert!(position("1: destroyed") < position("1: saxpy"), "dropping the stream waited: {log:?}");
    assert_eq!(log.last().map(String::as_str), Some(NOTHING_LEFT));
}

#[test]
fn a_queue_in_a_scope() {
    with_driver("gpu_queues::a_queue_in_a_scope", &[], || {
        let device = open()?;
        let (x, mut y) = vectors(&device)?;
        let first = device.streams(1, |streams| {
            streams[0].queue()?.launch(config(), saxpy(1.0, x.view(), y.view_mut()))?;
            y.download()
        })?;
        assert_eq!(first, [11.0, 22.0]);
        device.streams(1, |streams| streams[0].queue()?.launch(config(), saxpy(1.0, x.view(), y.view_mut())))?;
        assert_eq!(y.download()?, [12.0, 24.0]);
        Ok(())
    });
}

fn poll(finished: &mut Finished, woken: &Arc<Woken>) -> Poll<Result<(), Error>> {
    pin!(finished).poll(&mut Context::from_waker(&Waker::from(woken.clone())))
}

#[test]
fn the_driver_wakes_a_future() {
    let log = with_driver("gpu_queues::the_driver_wakes_a_future", LOG, || {
        let device = open()?;
        let (x, mut y) = vectors(&device)?;
        let stream = device.stream()?;
        stream.queue().launch(config(), saxpy(1.0, x.view(), y.view_mut()))?;
        let (mut finished, dropped) = (stream.queue().finished(), stream.queue().finished());
        let woken = Arc::<Woken>::default();
        assert!(poll(&mut finished, &woken).is_pending() && poll(&mut finished, &woken).is_pending());
        drop(dropped);
        assert_eq!(woken.count(), 0);
        stream.queue().synchronize()?;
        assert_eq!(woken.count(), 1, "the driver calls the waker once");
        assert!(matches!(poll(&mut finished, &woken), Poll::Ready(Ok(()))));
        // The device's own queue, whose work is done before the future is polled.
        let mut finished = device.queue().finished();
        device.synchronize()?;
        assert!(matches!(poll(&mut finished, &woken), Poll::Ready(Ok(()))));
        Ok(())
    });
    assert!(log.is_none_or(|log| log.last().is_some_and(|line| line == NOTHING_LEFT)));
}

#[test]
fn a_future_has_the_error_of_the_device() {
    with_driver("gpu_queues::a_future_has_the_error_of_the_device", &[], || {
        let device = open()?;
        let stream = device.stream()?;
        stream.queue().launch(config(), fail())?;
        let mut finished = stream.queue().finished();
        let woken = Arc::<Woken>::default();
        assert!(poll(&mut finished, &woken).is_pending());
        let error = device.synchronize().expect_err("the kernel failed");
        assert_eq!(woken.count(), 1, "the future waits forever");
        let Poll::Ready(Err(found)) = poll(&mut finished, &woken) else { panic!("no error") };
        assert!(matches!(found, Error::ContextLost { code: 700, .. }), "{found:?}");
        assert_eq!(found.to_string(), error.to_string());
        // Of a device that is lost.
        let Poll::Ready(Err(later)) = poll(&mut stream.queue().finished(), &woken) else { panic!("no error") };
        assert_eq!(later.to_string(), error.to_string());
        Ok(())
    });
}
