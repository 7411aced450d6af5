//! Counts the iterations of `loop` and `while` loops in the simulator, so that a loop that never ends is a fault. A
//! `for` loop is not counted, because its iterator nearly always ends.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, ExprLoop, ExprWhile, Ident, Item, Signature, parse_quote, parse_quote_spanned};

use crate::constants::leave_constants;

/// Makes the loops in `body` count their iterations. Leaves the body of a `const` or `async` function unchanged.
pub fn count(signature: &Signature, body: &mut Block) {
    if signature.constness.is_none() && signature.asyncness.is_none() {
        Loops::default().visit_block_mut(body);
    }
}

#[derive(Default)]
struct Loops {
    /// The number of loops visited so far.
    count: usize,
}

impl VisitMut for Loops {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        visit_mut::visit_expr_mut(self, expr);
        let place = expr.span();
        if let Expr::While(ExprWhile { attrs, body, .. }) | Expr::Loop(ExprLoop { attrs, body, .. }) = expr
            && attrs.is_empty()
        {
            self.count += 1;
            let count = Ident::new(&format!("__count_{}", self.count), Span::mixed_site());
            // The call has the line of the loop.
            let again = parse_quote_spanned!(place=> ::cuda_std::__private::LoopCount::again(&#count););
            body.stmts.insert(0, again);
            *expr = parse_quote!({
                let #count = ::cuda_std::__private::LoopCount::new();
                #expr
            });
        }
    }

    leave_constants!();

    fn visit_item_mut(&mut self, _item: &mut Item) {}
}
