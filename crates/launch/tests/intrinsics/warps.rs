//! Tests warp operations, barriers with a value, and indices.

use cuda_std::{GlobalMut, kernel, thread, warp};
use launch::{Error, FaultKind, LaunchConfig};

use super::kernels::warps::{self, MATCHES, REDUCTIONS, SHUFFLES};
use super::{checked_devices, devices, fault, numbers};

const N: usize = 192;

#[test]
fn shuffles_stay_in_their_part() -> Result<(), Error> {
    let x = numbers(N);
    for device in devices() {
        for width in [1, 2, 8, 16, 32_usize] {
            let values = device.upload(&x)?;
            let mut out = device.zeroed::<u64>(SHUFFLES * N)?;
            let call = warps::shuffles_within(width as u32, values.view(), out.view_mut());
            device.launch(LaunchConfig::new(3, 64), call)?;
            for (i, found) in out.download()?.chunks(SHUFFLES).enumerate() {
                let first = i / width * width;
                let end = first + width;
                // The index `place`, if it is in the part.
                let at = |place: Option<usize>| place.filter(|place| (first..end).contains(place));
                let or_own = |place: Option<usize>| x[at(place).unwrap_or(i)];
                // `shuffle_xor` may read from an earlier part, but not from a later one.
                let xor = |lanes: usize| Some((i & !31) + ((i % 32) ^ lanes)).filter(|&place| place < end);
                let flagged = |value: u64, is_there: bool| value << 1 | u64::from(is_there);
                let down = or_own(Some(i + 7)) as f32;
                let expected = [
                    x[first + 5 % width],
                    or_own(i.checked_sub(3)),
                    or_own(Some(i + 2)),
                    x[xor(9).unwrap_or(i)],
                    flagged(or_own(i.checked_sub(1)), at(i.checked_sub(1)).is_some()),
                    flagged(down.to_bits().into(), at(Some(i + 7)).is_some()),
                    flagged(x[xor(4).unwrap_or(i)] & 0xFF, xor(4).is_some()),
                    flagged(x[first + 33 % width], true),
                    7,
                    1,
                ];
                assert_eq!(found, expected, "width {width}, thread {i}");
            }
        }
    }
    Ok(())
}

/// Tests that a kernel that reserves places for its active lanes runs with single lanes and with many.
#[test]
fn active_lanes_reserve_places_alone_and_together() -> Result<(), Error> {
    let x = numbers(N);
    let mut expected: Vec<u64> = x.iter().copied().filter(|x| x % 2 == 1).collect();
    expected.sort_unstable();
    let mut most = Vec::new();
    for device in devices() {
        let (values, mut kept) = (device.upload(&x)?, device.zeroed::<u64>(N)?);
        let (mut count, mut largest) = (device.zeroed::<u32>(1)?, device.zeroed::<u32>(1)?);
        let call = warps::keep_odd(values.view(), kept.view_mut(), count.view_mut(), largest.view_mut());
        device.launch(LaunchConfig::new(3, 64), call)?;
        let count = count.download()?[0] as usize;
        let mut kept = kept.download()?;
        kept[..count].sort_unstable();
        assert_eq!(kept[..count], expected);
        most.push(largest.download()?[0]);
    }
    let in_a_warp = |warp: &[u64]| warp.iter().filter(|&x| x % 2 == 1).count() as u32;
    let all = x.chunks(32).map(in_a_warp).max();
    assert!(most.contains(&1) && most.iter().max().copied() == all && all > Some(1), "{most:?}");
    Ok(())
}

#[test]
fn lanes_with_the_same_value_find_each_other() -> Result<(), Error> {
    let mut x: Vec<u64> = (0..N as u64).map(|i| (i * i % 7) | (i % 3) << 40).collect();
    x[64..96].fill(5 << 40);
    for device in devices() {
        let values = device.upload(&x)?;
        let mut out = device.zeroed::<u32>(MATCHES * N)?;
        device.launch(LaunchConfig::new(3, 64), warps::matches(values.view(), out.view_mut()))?;
        for (i, found) in out.download()?.chunks(MATCHES).enumerate() {
            let lanes = &x[i / 32 * 32..][..32];
            let like = |same: &dyn Fn(u64) -> bool| {
                (0..32).filter(|&lane| same(lanes[lane])).map(|lane| 1 << lane).sum::<u32>()
            };
            let all = |is_so: bool| if is_so { u32::MAX } else { 0 };
            let own = x[i];
            let group = if i % 2 == 0 {
                like(&|other| other as f32 == own as f32) & 0x5555_5555
            } else {
                like(&|other| other == own) & 0xAAAA_AAAA
            };
            let expected = [
                like(&|other| other as u32 == own as u32),
                like(&|other| other == own),
                all(lanes.iter().all(|&other| other == own)),
                all(lanes.iter().all(|&other| other as i32 / 1000 == own as i32 / 1000)),
                group,
                u32::from(lanes.contains(&7)),
            ];
            assert_eq!(found, expected, "thread {i}");
        }
    }
    Ok(())
}

