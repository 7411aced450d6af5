//! Tests the opening of devices on a machine that may have no GPU.

use std::process::Command;

use launch::{Device, DeviceChoice, Error, Group};

#[test]
fn choices_without_a_gpu() {
    // Runs this test again in another process, in which the driver (if one is installed) reports no GPU.
    const VARIABLE: &str = "LAUNCH_TEST_WITHOUT_GPU";
    if std::env::var_os(VARIABLE).is_none() {
        let output = Command::new(std::env::current_exe().expect("this program has a path"))
            .args(["--exact", "devices::choices_without_a_gpu"])
            .env("CUDA_VISIBLE_DEVICES", "")
            .env(VARIABLE, "1")
            .output()
            .expect("this program runs");
        let text = String::from_utf8_lossy(&output.stdout);
        let passed = output.status.success() && text.contains("1 passed");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(passed, "{text}{errors}");
        assert!(errors.contains("; the simulator runs the kernels (`open_gpu` returns an error"), "{errors}");
        return;
    }
    let reason = launch::gpus().expect_err("there is no GPU");
    assert!(!reason.to_string().is_empty() && !reason.remedy().is_empty());

    let device = Device::open(DeviceChoice::Auto, &[]).expect("the simulator can be opened");
    assert!(device.is_simulated());
    assert_eq!(device.name(), "simulator");
    let summary = device.summary();
    assert!(summary.starts_with("device: simulator on "), "{summary}");
    assert!(summary.ends_with(&format!("(no GPU: {reason})")), "{summary}");

    assert_eq!(Device::open_default(&[]).expect("the simulator can be opened").why_no_gpu(), device.why_no_gpu());
    assert!(matches!(Device::open_gpu(&[]), Err(Error::NoDevice { .. })));

    for choice in [DeviceChoice::Gpu(None), DeviceChoice::Gpu(Some(3))] {
        let error = Device::open(choice, &[]).expect_err("there is no GPU");
        assert!(matches!(error, Error::NoDevice { .. }), "{error:?}");
        let message = error.to_string();
        assert_eq!(format!("{error:?}"), message, "`Debug` differs from `Display`");
        assert!(message.contains(&format!("device {choice} cannot be used: ")), "{message}");
        assert!(message.contains(&reason.remedy()) && message.contains("device `sim`"), "{message}");
    }

    for choice in ["gpu:all", "gpu:0,7"] {
        let error = Group::open(&choice.parse().expect("a valid choice"), &[]).expect_err("there is no GPU");
        assert!(matches!(error, Error::NoDevice { .. }), "{error:?}");
        let message = error.to_string();
        let named = if choice == "gpu:all" { choice } else { "gpu:0" };
        assert!(message.starts_with(&format!("device {named} cannot be used: ")), "{message}");
        assert!(message.contains(&reason.remedy()), "{message}");
    }
    let group = Group::open(&"auto".parse().expect("a valid choice"), &[]).expect("the simulator can be opened");
    assert!(group.summary().ends_with(&format!("(no GPU: {reason})")), "{}", group.summary());

    let device = Device::open(DeviceChoice::Sim, &[]).expect("the simulator can be opened");
    assert!(device.is_simulated());
    assert!(!device.summary().contains("GPU"), "{}", device.summary());
}

#[test]
fn checked_devices_run_in_the_hostile_orders() {
    let summaries: Vec<_> = launch::checked_devices().map(|device| device.summary()).collect();
    let expected =
        launch::Schedule::HOSTILE.map(|order| format!("device: simulator that checks, in the order {order}"));
    assert_eq!(summaries, expected);
    let mut buffers = launch::checked_devices().map(|device| device.alloc::<u32>(1).expect("4 bytes"));
    assert!(buffers.all(|buffer| buffer.device().is_simulated()));
}
