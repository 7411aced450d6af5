//! Tests which kernels the driver compiles, and when, if it can compile each kernel separately.

use std::io::Write;
use std::sync::mpsc;
use std::time::Duration;

use super::stand_in::kernels::{config, fail, greedy, saxpy};
use super::stand_in::{outcome_with_driver, with_driver};
use cuda_std::kernel;
use launch::{Buffer, Device, DeviceChoice, Error, Kernel, PtxImage, PtxModule, Queue, compile_beside};

const MODULES: &[PtxModule] = &[PtxModule { path: env!("CARGO_CRATE_NAME"), images: &[PtxImage::new(70, TEXT)] }];
const TEXT: &str =
    ".version 7.0\n.target sm_70\n.entry saxpy(\n)\n{\n}\n.entry fail(\n)\n{\n}\n.entry greedy(\n)\n{\n}\n";

#[test]
fn kernels_are_compiled_once_and_each_by_itself() {
    const NAME: &str = "gpu_compiling::kernels_are_compiled_once_and_each_by_itself";
    for (version, compiles) in [
        // Before CUDA 12.0, the driver compiles a module of the context, with options for its messages.
        ("11080", "compiles 1, [5, 6]"),
        ("12090", "compiles 1, []"),
        ("13000", "compiles 1, []"),
    ] {
        let log = with_driver(NAME, &[("STAND_IN_COMPILES", "1"), ("STAND_IN_VERSION", version)], || {
            let device = Device::open(DeviceChoice::Gpu(None), MODULES)?;
            let (x, mut y) = (device.upload(&[1.0])?, device.upload(&[10.0])?);
            let launches = |queue: Queue<'_>, y: &mut Buffer<f32>| {
                queue.launch(config(), saxpy(2.0, x.view(), y.view_mut()))?;
                queue.fill_zero(y)?;
                queue.launch(config(), greedy())?;
                queue.launch(config(), saxpy(1.0, x.view(), y.view_mut()))
            };
            device.load(|queue| launches(queue, &mut y))?;
            device.load(|queue| launches(queue, &mut y))?;
            assert_eq!(y.download()?, [10.0], "work was executed");
            device.launch(config(), saxpy(2.0, x.view(), y.view_mut()))?;
            assert_eq!(y.download()?, [12.0]);
            device.resources(greedy::INFO)?;
            device.resources(fail::INFO).map(drop)
        });
        let Some(log) = log else { return };
        assert_eq!(log, [compiles; 3]);
    }
}

#[test]
fn kernels_are_compiled_while_a_gpu_is_opened() {
    const NAME: &str = "gpu_compiling::kernels_are_compiled_while_a_gpu_is_opened";
    // The first GPU differs from the assumed one, and the second equals it.
    for multiprocessors in ["4", "132"] {
        let environment = [("STAND_IN_COMPILES", "1"), ("STAND_IN_MULTIPROCESSORS", multiprocessors)];
        let log = with_driver(NAME, &environment, || {
            let (asks, asked) = mpsc::channel();
            let kernels = |multiprocessors| {
                asks.send(multiprocessors).expect("a receiver");
                vec![saxpy::INFO, greedy::INFO]
            };
            let once = || {
                let device = Device::open(DeviceChoice::Gpu(None), MODULES)?;
                let (x, mut y) = (device.upload(&[1.0])?, device.upload(&[10.0])?);
                device.launch(config(), saxpy(2.0, x.view(), y.view_mut()))?;
                y.download()
            };
            // This runs in a separate process, which reads from the environment which of the two GPUs it has.
            let is_guessed = std::env::var("STAND_IN_MULTIPROCESSORS").as_deref() == Ok("132");
            let told = if is_guessed { &[132][..] } else { &[132, 4] };
            let beside = || {
                for multiprocessors in told {
                    let next = asked.recv_timeout(Duration::from_secs(60));
                    assert_eq!(next.as_ref(), Ok(multiprocessors), "not called before the GPU is opened");
                }
                Device::open(DeviceChoice::Gpu(None), MODULES)
            };
            drop(compile_beside(DeviceChoice::Gpu(None), MODULES, kernels, beside)?);
            assert_eq!(asked.try_recv().ok(), None, "called again");
            // The compiled code can be used in any context.
            assert_eq!((once()?, once()?), (vec![12.0], vec![12.0]));
            // Without a GPU, only the kernels of the assumed GPU are computed. For the simulator, no kernels are
            // computed.
            let guess = |multiprocessors| {
                assert_eq!(multiprocessors, 132);
                vec![saxpy::INFO]
            };
            assert_eq!(compile_beside(DeviceChoice::Gpu(Some(1)), MODULES, guess, || 3), 3);
            assert_eq!(compile_beside(DeviceChoice::Sim, MODULES, |_| panic!("called"), || 3), 3);
            Ok(())
        });
        let Some(log) = log else { return };
        assert_eq!(log, ["compiles 1, []"; 2]);
    }
}

