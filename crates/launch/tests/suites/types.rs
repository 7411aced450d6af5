//! Tests elements and parameters of user-defined types.

#[path = "../fixtures/memory-kernels/src/types.rs"]
mod kernels;

use kernels::*;
use launch::{Checks, Device, DeviceChoice, Error, FaultKind, LaunchConfig, Schedule, Simulator, checked_devices};

fn particle(i: u32) -> Particle {
    let kind = if i.is_multiple_of(3) { Kind::Solid } else { Kind::Liquid };
    let letter = char::from_u32('a' as u32 + i % 26).unwrap_or('?');
    Particle { kind, position: [i as f32, 0.5, -1.0], neighbour: (i + 1, i.is_multiple_of(2)), letter }
}

#[test]
fn elements_of_any_type_are_loaded_and_stored() {
    let input: Vec<_> = (0..64).map(particle).collect();
    let expected: Vec<_> = (0..64)
        .map(|i: u32| {
            let mut other = particle(i / 32 * 32 + 31 - i % 32);
            other.position[1] += 1.0;
            other.neighbour.1 = !other.neighbour.1;
            other
        })
        .collect();
    let solid: Vec<_> = expected.iter().map(|particle| particle.kind == Kind::Solid).collect();
    for device in checked_devices() {
        let x = device.upload(&input).unwrap();
        let mut y = device.upload(&[particle(0); 64]).unwrap();
        let mut flags = device.zeroed::<bool>(64).unwrap();
        let call = exchange(x.view(), y.view_mut(), flags.view_mut());
        device.launch(LaunchConfig::new(2, 32), call).unwrap();
        assert_eq!(y.download().unwrap(), expected, "{}", device.summary());
        assert_eq!(flags.download().unwrap(), solid, "{}", device.summary());
    }
}

#[test]
fn bounds_and_unwritten_memory_are_found_in_elements_of_any_size() {
    for device in checked_devices() {
        let x = device.upload(&[[1.0_f32, 2.0, 3.0]; 5]).unwrap();
        let mut y = device.alloc(5).unwrap();
        device.launch(LaunchConfig::new(1, 5), rotate(x.view(), y.view_mut())).unwrap();
        assert_eq!(y.download().unwrap(), [[2.0, 3.0, 1.0]; 5]);

        let error = device.launch(LaunchConfig::new(1, 6), rotate(x.view(), y.view_mut())).unwrap_err();
        assert!(error.to_string().contains("`x`") && error.to_string().contains("types.rs"), "{error}");

        let unwritten = device.alloc::<[f32; 3]>(5).unwrap();
        let error = device.launch(LaunchConfig::new(1, 1), rotate(unwritten.view(), y.view_mut())).unwrap_err();
        assert!(
            matches!(&error, Error::Fault(fault) if matches!(fault.kind, FaultKind::Uninitialised { .. })),
            "{error}"
        );
        assert!(error.to_string().contains("`x[0]`"), "{error}");
    }
}

#[test]
fn a_race_is_found_in_an_element_of_any_size() {
    for device in checked_devices() {
        let mut y = device.alloc(1).unwrap();
        device.launch(LaunchConfig::new(1, 1), one_element(y.view_mut())).unwrap();
        assert_eq!(y.download().unwrap(), [(0, 1)]);
        let error = device.launch(LaunchConfig::new(1, 2), one_element(y.view_mut())).unwrap_err();
        assert!(matches!(&error, Error::Fault(fault) if matches!(fault.kind, FaultKind::Race(_))), "{error}");
    }
}

/// Tests that a load never returns an invalid `bool`, even without checks.
#[test]
fn invalid_values_are_not_loaded_from_shared_memory() {
    let device = Device::open(DeviceChoice::Sim, &[]).unwrap();
    let mut y = device.zeroed::<bool>(1).unwrap();
    let error = device.launch(LaunchConfig::new(1, 1), read_before_written(y.view_mut())).unwrap_err();
    assert!(error.to_string().contains("no valid `bool`") && error.to_string().contains("types.rs"), "{error}");
    assert_eq!(y.download().unwrap(), [false]);
}

