//! Macros of the standard library whose arguments are expressions.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit_mut::VisitMut;
use syn::{Expr, Macro, Pat, Token, parse2};

use super::around::Around;
use super::place::Bindings;
use super::syntax::computes;
use super::{Access, Accesses, expression};

/// Macros that borrow their arguments.
const BORROWING: [&str; 18] = [
    "assert",
    "assert_eq",
    "assert_ne",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "print",
    "println",
    "eprint",
    "eprintln",
    "format",
    "format_args",
    "write",
    "writeln",
    "panic",
    "unreachable",
    "todo",
    "unimplemented",
];

impl Accesses {
    /// Visits the arguments of a known macro. Returns the statements that report the arguments' accesses, to be put
    /// before the macro.
    pub fn expand(&mut self, call: &mut Macro) -> Option<TokenStream> {
        let name = call.path.segments.last()?.ident.unraw().to_string();
        match &*name {
            name if BORROWING.contains(&name) => self.expand_borrowing(call),
            // Taking an address does not access memory.
            "addr_of" | "addr_of_mut" => {
                let mut place: Expr = parse2(call.tokens.clone()).ok()?;
                self.leave(&mut place);
                call.tokens = quote!(#place);
                None
            }
            "vec" | "dbg" => {
                let mut arguments = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(call.tokens.clone()).ok()?;
                arguments.iter_mut().for_each(|argument| self.visit_expr_mut(argument));
                call.tokens = quote!(#arguments);
                None
            }
            "matches" => {
                let split = |input: ParseStream<'_>| {
                    let value = input.parse::<Expr>()?;
                    let ahead = input.fork();
                    ahead.parse::<Token![,]>()?;
                    let pattern = Pat::parse_multi_with_leading_vert(&ahead)?;
                    Ok((value, pattern, input.parse::<TokenStream>()?))
                };
                let (mut value, pattern, patterns) = split.parse2(call.tokens.clone()).ok()?;
                let told = self.scrutinise(&mut value, [&pattern]);
                call.tokens = quote!(#value #patterns);
                told
            }
            name => self.mention(name, &call.tokens, call.path.span()),
        }
    }

    fn expand_borrowing(&mut self, call: &mut Macro) -> Option<TokenStream> {
        let mut arguments = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(call.tokens.clone()).ok()?;
        let mut told = TokenStream::new();
        for argument in &mut arguments {
            told.extend(self.argument(argument));
        }
        call.tokens = arguments.to_token_stream();
        (!told.is_empty()).then_some(told)
    }

    /// Visits an argument that a macro borrows. Returns the statements that report its accesses, to be put before the
    /// macro.
    pub fn argument(&mut self, argument: &mut Expr) -> Option<TokenStream> {
        // A named argument such as `x = y[0]` in `println!("{x}", x = y[0])` is replaced by its value.
        let argument = if let Expr::Assign(named) = argument { &mut *named.right } else { argument };
        if !self.observes(argument) || computes(argument) {
            self.visit_expr_mut(argument);
            return None;
        }
        let mut around = Around::default();
        self.lead_to(argument, &mut around);
        let told = self.reach(argument, Access::Read, &mut Bindings::for_place());
        if !around.is_empty() {
            let place = around.around(expression(quote!(&#argument)));
            *argument = expression(quote!(*#place));
        }
        told
    }
}
