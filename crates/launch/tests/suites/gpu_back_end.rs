//! Tests the GPU back end on machines without a GPU, with the stand-in driver in `stand_in/driver.rs`.
//!
//! Each test runs in its own process, which loads the stand-in driver as `libcuda.so.1`.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use super::stand_in::kernels::{MODULES, PTX, config, fail, greedy, open, saxpy};
use super::stand_in::{compile, new_folder, with_driver, with_driver_in};
use cuda_std::kernel;
use launch::{CudaVersion, Device, DeviceChoice, Error, Kernel, LaunchConfig, PtxImage, PtxModule, Unavailable};

/// A kernel that no PTX contains.
#[kernel]
pub fn forgotten() {}

#[test]
fn a_gpu_describes_itself() {
    with_driver("gpu_back_end::a_gpu_describes_itself", &[], || {
        let device = Device::open(DeviceChoice::Auto, MODULES)?;
        assert!(!device.is_simulated());
        assert_eq!(device.summary(), "device: GPU 0, Stand-in GPU, sm_90, 4 SMs, 1.0 GiB");
        assert_eq!(launch::gpus().expect("one")[0].compute_capability, (9, 0));
        let properties = device.properties()?;
        assert_eq!(properties.driver, Some(CudaVersion::new(12, 4)));
        assert_eq!(properties.clock_mhz, Some(1980));
        assert_eq!(properties.memory_clock_mhz, None, "a clock of 0 is reported");
        assert_eq!(properties.shared_bytes_per_block_optin, device.max_dynamic_shared());
        let error = Device::open(DeviceChoice::Gpu(Some(1)), MODULES).expect_err("there is one");
        assert!(error.to_string().contains("there is no GPU 1: the driver finds 1"), "{error}");
        Ok(())
    });
}

#[test]
fn buffers_round_trip() {
    with_driver("gpu_back_end::buffers_round_trip", &[], || {
        let device = open()?;
        let before = device.properties()?.memory_free_bytes;
        for len in [0, 1, 33, 100_003] {
            let data: Vec<u32> = (0..len).collect();
            let mut buffer = device.upload(&data)?;
            let mut copy = device.alloc(data.len())?;
            copy.copy_from(&buffer)?;
            buffer.fill_zero()?;
            assert_eq!(copy.download()?, data);
            assert_eq!(buffer.download()?, vec![0; data.len()]);
        }
        assert_eq!(device.properties()?.memory_free_bytes, before, "memory is still allocated");
        match device.alloc::<u64>(1 << 28) {
            Err(Error::OutOfMemory { requested_bytes, free_bytes, device }) => {
                assert_eq!((requested_bytes, free_bytes), (1 << 31, before));
                assert_eq!(device, "GPU 0, Stand-in GPU");
            }
            other => panic!("{other:?}"),
        }
        Ok(())
    });
}

#[test]
fn freed_memory_is_reused() {
    with_driver("gpu_back_end::freed_memory_is_reused", &[], || {
        let device = open()?;
        let free = || Ok::<_, Error>(device.properties()?.memory_free_bytes);
        let all = free()?;
        let address = |bytes| Ok::<_, Error>(device.alloc::<u8>(bytes)?.view().as_ptr().addr());
        let first = address(1000)?;
        assert_eq!(address(1024)?, first, "freed memory is not reused");
        assert_ne!(address(1025)?, first);
        assert_eq!(free()?, all, "memory in the pool does not count as free");
        // `zeroed` returns zeros, even if the memory was used before.
        device.upload(&[7_u8; 1000])?;
        assert_eq!(device.zeroed::<u8>(1000)?.download()?, [0; 1000]);

        // The pool keeps up to an eighth of the memory, and frees it when the driver has no free memory left.
        let large = all as usize / 8 - (8 << 20);
        drop(device.alloc::<u8>(large)?);
        assert_eq!(device.alloc::<u8>(all as usize - (4 << 20))?.len(), all as usize - (4 << 20));
        assert_eq!(free()?, all);
        Ok(())
    });
}

