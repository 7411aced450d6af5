//! Facts that the macros derive from names alone, because they do not know types.

use syn::ext::IdentExt;
use syn::{Ident, Path, Type};

/// The names of the number types.
pub const NUMBERS: [&str; 12] = ["u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "usize", "isize", "f32", "f64"];

/// Returns true if `name` starts with a capital letter, as the names of constants, types and variants do.
pub fn is_type_s(name: &str) -> bool {
    name.starts_with(char::is_uppercase)
}

/// Returns the last segment of a path as a string.
pub fn last_name(path: &Path) -> Option<String> {
    path.segments.last().map(|last| last.ident.unraw().to_string())
}

/// Returns true if a value of the type `ty` contains no pointers except in views, which report their accesses
/// themselves.
pub fn is_number(ty: &Type) -> bool {
    match ty {
        Type::Path(path) => {
            let views = ["Global", "GlobalMut", "Shared"];
            let is_view = path.path.segments.last().is_some_and(|last| views.iter().any(|view| last.ident == view));
            let is_number = |name: &Ident| ["bool", "char"].iter().chain(&NUMBERS).any(|number| name == number);
            is_view || path.path.get_ident().is_some_and(is_number)
        }
        Type::Tuple(tuple) => tuple.elems.iter().all(is_number),
        Type::Array(array) => is_number(&array.elem),
        _ => false,
    }
}
