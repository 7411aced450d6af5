//! Tests atomic operations.

use cuda_std::atomic::{AtomicI64, AtomicU64, Ordering};
use cuda_std::{AtomicNumber, GlobalMut, bf16, f16, kernel, thread};
use launch::{Buffer, Device, Error, FaultKind, LaunchConfig};

use super::kernels::atomics;
use super::{checked_devices, devices, fault};

const THREADS: usize = 96;

/// Runs the kernel `numbers` on integers. Returns the results in global memory and those in shared memory.
fn updated<T: AtomicNumber>(device: &Device, values: &[T], start: [T; 4]) -> [Vec<T>; 2]
where
    atomics::numbers<T>: cuda_std::Kernel,
{
    let mut values: Buffer<T> = device.upload(values).unwrap();
    let mut sums = device.upload(&start).unwrap();
    let mut shared = device.alloc::<T>(4).unwrap();
    let call = atomics::numbers::<T>(values.view_mut(), sums.view_mut(), shared.view_mut());
    device.launch(LaunchConfig::new(1, THREADS as u32), call).unwrap();
    [sums.download().unwrap(), shared.download().unwrap()]
}

#[test]
fn every_number_is_added_subtracted_and_compared() {
    let values: [i16; THREADS] = std::array::from_fn(|i| (i as i16 * 37) % 101 - 40);
    let sum: i64 = values.iter().map(|&value| i64::from(value)).sum();
    let (least, greatest) = (values.iter().min().unwrap(), values.iter().max().unwrap());
    macro_rules! check {
        ($($type:ident)*) => {$(
            for device in devices() {
                let values: Vec<$type> = values.iter().map(|&value| value as $type).collect();
                let start = [1, 2, 3, 4].map(|start| start as $type);
                let (min, max) = (*least as $type, *greatest as $type);
                let (min, max) = if (-1_i16 as $type) > (0 as $type) {
                    // As unsigned numbers, the negative numbers are the greatest.
                    (0 as $type, -1_i16 as $type)
                } else {
                    (min, max)
                };
                assert!(values.contains(&min) && values.contains(&max));
                let expected = [(1 + sum) as $type, (2 - sum) as $type, min.min(start[2]), max.max(start[3])];
                assert_eq!(updated(&device, &values, start), [expected, expected].map(Vec::from));
            }
        )*};
    }
    check! { u32 i32 u64 i64 f32 f64 }
}

#[test]
fn a_float_that_is_no_number_counts_as_none() {
    for device in devices() {
        let values: [f32; THREADS] = std::array::from_fn(|i| if i % 3 == 0 { f32::NAN } else { -0.0 });
        let [sums, shared] = updated(&device, &values, [0.0, 0.0, f32::NAN, 0.0]);
        assert_eq!((sums[2].to_bits(), sums[3].to_bits()), ((-0.0_f32).to_bits(), 0));
        assert_eq!((shared[2].to_bits(), shared[3].to_bits()), ((-0.0_f32).to_bits(), 0));
    }
}

#[test]
fn subnormal_sums_are_kept_in_shared_memory_alone() {
    for device in devices() {
        let tiny = f32::from_bits(3);
        let [sums, shared] = updated(&device, &[tiny; THREADS], [0.0; 4]);
        assert_eq!((sums[0], shared[0]), (0.0, f32::from_bits(3 * THREADS as u32)));
    }
}

#[test]
fn every_bit_is_updated() {
    macro_rules! check {
        ($($type:ident)*) => {$(
            for device in devices() {
                let values: Vec<$type> = (0..THREADS).map(|i| (i as $type * 0x0123_4567) | 0x100).collect();
                let mut words = device.upload(&[-1_i8 as $type, 1, 1]).unwrap();
                let mut all = device.upload(&values).unwrap();
                let call = atomics::bitwise::<$type>(all.view_mut(), words.view_mut());
                device.launch(LaunchConfig::new(3, 32), call).unwrap();
                let of = |fold: fn($type, $type) -> $type, start| values.iter().copied().fold(start, fold);
                let expected = [of(|a, b| a & b, -1_i8 as $type), of(|a, b| a | b, 1), of(|a, b| a ^ b, 1)];
                assert_eq!(words.download().unwrap(), expected);
            }
        )*};
    }
    check! { u32 i32 u64 i64 }
}

