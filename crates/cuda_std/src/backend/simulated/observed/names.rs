//! Functions that derive the structure of a type from its name. Generic functions use the name if the compiler infers
//! the type too late for a choice by traits.

/// The number of bytes of a pointer.
pub(super) const POINTER: usize = size_of::<usize>();

/// Returns true for the name of a type of the standard library.
#[inline(always)]
pub(super) fn is_of_std(name: &'static str) -> bool {
    matches!(name.as_bytes(), [b'c', b'o', b'r', b'e', b':', ..] | [b'a', b'l', b'l', b'o', b'c', b':', ..])
}

/// Returns the bytes of an element if the name is that of a slice of numbers, `&[f32]` or `&mut [f32]`.
#[inline(always)]
pub(super) fn slice_of_numbers(name: &'static str) -> Option<usize> {
    match name.as_bytes() {
        [b'&', b'[', element @ .., b']'] | [b'&', b'm', b'u', b't', b' ', b'[', element @ .., b']'] => number(element),
        _ => None,
    }
}

/// Returns true for the name of a slice.
#[inline(always)]
pub(super) fn is_slice(name: &'static str) -> bool {
    matches!(name.as_bytes(), [b'&', b'[', .., b']'] | [b'&', b'm', b'u', b't', b' ', b'[', .., b']'])
}

#[inline(always)]
fn number(name: &[u8]) -> Option<usize> {
    match name {
        b"u8" | b"i8" | b"bool" => Some(1),
        b"u16" | b"i16" => Some(2),
        b"u32" | b"i32" | b"f32" | b"char" => Some(4),
        b"u64" | b"i64" | b"f64" => Some(8),
        b"usize" | b"isize" => Some(POINTER),
        b"u128" | b"i128" => Some(16),
        _ => None,
    }
}

/// Returns true for the name of a tuple, an array or a type of the standard library, which are compared part by part.
#[inline(always)]
pub(super) fn is_made(name: &'static str) -> bool {
    let inner = match name.as_bytes() {
        [b'[' | b'(', ..] => name.split_at(1).1,
        [.., b'>'] if is_of_std(name) => name.strip_prefix("core::option::Option<").unwrap_or(name),
        _ => return false,
    };
    // A single number, or an array of numbers.
    !matches!(
        inner.as_bytes(),
        [b'u' | b'i' | b'f', b'0'..=b'9', b'0'..=b'9', b'>' | b';', ..]
            | [b'u' | b'i', b'8', b'>' | b';', ..]
            | [b'u' | b'i', b's', b'i', b'z', b'e', b'>' | b';', ..]
    )
}

/// Returns true if a comparison of two values of the type `name` may access the targets of pointers in them. Raw
/// pointers are compared by address.
pub(super) fn is_accessed(name: &str) -> bool {
    let is_own = |path: &str| path.contains("::") && !is_std(path);
    name.contains('&') || name.split(|c: char| !c.is_alphanumeric() && c != '_' && c != ':').any(is_own)
}

fn is_std(path: &str) -> bool {
    ["core::", "alloc::", "std::"].iter().any(|root| path.starts_with(root))
}

/// Returns the name and the least size of the target of a thin reference, or `None` for other names.
pub(super) fn behind(name: &str) -> Option<(&str, usize)> {
    let inner = name.strip_prefix('&')?;
    let inner = inner.strip_prefix("mut ").unwrap_or(inner);
    (!is_unsized(inner)).then(|| (inner, least_bytes(inner)))
}

fn is_unsized(name: &str) -> bool {
    name == "str" || name.starts_with("dyn ") || (name.starts_with('[') && array(name).is_none())
}

/// Returns the element type and the length of an array.
pub(super) fn array(name: &str) -> Option<(&str, usize)> {
    let (element, len) = name.strip_prefix('[')?.strip_suffix(']')?.rsplit_once("; ")?;
    Some((element, len.parse().ok()?))
}

/// Returns the least number of bytes of a value of this type. Parts that the name does not show count as 0.
fn least_bytes(name: &str) -> usize {
    if let Some((element, len)) = array(name) {
        return len * least_bytes(element);
    }
    if let Some(inner) = ["&mut ", "&", "*const ", "*mut "].iter().find_map(|start| name.strip_prefix(start)) {
        return if is_unsized(inner) { 2 * POINTER } else { POINTER };
    }
    let generic = |of: &str| name.strip_prefix(of).and_then(|rest| rest.strip_suffix('>'));
    if let Some(inner) = generic("core::option::Option<") {
        return least_bytes(inner);
    }
    if let Some(parts) = name.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        return top_level(parts).map(least_bytes).sum();
    }
    number(name.as_bytes()).unwrap_or(0)
}

/// Splits a list of types, such as the parts of a tuple, at its commas.
fn top_level(list: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    let is_comma = move |c: char| {
        match c {
            '(' | '[' | '<' | '{' => depth += 1,
            ')' | ']' | '>' | '}' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    };
    list.split(is_comma).map(str::trim)
}

#[cfg(test)]
mod tests {
    use core::any::type_name;

    use super::*;

    /// Checks that `least_bytes` finds the size of `T`, except for up to 12 bytes of padding between parts.
    fn check<T>() {
        let least = least_bytes(type_name::<T>());
        assert!((least..least + 13).contains(&size_of::<T>()), "{}: {least}", type_name::<T>());
    }

    #[test]
    fn a_name_shows_how_many_bytes_a_value_has() {
        check::<(&[f32], u32)>();
        check::<[(u32, &mut [u64]); 3]>();
        check::<(*const u8, *mut [u8], &str, char)>();
        check::<Option<&&[u8]>>();
        check::<((f32, [[u16; 4]; 2]), u64)>();
        assert_eq!(least_bytes(type_name::<fn(&[f32], u64) -> &[u8]>()), 0);
        check::<&[&[u8]; 7]>();
        assert_eq!(least_bytes("own::Type<&[f32], 3>"), 0);
    }

    #[test]
    fn a_name_shows_what_a_reference_leads_to() {
        assert_eq!(behind("&&[f32]"), Some(("&[f32]", 16)));
        assert_eq!(behind("&mut &mut [f32]"), Some(("&mut [f32]", 16)));
        assert_eq!(behind("&(&[f32], u32)"), Some(("(&[f32], u32)", 20)));
        assert_eq!(behind("&[&[f32]; 2]"), Some(("[&[f32]; 2]", 32)));
        assert_eq!(behind("&[[f32; 2]]"), None);
        assert_eq!(behind("&dyn own::Trait"), None);
        assert_eq!(behind("f32"), None);
    }

    #[test]
    fn comparisons_access_slices_and_what_is_somebody_s_own() {
        for accessed in ["(&[f32], u32)", "core::option::Option<&[u8]>", "[own::Type; 2]", "(u8, <a::B as c::D>::E)"] {
            assert!(is_accessed(accessed), "{accessed}");
        }
        for other in ["(*const f32, u32)", "core::option::Option<core::num::nonzero::NonZero<u32>>"] {
            assert!(!is_accessed(other), "{other}");
        }
        assert!(is_made("(&[f32], u32)") && is_made("core::option::Option<&[u8]>") && is_made("[&[u8]; 2]"));
        assert!(!is_made("[f32; 8]") && !is_made("core::option::Option<u32>") && !is_made("core::cmp::Ordering"));
    }
}
