//! What the compiler runs: no thread of a kernel comes through it, so nothing in it is rewritten.

use syn::{Expr, Pat};

/// The methods of a [`VisitMut`](syn::visit_mut::VisitMut) that pass over constants: lengths, `const` blocks, and the
/// arguments of types.
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

/// The condition after `if` in a pattern of a `match`: the only expression in a pattern that runs.
pub fn guard(pattern: &mut Pat) -> Option<&mut Expr> {
    match pattern {
        Pat::Guard(guarded) => Some(&mut guarded.guard),
        _ => None,
    }
}
