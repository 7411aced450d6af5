//! Makes a kernel report the names of its shared arrays and the directions of its branches to the simulator.

use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{BinOp, Block, Expr, ExprIf, ExprMacro, ExprWhile, Item, Local, Pat, Path};

use crate::constants::{guard, leave_constants};

/// Names the shared arrays of `body` and makes its conditions report their values.
pub fn annotate(body: &mut Block) {
    Annotate.visit_block_mut(body);
}

struct Annotate;

impl VisitMut for Annotate {
    fn visit_local_mut(&mut self, local: &mut Local) {
        if let Some(init) = &mut local.init {
            name_arrays(&local.pat, &mut init.expr);
        }
        visit_mut::visit_local_mut(self, local);
    }

    fn visit_expr_if_mut(&mut self, branch: &mut ExprIf) {
        visit_mut::visit_expr_if_mut(self, branch);
        observe(&mut branch.cond);
    }

    fn visit_expr_while_mut(&mut self, repeat: &mut ExprWhile) {
        visit_mut::visit_expr_while_mut(self, repeat);
        observe(&mut repeat.cond);
    }

    leave_constants!();

    fn visit_pat_mut(&mut self, pattern: &mut Pat) {
        if let Some(condition) = guard(pattern) {
            self.visit_expr_mut(condition);
        }
    }

    fn visit_item_mut(&mut self, _item: &mut Item) {}
}

/// Names each `shared_array!` in `value` after the variable in `pattern`.
fn name_arrays(pattern: &Pat, value: &mut Expr) {
    match (pattern, value) {
        (Pat::Type(typed), value) => name_arrays(&typed.pat, value),
        // If the lengths differ, the pattern has a `..` that stands for any number of parts.
        (Pat::Tuple(pattern), Expr::Tuple(value)) if pattern.elems.len() == value.elems.len() => {
            pattern.elems.iter().zip(&mut value.elems).for_each(|(pattern, value)| name_arrays(pattern, value));
        }
        (Pat::Ident(variable), Expr::Macro(call)) if is_shared_array(call) => {
            let (name, array) = (variable.ident.unraw().to_string(), &call.mac.tokens);
            call.mac.tokens = quote!(#name #array);
        }
        _ => {}
    }
}

fn is_shared_array(call: &ExprMacro) -> bool {
    call.mac.path.segments.last().is_some_and(|last| last.ident == "shared_array")
}

/// Makes `condition` report its value and its source position. Constant conditions and conditions with `let` stay
/// unchanged.
fn observe(condition: &mut Expr) {
    if !binds(condition) && !is_constant(condition) {
        *condition = Expr::Verbatim(quote_spanned!(condition.span()=> ::cuda_std::__private::branch(#condition)));
    }
}

/// Returns true if `condition` contains a `let`.
fn binds(condition: &Expr) -> bool {
    match condition {
        Expr::Let(_) => true,
        Expr::Binary(both) if matches!(both.op, BinOp::And(_)) => binds(&both.left) || binds(&both.right),
        Expr::Paren(inner) => binds(&inner.expr),
        Expr::Group(inner) => binds(&inner.expr),
        _ => false,
    }
}

/// Returns true if `value` consists of literals, sizes and constants. A name in upper case counts as a constant.
fn is_constant(value: &Expr) -> bool {
    match value {
        Expr::Lit(_) => true,
        Expr::Path(path) => name_is(&path.path, |name| !name.contains(char::is_lowercase)),
        Expr::Call(call) => match &*call.func {
            Expr::Path(function) => name_is(&function.path, |name| matches!(name, "size_of" | "align_of")),
            _ => false,
        },
        Expr::Unary(unary) => is_constant(&unary.expr),
        Expr::Binary(binary) => is_constant(&binary.left) && is_constant(&binary.right),
        Expr::Cast(cast) => is_constant(&cast.expr),
        Expr::Paren(inner) => is_constant(&inner.expr),
        Expr::Group(inner) => is_constant(&inner.expr),
        _ => false,
    }
}

fn name_is(path: &Path, holds: impl FnOnce(&str) -> bool) -> bool {
    path.segments.last().is_some_and(|last| holds(&last.ident.unraw().to_string()))
}
