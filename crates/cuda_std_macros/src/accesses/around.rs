//! What stands around an operator that may be a function of somebody's own.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Expr, Ident};

use super::expression;

/// What stands around an operator.
#[derive(Default)]
pub struct Around {
    /// What has it announced, from the inside out.
    pub operators: Vec<(TokenStream, Span)>,
    /// The variables that have the types of the operator's operands, where these are computed, and the trait.
    pub operands: [Option<(Ident, &'static str, Span)>; 2],
}

impl Around {
    pub fn is_empty(&self) -> bool {
        self.operators.is_empty()
    }

    /// Has the operand noted as it is computed.
    pub fn note(&self, index: usize, operand: &mut Expr) {
        if let Some((tag, name, span)) = &self.operands[index] {
            let method = Ident::new(if is_comparison(name) { "compared" } else { "operand" }, *span);
            *operand = expression(quote_spanned!(*span=> #tag.#method(#operand, #name)));
        }
    }

    /// With those of another operator around.
    pub fn extend(&mut self, other: Self) {
        self.operators.extend(other.operators);
    }

    /// What stands before a statement in which the operators are applied, and what after it.
    pub fn apart(self) -> [TokenStream; 2] {
        let mut apart = [TokenStream::new(), TokenStream::new()];
        for (index, (operator, span)) in self.operators.into_iter().rev().enumerate() {
            let name = Ident::new(&format!("operator_{index}"), Span::mixed_site());
            apart[0].extend(quote_spanned!(span=> let #name = #operator;));
            apart[1] = [quote_spanned!(span=> #name.done(());), std::mem::take(&mut apart[1])].into_iter().collect();
        }
        apart
    }

    /// `value`, in which the operators are applied.
    pub fn around(self, value: Expr) -> Expr {
        // All of it has the operator's line: an overflow is reported at that of both sides.
        let done = |value, (operator, span)| quote_spanned!(span=> #operator.done(#value));
        expression(self.operators.into_iter().fold(quote!(#value), done))
    }
}

/// Whether it is a trait of comparisons.
pub fn is_comparison(name: &str) -> bool {
    name.starts_with("Partial")
}
