//! Tests bulk copies and tensor maps on every device. The result must be the documented one.

use cuda_std::bulk::BulkNumber;
use gpu::tensor_library::{self as kernels, BOX, TILE};
use launch::{Device, Error, Kernel, LaunchConfig, Swizzle, TensorElement};
use rand::Rng;
use tests::{all_devices, random, simulated};

/// Returns the devices that have bulk copies.
fn devices() -> impl Iterator<Item = Device> {
    all_devices().filter(|device| {
        let capability = device.properties().unwrap().compute_capability;
        capability.is_none_or(|(major, _)| major >= 9)
    })
}

fn numbers(n: usize, seed: u64) -> Vec<u32> {
    let mut random = random(seed);
    (0..n).map(|_| random.next_u32()).collect()
}

#[test]
fn copies_go_through_shared_memory() {
    let x = numbers(6 * TILE, 1);
    for device in devices() {
        let (dx, mut y) = (device.upload(&x).unwrap(), device.zeroed::<u32>(x.len()).unwrap());
        device.launch(LaunchConfig::new(6, 64), kernels::bulk_copy(dx.view(), y.view_mut())).unwrap();
        let expected: Vec<u32> = x.iter().map(|x| x.wrapping_add(1)).collect();
        assert_eq!(y.download().unwrap(), expected);
        y.fill_zero().unwrap();
        device.launch(LaunchConfig::new(1, 64), kernels::bulk_pipeline(dx.view(), y.view_mut())).unwrap();
        assert_eq!(y.download().unwrap(), x);
    }
}

#[test]
fn blocks_of_a_cluster_exchange_tiles() {
    let x = numbers(4 * TILE, 2);
    for device in devices() {
        let (dx, mut y) = (device.upload(&x).unwrap(), device.zeroed::<u32>(2 * x.len()).unwrap());
        device.launch(LaunchConfig::new(4, 64), kernels::bulk_exchange(dx.view(), y.view_mut())).unwrap();
        let tile = |number: usize| &x[number * TILE..(number + 1) * TILE];
        assert_eq!(y.download().unwrap()[..4 * TILE], [tile(1), tile(0), tile(3), tile(2)].concat());
        device.launch(LaunchConfig::new(2, 64), kernels::bulk_multicast(dx.view(), y.view_mut())).unwrap();
        assert_eq!(y.download().unwrap(), [&x[..], &x[..]].concat());
    }
}

/// Adds tiles of small whole numbers, whose sums are exact in every type.
fn check_sums<T: BulkNumber + PartialEq + std::fmt::Debug>(from: impl Fn(u32) -> T)
where
    cuda_std::bulk::Add: cuda_std::bulk::Reduction<T>,
    kernels::bulk_reduce<T>: Kernel,
{
    let values: Vec<u32> = (0..3 * TILE as u32).map(|i| i % 13).collect();
    let x: Vec<T> = values.iter().map(|&value| from(value)).collect();
    let expected: Vec<T> = (0..TILE).map(|i| from(7 + values[i] + values[i + TILE] + values[i + 2 * TILE])).collect();
    for device in devices() {
        let (dx, mut y) = (device.upload(&x).unwrap(), device.upload(&[from(7); TILE]).unwrap());
        device.launch(LaunchConfig::new(3, 64), kernels::bulk_reduce::<T>(dx.view(), y.view_mut())).unwrap();
        assert_eq!(y.download().unwrap(), expected);
    }
}

#[test]
fn sums_of_every_type_are_exact() {
    check_sums(|value| value);
    check_sums(|value| -(value as i32));
    check_sums(u64::from);
    check_sums(|value| cuda_std::f16::from_f32(value as f32));
    check_sums(|value| cuda_std::bf16::from_f32(value as f32));
    check_sums(|value| value as f32);
    check_sums(f64::from);
}

macro_rules! combined {
    ($device:ident, $x:ident, $type:ident) => {{
        let x: Vec<$type> = $x.iter().map(|&x| (x as i32 as i64).wrapping_mul(0x1_0001) as $type).collect();
        let fill: [$type; 5] = [1000, 1000, !0, 0, 0];
        let y: Vec<$type> = fill.iter().flat_map(|&fill| std::iter::repeat_n(fill, TILE)).collect();
        let (dx, mut dy) = ($device.upload(&x).unwrap(), $device.upload(&y).unwrap());
        $device.launch(LaunchConfig::new(2, 64), kernels::bulk_combine::<$type>(dx.view(), dy.view_mut())).unwrap();
        let result = dy.download().unwrap();
        for i in 0..TILE {
            let (a, b) = (x[i], x[i + TILE]);
            let found: Vec<$type> = result.iter().skip(i).step_by(TILE).copied().collect();
            assert_eq!(found, [a.min(b).min(1000), a.max(b).max(1000), a & b, a | b, a ^ b]);
        }
    }};
}