#[test]
fn a_workspace_is_as_the_last_one_was_left() {
    struct One;
    struct Other;
    with_driver("gpu_back_end::a_workspace_is_as_the_last_one_was_left", &[], || {
        let device = open()?;
        let mut words = device.workspace::<One, u32>(3)?;
        assert_eq!(words.download()?, [0; 3]);
        words.upload(&[1, 2, 3])?;
        // Two workspaces that exist at the same time do not share memory.
        assert_eq!(device.workspace::<One, u32>(3)?.download()?, [0; 3]);
        drop(words);
        assert_eq!(device.workspace::<Other, u32>(3)?.download()?, [0; 3]);
        assert_eq!(device.workspace::<One, i32>(3)?.download()?, [0; 3]);
        assert_eq!(device.zeroed::<u32>(3)?.download()?, [0; 3]);
        // A workspace of another length is not reused, although the driver allocates as much memory for it.
        assert_eq!(device.workspace::<One, u32>(2)?.download()?, [0; 2]);
        assert_eq!(device.workspace::<One, u32>(128)?.download()?, [0; 128]);
        assert_eq!(device.workspace::<One, u32>(3)?.download()?, [1, 2, 3]);
        assert_eq!(device.workspace::<One, u32>(0)?.len(), 0);
        Ok(())
    });
}

/// Tests that several threads copy large data to page-locked memory, from which the driver copies it.
#[test]
fn large_copies_go_through_page_locked_memory() {
    const NAME: &str = "gpu_back_end::large_copies_go_through_page_locked_memory";
    let log = with_driver(NAME, &[("STAND_IN_LOG", "1")], || {
        let device = open()?;
        for bytes in [(8 << 20) - 1, 8 << 20, (37 << 20) + 12_345] {
            let data: Vec<u8> = (0..bytes).map(|i: usize| (i * 7 + i / 255 + i / 65_536) as u8).collect();
            let mut buffer = device.upload(&data)?;
            assert!(buffer.download()? == data, "{bytes}");
            buffer.upload_range(1, &data[..bytes - 1])?;
            let mut part = vec![0; bytes - 1];
            buffer.download_range(1, &mut part)?;
            assert!(part == data[..bytes - 1], "{bytes}");
        }
        Ok(())
    });
    let Some(log) = log else { return };
    assert_eq!(log.iter().filter(|line| line.starts_with("page-lock 25165824,")).count(), 1, "{log:?}");
}

#[test]
fn launches_pass_their_parameters() {
    with_driver("gpu_back_end::launches_pass_their_parameters", &[], || {
        let device = open()?;
        let x = device.upload(&[1.0, 2.0, 3.0])?;
        let mut y = device.upload(&[10.0, 20.0, 30.0])?;
        for _ in 0..2 {
            device.launch(config(), saxpy(2.0, x.view(), y.view_mut()))?;
        }
        assert_eq!(y.download()?, [14.0, 28.0, 42.0]);
        // Another thread has no current context.
        std::thread::scope(|scope| scope.spawn(|| device.launch(config(), saxpy(1.0, x.view(), y.view_mut()))).join())
            .expect("no panic")?;
        assert_eq!(y.download()?, [15.0, 30.0, 45.0]);

        let ((), time) = device.time(|| device.launch(config(), saxpy(1.0, x.view(), y.view_mut())))?;
        assert_eq!(time, Duration::from_micros(1500));
        let other = open()?;
        let error = other.launch(config(), saxpy(1.0, x.view(), y.view_mut())).expect_err("other");
        assert!(matches!(error, Error::WrongDevice { .. }), "{error:?}");
        Ok(())
    });
}

