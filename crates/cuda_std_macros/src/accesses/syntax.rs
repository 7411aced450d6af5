//! Functions that classify expressions by their syntax.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;
use syn::{BinOp, Expr, ExprCall, Ident, UnOp};

use crate::names::{is_type_s, last_name};

/// Collects the places that an assignment to `left` writes.
pub fn assigned_places<'e>(left: &'e mut Expr, places: &mut Vec<&'e mut Expr>) {
    match left {
        Expr::Tuple(tuple) => tuple.elems.iter_mut().for_each(|element| assigned_places(element, places)),
        Expr::Array(array) => array.elems.iter_mut().for_each(|element| assigned_places(element, places)),
        left if is_place(left) => places.push(left),
        _ => {}
    }
}

/// Returns true if the call constructs a tuple struct or a variant of an enum.
pub fn makes_variant(call: &ExprCall) -> bool {
    matches!(without_parentheses(&call.func), Expr::Path(path)
        if last_name(&path.path).is_some_and(|name| is_type_s(&name)))
}

/// Returns true if `value` is a borrow that already contains the report of its access, such as `&x[1..]` after the
/// pass.
pub fn is_told(value: &Expr) -> bool {
    let Expr::Call(call) = value else { return false };
    matches!(call.args.last(), Some(Expr::Reference(_)))
        && matches!(&*call.func, Expr::Path(path) if path.path.segments.iter().any(|part| part.ident == "observed"))
}

pub fn is_assigning(op: BinOp) -> bool {
    matches!(
        op,
        BinOp::AddAssign(_)
            | BinOp::SubAssign(_)
            | BinOp::MulAssign(_)
            | BinOp::DivAssign(_)
            | BinOp::RemAssign(_)
            | BinOp::BitXorAssign(_)
            | BinOp::BitAndAssign(_)
            | BinOp::BitOrAssign(_)
            | BinOp::ShlAssign(_)
            | BinOp::ShrAssign(_)
    )
}