#[test]
fn integers_are_combined() {
    let x = numbers(2 * TILE, 3);
    for device in devices() {
        combined!(device, x, u32);
        combined!(device, x, i32);
        combined!(device, x, u64);
        combined!(device, x, i64);
    }
}

/// Copies a box of a matrix, and checks the box, the tile in shared memory and the elements around the box.
fn check_boxes<T: TensorElement + PartialEq + std::fmt::Debug>(number: impl Fn(u32) -> T, swizzle: Swizzle)
where
    kernels::tensor_copy<T>: Kernel,
{
    let element = size_of::<T>();
    let (columns, rows, stride) = (53_usize, 41_usize, 64_usize);
    let width = if swizzle == Swizzle::None { 128 } else { swizzle.bytes() } / element;
    // A swizzle of 128 bytes has rows of 64 bytes of `f16` and 128 bytes of `f32`, at the same distance.
    let tile = [width.min(BOX), BOX];
    let pitch = if swizzle == Swizzle::None { tile[0] } else { width };
    let bytes = tile[0] * tile[1] * element;
    let x: Vec<T> = (0..stride * rows).map(|i| number(i as u32 % 2000)).collect();
    // The coordinates of the boxes of `x` and `y`.
    let places = [([0, 0], [0, 0]), ([8, 5], [16, 3]), ([-8, -2], [0, 7]), ([40, 30], [32, 20]), ([-8, 60], [8, 0])];
    for (device, (from, to)) in devices().flat_map(|device| places.map(|place| (device.clone(), place))) {
        let dx = device.upload(&x).unwrap();
        let mut y = device.zeroed::<T>(x.len()).unwrap();
        let mut z = device.zeroed::<T>(pitch * tile[1]).unwrap();
        let map = device.tensor_map(dx.view(), [columns, rows]).strides([1, stride]).tile(tile).swizzle(swizzle);
        let map_to = device.tensor_map(y.view_mut(), [columns, rows]).strides([1, stride]).tile(tile).swizzle(swizzle);
        let call = kernels::tensor_copy::<T>(
            map.build().unwrap(),
            map_to.build().unwrap(),
            z.view_mut(),
            from,
            to,
            bytes as u32,
        );
        device.launch(LaunchConfig::new(1, 64), call).unwrap();
        let (y, z) = (y.download().unwrap(), z.download().unwrap());
        let inside = |column: i32, row: i32| (0..columns as i32).contains(&column) && (0..rows as i32).contains(&row);
        let at = |c: i32, r: i32| if inside(c, r) { x[r as usize * stride + c as usize] } else { number(0) };
        for row in 0..rows {
            for column in 0..stride {
                let (c, r) = (column as i32 - to[0], row as i32 - to[1]);
                let is_copied = inside(column as i32, row as i32)
                    && (0..tile[0] as i32).contains(&c)
                    && (0..tile[1] as i32).contains(&r);
                let expected = if is_copied { at(from[0] + c, from[1] + r) } else { number(0) };
                assert_eq!(y[row * stride + column], expected, "({column}, {row}), from {from:?} to {to:?}");
            }
        }
        for i in 0..tile[0] * tile[1] {
            let byte = (i / tile[0] * pitch + i % tile[0]) * element;
            let bits = match swizzle {
                Swizzle::None => 0,
                Swizzle::Bytes32 => byte >> 3 & 0x10,
                Swizzle::Bytes64 => byte >> 3 & 0x30,
                Swizzle::Bytes128 => byte >> 3 & 0x70,
            };
            let expected = at(from[0] + (i % tile[0]) as i32, from[1] + (i / tile[0]) as i32);
            assert_eq!(z[(byte ^ bits) / element], expected, "element {i} of the tile from {from:?}, {swizzle:?}");
        }
    }
}

#[test]
fn boxes_are_copied_with_every_swizzle() {
    for swizzle in [Swizzle::None, Swizzle::Bytes32, Swizzle::Bytes64, Swizzle::Bytes128] {
        check_boxes(|value| cuda_std::f16::from_f32(value as f32), swizzle);
        check_boxes(|value| value as f32, swizzle);
    }
}

