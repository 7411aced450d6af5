//! Tests kernels that share functions, compiled when a device is opened: on a GPU and in the simulator. If the variable
//! `GRIDSTRIDE_TEST_GPU` is set, the test on a GPU fails if no GPU can be used.

use std::error::Error;

use cuda_std::{GlobalMut, kernel};
use launch::{Device, DeviceChoice, Kernel, LaunchConfig, PtxImage, PtxModule};

#[path = "../../examples/many_kernels/program.rs"]
mod program;

const PROGRAM: program::Program = program::Program { functions: 5, lines: 40 };

/// Replaces `y[0]` by a value that depends on it and on `K`. Launch with one thread.
#[kernel(instances(K = [0, 1, 2, 3]))]
pub fn shares<const K: usize>(y: GlobalMut<u64>) {
    y.store(0, PROGRAM.result(K, y.load(0)));
}

fn modules(is_compiled_at_open: bool) -> &'static [PtxModule] {
    let kernels = [
        <shares<0> as Kernel>::INFO,
        <shares<1> as Kernel>::INFO,
        <shares<2> as Kernel>::INFO,
        <shares<3> as Kernel>::INFO,
    ];
    let image = PtxImage::new(70, PROGRAM.ptx(&kernels.map(|kernel| kernel.name), false).leak());
    let image = if is_compiled_at_open { image.compiled_at_open() } else { image };
    Box::leak(Box::new([PtxModule { path: module_path!(), images: Box::leak(Box::new([image])) }]))
}

fn check(choice: DeviceChoice) -> Result<(), Box<dyn Error>> {
    for (at_open, on_request) in [(false, false), (false, true), (true, false), (true, true)] {
        let modules = modules(at_open);
        // The second device finds the code of the first.
        for _ in 0..2 {
            let device = Device::open(choice, modules)?;
            if on_request {
                device.compile_all();
            }
            let config = LaunchConfig::new(1, 1);
            let mut results = Vec::new();
            for kernel in (0..4).rev() {
                let mut y = device.upload(&[u64::MAX / 3])?;
                device.launch(
                    config,
                    match kernel {
                        0 => shares::<0>(y.view_mut()),
                        1 => shares::<1>(y.view_mut()),
                        2 => shares::<2>(y.view_mut()),
                        _ => shares::<3>(y.view_mut()),
                    },
                )?;
                results.push(y.download()?[0]);
            }
            let expected = [3, 2, 1, 0].map(|kernel| PROGRAM.result(kernel, u64::MAX / 3));
            assert_eq!(results, expected, "{}, {at_open}, {on_request}", device.summary());
        }
    }
    Ok(())
}

#[test]
fn kernels_that_share_functions_run_in_the_simulator() -> Result<(), Box<dyn Error>> {
    check(DeviceChoice::Sim)
}

#[test]
fn kernels_that_share_functions_run_on_a_gpu() -> Result<(), Box<dyn Error>> {
    match launch::gpus() {
        Ok(_) => check(DeviceChoice::Gpu(None)),
        Err(reason) => {
            assert!(std::env::var_os("GRIDSTRIDE_TEST_GPU").is_none(), "no GPU can be used: {reason}");
            Ok(())
        }
    }
}
