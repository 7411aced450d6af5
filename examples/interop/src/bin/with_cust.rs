//! Shares a context, memory and a stream with `cust`. Needs a GPU.

use std::error::Error;
use std::sync::Arc;

use cust::memory::{CopyDestination, DeviceBuffer};
use cust::stream::{Stream, StreamFlags};
use gridstride::prelude::*;
use gridstride::reduce::{Reducer, default_rung};

fn main() -> Result<(), Box<dyn Error>> {
    // Loads the driver, which `cust` then calls.
    println!("{} GPUs", launch::gpus()?.len());
    let context = cust::quick_init()?;
    let stream = Arc::new(Stream::new(StreamFlags::DEFAULT, None)?);
    let x = DeviceBuffer::from_slice(&[3.0_f32, -1.0, 4.0, -1.5])?;

    // A device on `cust`'s context, whatever context that is.
    // SAFETY: `context.clone()` keeps the context alive.
    let device = unsafe { Device::from_raw_context(context.as_raw().cast(), context.clone(), gridstride::MODULES) }?;
    // SAFETY: the stream is of that context, and the clone keeps it alive.
    let shared = unsafe { device.stream_from_raw(stream.as_inner().cast(), stream.clone()) }?;

    // A reduction of `cust`'s memory in `cust`'s stream.
    let mut sum = Reducer::<f32, Sum>::new(&device, default_rung::<f32, Sum>(), x.len())?;
    // SAFETY: `x` has these elements and lives until the stream is done, and nothing writes them.
    let view = unsafe { device.view_from_raw(x.as_device_ptr().as_raw() as *const f32, x.len()) }?;
    sum.run_view(shared.queue(), view)?;
    stream.synchronize()?;
    assert_eq!(sum.result().download()?, [4.5]);

    // Memory of this library as a buffer of `cust`, which frees it.
    let (pointer, len) = device.upload(&[1_u32, 2, 3])?.into_raw();
    // SAFETY: the memory has `len` elements and no other owner.
    let back =
        unsafe { DeviceBuffer::from_raw_parts(cust::memory::DevicePointer::<u32>::from_raw(pointer as u64), len) };
    let mut elements = [0_u32; 3];
    back.copy_to(&mut elements)?;
    assert_eq!(elements, [1, 2, 3]);
    println!("{}: cust and Gridstride agree", device.summary());
    Ok(())
}
