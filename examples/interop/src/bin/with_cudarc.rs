//! Shares memory, a stream and events with cudarc. Needs a GPU.

use std::error::Error;
use std::time::Instant;

use cudarc::driver::{CudaContext, DevicePtr};
use gridstride::prelude::*;
use gridstride::reduce::{Reducer, default_rung};
use gridstride::saxpy::{self, SaxpyRung};
use launch::Event;

/// The number of launches whose mean time is one measurement.
const LAUNCHES: usize = 10_000;

fn main() -> Result<(), Box<dyn Error>> {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let x = stream.clone_htod(&[3.0_f32, -1.0, 4.0, -1.5])?;
    let y = stream.clone_htod(&[10.0_f32, 20.0, 30.0, 40.0])?;

    // Both libraries use the GPU's primary context, so that each can use the other's memory.
    let device = Device::open(DeviceChoice::Gpu(None), gridstride::MODULES)?;
    // SAFETY: the stream is of that context, and `stream.clone()` keeps it alive.
    let shared = unsafe { device.stream_from_raw(stream.cu_stream().cast(), stream.clone()) }?;

    // A reduction of cudarc's memory in cudarc's stream: it comes after the copy above.
    let mut sum = Reducer::<f32, Sum>::new(&device, default_rung::<f32, Sum>(), x.len())?;
    let (pointer, read) = x.device_ptr(&stream);
    // SAFETY: `x` has these elements and lives until the stream is done, and nothing writes them.
    let view = unsafe { device.view_from_raw(pointer as *const f32, x.len()) }?;
    sum.run_view(shared.queue(), view)?;
    // cudarc notes here that its stream has read `x`.
    drop(read);
    assert_eq!(shared.queue().download(sum.result())?, [4.5]);

    // A buffer of cudarc's memory. Dropping the buffer drops `y`, which frees the memory.
    let (len, pointer) = (y.len(), y.device_ptr(&stream).0);
    // SAFETY: the memory has `len` elements, and `y` keeps it alive.
    let mut y = unsafe { Buffer::from_foreign(&device, pointer as *mut f32, len, y) }?;
    // The device's own work waits for cudarc's event, which comes after the copy to `y`.
    let copied = stream.record_event(None)?;
    // SAFETY: the event is of the same context, and lives until the wait is enqueued.
    let copied = unsafe { Event::from_raw(&device, copied.cu_event().cast(), copied) }?;
    device.queue().wait(&copied)?;
    let factors = device.upload(&[1.0_f32; 4])?;
    saxpy::saxpy(&device, SaxpyRung::Vectorised, 2.0, &factors, &mut y)?;

    // Memory of this library, given to cudarc, whose stream waits for the event of the work above.
    let mut result = device.alloc::<f32>(len)?;
    result.copy_from(&y)?;
    shared.queue().wait(&device.queue().record()?)?;
    let (pointer, len) = result.into_raw();
    // SAFETY: the memory has `len` elements and no other owner.
    let result = unsafe { stream.upgrade_device_ptr::<f32>(pointer as u64, len) };
    assert_eq!(stream.clone_dtoh(&result)?, [12.0, 22.0, 32.0, 42.0]);
    println!("{}: cudarc and Gridstride agree", device.summary());

    // Reductions in cudarc's stream take as long as in a stream of this library.
    let own = device.stream()?;
    let x = device.zeroed::<f32>(1 << 16)?;
    let mut sum = Reducer::<f32, Sum>::new(&device, default_rung::<f32, Sum>(), x.len())?;
    let mut times = [[0.0; 21]; 2];
    for round in 0..21 {
        for (queue, times) in [shared.queue(), own.queue()].into_iter().zip(&mut times) {
            queue.synchronize()?;
            let start = Instant::now();
            for _ in 0..LAUNCHES {
                sum.run_in(queue, &x)?;
            }
            queue.synchronize()?;
            times[round] = start.elapsed().as_secs_f64() * 1e6 / LAUNCHES as f64;
        }
    }
    let [foreign, own] = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[10]
    });
    println!("sum of 65536 f32, median: {foreign:.2} µs in cudarc's stream, {own:.2} µs in an own stream");
    Ok(())
}