#[test]
fn limits_are_checked_before() {
    with_driver("gpu_back_end::limits_are_checked_before", &[], || {
        let device = open()?;
        let x = device.upload(&[1.0])?;
        let mut y = device.upload(&[1.0])?;
        let mut launch = |config| device.launch(config, saxpy(2.0, x.view(), y.view_mut()));
        let most = device.max_dynamic_shared() - 1024;
        launch(LaunchConfig::new(1, 512).shared_bytes(most))?;
        launch(LaunchConfig::new(1, 512).shared_bytes(50_000))?;
        // An SM has room for four such blocks, and there are four SMs.
        launch(LaunchConfig::new(16, 512).cooperative())?;
        for (config, part) in [
            (LaunchConfig::new(1, 513), "513 threads, and the kernel's registers leave room for 512"),
            (LaunchConfig::new(0, 32), "no block"),
            (LaunchConfig::new(17, 512).cooperative(), "this GPU holds at most 16 blocks of this size"),
            (config().shared_bytes(most + 1), "(1024 static, 231425 dynamic), and this device has 232448"),
        ] {
            let error = launch(config).expect_err("invalid");
            assert!(matches!(error, Error::InvalidLaunch { .. }), "{error:?}");
            assert!(error.to_string().contains(part), "{error}");
        }
        let error = device.launch(config(), greedy()).expect_err("too many registers");
        assert!(error.to_string().contains("`greedy`, grid (1, 1, 1), block (32, 1, 1): a block needs"), "{error}");

        let resources = device.resources(saxpy::INFO)?;
        assert_eq!((resources.registers, resources.static_shared_bytes, resources.binary_arch), (40, 1024, 90));
        let occupancy = device.occupancy(saxpy::INFO, 96, 0)?;
        assert_eq!((occupancy.active_warps, occupancy.max_warps), (63, 64));
        assert!(device.occupancy(saxpy::INFO, 1024, 0).is_err());
        Ok(())
    });
}

#[test]
fn a_failed_kernel_is_reported_by_the_next_wait() {
    with_driver("gpu_back_end::a_failed_kernel_is_reported_by_the_next_wait", &[], || {
        let device = open()?;
        let x = device.upload(&[1.0])?;
        let mut y = device.upload(&[1.0])?;
        device.launch(config(), saxpy(2.0, x.view(), y.view_mut()))?;
        device.launch(LaunchConfig::new((2, 3), 64), fail())?;
        let error = device.synchronize().expect_err("the kernel failed");
        let Error::ContextLost { launch: Some(launch), code: 700, .. } = &error else { panic!("{error:?}") };
        assert_eq!(launch.kernel, "fail");
        let message = error.to_string();
        for part in ["an illegal memory access", "`fail`, grid (2, 3, 1), block (64, 1, 1)", "restart the program"] {
            assert!(message.contains(part), "{message}");
        }
        // After the failure every call returns this error, and no call panics.
        let errors = [
            y.download().expect_err("lost"),
            y.fill_zero().expect_err("lost"),
            device.upload(&[1]).expect_err("lost"),
            device.launch(config(), saxpy(2.0, x.view(), y.view_mut())).expect_err("lost"),
            device.time(|| Ok(())).expect_err("lost"),
            device.properties().expect_err("lost"),
        ];
        for error in errors {
            assert_eq!(error.to_string(), message);
        }
        Ok(())
    });
}

#[test]
fn missing_and_invalid_ptx() {
    const BROKEN: PtxImage = PtxImage::new(90, ".version 7.8\nbroken");
    const NEWER: PtxImage = PtxImage::new(90, ".version 7.8\nunsupported");
    const FUTURE: PtxImage = PtxImage::new(80, ".version 9.0\n.entry saxpy(");
    const UNSTATED: PtxImage = PtxImage::new(70, "unsupported");
    with_driver("gpu_back_end::missing_and_invalid_ptx", &[], || {
        let resources = |images: &'static [PtxImage]| {
            let modules = Box::leak(Box::new([PtxModule { path: "suites", images }]));
            Device::open(DeviceChoice::Gpu(None), modules)?.resources(saxpy::INFO)
        };
        let error = open()?.resources(forgotten::INFO).expect_err("not in the PTX");
        let message = error.to_string();
        assert!(message.contains("`forgotten` of `suites::gpu_back_end` in the PTX: named symbol not"), "{message}");
        assert!(message.contains("build the PTX again") && message.contains("`pub use library;`"), "{message}");

        let error = Device::open(DeviceChoice::Gpu(None), &[])?.resources(saxpy::INFO).expect_err("no PTX");
        assert!(matches!(error, Error::NoModule { kernel: "saxpy", module: "suites::stand_in::kernels" }), "{error:?}");

        let error = resources(&[PTX, BROKEN]).expect_err("broken");
        let message = error.to_string();
        assert!(message.contains("for sm_90: a PTX JIT compilation failed"), "{message}");
        assert!(message.contains("ptxas error: line 3: no such instruction"), "{message}");

        // Images that the driver cannot load, or whose version it does not support, are skipped.
        resources(&[PTX, NEWER, FUTURE])?;
        let error = resources(&[UNSTATED]).expect_err("unsupported");
        assert!(matches!(error, Error::PtxTooNew { need: None, .. }), "{error:?}");
        let error = resources(&[UNSTATED, FUTURE]).expect_err("unsupported");
        assert!(error.to_string().contains("supports CUDA 12.4; install one that supports CUDA 13.0"), "{error}");
        Ok(())
    });
}