#[test]
fn counters_wrap_at_their_limit() {
    for device in devices() {
        let mut counts = device.upload(&[0_u32, 0, 1000, 0]).unwrap();
        let mut drawn = device.zeroed::<u32>(8).unwrap();
        let mut exchanged = device.zeroed::<u32>(1).unwrap();
        let call = atomics::counters(4, counts.view_mut(), drawn.view_mut(), exchanged.view_mut());
        device.launch(LaunchConfig::new(3, 30), call).unwrap();
        // 90 increments produce the numbers from 0 to 4 in rounds. 90 decrements produce 0, 4, 3 and so on.
        assert_eq!(
            drawn.download().unwrap(),
            [18 << 16 | 18, 18 << 16 | 18, 18 << 16 | 18, 18 << 16 | 18, 18 << 16 | 18, 0, 0, 0]
        );
        let counts = counts.download().unwrap();
        assert_eq!((counts[0], counts[1], counts[3]), (0, 0, 90));
        assert_eq!(exchanged.download().unwrap()[0] + counts[2], 1000 + (0..90).sum::<u32>());
    }
}

#[test]
fn floats_have_bitwise_updates() {
    for device in devices() {
        let mut floats = device.upload(&[1.5_f32, f32::from_bits(0x12_3456), -3.25, 0.0]).unwrap();
        let mut doubles = device.upload(&[f64::from_bits(0x3FF0_0000_1234_5678)]).unwrap();
        let call = atomics::float_bits(floats.view_mut(), doubles.view_mut());
        device.launch(LaunchConfig::new(1, 23), call).unwrap();
        let bits: Vec<u32> = floats.download().unwrap().iter().map(|float| float.to_bits()).collect();
        assert_eq!(bits, [0x3FFF_FFFF, 0x6D_CBA9, 0x8000_0000, (-3.25_f32).to_bits()]);
        assert_eq!(doubles.download().unwrap()[0].to_bits(), 0x3FF0_0000_1200_0000);
    }
}

#[test]
fn atomic_types_work_wherever_they_stand() {
    for device in devices() {
        let mut counts = device.zeroed::<u32>(5).unwrap();
        let mut sum = device.zeroed::<f32>(1).unwrap();
        device.launch(LaunchConfig::new(4, 40), atomics::types(counts.view_mut(), sum.view_mut())).unwrap();
        assert_eq!(counts.download().unwrap(), [160, 39, 39, 39, 39]);
        assert_eq!(sum.download().unwrap(), [80.0]);
    }
    // The same operations work outside of a kernel.
    let number = AtomicI64::new(5);
    assert_eq!(number.fetch_sub(7, Ordering::SeqCst), 5);
    assert_eq!(number.compare_exchange(0, 1, Ordering::Relaxed, Ordering::Relaxed), Err(-2));
    assert_eq!(number.into_inner(), -2);
}

#[test]
fn fences_of_block_scope_order_a_block() {
    for device in devices() {
        let mut out = device.zeroed::<u32>(3).unwrap();
        device.launch(LaunchConfig::new(3, 128), atomics::hand_over_in_block(out.view_mut())).unwrap();
        assert_eq!(out.download().unwrap(), [81; 3]);
    }
}

/// Counts all blocks by updates of block scope, which is too narrow.
#[kernel]
fn count_too_narrow(count: GlobalMut<u32>) {
    count.block_atomic(0).fetch_add(1, Ordering::AcqRel);
}

/// Publishes a value to the next block by a fence of block scope, which is too narrow.
#[kernel]
fn publish_too_narrow(values: GlobalMut<u32>, flag: GlobalMut<u32>) {
    if thread::block_idx_x() == 0 {
        values.store(0, 7);
        cuda_std::fence_block();
        flag.store_relaxed(0, 1);
    } else {
        while flag.load_acquire(0) == 0 {}
        values.load(0);
    }
}

#[test]
fn scopes_that_are_too_narrow_are_races() -> Result<(), Error> {
    for device in checked_devices() {
        let (mut a, mut b) = (device.zeroed::<u32>(1)?, device.zeroed::<u32>(1)?);
        let found = fault(device.launch(LaunchConfig::new(2, 32), count_too_narrow(a.view_mut())));
        let FaultKind::Race(race) = &found.kind else { panic!("{found}") };
        assert_eq!(race.remedy, simt::Remedy::WiderScope, "{found}");
        let line = found.location.as_ref().map(|at| at.file.rsplit('/').next().map(str::to_owned));
        assert_eq!(line.flatten().as_deref(), Some("atomics.rs"), "the line is not the kernel's: {found}");
        let call = publish_too_narrow(a.view_mut(), b.view_mut());
        let found = fault(device.launch(LaunchConfig::new(2, 1), call));
        assert!(matches!(&found.kind, FaultKind::Race(race) if race.remedy == simt::Remedy::Release), "{found}");
        assert!(found.to_string().contains("of a scope that includes both threads"), "{found}");
    }
    Ok(())
}

