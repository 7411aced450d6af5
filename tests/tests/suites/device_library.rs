//! Tests every part of `cuda_std` on every device. The result must be the documented one.

use std::fmt::Debug;

use gpu::device_library as kernels;
use gpu::operator::{Affine, Compose, Max, Sum};
use launch::{Device, Element, Kernel, LaunchConfig};
use rand::Rng;
use tests::{all_devices, random, random_floats, simulated, simulated_with_output};

#[test]
fn threads_know_where_they_are() {
    let (grid, block) = ((3_u32, 2_u32, 2_u32), (5_u32, 3_u32, 4_u32));
    for device in all_devices() {
        let threads = 3 * 2 * 2 * 5 * 3 * 4;
        let mut out = device.zeroed::<u32>(8 * threads).unwrap();
        device.launch(LaunchConfig::new(grid, block), kernels::coordinates(out.view_mut())).unwrap();
        let out = out.download().unwrap();
        let mut next = out.chunks_exact(8);
        for b in 0..3 * 2 * 2 {
            for t in 0..5 * 3 * 4 {
                let expected = [t % 5, t / 5 % 3, t / 15, b % 3, b / 3 % 2, b / 6, t % 32, t / 32];
                assert_eq!(next.next().unwrap(), expected);
            }
        }
    }
}

#[test]
fn shuffles_bring_the_right_lanes_value() {
    let x: Vec<u64> = (0..96).map(|i| i * 0x0123_4567_89AB_CDEF).collect();
    for device in all_devices() {
        let dx = device.upload(&x).unwrap();
        let mut out = device.zeroed::<u64>(5 * x.len()).unwrap();
        device.launch(LaunchConfig::new(1, 96), kernels::shuffles(dx.view(), out.view_mut())).unwrap();
        let out = out.download().unwrap();
        for (i, row) in out.chunks_exact(5).enumerate() {
            let (warp, lane) = (i / 32 * 32, i % 32);
            let of = |lane: usize| x[warp + lane];
            let up = if lane >= 3 { lane - 3 } else { lane };
            let down = if lane + 5 < 32 { lane + 5 } else { lane };
            let narrow = if lane % 2 == 1 { of(lane ^ 2) & 0xFF } else { 0 };
            assert_eq!(row, [of((7 * lane + 3) % 32), of(up), of(down), of(lane ^ 9), narrow], "lane {lane}");
        }
    }
}

#[test]
fn votes_count_the_lanes_of_a_partial_warp_too() {
    let x: Vec<u32> = (0..45).collect();
    for device in all_devices() {
        let dx = device.upload(&x).unwrap();
        let mut out = device.zeroed::<u32>(5 * x.len()).unwrap();
        device.launch(LaunchConfig::new(1, 45), kernels::votes(dx.view(), out.view_mut())).unwrap();
        for (i, row) in out.download().unwrap().chunks_exact(5).enumerate() {
            let warp = &x[i / 32 * 32..(i / 32 * 32 + 32).min(45)];
            let ballot = (0..warp.len()).filter(|&lane| warp[lane].is_multiple_of(3)).map(|lane| 1 << lane).sum();
            let (any, all) = (warp.contains(&40), warp.iter().all(|&x| x < 40));
            let mask = if warp.len() == 32 { u32::MAX } else { (1 << warp.len()) - 1 };
            let before = warp[(i % 32 + warp.len() - 1) % warp.len()];
            assert_eq!(row, [ballot, any.into(), all.into(), mask, before]);
        }
    }
}

#[test]
fn products_are_wide_and_unchecked_additions_are_made() {
    let mut random = random(9);
    let mut x: Vec<u32> = (0..700).map(|_| random.next_u32()).collect();
    x.extend([0, 1, u32::MAX]);
    for device in all_devices() {
        let dx = device.upload(&x).unwrap();
        for factor in [0, 1, 0x8000_0001, u32::MAX] {
            let (mut products, mut counts) = (device.alloc(x.len()).unwrap(), device.zeroed::<u32>(2).unwrap());
            let call = kernels::wide_products(factor, dx.view(), products.view_mut(), counts.view_mut());
            device.launch(LaunchConfig::new(3, 96), call).unwrap();
            let expected: Vec<u64> = x.iter().map(|&x| u64::from(x) * u64::from(factor)).collect();
            assert_eq!(products.download().unwrap(), expected);
            let upper = expected.iter().filter(|&&product| product >> 32 > product & 0xffff_ffff).count() as u32;
            assert_eq!(counts.download().unwrap(), [x.len() as u32 - upper, upper]);
        }
    }
}

