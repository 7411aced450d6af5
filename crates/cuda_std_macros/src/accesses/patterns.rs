//! Elements of slices that a pattern or a comparison reads.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::visit_mut::VisitMut;
use syn::{BinOp, Expr, Pat};

use super::place::{address, computes, is_place, is_simple, without_parentheses};
use super::{Accesses, expression, observed};

impl Accesses {
    /// The condition of an `if` or a `while`, with its `let`s: what is told before it. What is told of a `let` that stands after
    /// others is in the condition, where what these bind is known.
    pub fn condition(&mut self, condition: &mut Expr) -> Option<TokenStream> {
        match condition {
            Expr::Let(binding) => {
                let told = self.scrutinise(&mut binding.expr, [&*binding.pat]);
                self.visit_pat_mut(&mut binding.pat);
                told
            }
            Expr::Binary(both) if matches!(both.op, BinOp::And(_)) => {
                let told = self.condition(&mut both.left);
                if let Some(told) = self.condition(&mut both.right) {
                    let left = &both.left;
                    *both.left = expression(quote!(#left && { #told true }));
                }
                told
            }
            other => {
                self.visit_expr_mut(other);
                None
            }
        }
    }

    /// What tells of the elements that patterns like `[a, .., b]` read of `value`, if it is a slice. Those of all arms are told
    /// of, whichever fits.
    pub fn tell_of_elements<'p>(
        &mut self,
        value: &Expr,
        patterns: impl IntoIterator<Item = &'p Pat>,
    ) -> Option<TokenStream> {
        let mut parts = Vec::new();
        patterns.into_iter().for_each(|pattern| collect(pattern, &mut parts));
        if parts.is_empty() {
            return None;
        }
        self.tell_of_slice(value, |at, span| {
            let told = parts
                .iter()
                .map(|Part { index, least, is_exact, binds }| quote_spanned!(span=> #at.matched(#index, #least, #is_exact, #binds);));
            told.collect()
        })
    }

    /// What `tell` writes, given the `At` of what may be a slice. None where it takes more than is free to be computed twice.
    pub fn tell_of_slice(
        &mut self,
        value: &Expr,
        tell: impl FnOnce(&TokenStream, Span) -> TokenStream,
    ) -> Option<TokenStream> {
        let mut value = without_parentheses(value);
        while let Expr::Reference(reference) = value {
            value = without_parentheses(&reference.expr);
        }
        let is_free = if is_place(value) { !computes(value) } else { is_simple(value) && self.may_point(value) };
        if !is_free || self.known.is_own(value) {
            return None;
        }
        self.has_told = true;
        let (observed, address) = (observed(), address(value));
        Some(tell(&quote_spanned!(value.span()=> #observed::At(#address)), value.span()))
    }
}

/// An element that a pattern reads.
struct Part {
    /// Less than 0 from the end on.
    index: isize,
    /// How many elements the pattern names.
    least: usize,
    /// Whether it fits no longer slices.
    is_exact: bool,
    /// Whether it gives the element a name.
    binds: bool,
}

fn collect(pattern: &Pat, parts: &mut Vec<Part>) {
    match pattern {
        Pat::Paren(inner) => collect(&inner.pat, parts),
        Pat::Reference(inner) => collect(&inner.pat, parts),
        Pat::Or(either) => either.cases.iter().for_each(|case| collect(case, parts)),
        Pat::Slice(slice) => {
            let rest = slice.elems.iter().position(is_rest);
            let len = slice.elems.len() as isize;
            for (index, element) in (0..).zip(&slice.elems) {
                if matches!(element, Pat::Wild(_)) || is_rest(element) {
                    continue;
                }
                parts.push(Part {
                    index: if rest.is_some_and(|rest| index > rest as isize) { index - len } else { index },
                    least: slice.elems.len() - usize::from(rest.is_some()),
                    is_exact: rest.is_none(),
                    binds: matches!(element, Pat::Ident(_)),
                });
            }
        }
        _ => {}
    }
}

fn is_rest(pattern: &Pat) -> bool {
    match pattern {
        Pat::Rest(_) => true,
        Pat::Ident(name) => name.subpat.as_ref().is_some_and(|(_, pattern)| matches!(**pattern, Pat::Rest(_))),
        _ => false,
    }
}
