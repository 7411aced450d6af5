//! Tests groups of simulated devices: opening them, and copies between their memories.

use launch::{Device, DeviceChoice, Error, Group, Simulator};

fn open(choice: &str) -> Group {
    Group::open(&choice.parse().expect("a choice"), &[]).expect("simulators can be opened")
}

#[test]
fn members_have_memories_of_their_own() -> Result<(), Error> {
    let group = open("sim:3");
    assert_eq!(group.members().len(), 3);
    assert!(group.are_peers() && group.members().iter().all(Device::is_simulated));
    let summary = group.summary();
    assert!(summary.starts_with("devices: 3 × simulator on "), "{summary}");
    let alone = open("sim");
    assert_eq!((alone.members().len(), alone.summary()), (1, alone.members()[0].summary()));
    assert!(
        open("sim:2")
            .clone()
            .members()
            .iter()
            .all(|member| !group.members().iter().any(|m| m.summary() != member.summary()))
    );
    Ok(())
}

#[test]
fn elements_are_copied_between_members() -> Result<(), Error> {
    let group = open("sim:2");
    let [first, second] = group.members() else { panic!("two") };
    let source = first.upload(&[1_u32, 2, 3, 4, 5])?;
    let mut target = second.upload(&[10_u32, 20, 30])?;
    target.copy_range_from(1, &source, 3..5)?;
    assert_eq!(target.download()?, [10, 4, 5]);
    target.copy_range_from(3, &source, 5..5)?;
    assert_eq!(target.download()?, [10, 4, 5], "an empty copy changed elements");
    // Both buffers may also be on one device.
    let mut beside = first.zeroed::<u32>(3)?;
    beside.copy_range_from(0, &source, 1..4)?;
    assert_eq!(beside.download()?, [2, 3, 4]);

    let out_of_range = |result: Result<(), Error>| {
        let error = result.expect_err("out of range");
        assert!(matches!(error, Error::OutOfRange { .. }), "{error:?}");
        error.to_string()
    };
    let message = out_of_range(target.copy_range_from(2, &source, 0..2));
    assert_eq!(message, "cannot copy to elements 2..4: the buffer has elements 0..3");
    out_of_range(target.copy_range_from(usize::MAX, &source, 0..2));
    out_of_range(target.copy_range_from(0, &source, 4..6));
    #[expect(clippy::reversed_empty_ranges, reason = "a reversed range must be refused")]
    out_of_range(target.copy_range_from(0, &source, 4..3));
    assert_eq!(target.download()?, [10, 4, 5], "elements were changed");
    Ok(())
}

#[test]
fn ranges_of_one_buffer() -> Result<(), Error> {
    let device = &open("sim").members()[0].clone();
    let mut buffer = device.upload(&[1_u16, 2, 3, 4, 5, 6])?;
    buffer.copy_within(0..2, 4)?;
    buffer.copy_within(3..4, 2)?;
    assert_eq!(buffer.download()?, [1, 2, 4, 4, 1, 2]);
    for (range, at) in [(0..2, 1), (1..3, 0), (2..4, 2)] {
        let error = buffer.copy_within(range, at).expect_err("overlap");
        assert!(matches!(error, Error::Overlap), "{error:?}");
    }
    for (range, at) in [(0..2, 5), (5..7, 0), (0..1, usize::MAX)] {
        let error = buffer.copy_within(range, at).expect_err("out of range");
        assert!(matches!(error, Error::OutOfRange { buffer: 6, .. }), "{error:?}");
    }
    let mut part = [0; 3];
    buffer.download_range(3, &mut part)?;
    assert_eq!(part, [4, 1, 2]);
    buffer.upload_range(1, &[7, 8])?;
    buffer.upload_range(6, &[])?;
    assert_eq!(buffer.download()?, [1, 7, 8, 4, 1, 2]);
    for error in [buffer.download_range(4, &mut part), buffer.upload_range(usize::MAX, &[1])] {
        assert!(matches!(error, Err(Error::OutOfRange { .. })), "{error:?}");
    }
    // These buffers have elements without bytes, or no elements.
    let mut nothing = device.zeroed::<[u32; 0]>(4)?;
    nothing.copy_within(0..2, 2)?;
    nothing.upload_range(1, &[[]; 3])?;
    assert!(nothing.upload_range(2, &[[]; 3]).is_err());
    device.zeroed::<u8>(0)?.copy_within(0..0, 0)
}