/// Returns the reason why the GPU cannot be opened for `MODULES`, and the summary of the device that `Auto` opens.
fn refusal() -> Result<(Unavailable, String), Error> {
    match open() {
        Err(Error::NoDevice { reason, .. }) => {
            let device = Device::open(DeviceChoice::Auto, MODULES)?;
            assert!(device.is_simulated());
            Ok((reason, device.summary()))
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_old_driver() {
    with_driver("gpu_back_end::an_old_driver", &[("STAND_IN_VERSION", "10020")], || {
        let (reason, summary) = refusal()?;
        let (have, need) = (CudaVersion::new(10, 2), CudaVersion::new(11, 0));
        assert_eq!(reason, Unavailable::TooOldDriver { have, need });
        assert!(
            summary.ends_with("(the GPU cannot be used: the driver supports CUDA 10.2, and the kernels need 11.0)")
        );
        Ok(())
    });
}

/// Returns a folder with a library that has the driver's name but lacks the driver's functions.
fn empty_driver_folder() -> PathBuf {
    let folder = new_folder("empty");
    let source = folder.join("driver.rs");
    fs::write(&source, "").expect("the source can be written");
    compile(&source, &folder);
    folder
}

#[test]
fn a_driver_that_lacks_a_required_function() {
    with_driver_in(empty_driver_folder, "gpu_back_end::a_driver_that_lacks_a_required_function", &[], || {
        let (reason, summary) = refusal()?;
        assert!(matches!(reason, Unavailable::IncompleteDriver { .. }), "{reason:?}");
        assert_eq!(reason.remedy(), "update the NVIDIA driver to one that supports CUDA 11.0 or later");
        assert!(summary.contains("(no GPU: libcuda.so.1 is too old: "), "{summary}");
        Ok(())
    });
}

/// Returns a folder with a file that has the name of the driver's library but is not a library.
fn damaged_driver_folder() -> PathBuf {
    let folder = new_folder("damaged");
    fs::write(folder.join("libcuda.so.1"), "no library").expect("it can be written");
    folder
}

#[test]
fn a_damaged_driver() {
    with_driver_in(damaged_driver_folder, "gpu_back_end::a_damaged_driver", &[], || {
        let (reason, summary) = refusal()?;
        assert!(matches!(reason, Unavailable::UnloadableDriver { .. }), "{reason:?}");
        let remedy = "reinstall the NVIDIA driver: its library is damaged or of another architecture";
        assert_eq!(reason.remedy(), remedy);
        assert!(summary.contains("(no GPU: libcuda.so.1 cannot be loaded: "), "{summary}");
        let message = open().expect_err("no driver").to_string();
        assert!(message.ends_with(&format!("; {remedy}; or use the simulator (device `sim`)")), "{message}");
        Ok(())
    });
}

#[test]
fn an_old_gpu() {
    with_driver("gpu_back_end::an_old_gpu", &[("STAND_IN_CAPABILITY", "61")], || {
        let (reason, summary) = refusal()?;
        assert!(matches!(reason, Unavailable::TooOldGpu { have: (6, 1), need: (7, 0), .. }), "{reason:?}");
        assert!(summary.contains("Stand-in GPU has compute capability 6.1, and the kernels need 7.0"), "{summary}");
        Ok(())
    });
}

#[test]
fn a_gpu_that_another_process_has() {
    with_driver("gpu_back_end::a_gpu_that_another_process_has", &[("STAND_IN_OPEN", "46")], || {
        let (reason, summary) = refusal()?;
        assert!(matches!(reason, Unavailable::DriverFails { code: 46, .. }), "{reason:?}");
        assert!(reason.remedy().contains("another process"), "{}", reason.remedy());
        assert!(summary.contains("the NVIDIA driver cannot open GPU 0"), "{summary}");
        assert!(summary.contains("busy or unavailable (CUDA_ERROR_DEVICE_UNAVAILABLE, 46)"), "{summary}");
        Ok(())
    });
}