/// Returns `value` as the scrutinee of a `match`, in parentheses if a struct literal in it needs them.
pub fn scrutinee(value: &Expr) -> TokenStream {
    fn has_structure(value: &Expr) -> bool {
        match value {
            Expr::Struct(_) => true,
            Expr::Binary(operation) => has_structure(&operation.left) || has_structure(&operation.right),
            Expr::Assign(assignment) => has_structure(&assignment.left) || has_structure(&assignment.right),
            Expr::Unary(operation) => has_structure(&operation.expr),
            Expr::Reference(reference) => has_structure(&reference.expr),
            Expr::RawAddr(address) => has_structure(&address.expr),
            Expr::Cast(cast) => has_structure(&cast.expr),
            Expr::Field(field) => has_structure(&field.base),
            Expr::Index(index) => has_structure(&index.expr),
            Expr::MethodCall(call) => has_structure(&call.receiver),
            Expr::Try(tried) => has_structure(&tried.expr),
            Expr::Range(range) => [&range.start, &range.end].into_iter().flatten().any(|end| has_structure(end)),
            _ => false,
        }
    }
    if has_structure(value) { quote!((#value)) } else { quote!(#value) }
}

/// Returns the wrapped call if `call` is a wrapper that the pass for call paths has put around a call of the source.
pub fn left_call(call: &ExprCall) -> Option<&Expr> {
    match &*call.func {
        Expr::Path(path) if path.path.segments.len() == 4 && path.path.segments[3].ident == "leave" => call.args.last(),
        _ => None,
    }
}

/// Returns `value` without parentheses, and without the wrapper that the pass for call paths has put around a call.
pub fn without_parentheses(value: &Expr) -> &Expr {
    match value {
        Expr::Call(call) => left_call(call).map_or(value, without_parentheses),
        Expr::Paren(inner) => without_parentheses(&inner.expr),
        Expr::Group(inner) => without_parentheses(&inner.expr),
        value => value,
    }
}

/// Returns true if `value` is a place behind a dereference or an index.
pub fn is_place(value: &Expr) -> bool {
    match value {
        Expr::Unary(unary) => matches!(unary.op, UnOp::Deref(_)),
        Expr::Index(_) => true,
        Expr::Field(field) => is_place(&field.base),
        Expr::Paren(inner) => is_place(&inner.expr),
        Expr::Group(inner) => is_place(&inner.expr),
        _ => false,
    }
}

/// Returns true if the place must not be evaluated twice.
pub fn computes(place: &Expr) -> bool {
    match place {
        Expr::Path(_) => false,
        Expr::Field(field) => computes(&field.base),
        Expr::Paren(inner) => computes(&inner.expr),
        Expr::Group(inner) => computes(&inner.expr),
        Expr::Index(index) => computes(&index.expr) || !is_simple(&index.index),
        Expr::Unary(unary) if is_place(place) => {
            if is_place(&unary.expr) {
                computes(&unary.expr)
            } else {
                !is_simple(&unary.expr)
            }
        }
        _ => true,
    }
}

/// Methods that only compute a number or a pointer, for all types that have them.
const FREE_METHODS: [&str; 21] = [
    "add",
    "sub",
    "offset",
    "wrapping_add",
    "wrapping_sub",
    "wrapping_offset",
    "byte_add",
    "byte_sub",
    "byte_offset",
    "wrapping_byte_add",
    "wrapping_byte_sub",
    "wrapping_byte_offset",
    "cast",
    "cast_mut",
    "cast_const",
    "as_ptr",
    "as_mut_ptr",
    "len",
    "min",
    "max",
    "wrapping_mul",
];

/// Returns true if a method of this name only computes a number or a pointer.
pub fn is_free(name: &str) -> bool {
    FREE_METHODS.contains(&name)
}

/// Returns true if `value` can be evaluated twice, because it is constant, or cheap and without effects.
pub fn is_simple(value: &Expr) -> bool {
    match value {
        Expr::Lit(_) | Expr::Path(_) => true,
        Expr::Paren(inner) => is_simple(&inner.expr),
        Expr::Group(inner) => is_simple(&inner.expr),
        Expr::Field(field) => is_simple(&field.base),
        Expr::Cast(cast) => is_simple(&cast.expr),
        Expr::Unary(unary) => !matches!(unary.op, UnOp::Deref(_)) && is_simple(&unary.expr),
        Expr::Binary(binary) => {
            let is_arithmetic = matches!(
                binary.op,
                BinOp::Add(_)
                    | BinOp::Sub(_)
                    | BinOp::Mul(_)
                    | BinOp::Div(_)
                    | BinOp::Rem(_)
                    | BinOp::BitXor(_)
                    | BinOp::BitAnd(_)
                    | BinOp::BitOr(_)
                    | BinOp::Shl(_)
                    | BinOp::Shr(_)
            );
            is_arithmetic && is_simple(&binary.left) && is_simple(&binary.right)
        }
        Expr::Range(range) => [&range.start, &range.end].into_iter().flatten().all(|end| is_simple(end)),
        Expr::MethodCall(call) => {
            let name = call.method.unraw().to_string();
            // The target type of a cast without turbofish depends on the context.
            let is_known = name != "cast" || call.turbofish.is_some();
            is_known
                && FREE_METHODS.contains(&name.as_str())
                && is_simple(&call.receiver)
                && call.args.iter().all(is_simple)
        }
        _ => false,
    }
}

/// Returns true if the method offsets a pointer, such as `add`.
pub fn moves(method: &Ident) -> bool {
    let name = method.unraw().to_string();
    let name = name.strip_prefix("wrapping_").unwrap_or(&name);
    matches!(name.strip_prefix("byte_").unwrap_or(name), "add" | "sub" | "offset")
}

/// Returns the name of the operator trait that has a method of this name, or `None`.
pub fn trait_of_method(name: &str) -> Option<String> {
    Some(match name {
        "index" | "index_mut" => "Index".to_owned(),
        "deref" | "deref_mut" => "Deref".to_owned(),
        "eq" | "ne" => "PartialEq".to_owned(),
        "partial_cmp" | "lt" | "le" | "gt" | "ge" => "PartialOrd".to_owned(),
        "next" | "into_iter" => "Iterator".to_owned(),
        "neg" => "Neg".to_owned(),
        "not" => "Not".to_owned(),
        name => {
            let (operation, assigns) = name.strip_suffix("_assign").map_or((name, ""), |name| (name, "Assign"));
            let operation = match operation {
                "add" => "Add",
                "sub" => "Sub",
                "mul" => "Mul",
                "div" => "Div",
                "rem" => "Rem",
                "bitxor" => "BitXor",
                "bitand" => "BitAnd",
                "bitor" => "BitOr",
                "shl" => "Shl",
                "shr" => "Shr",
                _ => return None,
            };
            format!("{operation}{assigns}")
        }
    })
}