#[test]
fn uninitialised_memory_is_uninitialised_in_a_copy() -> Result<(), Error> {
    let checked = || Device::simulated(Simulator::new().with_checks(launch::Checks::default()));
    let group = Group::of(vec![checked(), checked()])?;
    let [first, second] = group.members() else { panic!("two") };
    let mut source = first.alloc::<u32>(4)?;
    source.upload_range(1, &[7, 8])?;
    let mut target = second.alloc::<u32>(4)?;
    target.copy_range_from(0, &source, 1..4)?;
    let mut sum = second.zeroed::<u32>(1)?;
    let config = launch::LaunchConfig::new(1, 1);
    second.launch(config, first_of(target.view().part(0, 1), sum.view_mut()))?;
    second.launch(config, first_of(target.view().part(1, 1), sum.view_mut()))?;
    assert_eq!(sum.download()?, [15]);
    let error = second.launch(config, first_of(target.view().part(2, 1), sum.view_mut())).expect_err("unwritten");
    assert!(matches!(error, Error::Fault(_)), "{error:?}");
    Ok(())
}

/// Adds the first element of `x` to the first element of `y`.
#[cuda_std::kernel]
pub fn first_of(x: cuda_std::Global<u32>, y: cuda_std::GlobalMut<u32>) {
    y.store(0, y.load(0) + x.load(0));
}

#[test]
fn a_group_has_members_each_once() -> Result<(), Error> {
    let device = Device::open(DeviceChoice::Sim, &[])?;
    for (members, word) in [(vec![], "no member"), (vec![device.clone(), device.clone()], "twice")] {
        let error = Group::of(members).expect_err("no group");
        assert!(matches!(error, Error::InvalidGroup { .. }) && error.to_string().contains(word), "{error:?}");
    }
    assert_eq!(Group::of(vec![device])?.members().len(), 1);
    Ok(())
}

#[test]
fn views_stay_with_their_member() -> Result<(), Error> {
    let (group, other) = (open("sim:2"), open("sim"));
    let [first, second] = group.members() else { panic!("two") };
    let config = launch::LaunchConfig::new(1, 1);
    let (mut here, mut there) = (first.upload(&[1_u32, 2])?, second.upload(&[3_u32, 4])?);
    let mut elsewhere = other.members()[0].upload(&[5_u32, 6])?;
    let wrong = |result: Result<(), Error>| {
        let error = result.expect_err("another device's");
        assert!(matches!(error, Error::WrongDevice { .. }), "{error:?}");
    };
    wrong(first.launch(config, first_of(there.view(), here.view_mut())));
    wrong(second.launch(config, first_of(there.view(), here.view_mut())));
    let (here_view, there_view, elsewhere_view) = (here.view_mut(), there.view_mut(), elsewhere.view_mut());
    let event = other.members()[0].streams(1, |streams| streams[0].record())?;
    group.streams(1, |streams| {
        let [first, second] = [&streams[0][0], &streams[1][0]];
        wrong(first.launch(config, first_of(cuda_std_view(there_view), here_view)));
        wrong(second.launch(config, first_of(cuda_std_view(there_view), here_view)));
        wrong(first.copy(here_view, elsewhere_view));
        wrong(first.copy(elsewhere_view, here_view));
        wrong(first.copy(elsewhere_view, elsewhere_view));
        wrong(first.copy(there_view.part(0, 1), there_view.part(1, 1)));
        wrong(first.upload(there_view, &[7, 8]));
        wrong(first.wait(&event));
        let error = first.copy(here_view.part(0, 1), there_view).expect_err("longer");
        assert!(matches!(error, Error::LengthMismatch { buffer: 1, other: 2, .. }), "{error:?}");
        let error = first.copy(here_view, here_view).expect_err("the same");
        assert!(matches!(error, Error::Overlap), "{error:?}");
        // These are the other directions: to the stream's own memory, from it, and within it.
        first.copy(here_view.part(1, 1), there_view.part(0, 1))?;
        first.copy(there_view.part(1, 1), here_view.part(0, 1))?;
        let copied = first.record()?;
        second.wait(&copied)?;
        second.copy(there_view.part(0, 1), there_view.part(1, 1))?;
        second.copy(there_view.part(0, 0), here_view.part(2, 0))
    })?;
    assert_eq!((here.download()?, there.download()?, elsewhere.download()?), (vec![1, 3], vec![1, 1], vec![5, 6]));
    Ok(())
}

/// Returns a read-only view of the same elements, which must not be written while it is used.
fn cuda_std_view(view: cuda_std::GlobalMut<'_, u32>) -> cuda_std::Global<'_, u32> {
    // SAFETY: it is the same memory, and no launch with this view writes it.
    unsafe { cuda_std::Global::from_raw_parts(view.as_ptr(), view.len(), view.device()) }
}
