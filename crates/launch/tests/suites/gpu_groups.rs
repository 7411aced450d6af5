//! Tests groups of GPUs on machines without a GPU, with the stand-in driver. Its queues execute nothing until a wait.

use super::stand_in::kernels::{MODULES, config, saxpy};
use super::stand_in::with_driver;
use launch::{Device, DeviceChoice, Ends, Error, Group, GroupChoice, SplitBuffer};

const TWO: &[(&str, &str)] = &[("STAND_IN_GPUS", "2"), ("STAND_IN_LOG", "1")];
const NOTHING_LEFT: &str = "left: memory 0, page-locked 0, streams 0, events 0";

fn open(choice: &str) -> Result<Group, Error> {
    Group::open(&choice.parse().expect("a choice"), MODULES)
}

fn ends_clean(log: Option<Vec<String>>) {
    assert!(log.as_ref().is_none_or(|log| log.last().is_some_and(|line| line == NOTHING_LEFT)), "{log:?}");
}

#[test]
fn all_gpus_or_some() {
    let environment = [("STAND_IN_GPUS", "3"), TWO[1]];
    let log = with_driver("gpu_groups::all_gpus_or_some", &environment, || {
        let names = |group: &Group| -> Vec<String> {
            group.members().iter().map(|member| member.summary()[8..14].to_owned()).collect()
        };
        let group = open("gpu:all")?;
        assert_eq!(names(&group), ["GPU 0,", "GPU 1,", "GPU 2,"]);
        assert!(group.are_peers());
        let summary = group.summary();
        assert!(summary.starts_with("devices: GPU 0, Stand-in GPU, sm_90, 4 SMs, 1.0 GiB; GPU 1, "), "{summary}");
        // The members are in the order of the argument. Peer access that is already enabled stays enabled.
        let again = open("gpu:2,0")?;
        assert_eq!(names(&again), ["GPU 2,", "GPU 0,"]);
        assert_eq!((open("gpu:1")?.members().len(), open("auto")?.members().len()), (1, 1));

        let message = open("gpu:0,7").expect_err("three").to_string();
        assert!(message.starts_with("device gpu:7 cannot be used: there is no GPU 7: the driver finds 3"), "{message}");
        let mixed = Group::of(vec![group.members()[0].clone(), Device::open(DeviceChoice::Sim, &[])?]);
        assert!(mixed.expect_err("two kinds").to_string().contains("mixes GPUs and simulated devices"));
        Ok(())
    });
    let Some(log) = log else { return };
    let peers: Vec<_> = log.iter().filter(|line| line.contains("accesses")).collect();
    assert_eq!(peers.len(), 6, "{log:?}");
}

#[test]
fn a_copy_between_gpus_is_ordered() {
    let log = with_driver("gpu_groups::a_copy_between_gpus_is_ordered", TWO, || {
        let group = open("gpu:all")?;
        let [first, second] = group.members() else { panic!("two") };
        let (ones, tens) = (first.upload(&[1.0_f32; 4])?, second.upload(&[10.0_f32; 4])?);
        let (mut here, mut there) = (first.upload(&[0.0_f32, 1.0, 2.0, 3.0])?, second.zeroed::<f32>(4)?);
        // The copy runs after the earlier operations of both devices and before their later operations.
        first.launch(config(), saxpy(100.0, ones.view(), here.view_mut()))?;
        second.launch(config(), saxpy(1.0, tens.view(), there.view_mut()))?;
        there.copy_range_from(1, &here, 2..4)?;
        here.fill_zero()?;
        second.launch(config(), saxpy(2.0, tens.view(), there.view_mut()))?;
        assert_eq!(there.download()?, [30.0, 122.0, 123.0, 30.0]);
        assert_eq!(here.download()?, [0.0; 4]);

        // The next copies go back to the first device, and stay within it. Each buffer is dropped while its copy runs.
        first.launch(config(), saxpy(5.0, ones.view(), here.view_mut()))?;
        here.copy_range_from(0, &there, 1..3)?;
        drop(there);
        let mut copy = first.zeroed::<f32>(4)?;
        copy.copy_range_from(2, &here, 1..3)?;
        copy.copy_within(2..4, 0)?;
        drop(here);
        assert_eq!(copy.download()?, [123.0, 5.0, 123.0, 5.0]);
        let mut target = second.zeroed::<f32>(4)?;
        target.copy_range_from(0, &copy, 0..4)?;
        drop(target);
        target = second.zeroed(2)?;
        target.copy_range_from(0, &copy, 0..2)?;
        drop((copy, ones));
        assert_eq!(target.download()?, [123.0, 5.0]);
        Ok(())
    });
    ends_clean(log);
}

