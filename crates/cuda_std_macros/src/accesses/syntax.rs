//! Functions that classify expressions by their syntax.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{BinOp, Expr, ExprCall};

use crate::names::{is_type_s, last_name};

use super::place::{is_place, without_parentheses};

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
    matches!(without_parentheses(&call.func), Expr::Path(path) if last_name(&path.path).is_some_and(|name| is_type_s(&name)))
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
