//! Tests how kernels print and fail.

use std::sync::{Arc, Mutex};

use launch::{Checks, Device, Error, FaultKind, LaunchConfig, Simulator};

use super::kernels::messages;
use super::{checked_devices, fault};

#[test]
fn values_of_each_kind_are_printed() -> Result<(), Error> {
    let kept = Arc::new(Mutex::new(Vec::<u8>::new()));
    let simulator = Simulator::new().with_checks(Checks::default()).with_output(kept.clone());
    let device = Device::simulated(simulator);
    let x = device.upload(&[0_u32, 3])?;
    device.launch(LaunchConfig::new(1, 2), messages::prints(x.view()))?;
    let text = String::from_utf8(kept.lock().unwrap().clone()).unwrap();
    assert_eq!(text, "thread 1 of \"odd\": even, false, [left    ] [false ]\n3 -1     3|00000003 1.500\n");
    Ok(())
}

#[test]
fn a_failed_assertion_says_which_condition() -> Result<(), Error> {
    for device in checked_devices() {
        let x = device.upload(&[7_u32, 7, 8, 7])?;
        for (which, message) in [
            "assertion failed: value == 7",
            "element 2 is 8, of the even ones",
            "assertion `left == right` failed: element 2\n  left: 8\n right: 7",
            "assertion `left == right` failed\n  left: Pair(8, 1)\n right: Pair(7, 1)",
            "assertion `left == right` failed\n  left: 8\n right: 7",
            "no 8",
        ]
        .into_iter()
        .enumerate()
        {
            let mut out = device.zeroed::<u32>(4)?;
            let call = messages::fails(which as u32, x.view(), out.view_mut());
            let found = fault(device.launch(LaunchConfig::new(1, 4), call));
            assert_eq!(found.kind, FaultKind::Panic(message.to_owned()), "{found}");
            assert_eq!(found.thread.map(|thread| thread.x), Some(2), "{found}");
            assert!(found.location.is_some_and(|at| at.file.ends_with("messages.rs")));
        }
    }
    Ok(())
}
