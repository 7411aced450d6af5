//! Tests operations on bits against CUDA's documentation, bit by bit.

use launch::{Error, LaunchConfig};

use super::kernels::bits::{OPERATIONS, by_given_tables, estimates, operations};
use super::{numbers, two_devices};

/// Returns the word that results if the truth table `table` of three inputs is applied to each bit of `words`.
fn looked_up(table: u32, words: [u32; 3]) -> u32 {
    let row = |bit: u32| words.iter().fold(0, |row, word| row << 1 | word >> bit & 1);
    (0..32).map(|bit| (table >> row(bit) & 1) << bit).sum()
}

#[test]
fn every_operation_is_as_documented() -> Result<(), Error> {
    let x: Vec<u32> = numbers(3 * 128).iter().map(|x| (x.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 13) as u32).collect();
    for device in two_devices() {
        let words = device.upload(&x)?;
        let mut out = device.zeroed::<u32>(OPERATIONS * 128)?;
        device.launch(LaunchConfig::new(2, 64), operations(words.view(), out.view_mut()))?;
        for (i, (found, words)) in out.download()?.chunks(OPERATIONS).zip(x.chunks(3)).enumerate() {
            let &[a, b, c] = words else { panic!("three words") };
            let both = u128::from(b) << 32 | u128::from(a);
            let (wrapped, clamped) = (c % 32, (c % 40).min(32));
            let byte = |choice: u32| {
                let byte = (both >> (8 * (choice % 8))) as u8;
                if choice < 8 {
                    byte
                } else if byte < 128 {
                    0
                } else {
                    255
                }
            };
            let signed = |word: u32, i: u32| i64::from((word >> (8 * i)) as u8 as i8);
            let half = |word: u32, i: u32| i64::from((word >> (16 * i)) as u16 as i16);
            let sum = |terms: [i64; 4]| terms.iter().sum::<i64>() as u32;
            let c_signed = i64::from(c as i32);
            let expected = [
                a ^ b ^ c,
                looked_up(0xE8, [a, b, c]),
                looked_up(0x1D, [a, b, c]),
                (both << wrapped >> 32) as u32,
                (both << clamped >> 32) as u32,
                (both >> wrapped) as u32,
                (both >> clamped) as u32,
                u32::from_le_bytes([0, 1, 2, 3].map(|i| byte(c >> (4 * i) & 15))),
                sum([0, 1, 2, 3].map(|i| signed(a, i) * signed(b, i))).wrapping_add(c),
                (0..4).fold(c, |sum, i| sum.wrapping_add((a >> (8 * i) & 255) * (b >> (8 * i) & 255))),
                sum([half(a, 0) * signed(b, 0), half(a, 1) * signed(b, 1), c_signed, 0]),
                sum([half(a, 0) * signed(b, 2), half(a, 1) * signed(b, 3), c_signed, 0]),
                ((u64::from(a) * u64::from(b)) >> 32) as u32,
                ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32,
                (((u128::from(a) << 32 | u128::from(b)) * (u128::from(c) << 7)) >> 64) as u32,
                // In this data, neither number is zero.
                (((a & 0xFF00).trailing_zeros() + 1) % 33) << 8 | (b.trailing_zeros() + 33),
                a.count_ones() | b.leading_zeros() << 8 | c.trailing_zeros() << 16,
                a.reverse_bits() ^ b.swap_bytes() ^ c.rotate_left(a % 32),
            ];
            assert_eq!(found, expected, "thread {i}: {a:#x} {b:#x} {c:#x}");
        }
    }
    Ok(())
}

#[test]
fn tables_are_those_of_the_launch() -> Result<(), Error> {
    let x: Vec<u32> = numbers(3 * 64).iter().map(|x| (x.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 17) as u32).collect();
    for device in two_devices() {
        let words = device.upload(&x)?;
        let mut out = device.zeroed::<u32>(128)?;
        let config = LaunchConfig::new(1, 64);
        for [first, last] in [[0x96, 0xE8], [0x3E, 0x5B], [0, 255], [0x96, 0xE8], [0xF0, 0x0F]] {
            let tables = launch::tables(&[first, 1, 2, 3, 4, last]);
            device.launch(config.tables(tables), by_given_tables(words.view(), out.view_mut()))?;
            let expected: Vec<_> = x
                .chunks(3)
                .flat_map(|words| [first, last].map(|table| looked_up(table.into(), [words[0], words[1], words[2]])))
                .collect();
            assert_eq!(out.download()?, expected, "{first:#x} {last:#x}");
        }
        for tables in [&[][..], &[1, 2, 3, 4, 5]] {
            let launched = device.launch(config.tables(tables), by_given_tables(words.view(), out.view_mut()));
            let refusal = launched.unwrap_err().to_string();
            assert!(refusal.contains("needs table") && refusal.contains("`LaunchConfig::tables`"), "{refusal}");
        }
    }
    Ok(())
}

#[test]
fn estimates_have_20_bits() -> Result<(), Error> {
    let x: Vec<f64> = (0..256).map(|i| 1.37_f64.powi(i - 100) * (1.0 + f64::from(i) / 300.0)).collect();
    for device in two_devices() {
        let values = device.upload(&x)?;
        let mut out = device.zeroed::<f64>(2 * x.len())?;
        device.launch(LaunchConfig::new(4, 64), estimates(values.view(), out.view_mut()))?;
        for (found, x) in out.download()?.chunks(2).zip(&x) {
            let errors = [found[0] * x - 1.0, found[1] * found[1] * x / 2.0 - 0.5];
            assert!(errors.iter().all(|error| error.abs() < 1.0 / f64::from(1 << 20)), "{x}: {errors:?}");
        }
    }
    Ok(())
}
