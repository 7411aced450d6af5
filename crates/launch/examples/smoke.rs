//! A first test of a new machine. It opens a device, prints the device's properties, copies data there and back, and
//! runs one kernel that works and one that fails.
//!
//! ```text
//! cargo run -p gridstride-launch --example smoke -- [auto|gpu|gpu:N|sim]
//! ```

use std::error::Error;
use std::process::ExitCode;

use cuda_std::{GlobalMut, kernel, thread};
use launch::{Device, DeviceChoice, Kernel, LaunchConfig, PtxImage, PtxModule};

/// The number of elements, 64 MiB in total, that are copied to the device and back.
const ELEMENTS: usize = 16 << 20;

/// Adds 1 to every element. Launch with one thread per element.
#[kernel]
pub fn add_one(y: GlobalMut<u32>) {
    let i = thread::index_1d() as usize;
    if i < y.len() {
        y.store(i, y.load(i).wrapping_add(1));
    }
}

/// Writes one element out of bounds.
#[kernel]
pub fn crash(y: GlobalMut<u32>) {
    y.store(y.len(), 1);
}

/// The PTX of the kernels `add_one` and `crash`, written by hand.
const PTX: &str = r"
.version 7.0
.target sm_70
.address_size 64

.visible .entry add_one(.param .u64 pointer, .param .u64 length)
{
    .reg .pred %p;
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd0, [pointer];
    ld.param.u64 %rd1, [length];
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
    add.u32 %r3, %r3, 1;
    st.global.u32 [%rd0], %r3;
    ret;
}

.visible .entry crash(.param .u64 pointer, .param .u64 length)
{
    .reg .b32 %r;
    .reg .b64 %rd;
    mov.u64 %rd, 8;
    mov.u32 %r, 1;
    st.global.u32 [%rd], %r;
    ret;
}
";

const MODULES: &[PtxModule] = &[
    PtxModule { path: "smoke", images: &[PtxImage::new(70, PTX)] },
    PtxModule { path: "smoke::broken", images: &[PtxImage::new(70, BROKEN_PTX)] },
];

const BROKEN_PTX: &str =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { no.such.instruction; }\n";

mod broken {
    use cuda_std::kernel;

    /// A kernel whose PTX is invalid, so that the driver refuses it.
    #[kernel]
    pub fn k() {}
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let choice: DeviceChoice = std::env::args().nth(1).as_deref().unwrap_or("auto").parse()?;
    match launch::gpus() {
        Ok(gpus) => gpus.iter().for_each(|gpu| println!("{gpu:?}")),
        Err(reason) => println!("no GPU: {reason}"),
    }

    let device = Device::open(choice, MODULES)?;
    println!("{}", device.summary());
    println!("{:#?}", device.properties()?);

    let data: Vec<u32> = (0..ELEMENTS as u32).map(|i| i.wrapping_mul(2_654_435_761)).collect();
    let (buffer, time) = device.time(|| device.upload(&data))?;
    println!("upload of {} MiB: {time:?}", (ELEMENTS * 4) >> 20);
    let (mut copy, time) = device.time(|| {
        let mut copy = device.zeroed::<u32>(ELEMENTS)?;
        copy.copy_from(&buffer)?;
        Ok(copy)
    })?;
    println!("clearing and copying on the device: {time:?}");
    let (back, time) = device.time(|| copy.download())?;
    println!("download: {time:?}");
    if back != data {
        return Err("the downloaded data differs from the uploaded data".into());
    }
    copy.fill_zero()?;
    if copy.download()?.iter().any(|&word| word != 0) {
        return Err("cleared memory is not zero".into());
    }

    let empty = device.upload::<u32>(&[])?;
    if !empty.download()?.is_empty() {
        return Err("the download of an empty buffer has elements".into());
    }
    match device.alloc::<u8>(1 << 46) {
        Ok(_) => return Err("64 TiB were allocated".into()),
        Err(error) => println!("expected error: {error}"),
    }
    run_streams(&device, &data)?;
    run_mapped(&device)?;
    run_kernels(&device)?;
    drop((buffer, copy, empty, device));

    // After a crash this process can no longer use the GPU; the simulator can still be used.
    match Device::open(choice, MODULES) {
        Ok(device) if !device.is_simulated() => return Err("a lost GPU was opened again".into()),
        Ok(device) if device.upload(&[7_u32])?.download()? != [7] => return Err("the simulator fails as well".into()),
        Ok(_) => {}
        Err(error) => println!("expected error: {error}"),
    }
    println!("ok");
    Ok(())
}

