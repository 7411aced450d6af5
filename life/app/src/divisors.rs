//! Computes the divisors of a number. The search for a period tests these divisors.

/// Returns the divisors of `number` in increasing order. `number` must not be 0.
pub fn divisors(number: u64) -> Vec<u64> {
    let small =
        (1..).take_while(|&divisor| divisor <= number / divisor).filter(|&divisor| number.is_multiple_of(divisor));
    let mut all: Vec<u64> = small.flat_map(|divisor| [divisor, number / divisor]).collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divisors_are_all_of_them() {
        assert_eq!(divisors(1), [1]);
        assert_eq!(divisors(120), [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 24, 30, 40, 60, 120]);
        assert_eq!(divisors(49), [1, 7, 49]);
    }
}
