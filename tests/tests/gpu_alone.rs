//! Tests that need a GPU and a separate process. A trap makes the device unusable, or the driver prints the kernel's
//! output.

use std::pin::pin;
use std::process::{Command, Output};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use gpu::device_library as kernels;
use launch::{Device, Error, Finished, LaunchConfig};

/// The environment variable that tells a process that it is a child.
const CHILD: &str = "GRIDSTRIDE_TEST_CHILD";

/// Starts this test again in a separate process, which runs `in_child` on a GPU. Returns the output of that process.
/// Returns `None` in the child process, or if there is no GPU.
fn output_of(test: &str, in_child: impl FnOnce(&Device)) -> Option<String> {
    let Some(device) = tests::gpu() else {
        println!("not run: there is no GPU here");
        return None;
    };
    if std::env::var_os(CHILD).is_some() {
        in_child(&device);
        return None;
    }
    let this = std::env::current_exe().unwrap();
    let arguments = [test, "--exact", "--nocapture", "--test-threads=1"];
    let Output { status, stdout, stderr } = Command::new(this).args(arguments).env(CHILD, "1").output().unwrap();
    let stdout = String::from_utf8(stdout).unwrap();
    assert!(status.success(), "{stdout}{}", String::from_utf8_lossy(&stderr));
    Some(stdout)
}

#[test]
fn an_access_out_of_bounds_ends_the_kernel() {
    let output = output_of("an_access_out_of_bounds_ends_the_kernel", |device| {
        let mut out = device.zeroed::<u32>(10).unwrap();
        let launched = device.launch(LaunchConfig::new(4, 32), kernels::store_at(out.view_mut(), 10, 77));
        println!("ended: {}", launched.and_then(|()| device.synchronize()).unwrap_err());
    });
    if let Some(output) = output {
        assert!(output.contains("ended: ") && output.contains("store_at"), "{output}");
    }
}

/// Wakes the thread that waits for a future.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits for `finished`. Panics if the driver does not wake the thread within a minute.
fn wait(finished: Finished) -> Result<(), Error> {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut finished = pin!(finished);
    for _ in 0..2 {
        if let Poll::Ready(result) = finished.as_mut().poll(&mut Context::from_waker(&waker)) {
            return result;
        }
        thread::park_timeout(Duration::from_secs(60));
    }
    panic!("the driver did not wake the thread")
}

#[test]
fn a_future_ends_with_its_kernel_and_has_its_error() {
    let output = output_of("a_future_ends_with_its_kernel_and_has_its_error", |device| {
        let stream = device.stream().unwrap();
        let mut out = device.zeroed::<u32>(10).unwrap();
        let mut store_at = |at| {
            stream.queue().launch(LaunchConfig::new(4, 32), kernels::store_at(out.view_mut(), at, 77)).unwrap();
            wait(stream.queue().finished())
        };
        store_at(9).unwrap();
        println!("ended: {}", store_at(10).unwrap_err());
    });
    if let Some(output) = output {
        assert!(output.contains("ended: the GPU failed: ") && output.contains("store_at"), "{output}");
    }
}

#[test]
fn a_kernel_prints() {
    let output = output_of("a_kernel_prints", |device| {
        device.launch(LaunchConfig::new(2, 1), kernels::print_numbers(-7, 0xBEEF, 0.125)).unwrap();
        device.synchronize().unwrap();
    });
    if let Some(output) = output {
        for thread in 0..2 {
            let line = format!("thread {thread} of 100%: -7 0000beef 0.125\n");
            assert!(output.contains(&line), "`{line}` is not in {output}");
        }
    }
}