/// Uploads `data` from page-locked memory, adds 1, and downloads it: first in one stream, then in four.
fn run_streams(device: &Device, data: &[u32]) -> Result<(), Box<dyn Error>> {
    let mut from = device.pinned::<u32>(data.len())?;
    from.copy_from_slice(data);
    let mut into = device.pinned::<u32>(data.len())?;
    let mut buffer = device.alloc::<u32>(data.len())?;
    // The driver compiles the kernel at its first launch.
    device.launch(LaunchConfig::new(1, 32), add_one(buffer.view_mut()))?;
    for count in [1, 1, 4] {
        into.fill(0);
        let chunk = data.len().div_ceil(4);
        let parts = from.chunks(chunk).zip(into.chunks_mut(chunk)).enumerate();
        let y = buffer.view_mut();
        let start = std::time::Instant::now();
        let (begin, ends) = device.streams(count, |streams| {
            let begin = streams[0].record()?;
            for (i, (from, into)) in parts {
                let (stream, y) = (&streams[i % count], y.part(i * chunk, from.len()));
                stream.upload(y, from)?;
                stream.launch(LaunchConfig::new((y.len() as u32).div_ceil(256), 256), add_one(y))?;
                stream.download(y, into)?;
            }
            let ends: Result<Vec<_>, _> = streams.iter().map(|stream| stream.record()).collect();
            Ok((begin, ends?))
        })?;
        let wall = start.elapsed();
        let last = ends.iter().map(|end| end.elapsed_since(&begin)).collect::<Result<Vec<_>, _>>()?.into_iter().max();
        println!("upload, add_one and download in {count} streams: {wall:?}, by events {:?}", last.unwrap_or_default());
        if into.iter().zip(data).any(|(&sum, &word)| sum != word.wrapping_add(1)) {
            return Err("the data that the streams downloaded is wrong".into());
        }
    }
    // One stream waits for another. Both add 1.
    let y = buffer.view_mut().part(0, 32);
    device.streams(2, |streams| {
        let config = LaunchConfig::new(1, 32);
        streams[1].launch(config, add_one(y))?;
        streams[0].wait(&streams[1].record()?)?;
        streams[0].launch(config, add_one(y))?;
        streams[0].synchronize()
    })?;
    if buffer.download()?.iter().zip(data).take(32).any(|(&sum, &word)| sum != word.wrapping_add(3)) {
        return Err("streams that wait for each other give a wrong result".into());
    }
    match device.pinned::<u8>(1 << 46) {
        Ok(_) => Err("64 TiB were page-locked".into()),
        Err(error) => {
            println!("expected error: {error}");
            Ok(())
        }
    }
}

/// Adds 1 to mapped host memory in place.
fn run_mapped(device: &Device) -> Result<(), Box<dyn Error>> {
    let mut mapped = device.mapped::<u32>(ELEMENTS)?;
    mapped.as_mut_slice()?.fill(41);
    let config = LaunchConfig::new((ELEMENTS as u32).div_ceil(256), 256);
    let ((), time) = device.time(|| device.launch(config, add_one(mapped.view_mut())))?;
    println!("add_one in the host's memory: {time:?}");
    device.launch(config, add_one(mapped.view_mut()))?;
    if mapped.as_slice()?.iter().any(|&word| word != 43) {
        return Err("add_one has not added 1 to every element of host memory".into());
    }
    Ok(())
}

/// Runs the kernels on the device. The last kernel crashes, after which a GPU cannot be used any more.
fn run_kernels(device: &Device) -> Result<(), Box<dyn Error>> {
    let config = LaunchConfig::new((ELEMENTS as u32).div_ceil(256), 256);
    let mut y = device.zeroed::<u32>(ELEMENTS)?;
    for _ in 0..3 {
        let ((), time) = device.time(|| device.launch(config, add_one(y.view_mut())))?;
        println!("add_one: {time:?}");
    }
    if y.download()?.iter().any(|&word| word != 3) {
        return Err("add_one has not added 1 to every element".into());
    }
    const LAUNCHES: u32 = 1000;
    let start = std::time::Instant::now();
    for _ in 0..LAUNCHES {
        device.launch(LaunchConfig::new(1, 32), add_one(y.view_mut()))?;
    }
    let launching = start.elapsed() / LAUNCHES;
    device.synchronize()?;
    println!("enqueuing a launch: {launching:?}; enqueuing and running it: {:?}", start.elapsed() / LAUNCHES);

    if !device.is_simulated() {
        println!("{:?}", device.resources(add_one::INFO)?);
        println!("{:?}", device.occupancy(add_one::INFO, 256, 0)?);
        let shared = LaunchConfig::new(1, 32).shared_bytes(device.max_dynamic_shared());
        device.launch(shared, add_one(y.view_mut()))?;
        device.synchronize()?;
    }
    for config in [LaunchConfig::new(1, 2048), LaunchConfig::new(1, 32).shared_bytes(1 << 20)] {
        match device.launch(config, add_one(y.view_mut())) {
            Ok(()) => return Err("a launch beyond the device's limits was not refused".into()),
            Err(error) => println!("expected error: {error}"),
        }
    }
    if !device.is_simulated() {
        match device.launch(LaunchConfig::new(1, 1), broken::k()) {
            Ok(()) => return Err("a kernel with invalid PTX was launched".into()),
            Err(error) => println!("expected error: {error}"),
        }
    }
    match device.launch(LaunchConfig::new(1, 32), crash(y.view_mut())).and_then(|()| device.synchronize()) {
        Ok(()) => Err("a write out of bounds was not reported".into()),
        Err(error) => {
            println!("expected error: {error}");
            Ok(())
        }
    }
}
