//! Parses counts, such as numbers of elements.

use std::ops::RangeInclusive;

const EXAMPLES: &str = "write it as 1000000, 1_000_000 or 2^20";

/// Parses a count: `1000000`, `1_000_000` or `2^20`.
///
/// # Errors
/// A message that says what is wrong, with examples.
pub fn parse_count(text: &str) -> Result<usize, String> {
    usize::try_from(parse_number(text)?).map_err(|_| too_large())
}

/// Parses a number below 2⁶⁴ that is written like a [count](parse_count).
///
/// # Errors
/// A message that says what is wrong, with examples.
pub fn parse_number(text: &str) -> Result<u64, String> {
    let number = |text: &str| {
        let digits: String = text.trim().chars().filter(|&c| c != '_').collect();
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(format!("it is not a whole number; {EXAMPLES}"));
        }
        digits.parse::<u64>().map_err(|_| too_large())
    };
    match text.split_once('^') {
        None => number(text),
        Some((base, exponent)) => {
            let exponent = u32::try_from(number(exponent)?).unwrap_or(u32::MAX);
            number(base)?.checked_pow(exponent).ok_or_else(too_large)
        }
    }
}

fn too_large() -> String {
    format!("it is too large; {EXAMPLES}")
}

/// Returns a function that parses a number like [`parse_number`] and checks that it is in `range`.
pub fn number_in<T: TryFrom<u64>>(range: RangeInclusive<u64>) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| {
        let number = parse_number(text)?;
        let found = Some(number).filter(|number| range.contains(number)).and_then(|number| T::try_from(number).ok());
        found.ok_or_else(|| match *range.end() {
            u64::MAX => format!("it must be at least {}", range.start()),
            end => format!("{number} is not in {}..={end}", range.start()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts() {
        for (text, count) in
            [("0", 0), ("1000", 1000), ("1_000_000", 1_000_000), ("2^28", 1 << 28), ("10^6", 1_000_000)]
        {
            assert_eq!(parse_count(text), Ok(count), "{text}");
        }
        for text in ["", "_", "-1", "1.5", "1e6", "2^", "^2", "2^64", "99999999999999999999", "2^99999999999", "1 000"]
        {
            let message = parse_count(text).unwrap_err();
            assert!(message.contains("2^20"), "{text}: {message}");
        }
        assert_eq!(parse_number("18_446_744_073_709_551_615"), Ok(u64::MAX));
        assert_eq!(number_in::<u16>(1..=240)("2^7"), Ok(128));
        assert_eq!(number_in::<u16>(1..=240)("241"), Err("241 is not in 1..=240".into()));
        assert_eq!(number_in::<u64>(1..=u64::MAX)("0"), Err("it must be at least 1".into()));
        assert!(number_in::<u64>(1..=9)("x").unwrap_err().contains("not a whole number"));
    }
}
