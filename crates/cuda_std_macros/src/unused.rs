//! Has the simulator told of atomic exchanges whose result nobody uses: they write, and what they find need not have been
//! written.

use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, ExprMethodCall, Item, Local, LocalInit, Pat, Stmt, parse_quote_spanned};

/// The orders that an exchange of `core`'s atomics names.
const ORDERS: [&str; 5] = ["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"];

/// Has `body` tell of them.
pub fn tell(body: &mut Block) {
    Exchanges.visit_block_mut(body);
}

struct Exchanges;

impl VisitMut for Exchanges {
    fn visit_stmt_mut(&mut self, statement: &mut Stmt) {
        visit_mut::visit_stmt_mut(self, statement);
        // `let _ = …;` is the statement alone: there is nothing to be bound.
        if let Stmt::Local(Local {
            attrs,
            pat: Pat::Wild(_),
            init: Some(LocalInit { expr, diverge: None, .. }),
            semi_token,
            ..
        }) = statement
            && attrs.is_empty()
            && matches!(&**expr, Expr::MethodCall(call) if is_exchange(call))
        {
            *statement = Stmt::Expr((**expr).clone(), Some(*semi_token));
        }
        let Stmt::Expr(value, Some(_)) = statement else { return };
        if let Expr::MethodCall(call) = value
            && is_exchange(call)
            && let Some(last) = call.args.last_mut()
        {
            // The last argument is the last thing before the call.
            *last = parse_quote_spanned!(last.span()=> ::cuda_std::__private::begin_unused(#last));
            *value = parse_quote_spanned!(call.span()=> ::cuda_std::__private::end_unused(#call));
        }
    }

    fn visit_item_mut(&mut self, _item: &mut Item) {}
}

fn is_exchange(call: &ExprMethodCall) -> bool {
    let names_order = |argument: Option<&Expr>| match argument {
        Some(Expr::Path(order)) => {
            order.path.segments.last().is_some_and(|last| ORDERS.contains(&&*last.ident.to_string()))
        }
        _ => false,
    };
    match &*call.method.unraw().to_string() {
        "atomic_exchange" | "atomic_exchange_unchecked" => !call.args.is_empty(),
        "swap" => call.args.len() == 2 && names_order(call.args.last()),
        _ => false,
    }
}
