//! Matches names with patterns that contain `*`.

/// Returns true if `name` matches `pattern`, in which each `*` stands for any text.
pub fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = name.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_matches_any_letters() {
        for (pattern, name) in [
            ("a", "a"),
            ("a_*", "a_f32_sum"),
            ("a_*_sum", "a_f32_sum"),
            ("a_*_*_3", "a_i64_max_3"),
            ("*", "a"),
            ("*", ""),
            ("a*", "a"),
            ("a*c", "abc"),
            ("*b*", "abc"),
            ("a*b*c", "a_b_bc"),
            ("abc", "abc"),
        ] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [
            ("a", "a_f32"),
            ("a_*", "ab"),
            ("a_*_sum", "a_sum"),
            ("a_*_sum", "a_f32_sum_3"),
            ("*_3", "a_4"),
            ("", "a"),
            ("a*", "ba"),
            ("a*c", "abcd"),
            ("a*a", "a"),
            ("ab", "abc"),
        ] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }
}
