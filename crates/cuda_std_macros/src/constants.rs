//! Constant expressions. The compiler evaluates them, so no pass rewrites them.

use syn::{Expr, Pat};

/// The methods of a [`VisitMut`](syn::visit_mut::VisitMut) that skip constant expressions: lengths, `const` blocks and
/// generic arguments.
macro_rules! leave_constants {
    () => {
        fn visit_expr_repeat_mut(&mut self, array: &mut syn::ExprRepeat) {
            self.visit_expr_mut(&mut array.expr);
        }

        fn visit_expr_const_mut(&mut self, _constant: &mut syn::ExprConst) {}

        fn visit_generic_argument_mut(&mut self, _argument: &mut syn::GenericArgument) {}

        fn visit_type_mut(&mut self, _ty: &mut syn::Type) {}
    };
}

pub(crate) use leave_constants;

/// Returns the guard in an arm of a `match`, the only expression in a pattern that runs.
pub fn guard(pattern: &mut Pat) -> Option<&mut Expr> {
    match pattern {
        Pat::Guard(guarded) => Some(&mut guarded.guard),
        _ => None,
    }
}
