//! Parses counts, such as numbers of elements.

/// Parses a count: `1000000`, `1_000_000` or `2^20`.
///
/// # Errors
/// A message that says what is wrong, with examples.
pub fn parse_count(text: &str) -> Result<usize, String> {
    let examples = "write it as 1000000, 1_000_000 or 2^20";
    let number = |text: &str| {
        let digits: String = text.trim().chars().filter(|&c| c != '_').collect();
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(format!("it is not a whole number; {examples}"));
        }
        digits.parse::<usize>().map_err(|_| format!("it is too large; {examples}"))
    };
    match text.split_once('^') {
        None => number(text),
        Some((base, exponent)) => {
            let exponent = u32::try_from(number(exponent)?).unwrap_or(u32::MAX);
            number(base)?.checked_pow(exponent).ok_or_else(|| format!("it is too large; {examples}"))
        }
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
    }
}
