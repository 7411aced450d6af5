//! The code that the macro puts around operators. An operator may be a user-defined function, so the code reports it to
//! the simulator.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Expr, Ident};

use super::expression;

/// The code to put around an expression that applies operators, so that the simulator knows the operators.
#[derive(Default)]
pub struct Around {
    /// One pair for each operator, the innermost first: an expression that announces the operator to the simulator, and
    /// the operator's source position.
    pub operators: Vec<(TokenStream, Span)>,
    /// An entry for each of the two operands; `None` if the operand is not computed. An entry has the variable that
    /// records the operand's type, and the trait and source position of the operator.
    pub operands: [Option<(Ident, &'static str, Span)>; 2],
}

impl Around {
    pub fn is_empty(&self) -> bool {
        self.operators.is_empty()
    }

    /// Rewrites `operand`, the operand with the index `index`, so that its type is recorded when it is evaluated.
    pub fn note(&self, index: usize, operand: &mut Expr) {
        if let Some((tag, name, span)) = &self.operands[index] {
            let method = Ident::new(if is_comparison(name) { "compared" } else { "operand" }, *span);
            *operand = expression(quote_spanned!(*span=> #tag.#method(#operand, #name)));
        }
    }

    /// Adds the code for the operators of `other`.
    pub fn extend(&mut self, other: Self) {
        self.operators.extend(other.operators);
    }

    /// Returns the statements to put before and after a statement that applies the operators.
    pub fn apart(self) -> [TokenStream; 2] {
        let mut apart = [TokenStream::new(), TokenStream::new()];
        for (index, (operator, span)) in self.operators.into_iter().rev().enumerate() {
            let name = Ident::new(&format!("operator_{index}"), Span::mixed_site());
            apart[0].extend(quote_spanned!(span=> let #name = #operator;));
            apart[1] = [quote_spanned!(span=> #name.done(());), std::mem::take(&mut apart[1])].into_iter().collect();
        }
        apart
    }

    /// Returns `value`, an expression that applies the operators, with the code around it.
    pub fn around(self, value: Expr) -> Expr {
        // The whole expression has the operator's line, so an overflow is reported there.
        let done = |value, (operator, span)| quote_spanned!(span=> #operator.done(#value));
        expression(self.operators.into_iter().fold(quote!(#value), done))
    }
}

/// Returns true if `name` is a trait of comparisons, such as `PartialEq`.
pub fn is_comparison(name: &str) -> bool {
    name.starts_with("Partial")
}