#[test]
fn values_of_any_type_and_number_are_passed() {
    let mut scene = Scene { name: 'A', weights: [0.0; 100], scale: 2.0 };
    scene.weights[99] = 1000.0;
    let device = Device::open(DeviceChoice::Sim, &[]).unwrap();
    let (x, mut y) = (device.upload(&[0.5_f64]).unwrap(), device.zeroed(1).unwrap());
    let call = many(
        scene,
        (3, 0.25),
        true,
        1,
        2,
        3,
        4,
        -1,
        -2,
        -3,
        -4,
        5.0,
        6.0,
        Kind::Liquid,
        7 << 64,
        (),
        8,
        -9,
        y.view_mut(),
        x.view(),
    );
    // A number has one word, a larger value several, a view two, and a type without bytes none.
    let words = call.params().starts().len();
    assert_eq!(words, 17 + 2 * 2);
    assert_eq!(call.params().slots().len(), size_of::<Scene>().div_ceil(8) - 1 + words + 2);
    // The padding between the numbers of a pair is not copied.
    let pair: Vec<u8> =
        call.params().slots()[size_of::<Scene>() / 8..][..2].iter().flat_map(|word| word.to_le_bytes()).collect();
    assert_eq!(pair.iter().filter(|&&byte| byte != 0).count(), 1 + 2, "{pair:?}");
    device.launch(LaunchConfig::new(1, 1), call.clone()).unwrap();
    drop(call);
    assert_eq!(y.download().unwrap(), [10.0 - 10.0 + 5.0 + 6.0 + 2.0 + 7.0 + 8.0 - 9.0 + 2065.0 + 3.25 + 0.5]);
}

#[test]
fn a_reference_is_passed_as_a_view_of_one_element() {
    let device = Device::open(DeviceChoice::Sim, &[]).unwrap();
    let x = device.upload(&[particle(1), particle(2)]).unwrap();
    let mut y = device.zeroed(2).unwrap();
    let call = of_reference(x.view().part(1, 1), y.view_mut());
    assert_eq!(call.params().slots()[0], x.view().as_ptr().addr() as u64 + size_of::<Particle>() as u64);
    assert_eq!(call.params().starts().len(), 3);
    device.launch(LaunchConfig::new(1, 2), call).unwrap();
    assert_eq!(y.download().unwrap(), [3.0; 2]);
    for view in [x.view(), x.view().part(0, 0)] {
        let error = device.launch(LaunchConfig::new(1, 2), of_reference(view, y.view_mut())).unwrap_err();
        assert!(error.to_string().contains("`scene` is a reference to one element"), "{error}");
    }
}

#[test]
fn volatile_accesses_are_no_race() {
    for device in checked_devices() {
        let mut x = device.zeroed(2).unwrap();
        let mut y = device.alloc(1).unwrap();
        device.launch(LaunchConfig::new(1, 2), volatile(x.view_mut(), y.view_mut())).unwrap();
        assert_eq!(x.download().unwrap(), [1, 11]);
    }
}

#[test]
fn padded_elements_written_by_the_host_are_initialised() {
    let device = Device::simulated(Simulator::new().with_checks(Checks::default()).with_schedule(Schedule::Natural));
    let x = device.upload(&[(1_u32, 2_u8), (3, 4)]).unwrap();
    let mut copy = device.alloc(2).unwrap();
    copy.copy_from(&x).unwrap();
    assert_eq!(copy.download().unwrap(), [(1, 2), (3, 4)]);
    let mut target = [(0, 0); 2];
    copy.download_into(&mut target).unwrap();
    assert_eq!(target, [(1, 2), (3, 4)]);
}

#[test]
fn a_kernel_may_use_an_associated_type_of_its_parameter() {
    for device in checked_devices() {
        let (narrow, wide) = (device.upload(&[1.5_f32]).unwrap(), device.upload(&[2.5_f64]).unwrap());
        let mut y = device.zeroed(1).unwrap();
        // SAFETY: the kernel has no obligations.
        let call = unsafe { of_model::<Narrow>(narrow.view(), y.view_mut()) };
        device.launch(LaunchConfig::new(1, 1), call).unwrap();
        assert_eq!(y.download().unwrap(), [3.0]);
        // SAFETY: the kernel has no obligations.
        let call = unsafe { of_model::<Wide>(wide.view(), y.view_mut()) };
        device.launch(LaunchConfig::new(1, 1), call).unwrap();
        assert_eq!(y.download().unwrap(), [7.5]);
    }
}
