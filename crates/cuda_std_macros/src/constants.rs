//! Excludes constant expressions from the passes, because the compiler evaluates them.

use syn::{Expr, Pat};

/// Defines the methods of a [`VisitMut`](syn::visit_mut::VisitMut) that skip constant expressions: array lengths,
/// `const` blocks and generic arguments.
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

/// Returns the guard of a `match` arm, or `None` if the arm has no guard. The guard is the only expression in a pattern
/// that is evaluated at run time.
pub fn guard(pattern: &mut Pat) -> Option<&mut Expr> {
    match pattern {
        Pat::Guard(guarded) => Some(&mut guarded.guard),
        _ => None,
    }
}
