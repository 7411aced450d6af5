//! Operations on bits in the simulator.

#[inline]
pub fn lop3<const TABLE: u8>(a: u32, b: u32, c: u32) -> u32 {
    by_table(TABLE, a, b, c)
}

#[inline]
#[track_caller]
pub fn lop3_given<const INDEX: usize>(a: u32, b: u32, c: u32) -> u32 {
    by_table(simt::thread::table(INDEX), a, b, c)
}

#[inline]
fn by_table(table: u8, a: u32, b: u32, c: u32) -> u32 {
    // One term for each row of the table that is one.
    (0..8).filter(|row| table >> row & 1 != 0).fold(0, |bits, row| {
        let of = |word: u32, bit: u32| if row >> bit & 1 != 0 { word } else { !word };
        bits | (of(a, 2) & of(b, 1) & of(c, 0))
    })
}

#[inline]
fn joined(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

#[inline]
pub fn funnel_shift_left(low: u32, high: u32, shift: u32) -> u32 {
    (joined(low, high) << (shift & 31) >> 32) as u32
}

#[inline]
pub fn funnel_shift_left_clamped(low: u32, high: u32, shift: u32) -> u32 {
    (joined(low, high) << shift.min(32) >> 32) as u32
}

#[inline]
pub fn funnel_shift_right(low: u32, high: u32, shift: u32) -> u32 {
    (joined(low, high) >> (shift & 31)) as u32
}

#[inline]
pub fn funnel_shift_right_clamped(low: u32, high: u32, shift: u32) -> u32 {
    (joined(low, high) >> shift.min(32)) as u32
}

#[inline]
pub fn byte_permute(a: u32, b: u32, selector: u32) -> u32 {
    let bytes = joined(a, b).to_le_bytes();
    u32::from_le_bytes(core::array::from_fn(|i| {
        let choice = selector >> (4 * i) & 0xF;
        let byte = bytes[choice as usize % 8];
        if choice & 8 == 0 { byte } else { ((byte as i8) >> 7) as u8 }
    }))
}

#[inline]
pub fn dp4a(a: u32, b: u32, sum: i32) -> i32 {
    let products =
        a.to_le_bytes().into_iter().zip(b.to_le_bytes()).map(|(a, b)| i32::from(a as i8) * i32::from(b as i8));
    products.fold(sum, i32::wrapping_add)
}

#[inline]
pub fn dp4a_unsigned(a: u32, b: u32, sum: u32) -> u32 {
    let products = a.to_le_bytes().into_iter().zip(b.to_le_bytes()).map(|(a, b)| u32::from(a) * u32::from(b));
    products.fold(sum, u32::wrapping_add)
}

#[inline]
pub fn dp2a_low(a: u32, b: u32, sum: i32) -> i32 {
    let product = |half: u32| i32::from((a >> (16 * half)) as i16) * i32::from((b >> (8 * half)) as i8);
    sum.wrapping_add(product(0)).wrapping_add(product(1))
}

#[inline]
pub fn dp2a_high(a: u32, b: u32, sum: i32) -> i32 {
    dp2a_low(a, b >> 16, sum)
}
