//! Functions that classify expressions by their syntax.

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