#[test]
fn later_work_of_the_source_waits() {
    let log = with_driver("gpu_groups::later_work_of_the_source_waits", TWO, || {
        let group = open("gpu:all")?;
        let [first, second] = group.members() else { panic!("two") };
        let mut here = first.upload(&[1.0_f32, 2.0])?;
        let mut there = second.zeroed::<f32>(2)?;
        there.copy_range_from(0, &here, 0..2)?;
        // An upload to the source also runs after the copy.
        here.upload(&[8.0, 9.0])?;
        assert_eq!(there.download()?, [1.0, 2.0]);
        // A launch on the source also runs after the copy.
        let ones = first.upload(&[1.0_f32; 2])?;
        there.copy_range_from(0, &here, 0..2)?;
        first.launch(config(), saxpy(1.0, ones.view(), here.view_mut()))?;
        first.synchronize()?;
        assert_eq!((there.download()?, here.download()?), (vec![8.0, 9.0], vec![9.0, 10.0]));
        Ok(())
    });
    ends_clean(log);
}

#[test]
fn a_copy_in_a_stream_of_the_target() {
    let log = with_driver("gpu_groups::a_copy_in_a_stream_of_the_target", TWO, || {
        let group = open("gpu:all")?;
        let [first, second] = group.members() else { panic!("two") };
        let (stream, ones) = (second.stream()?, first.upload(&[1.0_f32; 2])?);
        let (mut here, mut there) = (first.upload(&[1.0_f32, 2.0])?, second.zeroed::<f32>(3)?);
        first.launch(config(), saxpy(1.0, ones.view(), here.view_mut()))?;
        stream.queue().wait(&first.queue().record()?)?;
        stream.queue().copy_between(&here, &mut there)?;
        // A launch on the source, and freeing it, come after the copy.
        first.launch(config(), saxpy(1.0, ones.view(), here.view_mut()))?;
        drop(here);
        first.synchronize()?;
        assert_eq!(there.download()?, [2.0, 3.0, 0.0]);
        Ok(())
    });
    ends_clean(log);
}

#[test]
fn gpus_that_are_no_peers() {
    let environment = [TWO[0], TWO[1], ("STAND_IN_PEERS", "0")];
    let log = with_driver("gpu_groups::gpus_that_are_no_peers", &environment, || {
        let group = open("gpu:0,1")?;
        assert!(!group.are_peers());
        assert!(group.summary().ends_with(" (copies between them go through the host)"), "{}", group.summary());
        let [first, second] = group.members() else { panic!("two") };
        let here = first.upload(&[1.0_f32, 2.0])?;
        let mut there = second.zeroed::<f32>(2)?;
        there.copy_range_from(0, &here, 0..2)?;
        assert_eq!(there.download()?, [1.0, 2.0]);
        Ok(())
    });
    ends_clean(log);
}

#[test]
fn two_devices_of_one_gpu() {
    let log = with_driver("gpu_groups::two_devices_of_one_gpu", &TWO[1..], || {
        let group = Group::of(vec![open("gpu")?.members()[0].clone(), open("gpu")?.members()[0].clone()])?;
        let [first, second] = group.members() else { panic!("two") };
        let ones = first.upload(&[1.0_f32; 2])?;
        let mut here = first.upload(&[1.0_f32, 2.0])?;
        first.launch(config(), saxpy(10.0, ones.view(), here.view_mut()))?;
        let mut there = second.zeroed::<f32>(2)?;
        there.copy_range_from(0, &here, 0..2)?;
        drop(here);
        assert_eq!(there.download()?, [11.0, 12.0]);
        Ok(())
    });
    ends_clean(log);
}

