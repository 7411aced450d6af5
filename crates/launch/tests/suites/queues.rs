//! Tests queues in streams on simulated devices: their results, their races and their futures. `gpus.rs` and
//! `gpu_queues.rs` have the tests for GPUs.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use cuda_std::{Global, GlobalMut, kernel, thread};
use launch::{Buffer, Device, DeviceChoice, Error, LaunchConfig, OwnedStream, Queue, StreamWork, checked_devices};

/// Adds `x[i]` to `y[i]` for every `i`; any grid.
#[kernel]
pub fn add(x: Global<u32>, y: GlobalMut<u32>) {
    for i in thread::grid_stride(y.len()) {
        y.store(i, y.load(i) + x.load(i));
    }
}

/// Returns a launch of one warp.
fn config() -> LaunchConfig {
    LaunchConfig::new(1, 32)
}

/// A waker that counts its calls and wakes the thread that made it.
#[derive(Default)]
pub struct Woken {
    count: AtomicUsize,
    thread: Option<std::thread::Thread>,
}

impl Woken {
    /// Returns how often the waker was called.
    pub fn count(&self) -> usize {
        self.count.load(Ordering::SeqCst)
    }
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.count.fetch_add(1, Ordering::SeqCst);
        self.thread.iter().for_each(std::thread::Thread::unpark);
    }
}

/// Runs `future` in the calling thread, which sleeps until it is woken.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    let waker = Waker::from(Arc::new(Woken { thread: Some(std::thread::current()), ..Woken::default() }));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => std::thread::park(),
        }
    }
}

/// A program's part that keeps its stream and its memory.
struct Adder {
    stream: OwnedStream,
    sums: Buffer<u32>,
}

impl Adder {
    fn new(device: &Device, len: usize) -> Result<Self, Error> {
        Ok(Self { stream: device.stream()?, sums: device.zeroed(len)? })
    }

    fn add<'q>(&'q mut self, x: &Buffer<u32>) -> Result<Queue<'q>, Error> {
        self.stream.queue().launch(config(), add(x.view(), self.sums.view_mut()))?;
        Ok(self.stream.queue())
    }
}

#[test]
fn a_struct_keeps_a_stream() -> Result<(), Error> {
    for device in checked_devices() {
        let x = device.upload(&[1, 2, 3])?;
        let mut adders = [Adder::new(&device, 3)?, Adder::new(&device, 3)?];
        for adder in &mut adders {
            block_on(adder.add(&x)?.finished())?;
            adder.add(&x)?;
        }
        let [first, second] = &mut adders;
        second.stream.queue().wait(&first.stream.queue().record()?)?;
        second.add(&first.sums)?;
        assert_eq!(second.sums.download()?, [4, 8, 12]);
        // Sent to another thread, with its stream.
        let [mut first, second] = adders;
        drop(second);
        let sums = std::thread::spawn(move || {
            first.add(&x)?;
            first.sums.download()
        });
        assert_eq!(sums.join().expect("no panic")?, [3, 6, 9]);
    }
    Ok(())
}

#[test]
fn queues_do_what_buffers_do() -> Result<(), Error> {
    for device in checked_devices() {
        let stream = device.stream()?;
        for queue in [device.queue(), stream.queue(), (&device).into(), (&stream).into()] {
            let (mut x, mut y) = (device.alloc::<u32>(3)?, device.alloc::<u32>(3)?);
            queue.upload(&mut x, &[1, 2, 3])?;
            queue.fill_zero(&mut y)?;
            queue.launch(config(), add(x.view(), y.view_mut()))?;
            queue.copy(&y, &mut x)?;
            queue.launch(config(), add(x.view(), y.view_mut()))?;
            queue.synchronize()?;
            block_on(queue.finished())?;
            assert_eq!((queue.download(&x)?, queue.download(&y)?), (vec![1, 2, 3], vec![2, 4, 6]));
            let (mut none, also_none) = (device.alloc::<u32>(0)?, device.alloc::<u32>(0)?);
            queue.fill_zero(&mut none)?;
            queue.copy(&also_none, &mut none)?;
            queue.upload(&mut none, &[])?;
            assert!(queue.download(&none)?.is_empty());
            assert!(matches!(queue.upload(&mut x, &[1]), Err(Error::LengthMismatch { buffer: 3, other: 1, .. })));
            let other = Device::open(DeviceChoice::Sim, &[])?;
            assert!(matches!(queue.download(&other.zeroed::<u32>(3)?), Err(Error::WrongDevice { .. })));
        }
    }
    Ok(())
}

