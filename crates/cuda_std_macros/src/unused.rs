//! Marks atomic exchanges whose results are unused. Such an exchange only writes, so the value that it replaces need
//! not be initialised.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, ExprAssign, ExprMethodCall, Item, Local, LocalInit, Pat, PatType, Stmt, parse_quote_spanned};

/// The memory orderings that an exchange of `core`'s atomics can have.
const ORDERS: [&str; 5] = ["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"];

/// Marks the unused exchanges of `body`.
pub fn tell(body: &mut Block) {
    Exchanges.visit_block_mut(body);
}

struct Exchanges;

impl VisitMut for Exchanges {
    fn visit_block_mut(&mut self, block: &mut Block) {
        for index in 0..block.stmts.len() {
            let (before, after) = block.stmts.split_at_mut(index + 1);
            if let Some(statement) = before.last_mut() {
                tell_unused_binding(statement, after);
            }
        }
        visit_mut::visit_block_mut(self, block);
    }

    fn visit_stmt_mut(&mut self, statement: &mut Stmt) {
        visit_mut::visit_stmt_mut(self, statement);
        // `let _ = …;` binds nothing, so it becomes the statement alone.
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
        let Stmt::Expr(value, semicolon) = statement else { return };
        // `_ = …` binds nothing, either, and needs no semicolon.
        match value {
            Expr::Assign(ExprAssign { attrs, left, right, .. })
                if attrs.is_empty() && matches!(**left, Expr::Infer(_)) && matches!(**right, Expr::MethodCall(_)) =>
            {
                if matches!(&**right, Expr::MethodCall(call) if is_exchange(call)) {
                    *value = (**right).clone();
                }
            }
            _ if semicolon.is_none() => return,
            _ => {}
        }
        if let Expr::MethodCall(call) = value
            && is_exchange(call)
            && let Some(last) = call.args.last_mut()
        {
            // The last argument is evaluated immediately before the call.
            *last = parse_quote_spanned!(last.span()=> ::cuda_std::__private::begin_unused(#last));
            *value = parse_quote_spanned!(call.span()=> ::cuda_std::__private::end_unused(#call));
        }
    }

    fn visit_item_mut(&mut self, _item: &mut Item) {}
}

/// Marks the exchange in `let _name = …;` if no statement of `after` uses the name.
fn tell_unused_binding(statement: &mut Stmt, after: &[Stmt]) {
    let Stmt::Local(Local { pat, init: Some(LocalInit { expr, diverge: None, .. }), .. }) = statement else { return };
    let name = match pat {
        Pat::Ident(name) => name,
        Pat::Type(PatType { pat, .. }) => match &**pat {
            Pat::Ident(name) => name,
            _ => return,
        },
        _ => return,
    };
    let text = name.ident.to_string();
    let Expr::MethodCall(call) = &mut **expr else { return };
    if !text.starts_with('_') || !is_exchange(call) || after.iter().any(|other| names(other.to_token_stream(), &text)) {
        return;
    }
    if let Some(last) = call.args.last_mut() {
        *last = parse_quote_spanned!(last.span()=> ::cuda_std::__private::begin_unused(#last));
        let found = Ident::new("found", Span::mixed_site());
        **expr = parse_quote_spanned!(call.span()=> {
            let #found = #call;
            ::cuda_std::__private::end_unused(());
            #found
        });
    }
}

/// Returns true if `tokens` contain `name` as an identifier or within a literal, such as a format string.
fn names(tokens: TokenStream, name: &str) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Group(group) => names(group.stream(), name),
        TokenTree::Ident(ident) => ident == name,
        TokenTree::Literal(literal) => literal.to_string().contains(name),
        TokenTree::Punct(_) => false,
    })
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