#[test]
fn halos_of_three_gpus() {
    let environment = [("STAND_IN_GPUS", "3"), TWO[1]];
    let log = with_driver("gpu_groups::halos_of_three_gpus", &environment, || {
        let group = open("gpu:all")?;
        let tens: Vec<_> =
            group.members().iter().map(|member| member.upload(&[10.0_f32; 5])).collect::<Result<_, _>>()?;
        let mut split = group.split::<f32>(8, 1, Ends::Wrap)?;
        split.upload(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])?;
        for _ in 0..2 {
            // The copy runs after the earlier operations and does not see the later ones.
            let launch = |split: &mut SplitBuffer<f32>, a: f32| -> Result<(), Error> {
                for ((part, tens), member) in split.parts_mut().iter_mut().zip(&tens).zip(group.members()) {
                    let own = part.range().len();
                    member.launch(config(), saxpy(a, tens.view().part(0, own), part.own_mut()))?;
                }
                Ok(())
            };
            launch(&mut split, 10.0)?;
            split.exchange_halos()?;
            launch(&mut split, -10.0)?;
        }
        let parts: Vec<Vec<f32>> =
            split.parts().iter().map(|part| part.buffer().download()).collect::<Result<_, _>>()?;
        assert_eq!(
            parts,
            [vec![107.0, 0.0, 1.0, 2.0, 103.0], vec![102.0, 3.0, 4.0, 5.0, 106.0], vec![105.0, 6.0, 7.0, 100.0]]
        );
        split.exchange_halos()?;
        drop(split);
        Ok(())
    });
    ends_clean(log);
}

#[test]
fn streams_of_two_gpus() {
    let log = with_driver("gpu_groups::streams_of_two_gpus", TWO, || {
        let group = open("gpu:all")?;
        let [first, second] = group.members() else { panic!("two") };
        let (ones, tens) = (first.upload(&[1.0_f32; 4])?, second.upload(&[10.0_f32; 4])?);
        let (mut here, mut there) = (first.upload(&[0.0_f32, 1.0, 2.0, 3.0])?, second.zeroed::<f32>(4)?);
        let mut result = second.pinned::<f32>(4)?;
        let (ones, tens, here_view, there_view) = (ones.view(), tens.view(), here.view_mut(), there.view_mut());
        group.streams(2, |streams| {
            let [first, second] = [&streams[0], &streams[1]];
            assert_eq!((first.len(), second.len()), (2, 2));
            assert!(second[1].device().summary().starts_with("device: GPU 1"));
            first[1].launch(config(), saxpy(100.0, ones, here_view))?;
            // One copy writes the stream's memory, after another GPU's event. The next copy reads it.
            second[0].wait(&first[1].record()?)?;
            second[0].copy(there_view.part(0, 3), here_view.part(1, 3))?;
            second[0].launch(config(), saxpy(1.0, tens, there_view))?;
            second[0].copy(here_view.part(0, 1), there_view.part(3, 1))?;
            second[0].copy(there_view.part(3, 1), there_view.part(0, 1))?;
            second[0].copy(there_view.part(0, 0), here_view.part(0, 0))?;
            first[0].wait(&second[0].record()?)?;
            first[0].launch(config(), saxpy(1000.0, ones, here_view))?;
            second[1].wait(&first[0].record()?)?;
            second[1].download(there_view, &mut result)
        })?;
        assert_eq!(*result, [111.0, 112.0, 113.0, 111.0]);
        assert_eq!(here.download()?, [1010.0, 1101.0, 1102.0, 1103.0]);
        Ok(())
    });
    ends_clean(log);
}

#[test]
fn a_member_out_of_memory() {
    let log = with_driver("gpu_groups::a_member_out_of_memory", TWO, || {
        let group = open("gpu:all")?;
        let [first, second] = group.members() else { panic!("two") };
        let filled = second.alloc::<u8>(900 << 20)?;
        let error = second.alloc::<u8>(200 << 20).expect_err("full");
        let message = error.to_string();
        assert!(message.starts_with("out of memory on GPU 1, Stand-in GPU: 209715200 bytes requested, "), "{message}");
        // The other GPU has free memory, and both GPUs stay usable.
        let here = first.alloc::<u8>(200 << 20)?;
        drop(filled);
        second.alloc::<u8>(200 << 20)?.copy_range_from(0, &here, 0..10)
    });
    ends_clean(log);
}

#[test]
fn a_choice_of_one_gpu_is_a_group_of_one() {
    with_driver("gpu_groups::a_choice_of_one_gpu_is_a_group_of_one", &[], || {
        let group = Group::open(&GroupChoice::from(DeviceChoice::Gpu(None)), MODULES)?;
        assert_eq!(group.summary(), group.members()[0].summary());
        assert_eq!(open("gpu:all")?.members().len(), 1);
        Ok(())
    });
}