#[test]
fn a_queue_that_records_says_what_it_cannot_do() -> Result<(), Error> {
    let device = Device::open(DeviceChoice::Sim, &[])?;
    let event = device.queue().record()?;
    let mut x = device.upload(&[1_u32])?;
    device.record(&mut x, |queue, x| {
        let errors = [
            queue.download(x).map(drop),
            queue.upload(x, &[1]),
            queue.record().map(drop),
            queue.wait(&event),
            queue.synchronize(),
            block_on(queue.finished()),
        ];
        for error in errors.map(|result| result.expect_err("the queue records")) {
            assert!(matches!(error, Error::Recording { .. }), "{error:?}");
            assert!(
                error.to_string().contains("while the work is recorded for a graph: do it before or after"),
                "{error}"
            );
        }
        Ok::<(), Error>(())
    })?;
    Ok(())
}

#[test]
fn launches_in_two_queues_race() -> Result<(), Error> {
    for device in checked_devices() {
        let (stream, other) = (device.stream()?, device.stream()?);
        let (x, mut y) = (device.upload(&[1; 8])?, device.zeroed(8)?);
        // The kernel writes this parameter, which the checker learns.
        device.launch(config(), add(x.view(), y.view_mut()))?;
        device.synchronize()?;
        let lines = (line!() + 1, line!() + 2);
        stream.queue().launch(config(), add(x.view(), y.view_mut()))?;
        let error = device.queue().launch(config(), add(x.view(), y.view_mut())).expect_err("a race");
        let Error::StreamRace(race) = error else { panic!("{error:?}") };
        assert_eq!((race.earlier.location.line(), race.later.location.line(), race.bytes), lines_and(lines, 32));
        assert!(race.earlier.location.file().ends_with("queues.rs"), "{}", race.earlier.location);
        assert_eq!((race.earlier.stream, race.later.stream), (Some((0, 0)), None));
        // In another stream, and by a fill.
        let error = other.queue().fill_zero(&mut y).expect_err("a race");
        assert!(matches!(error, Error::StreamRace(race) if matches!(race.later.work, StreamWork::Fill)));
        // An event, or an operation of the buffer, orders them.
        other.queue().wait(&stream.queue().record()?)?;
        other.queue().launch(config(), add(x.view(), y.view_mut()))?;
        y.copy_from(&x)?;
        stream.queue().launch(config(), add(x.view(), y.view_mut()))?;
        // A future that is done orders them too, and an event for which the host has waited.
        block_on(stream.queue().finished())?;
        other.queue().launch(config(), add(x.view(), y.view_mut()))?;
        other.queue().record()?.synchronize()?;
        stream.queue().launch(config(), add(x.view(), y.view_mut()))?;
        stream.queue().record()?.synchronize()?;
        other.queue().launch(config(), add(x.view(), y.view_mut()))?;
        // A dropped stream is before later work of the device.
        drop(other);
        device.launch(config(), add(x.view(), y.view_mut()))?;
        assert_eq!(y.download()?, [6; 8]);
    }
    Ok(())
}

fn lines_and(lines: (u32, u32), bytes: usize) -> (u32, u32, usize) {
    (lines.0, lines.1, bytes)
}

#[test]
fn queues_in_a_scope() -> Result<(), Error> {
    for device in checked_devices() {
        let (x, mut y) = (device.upload(&[1; 8])?, device.zeroed(8)?);
        let result = device.streams(2, |streams| {
            let queue = streams[0].queue()?;
            queue.launch(config(), add(x.view(), y.view_mut()))?;
            assert_eq!(y.download()?, [1; 8]);
            queue.launch(config(), add(x.view(), y.view_mut()))?;
            streams[1].queue()?.launch(config(), add(x.view(), y.view_mut()))
        });
        assert!(matches!(result, Err(Error::StreamRace(_))), "{result:?}");
        assert_eq!(y.download()?, [2; 8]);
    }
    Ok(())
}