#[test]
fn boxes_have_one_to_five_dimensions() {
    let x = numbers(16 * 4 * 3 * 3 * 2, 5);
    for device in devices() {
        let dx = device.upload(&x).unwrap();
        let mut y = device.zeroed::<u32>(4 * 64).unwrap();
        let one = device.tensor_map(dx.view(), [200]).tile([64]).build().unwrap();
        let three = device.tensor_map(dx.view(), [16, 4, 3]).tile([8, 4, 2]).build().unwrap();
        let four = device.tensor_map(dx.view(), [16, 4, 3, 3]).tile([8, 4, 2, 2]).element_strides([1, 2, 1, 1]);
        let five = device.tensor_map(dx.view(), [16, 4, 3, 3, 2]).tile([4, 2, 2, 2, 2]).build().unwrap();
        let four = four.tile([8, 4, 2, 2]).build().unwrap();
        let call = kernels::tensor_dimensions(one, three, four, five, y.view_mut());
        device.launch(LaunchConfig::new(1, 64), call).unwrap();
        let at = |c: [i64; 5], shape: [i64; 5]| {
            let is_inside = c.iter().zip(shape).all(|(&c, len)| (0..len).contains(&c));
            let index = c.iter().zip(shape).rev().fold(0, |index, (c, len)| index * len + c);
            if is_inside { x[index as usize] } else { 0 }
        };
        let y = y.download().unwrap();
        for i in 0..64_i64 {
            assert_eq!(y[i as usize], x[4 + i as usize]);
            let c = [4 + i % 8, -1 + i / 8 % 4, 1 + i / 32, 0, 0];
            assert_eq!(y[64 + i as usize], at(c, [16, 4, 3, 1, 1]));
            let c = [i % 8, 1 + i / 8 % 2 * 2, i / 16 % 2, 1 + i / 32, 0];
            assert_eq!(y[128 + i as usize], at(c, [16, 4, 3, 3, 1]));
            let c = [4 + i % 4, 1 + i / 4 % 2, 1 + i / 8 % 2, i / 16 % 2, 1 + i / 32];
            assert_eq!(y[192 + i as usize], at(c, [16, 4, 3, 3, 2]));
        }
    }
}

#[test]
fn boxes_are_added_and_sent_to_several_blocks() {
    let x: Vec<f32> = (0..40 * 36).map(|i| i as f32).collect();
    for device in devices() {
        let mut dx = device.upload(&x).unwrap();
        let map = device.tensor_map(dx.view_mut(), [40, 36]).tile([BOX, BOX]).build().unwrap();
        device.launch(LaunchConfig::new(5, 64), kernels::tensor_reduce(map, [20, 8])).unwrap();
        let is_inside = |i: usize| i % 40 >= 20 && i / 40 >= 8;
        let expected: Vec<f32> = (0..x.len()).map(|i| x[i] + if is_inside(i) { 5.0 } else { 0.0 }).collect();
        assert_eq!(dx.download().unwrap(), expected);

        let mut y = device.zeroed::<f32>(2 * BOX * BOX).unwrap();
        let map = device.tensor_map(dx.view(), [40, 36]).tile([BOX, BOX]).build().unwrap();
        device.launch(LaunchConfig::new(2, 64), kernels::tensor_multicast(map, y.view_mut())).unwrap();
        for (i, &y) in y.download().unwrap().iter().enumerate() {
            assert_eq!(y, expected[i / BOX % BOX * 40 + i % BOX]);
        }
    }
}

#[test]
fn maps_that_the_hardware_does_not_have_are_refused() {
    let device = simulated(0);
    let x = device.zeroed::<f32>(64 * 64).unwrap();
    let map = |shape| device.tensor_map(x.view(), shape);
    let reason = |result: Result<_, Error>| match result {
        Err(Error::TensorMap { reason }) => reason,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("the map was made"),
    };
    let refused = [
        (map([64, 64]).tile([3, 8]), "a row of a box has 3 elements"),
        (map([64, 64]).tile([64, 8]).swizzle(Swizzle::Bytes128), "more than the 128 of the swizzle"),
        (map([64, 64]).tile([0, 8]), "the length 0 along dimension 0"),
        (map([64, 64]).tile([64, 257]), "the length 257 along dimension 1"),
        (map([0, 64]), "dimension 0 has the length 0"),
        (map([64, 65]), "its last element is element 4159"),
        (map([62, 32]).strides([1, 62]).tile([4, 4]), "248 bytes apart"),
        (map([64, 32]).strides([2, 64]), "the stride 2"),
        (map([64, 32]).element_strides([1, 9]), "the element stride of dimension 1 is 9"),
    ];
    for (builder, expected) in refused {
        let reason = reason(builder.build());
        assert!(reason.contains(expected), "{reason}");
    }
    let part = x.view().part(1, 64);
    assert!(reason(device.tensor_map(part, [64, 1]).build()).contains("no multiple of 16 bytes"));
    let other = simulated(1);
    assert!(matches!(other.tensor_map(x.view(), [64, 64]).build(), Err(Error::WrongDevice { .. })));
}