#[test]
fn kernels_that_use_statics_are_compiled_together_and_without_the_others() {
    const NAME: &str = "gpu_compiling::kernels_that_use_statics_are_compiled_together_and_without_the_others";
    const TEXT: &str = ".version 7.0\n.target sm_70\n.visible .global .b32 all;\n.entry saxpy(\n)\n{\n}\n\
        .entry fail(\n)\n{\n\tuse all;\n}\n.entry greedy(\n)\n{\n\tuse all;\n}\n";
    const MODULES: &[PtxModule] = &[PtxModule { path: env!("CARGO_CRATE_NAME"), images: &[PtxImage::new(70, TEXT)] }];
    let log = with_driver(NAME, &[("STAND_IN_COMPILES", "1")], || {
        let device = Device::open(DeviceChoice::Gpu(None), MODULES)?;
        [fail::INFO, saxpy::INFO, greedy::INFO].iter().try_for_each(|kernel| device.resources(kernel).map(drop))
    });
    let Some(log) = log else { return };
    assert_eq!(log, ["compiles 2, [5, 6]", "compiles 1, []"]);
}

/// A kernel that the stand-in driver refuses to compile.
#[kernel]
pub fn broken() {}

const OWN_TEXT: &str = ".version 7.0\n.target sm_70\n.entry saxpy(\n)\n{\n}\n.entry fail(\n)\n{\n}\n\
    .entry greedy(\n)\n{\n}\n.entry broken(\n)\n{\n}\n";
/// Modules such as those that `include_ptx!` returns.
const OWN: &[PtxModule] = &[PtxModule { path: env!("CARGO_CRATE_NAME"), images: OWN_IMAGES }];
const OWN_IMAGES: &[PtxImage] = &[PtxImage::new(70, OWN_TEXT).compiled_at_open()];

#[test]
fn all_kernels_are_compiled_at_the_open_of_a_gpu_or_on_request() {
    const NAME: &str = "gpu_compiling::all_kernels_are_compiled_at_the_open_of_a_gpu_or_on_request";
    let log = with_driver(NAME, &[("STAND_IN_COMPILES", "1")], || {
        // Only on request.
        let device = Device::open(DeviceChoice::Gpu(None), MODULES)?;
        device.resources(saxpy::INFO)?;
        device.compile_all();
        device.compile_all();
        [saxpy::INFO, fail::INFO, greedy::INFO].iter().try_for_each(|kernel| device.resources(kernel).map(drop))?;

        let open = || Device::open(DeviceChoice::Gpu(None), OWN);
        let devices = [open()?, open()?];
        devices[1].compile_all();
        for device in devices.iter().chain([&open()?]) {
            device.resources(greedy::INFO)?;
            let (x, mut y) = (device.upload(&[1.0])?, device.upload(&[10.0])?);
            device.launch(config(), saxpy(2.0, x.view(), y.view_mut()))?;
            assert_eq!(y.download()?, [12.0]);
        }
        // The launch compiles the kernel again, for the compiler's message.
        let error = devices[0].launch(config(), broken()).expect_err("a broken kernel");
        assert!(matches!(&error, Error::Jit { log, .. } if log.contains("no such instruction")), "{error}");
        Device::open(DeviceChoice::Sim, OWN)?.compile_all();
        Ok(())
    });
    let Some(mut log) = log else { return };
    // A launch may compile the broken kernel again while the background still compiles another one.
    log.sort();
    // Three on request. At the open, an empty kernel, which loads the driver's compiler, and four.
    let separately = ["compiles 1, []"; 3 + 1 + 4];
    assert_eq!(log, [&["compiles 1, [5, 6]"], &separately[..]].concat());
}

