//! Converts between two numbers of a dying cell: its age, and the number of generations until it is dead.
//!
//! Rules with more than two states have dying cells. Callers pass words with one bit per cell, which is set if the cell
//! is not dead, and additional words with the bits of the cells' ages. A live cell has age 0. The engine's vectors
//! instead store one bit for each live cell and, for each dying cell, the number of generations until it is dead.

/// Returns the number of bits that can count the generations until a dying cell is dead. There are at most `states` - 2
/// such generations.
pub fn planes(states: u16) -> usize {
    (u16::BITS - states.saturating_sub(2).leading_zeros()) as usize
}

/// Converts `bits`. On entry, the first vector marks the cells that are not dead, and the other vectors contain the
/// bits of the cells' ages. On return, the first vector marks the live cells, and the others count the generations
/// until a dying cell is dead. A cell whose age is too high for `states` states becomes dead.
pub fn ages_to_generations_left(states: u16, bits: &mut Vec<Vec<u32>>) {
    bits.resize(1 + planes(states), Vec::new());
    let words = bits[0].len();
    bits.iter_mut().for_each(|bits| bits.resize(words, 0));
    for i in 0..words {
        let older = bits[1..].iter().fold(0, |any, age| any | age[i]) & bits[0][i];
        subtract(states - 1, &mut bits[1..], i, older);
        bits[0][i] &= !older;
    }
}

/// Reverses the conversion of `bits` by [`ages_to_generations_left`].
pub fn generations_left_to_ages(states: u16, bits: &mut [Vec<u32>]) {
    for i in 0..bits[0].len() {
        let older = bits[1..].iter().fold(0, |any, left| any | left[i]);
        subtract(states - 1, &mut bits[1..], i, older);
        bits[0][i] |= older;
    }
}

/// Replaces the number of each cell in word `i` by `all` minus that number. The new number is 0 if the cell is not in
/// `mask` or if the old number exceeds `all`.
fn subtract(all: u16, numbers: &mut [Vec<u32>], i: usize, mask: u32) {
    let mut borrow = 0;
    for (bit, number) in numbers.iter_mut().enumerate() {
        let from = if all >> bit & 1 == 1 { u32::MAX } else { 0 };
        let less = number[i];
        number[i] = (from ^ less ^ borrow) & mask;
        borrow = !from & (less | borrow) | less & borrow;
    }
    let above = if all >> numbers.len() & 1 == 1 { u32::MAX } else { 0 };
    let is_less_than_none = borrow & !above;
    numbers.iter_mut().for_each(|number| number[i] &= !is_less_than_none);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_become_what_is_left_and_back() {
        for states in [2, 3, 4, 5, 6, 9, 17, 200, 256_u16] {
            let planes = planes(states);
            assert_eq!(
                planes,
                [0, 1, 2, 2, 3, 3, 4, 8, 8]
                    [[2, 3, 4, 5, 6, 9, 17, 200, 256].iter().position(|&s| s == states).unwrap()]
            );
            for state in 0..states {
                let age = state.saturating_sub(1);
                let mut bits = vec![vec![u32::from(state > 0) << 7]];
                bits.extend((0..planes).map(|bit| vec![u32::from(age >> bit & 1) << 7]));
                let before = bits.clone();
                ages_to_generations_left(states, &mut bits);
                let left: u16 = bits[1..].iter().enumerate().map(|(bit, left)| ((left[0] >> 7) as u16) << bit).sum();
                assert_eq!(left, if state > 1 { states - state } else { 0 }, "{state} of {states}");
                assert_eq!(bits[0][0], u32::from(state == 1) << 7);
                generations_left_to_ages(states, &mut bits);
                assert_eq!(bits, before, "{state} of {states}");
            }
        }
    }
}