#[test]
fn a_tree_in_shared_memory_sums_each_block() {
    let x: Vec<f64> = random_floats(256 * 9, 5).into_iter().map(f64::from).collect();
    for device in all_devices() {
        let dx = device.upload(&x).unwrap();
        let mut sums = device.zeroed::<f64>(9).unwrap();
        device.launch(LaunchConfig::new(9, 256), kernels::block_sum(dx.view(), sums.view_mut())).unwrap();
        for (block, sum) in x.chunks_exact(256).zip(sums.download().unwrap()) {
            assert!((block.iter().sum::<f64>() - sum).abs() < 1e-12);
        }
    }
}

#[test]
fn a_counting_barrier_tells_every_block_its_count() {
    let mut random = random(8);
    let x: Vec<u32> = (0..100 * 7).map(|_| random.next_u32()).collect();
    for device in all_devices() {
        let dx = device.upload(&x).unwrap();
        let (mut counts, mut reversed) = (device.zeroed(7).unwrap(), device.zeroed(x.len()).unwrap());
        let call = kernels::count_even(dx.view(), counts.view_mut(), reversed.view_mut());
        device.launch(LaunchConfig::new(7, 100), call).unwrap();
        let expected: Vec<u32> =
            x.chunks_exact(100).map(|block| block.iter().filter(|x| x.is_multiple_of(2)).count() as u32).collect();
        assert_eq!(counts.download().unwrap(), expected);
        let expected: Vec<u32> = x.chunks_exact(100).flat_map(|block| block.iter().rev().copied()).collect();
        assert_eq!(reversed.download().unwrap(), expected);
    }
}

#[test]
fn accesses_of_every_width_copy() {
    let x: Vec<u8> = (0..16 * 77).map(|i| (i * 37 % 251) as u8).collect();
    for device in all_devices() {
        let dx = device.upload(&x).unwrap();
        let mut dy = device.zeroed::<u8>(5 * x.len()).unwrap();
        device.launch(LaunchConfig::new(3, 64), kernels::copy_wide(dx.view(), dy.view_mut())).unwrap();
        assert_eq!(dy.download().unwrap(), x.repeat(5));
    }
}

#[test]
fn hinted_accesses_copy() {
    let x: Vec<f64> = random_floats(1000, 6).into_iter().map(f64::from).collect();
    let x32 = random_floats(4 * 333, 7);
    for device in all_devices() {
        let (dx, dx32) = (device.upload(&x).unwrap(), device.upload(&x32).unwrap());
        let mut dy = device.zeroed::<f64>(2 * x.len()).unwrap();
        let mut dy32 = device.zeroed::<f32>(x32.len()).unwrap();
        let call = kernels::copy_hinted(dx.view(), dy.view_mut(), dx32.view(), dy32.view_mut());
        device.launch(LaunchConfig::new(2, 128), call).unwrap();
        assert_eq!(dy.download().unwrap(), x.repeat(2));
        let reversed: Vec<f32> = x32.chunks_exact(4).flat_map(|four| four.iter().rev().copied()).collect();
        assert_eq!(dy32.download().unwrap(), reversed);
    }
}

#[test]
fn asynchronous_copies_arrive() {
    let n = 64 * 15;
    let x: Vec<u32> = (0..4 * n as u32).map(|i| i.wrapping_mul(2_654_435_761)).collect();
    for device in all_devices() {
        for blocks in [1, 3, 5, 15] {
            let (dx, mut dy) = (device.upload(&x).unwrap(), device.zeroed::<u32>(2 * x.len()).unwrap());
            device.launch(LaunchConfig::new(blocks, 64), kernels::copy_async(dx.view(), dy.view_mut())).unwrap();
            let y = dy.download().unwrap();
            assert_eq!(y[..x.len()], x);
            let turned = x.chunks(4 * 64).flat_map(|block| block.chunks(4).rev().flatten().copied());
            assert_eq!(y[x.len()..], turned.collect::<Vec<_>>());
        }
    }
}

#[test]
fn asynchronous_copies_by_elements_begin_and_end_anywhere() {
    fn check<T: Element + PartialEq + Debug, const N: usize>(element: impl Fn(u32) -> T)
    where
        kernels::copy_async_by_elements<T, N>: Kernel,
    {
        let x: Vec<T> = (1..=700).map(element).collect();
        for device in all_devices() {
            let dx = device.upload(&x).unwrap();
            for (start, len) in [(0, 700), (1, 699), (3, 5), (2, 0), (5, 256)] {
                let mut dy = device.zeroed(704).unwrap();
                let call = kernels::copy_async_by_elements::<T, N>(dx.view().part(start, len), dy.view_mut());
                device.launch(LaunchConfig::new(3, 64), call).unwrap();
                let mut expected = vec![T::zeroed(); 704];
                expected[..len].copy_from_slice(&x[start..start + len]);
                assert_eq!(dy.download().unwrap(), expected, "{len} from element {start}");
            }
        }
    }
    check::<f32, 4>(|i| i as f32);
    check::<f64, 2>(f64::from);
    check::<Affine, 2>(|i| Affine { factor: i, offset: !i });
}