#[test]
fn numbers_of_16_bits_are_updated() -> Result<(), Error> {
    for device in devices() {
        let mut halves = device.zeroed::<f16>(2)?;
        let mut bfloats = device.zeroed::<bf16>(2)?;
        let mut words = device.upload(&[500_u16])?;
        let call = atomics::narrow(halves.view_mut(), bfloats.view_mut(), words.view_mut());
        device.launch(LaunchConfig::new(1, THREADS as u32), call)?;
        assert_eq!(halves.download()?, [f16::from_f32(THREADS as f32); 2]);
        assert_eq!(bfloats.download()?, [bf16::from_f32(THREADS as f32); 2]);
        assert_eq!(words.download()?, [500 + THREADS as u16]);
    }
    Ok(())
}

/// Returns a number of 128 bits whose upper half is the complement of its lower half.
fn pair(low: u64) -> u128 {
    u128::from(low) | u128::from(!low) << 64
}

#[test]
fn numbers_of_128_bits_are_updated_as_a_whole() -> Result<(), Error> {
    let blocks = 3;
    let threads = u64::from(blocks) * THREADS as u64;
    for device in devices() {
        let mut words = device.upload(&[pair(5), pair(0), pair(0), u128::from(u64::MAX)])?;
        let (mut chain, mut found) = (device.zeroed::<u32>(1)?, device.zeroed::<u32>(2)?);
        let call = atomics::wide(words.view_mut(), chain.view_mut(), found.view_mut());
        device.launch(LaunchConfig::new(blocks, THREADS as u32), call)?;
        let words = words.download()?;
        assert_eq!(words[0], pair(5 + 3 * threads));
        assert_eq!((words[2], words[3]), (pair(u64::from(blocks)), u128::from(u64::MAX) + u128::from(threads)));
        assert_eq!(chain.download()?, [13]);
        let exchanged: u64 = (0..threads).map(|i| i + 1 + 1000 + i).sum();
        assert_eq!(found.download()?, [0, (exchanged - words[1] as u64) as u32]);
    }
    Ok(())
}

/// Publishes a value to the next block by an element of 128 bits: by release and acquire, or by relaxed accesses.
#[kernel]
fn publish_wide(is_ordered: bool, values: GlobalMut<u32>, flag: GlobalMut<u128>) {
    if thread::block_idx_x() == 0 {
        values.store(0, 7);
        if is_ordered {
            flag.store_release(0, pair(1));
        } else {
            flag.store_relaxed(0, pair(1));
        }
    } else {
        while if is_ordered { flag.load_acquire(0) } else { flag.load_relaxed(0) } != pair(1) {}
        values.load(0);
    }
}

/// Stores a flag of 128 bits behind a value, both relaxed, and counts the flags that come before the value.
#[kernel]
fn flag_before_value(is_ordered: bool, values: GlobalMut<u128>, early: GlobalMut<u32>) {
    if thread::block_idx_x() == 0 {
        values.store_relaxed(0, pair(7));
        values.atomic(1).store(pair(1), if is_ordered { Ordering::Release } else { Ordering::Relaxed });
    } else {
        while values.atomic(1).load(if is_ordered { Ordering::Acquire } else { Ordering::Relaxed }) != pair(1) {}
        early.store(0, u32::from(values.load_relaxed(0) != pair(7)));
    }
}

/// Adds to an element of 128 bits in one block, and to its lower half in the other.
#[kernel]
fn half_and_whole(words: GlobalMut<u128>) {
    if thread::block_idx_x() == 0 {
        words.atomic_add(0, 1);
    } else {
        // SAFETY: the address is that of the lower half, which is aligned, and all accesses are atomic.
        unsafe { AtomicU64::from_ptr(words.as_ptr().cast()) }.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn races_and_weak_memory_of_128_bits_are_found() -> Result<(), Error> {
    let mut early_flags = 0;
    for device in checked_devices() {
        let (mut values, mut words) = (device.zeroed::<u32>(1)?, device.zeroed::<u128>(2)?);
        let config = LaunchConfig::new(2, 1);
        let found = fault(device.launch(config, publish_wide(false, values.view_mut(), words.view_mut())));
        let remedy = |found: &launch::Fault| match &found.kind {
            FaultKind::Race(race) => Some(race.remedy),
            _ => None,
        };
        assert_eq!(remedy(&found), Some(simt::Remedy::ReleaseAndAcquire), "{found}");
        let found = fault(device.launch(config, half_and_whole(words.view_mut())));
        assert_eq!(remedy(&found), Some(simt::Remedy::OneWidth), "{found}");
        let mut words = device.zeroed::<u128>(2)?;
        device.launch(config, publish_wide(true, values.view_mut(), words.view_mut()))?;
        for is_ordered in [true, false] {
            let mut words = device.zeroed::<u128>(2)?;
            device.launch(config, flag_before_value(is_ordered, words.view_mut(), values.view_mut()))?;
            let is_early = values.download()?[0];
            early_flags += is_early;
            assert!(!(is_ordered && is_early == 1));
        }
    }
    assert!(early_flags > 0, "no order has stored the flag before the value");
    Ok(())
}