#[test]
fn a_warps_values_become_one() -> Result<(), Error> {
    let x: Vec<u64> = numbers(N).iter().map(|x| x.wrapping_mul(0x0123_4567_89AB_CDEF) ^ x << 55).collect();
    for device in devices() {
        let values = device.upload(&x)?;
        let mut out = device.zeroed::<u64>(REDUCTIONS * N)?;
        device.launch(LaunchConfig::new(2, 96), warps::reductions(values.view(), out.view_mut()))?;
        for (i, found) in out.download()?.chunks(REDUCTIONS).enumerate() {
            let lanes = &x[i / 32 * 32..][..32];
            let words = || lanes.iter().map(|&x| x as u32);
            let signed = || lanes.iter().map(|&x| x as u32 as i32);
            let of_own = || lanes.iter().copied().skip(i % 2).step_by(2);
            let sum = |values: &mut dyn Iterator<Item = u64>| values.fold(0, u64::wrapping_add);
            let expected = [
                u64::from(words().fold(0, u32::wrapping_add)),
                words().min().unwrap().into(),
                words().max().unwrap().into(),
                signed().min().unwrap() as u64,
                signed().max().unwrap() as u64,
                words().fold(u32::MAX, |a, b| a & (b | 0xF0)).into(),
                words().fold(0, |a, b| a | b).into(),
                words().fold(0, |a, b| a ^ b).into(),
                sum(&mut lanes.iter().copied()),
                lanes.iter().map(|&x| x as i64).min().unwrap() as u64,
                if i % 2 == 1 { sum(&mut of_own()) } else { of_own().max().unwrap() },
                if i % 2 == 1 {
                    u64::from(of_own().map(|x| x as u32).fold(0, u32::wrapping_add))
                } else {
                    of_own().map(|x| x as u32).min().unwrap().into()
                },
            ];
            assert_eq!(found, expected, "thread {i}");
        }
    }
    Ok(())
}

#[test]
fn barriers_evaluate_predicates() -> Result<(), Error> {
    let mut x: Vec<u32> = numbers(N).iter().map(|&x| x as u32 % 890).collect();
    (x[70], x[190]) = (950, 995);
    for device in devices() {
        let values = device.upload(&x)?;
        let mut out = device.zeroed::<u32>(3)?;
        device.launch(LaunchConfig::new(3, 64), warps::barriers(values.view(), out.view_mut()))?;
        let of_block = |block: &[u32]| {
            let count = block.iter().filter(|x| x.is_multiple_of(3)).count() as u32;
            u32::from(block.iter().all(|&x| x < 900)) | u32::from(block.iter().any(|&x| x > 990)) << 1 | count << 2
        };
        assert_eq!(out.download()?, x.chunks(64).map(of_block).collect::<Vec<_>>());
    }
    Ok(())
}

#[test]
fn every_thread_of_three_dimensions_has_its_place() -> Result<(), Error> {
    for device in devices() {
        let mut out = device.zeroed::<u32>(4 * 2 * 3 * 2 * 4 * 3 * 5)?;
        device.launch(LaunchConfig::new((2, 3, 2), (4, 3, 5)), warps::places(out.view_mut()))?;
        let found = out.download()?;
        let mut i = 0;
        for (bz, by, bx) in (0..2).flat_map(|z| (0..3).flat_map(move |y| (0..2).map(move |x| (z, y, x)))) {
            for (z, y, x) in (0..5).flat_map(|z| (0..3).flat_map(move |y| (0..4).map(move |x| (z, y, x)))) {
                let packed = |x: u32, y: u32, z: u32| x | y << 10 | z << 20;
                let expected = [
                    packed(4 * bx + x, 3 * by + y, 5 * bz + z),
                    packed(x, y, z),
                    packed(bx, by, bz),
                    packed(8, 9, 10) + if i == 0 { 32 } else { 0 },
                ];
                assert_eq!(found[4 * i..][..4], expected, "thread {i}");
                i += 1;
            }
        }
    }
    Ok(())
}

/// Matches values across all lanes, although lane 3 does not execute the call.
#[kernel]
fn lane_is_missing(out: GlobalMut<u32>) {
    if warp::lane_id() == 3 {
        thread::sync_threads();
    }
    out.store(thread::index_1d(), warp::match_any(warp::FULL_MASK, 1_u32));
}

/// Reduces values with a mask that does not contain every calling lane.
#[kernel]
fn not_in_the_mask(out: GlobalMut<u32>) {
    out.store(thread::index_1d(), warp::reduce_add(0xFFFF, 1_u32));
}

#[kernel]
fn bad_width(out: GlobalMut<u32>) {
    out.store(thread::index_1d(), warp::shuffle_up_within(warp::FULL_MASK, 1_u32, 1, 12));
}

#[test]
fn bad_masks_lanes_that_are_missing_and_bad_widths_are_faults() -> Result<(), Error> {
    for device in checked_devices() {
        let mut out = device.zeroed::<u32>(32)?;
        let config = LaunchConfig::new(1, 32);
        let found = fault(device.launch(config, lane_is_missing(out.view_mut())));
        assert!(matches!(found.kind, FaultKind::BarrierNotReached { .. }), "{found}");
        let found = fault(device.launch(config, not_in_the_mask(out.view_mut())));
        assert!(matches!(found.kind, FaultKind::WarpMismatch { mask: 0xFFFF, other: None }), "{found}");
        let found = fault(device.launch(config, bad_width(out.view_mut())));
        assert!(found.to_string().contains("but is 12"), "{found}");
    }
    Ok(())
}