/// Tests that the simulator completes an asynchronous copy as late as the kernel permits.
#[test]
fn a_copy_is_not_there_before_it_is_waited_for() {
    let device = simulated(0);
    let n = 4 * gpu::faults::THREADS * 3;
    let x: Vec<u32> = (1..=n as u32).collect();
    let (dx, mut dy) = (device.upload(&x).unwrap(), device.zeroed(n).unwrap());
    let call = gpu::faults::copies_not_waited_for(dx.view(), dy.view_mut());
    device.launch(LaunchConfig::new(1, 64), call).unwrap();
    assert!(dy.download().unwrap().iter().all(|y| !x.contains(y)));
}

#[test]
fn integer_atomics_lose_no_update() {
    let (grid, block) = (20_u32, 96_u32);
    let threads = grid * block;
    for device in all_devices() {
        let mut counters = device.upload(&[0, 0, 0, u32::MAX, 0, 0, 0_u32]).unwrap();
        let mut signed = device.upload(&[0, i64::MAX, i64::MIN]).unwrap();
        let call = kernels::atomics_integer(counters.view_mut(), signed.view_mut());
        device.launch(LaunchConfig::new(grid, block), call).unwrap();
        let block_sum: u32 = (0..block).sum();
        let all_xor = (0..threads).fold(0, |xor, i| xor ^ i);
        let expected = [grid * block_sum, 5, u32::MAX, u32::MAX << 7, all_xor, 77, 3 * threads];
        assert_eq!(counters.download().unwrap(), expected);
        let sum: i64 = (0..i64::from(threads)).sum();
        assert_eq!(signed.download().unwrap(), [-sum << 33, 1 - i64::from(threads), -1]);
    }
}

#[test]
fn float_atomics_add() {
    for device in all_devices() {
        let (mut single, mut double) = (device.upload(&[0.5_f32]).unwrap(), device.upload(&[0.25_f64]).unwrap());
        let call = kernels::atomics_float(single.view_mut(), double.view_mut());
        device.launch(LaunchConfig::new(11, 64), call).unwrap();
        assert_eq!(single.download().unwrap(), [704.5]);
        assert_eq!(double.download().unwrap(), [352.25]);
    }
}

#[test]
fn a_value_is_handed_from_block_to_block() {
    let blocks = 300;
    for device in all_devices() {
        let config = LaunchConfig::new(blocks as u32, 32);
        let expected: Vec<u64> = (0..blocks as u64).map(|t| t * (t + 1) / 2).collect();
        for is_fenced in [false, true] {
            let (mut ticket, mut flags) = (device.zeroed(1).unwrap(), device.zeroed(blocks).unwrap());
            let mut sums = device.zeroed::<u64>(blocks).unwrap();
            let views = (ticket.view_mut(), flags.view_mut(), sums.view_mut());
            if is_fenced {
                device.launch(config, kernels::hand_over_fenced(views.0, views.1, views.2)).unwrap();
            } else {
                device.launch(config, kernels::hand_over(views.0, views.1, views.2)).unwrap();
            }
            assert_eq!(sums.download().unwrap(), expected);
        }
    }
}

#[test]
fn a_generic_kernel_is_one_kernel_for_each_instance() {
    let floats = random_floats(4 * 192, 9);
    let integers: Vec<i64> = (0..4 * 64).map(|i| (i * 0x1234_5678_9ABC) ^ 0x55).collect();
    let maps: Vec<Affine> = (0..2 * 128).map(|i| Affine { factor: 2 * i + 3, offset: 7 * i }).collect();
    for device in all_devices() {
        let (dx, mut dy) = (device.upload(&floats).unwrap(), device.zeroed(4).unwrap());
        let call = kernels::combine_block::<f32, Max, 3>(dx.view(), dy.view_mut());
        device.launch(LaunchConfig::new(4, 64), call).unwrap();
        let expected: Vec<f32> =
            floats.chunks(192).map(|block| block.iter().copied().fold(f32::NEG_INFINITY, f32::max)).collect();
        assert_eq!(dy.download().unwrap(), expected);

        let (dx, mut dy) = (device.upload(&integers).unwrap(), device.zeroed(4).unwrap());
        let call = kernels::combine_block::<i64, Sum, 1>(dx.view(), dy.view_mut());
        device.launch(LaunchConfig::new(4, 64), call).unwrap();
        let expected: Vec<i64> = integers.chunks(64).map(|block| block.iter().sum()).collect();
        assert_eq!(dy.download().unwrap(), expected);

        let (dx, mut dy) = (device.upload(&maps).unwrap(), device.zeroed(2).unwrap());
        let call = kernels::combine_block::<Affine, Compose, 2>(dx.view(), dy.view_mut());
        device.launch(LaunchConfig::new(2, 64), call).unwrap();
        for (block, map) in maps.chunks(128).zip(dy.download().unwrap()) {
            assert_eq!(block.iter().fold(5, |x, map| map.apply(x)), map.apply(5));
        }
    }
}