#[test]
fn the_end_of_a_device_and_of_the_process_wait_for_kernels_that_have_begun() {
    const NAME: &str = "gpu_compiling::the_end_of_a_device_and_of_the_process_wait_for_kernels_that_have_begun";
    const KERNELS: usize = 64;
    let text = || {
        let entries: String = (0..KERNELS).map(|i| format!(".entry k{i}(\n)\n{{\n}}\n")).collect();
        format!(".version 7.0\n.target sm_70\n{entries}")
    };
    for exits in ["0", "1"] {
        let environment = [("STAND_IN_COMPILES", "1"), ("STAND_IN_COMPILE_TIME", "50"), ("STAND_IN_EXITS", exits)];
        let output = outcome_with_driver(NAME, &environment, || {
            let images = Box::leak(Box::new([PtxImage::new(70, text().leak()).compiled_at_open()]));
            let modules = Box::leak(Box::new([PtxModule { path: env!("CARGO_CRATE_NAME"), images }]));
            let device = Device::open(DeviceChoice::Gpu(None), modules)?;
            // Some kernels have begun.
            std::thread::sleep(Duration::from_millis(120));
            if std::env::var("STAND_IN_EXITS").as_deref() == Ok("1") {
                std::process::exit(7);
            }
            drop(device);
            // The test program captures the output of `eprintln!`.
            writeln!(std::io::stderr(), "driver: dropped").expect("standard error");
            Ok(())
        });
        let Some(output) = output else { return };
        assert_eq!(output.status.code(), Some(if exits == "1" { 7 } else { 0 }));
        let errors = String::from_utf8_lossy(&output.stderr);
        let count = |line: &str| errors.matches(&format!("driver: {line}")).count();
        let (begun, ended) = (count("compiles 1, []"), count("compiled"));
        assert!((1..KERNELS).contains(&begun) && begun == ended, "{errors}");
        assert!(exits == "1" || errors.trim_end().ends_with("driver: dropped"), "{errors}");
    }
}

/// Machine code as the stand-in driver expects it: an ELF header with empty tables, and a list of entries.
const fn machine_code<const LEN: usize>(entries: &[u8]) -> [u8; LEN] {
    let mut code = [0; LEN];
    let (magic, mut i) = (b"\x7fELF", 0);
    while i < entries.len() {
        if i < magic.len() {
            code[i] = magic[i];
        }
        code[64 + i] = entries[i];
        i += 1;
    }
    code
}

#[test]
fn machine_code_is_loaded_by_its_gpu_and_compiled_by_no_driver() {
    static HERE: [u8; 128] = machine_code(b".entry saxpy(\n.entry fail(\n");
    static REFUSED: [u8; 128] = machine_code(b"another .entry saxpy(\n");
    const SEVENTY: PtxImage = PtxImage::new(70, TEXT);
    const fn module(images: &'static [PtxImage]) -> PtxModule {
        PtxModule { path: env!("CARGO_CRATE_NAME"), images }
    }
    static MODULES: [PtxModule; 5] = [
        module(&[PtxImage::new(90, SM_90).with_machine_code(&HERE).compiled_at_open()]),
        module(&[SEVENTY.with_machine_code(&HERE), PtxImage::new(90, SM_90).with_machine_code(&HERE)]),
        module(&[SEVENTY.with_machine_code(&HERE)]),
        module(&[PtxImage::new(90, SM_90).with_machine_code(&REFUSED)]),
        module(&[PtxImage::new(90, SM_90).with_machine_code(b"\x7fELF is cut off")]),
    ];
    const SM_90: &str = ".version 7.8\n.target sm_90\n.entry saxpy(\n)\n{\n}\n.entry fail(\n)\n{\n}\n";
    const NAME: &str = "gpu_compiling::machine_code_is_loaded_by_its_gpu_and_compiled_by_no_driver";
    let log = with_driver(NAME, &[("STAND_IN_COMPILES", "1")], || {
        for modules in MODULES.chunks(1) {
            let device = Device::open(DeviceChoice::Gpu(None), modules)?;
            let (x, mut y) = (device.upload(&[1.0_f32; 32])?, device.upload(&[2.0_f32; 32])?);
            device.load(|queue| queue.launch(config(), saxpy(3.0, x.view(), y.view_mut())))?;
            if std::ptr::eq(modules, &MODULES[..1]) {
                device.compile_all();
            }
            device.launch(config(), saxpy(3.0, x.view(), y.view_mut()))?;
            assert_eq!(y.download()?, [5.0; 32]);
        }
        Ok(())
    });
    let Some(log) = log else { return };
    let (loads, compiles) = ("loads machine code", "compiles 1, []");
    // By the GPU of that architecture, also with a request to compile; not by another; refused by the driver; not a
    // whole file.
    assert_eq!(log, [loads, loads, compiles, loads, compiles, compiles]);
}
