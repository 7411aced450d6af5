//! Tests parameters that are slices, references and raw pointers.

use launch::{Error, LaunchConfig};

use super::kernels::pointers::{Row, find_row, fold_rows, swap_ends};
use super::{devices, numbers};

#[test]
fn slices_and_pointers_reach_their_elements() -> Result<(), Error> {
    const ROWS: usize = 70;
    let x: Vec<u32> = numbers(5 * ROWS).iter().map(|&x| x as u32).collect();
    let places: Vec<u32> = (0..ROWS as u32).map(|i| (i * 37 + 11) % ROWS as u32).collect();
    let weights = [3, 1, 4, 1, 5_u32];
    for device in devices() {
        let (dx, dplaces) = (device.upload(&x)?, device.upload(&places)?);
        let dweights = device.upload(&[weights])?;
        let mut rows = device.zeroed::<Row>(ROWS)?;
        let mut last = device.upload(&[0_u32; 3])?;
        // SAFETY: `rows` has as many rows as `places` has elements, and each row has five elements.
        let call = unsafe { fold_rows(dx.view(), dplaces.view(), dweights.view(), rows.view_mut(), last.view_mut()) };
        device.launch(LaunchConfig::new(3, 32), call)?;
        for (i, (row, &place)) in rows.download()?.iter().zip(&places).enumerate() {
            let elements = &x[5 * place as usize..][..5];
            let sum = elements.iter().zip(weights).fold(0_u32, |sum, (x, weight)| sum + x * weight);
            let parts = [elements[0], *elements.iter().max().unwrap(), elements[1..4].iter().sum()];
            assert_eq!((row.sum, row.parts), (u64::from(sum), parts), "row {i}");
        }
        assert_eq!(last.download()?, [ROWS as u32 - 1, x[5 * ROWS - 1], places[0]]);
    }
    Ok(())
}

#[test]
fn slices_are_compared_whole() -> Result<(), Error> {
    // The rows have 3 words or 7 bytes, and start at any offset.
    let x: Vec<u32> = (0..300).map(|i| i / 3 % 5 * 0x0101_0000 + i % 3).collect();
    let bytes: Vec<u8> = (0..200).map(|i| (i % 11) as u8).collect();
    let (row, row_bytes) = (&x[6..9], &bytes[4..11]);
    for device in devices() {
        let (dx, dbytes) = (device.upload(&x)?, device.upload(&bytes)?);
        let (drow, drow_bytes) = (device.upload(row)?, device.upload(row_bytes)?);
        let mut found = device.zeroed::<u32>(100)?;
        let call = find_row(dx.view(), dbytes.view(), drow.view(), drow_bytes.view(), found.view_mut());
        device.launch(LaunchConfig::new(4, 32), call)?;
        let expected = |i: usize| u32::from(i % 5 == 2) | u32::from(i % 11 == 4) << 1;
        assert_eq!(found.download()?, (0..100).map(expected).collect::<Vec<_>>());
    }
    Ok(())
}

#[test]
fn a_block_writes_through_a_pointer() -> Result<(), Error> {
    for len in [1, 2, 63, 64_usize] {
        let x: Vec<u64> = numbers(len);
        for device in devices() {
            let mut dx = device.upload(&x)?;
            // SAFETY: `len` is the length of the buffer.
            let call = unsafe { swap_ends(dx.view_mut(), len) };
            device.launch(LaunchConfig::new(1, 32), call)?;
            assert_eq!(dx.download()?, x.iter().rev().copied().collect::<Vec<_>>());
        }
    }
    Ok(())
}