#[test]
fn instances_know_their_family() {
    let names: Vec<&str> =
        kernels::KERNELS.iter().filter(|info| info.family == "combine_block").map(|info| info.name).collect();
    assert_eq!(names.len(), 9);
    assert!(names.contains(&"combine_block_i64_max_3") && names.contains(&"combine_block_affine_compose_2"));
    let info = <kernels::combine_block<f32, Sum, 1> as Kernel>::INFO;
    assert_eq!((info.name, info.max_threads), ("combine_block_f32_sum_1", Some(64)));
    assert!(info.summary.starts_with("Combines the elements of block"), "{}", info.summary);
}

#[test]
fn timers_go_forward() {
    for device in all_devices() {
        let mut out = device.zeroed::<u64>(3 * 256).unwrap();
        device.launch(LaunchConfig::new(4, 64), kernels::timers(out.view_mut())).unwrap();
        for thread in out.download().unwrap().chunks(3) {
            assert!(thread[0] < 1 << 40 && thread[1] < 1 << 40, "{thread:?}");
            assert!(thread[2] >> 32 < 1024 && (thread[2] as u32) < 64, "{thread:?}");
        }
    }
}

#[test]
fn a_kernel_in_rust_cuda_s_style_runs() {
    let (a, b) = (random_floats(1000, 1), random_floats(1000, 2));
    for device in all_devices() {
        let (da, db) = (device.upload(&a).unwrap(), device.upload(&b).unwrap());
        let mut dc = device.zeroed::<f32>(1000).unwrap();
        // SAFETY: `c` has as many elements as `a`.
        let call = unsafe { kernels::add_slices(da.view(), db.view(), dc.view_mut()) };
        device.launch(LaunchConfig::new(4, 256), call).unwrap();
        let expected: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
        assert_eq!(dc.download().unwrap(), expected);
    }
}

#[test]
fn launch_bounds_are_kept() {
    for device in all_devices() {
        let mut out = device.zeroed::<u32>(1000).unwrap();
        device.launch(LaunchConfig::new(4, 128), kernels::bounded(out.view_mut())).unwrap();
        assert_eq!(out.download().unwrap(), (0..1000).collect::<Vec<u32>>());
        let message =
            device.launch(LaunchConfig::new(4, 129), kernels::bounded(out.view_mut())).unwrap_err().to_string();
        assert!(message.contains("bounded") && message.contains("129") && message.contains("128"), "{message}");
    }
}

#[test]
fn a_kernel_prints() {
    let (device, output) = simulated_with_output();
    device.launch(LaunchConfig::new(2, 1), kernels::print_numbers(-7, 0xBEEF, 0.125)).unwrap();
    let text = String::from_utf8(output.lock().unwrap().clone()).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["thread 0 of 100%: -7 0000beef 0.125", "thread 1 of 100%: -7 0000beef 0.125"]);
}

fn store_out_of_bounds(device: &Device) -> String {
    let mut out = device.zeroed::<u32>(10).unwrap();
    let launched = device.launch(LaunchConfig::new(4, 32), kernels::store_at(out.view_mut(), 10, 77));
    launched.and_then(|()| device.synchronize()).unwrap_err().to_string()
}

#[test]
fn an_access_out_of_bounds_names_kernel_block_thread_and_line() {
    let device = simulated(0);
    let message = store_out_of_bounds(&device);
    for part in ["store_at", "(2, 0, 0)", "(13, 0, 0)", "launching.rs:", "10"] {
        assert!(message.contains(part), "`{part}` is not in: {message}");
    }
    // The process and the device can still be used after the fault.
    let mut out = device.zeroed::<u32>(10).unwrap();
    device.launch(LaunchConfig::new(1, 32), kernels::store_at(out.view_mut(), 9, 3)).unwrap();
    assert_eq!(out.download().unwrap()[9], 1);
}

#[test]
fn a_view_of_another_device_is_refused() {
    let (one, other) = (simulated(0), simulated(0));
    let mut out = one.zeroed::<u32>(10).unwrap();
    let message = other.launch(LaunchConfig::new(1, 32), kernels::bounded(out.view_mut())).unwrap_err().to_string();
    assert!(message.contains("bounded"), "{message}");
}
