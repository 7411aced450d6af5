//! The code around an operator that may be a user's function.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Expr, Ident};

use super::expression;

/// The code around an operator.
#[derive(Default)]
pub struct Around {
    /// The expressions that announce each operator, the innermost first.
    pub operators: Vec<(TokenStream, Span)>,
    /// For each operand that is computed: the variable with its type, the operator's trait, and its line.
    pub operands: [Option<(Ident, &'static str, Span)>; 2],
}

impl Around {
    pub fn is_empty(&self) -> bool {
        self.operators.is_empty()
    }

    /// Lets the operand be looked at when it is computed.
    pub fn note(&self, index: usize, operand: &mut Expr) {
        if let Some((tag, name, span)) = &self.operands[index] {
            let method = Ident::new(if is_comparison(name) { "compared" } else { "operand" }, *span);
            *operand = expression(quote_spanned!(*span=> #tag.#method(#operand, #name)));
        }
    }

    /// Adds the code around another operator.
    pub fn extend(&mut self, other: Self) {
        self.operators.extend(other.operators);
    }

    /// Returns the statements before and after a statement that applies the operators.
    pub fn apart(self) -> [TokenStream; 2] {
        let mut apart = [TokenStream::new(), TokenStream::new()];
        for (index, (operator, span)) in self.operators.into_iter().rev().enumerate() {
            let name = Ident::new(&format!("operator_{index}"), Span::mixed_site());
            apart[0].extend(quote_spanned!(span=> let #name = #operator;));
            apart[1] = [quote_spanned!(span=> #name.done(());), std::mem::take(&mut apart[1])].into_iter().collect();
        }
        apart
    }

    /// Returns `value`, which applies the operators, with the code around it.
    pub fn around(self, value: Expr) -> Expr {
        // The whole expression has the operator's line, so an overflow is reported there.
        let done = |value, (operator, span)| quote_spanned!(span=> #operator.done(#value));
        expression(self.operators.into_iter().fold(quote!(#value), done))
    }
}

/// Returns true for the traits of comparisons.
pub fn is_comparison(name: &str) -> bool {
    name.starts_with("Partial")
}
