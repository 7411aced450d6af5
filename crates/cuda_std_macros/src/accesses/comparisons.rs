//! Comparisons, which read all elements of the slices that they compare.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit_mut::VisitMut;
use syn::{BinOp, Expr, ExprBinary, Macro, Token};

use crate::names::last_name;

use super::Access::Read;
use super::around::Around;
use super::place::Bindings;
use super::syntax::{computes, is_place, without_parentheses};
use super::{Accesses, expression, then};

/// A comparison that is being rewritten, and the reports of its accesses.
struct Compared {
    op: BinOp,
    bindings: Bindings,
    told: TokenStream,
    around: Around,
}

impl Accesses {
    pub fn compare(&mut self, comparison: &mut ExprBinary) -> Option<Expr> {
        let span = comparison.span();
        let (op, told, around) = (comparison.op, TokenStream::new(), Around::default());
        let mut compared = Compared { op, bindings: Bindings::for_place(), told, around };
        // The operator borrows both sides in place.
        self.compare_sides([&mut comparison.left, &mut comparison.right], true, &mut compared);
        let is_plain = compared.told.is_empty() && compared.bindings.is_empty() && compared.around.is_empty();
        (!is_plain).then(|| put_around(quote!(#comparison), span, compared))
    }

    /// Rewrites `assert_eq!` and `assert_ne!`, which compare their first two arguments. Returns `None` for other
    /// macros.
    pub fn assert(&mut self, call: &mut Macro) -> Option<Expr> {
        let name = last_name(&call.path)?;
        if !matches!(name.trim_start_matches("debug_"), "assert_eq" | "assert_ne") {
            return None;
        }
        let mut arguments = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(call.tokens.clone()).ok()?;
        let mut all = arguments.iter_mut();
        let sides = [all.next()?, all.next()?];
        // A report would evaluate the index of a place even if the assertion is compiled out.
        if name.starts_with("debug_") && sides.iter().any(|side| is_place(side) && computes(side)) {
            return None;
        }
        let (told, mut around) = (TokenStream::new(), Around::default());
        let [left, right] = sides;
        self.lead_to(left, &mut around);
        self.lead_to(right, &mut around);
        let op = BinOp::Eq(syn::token::EqEq { spans: [call.path.span(); 2] });
        let mut compared = Compared { op, bindings: Bindings::for_place(), told, around };
        self.compare_sides([left, right], true, &mut compared);
        all.for_each(|argument| compared.told.extend(self.argument(argument)));
        call.tokens = quote!(#arguments);
        Some(put_around(quote!(#call), call.path.span(), compared))
    }

    /// Adds the reports for both sides of a comparison to `compared`. If both sides construct a tuple or a similar
    /// value, each part of the left side is compared with the corresponding part of the right side.
    fn compare_sides(&mut self, [left, right]: [&mut Expr; 2], are_whole: bool, compared: &mut Compared) {
        if have_same_parts(left, right) {
            for sides in parts(left).into_iter().zip(parts(right)) {
                self.compare_sides(sides.into(), false, compared);
            }
            return;
        }
        let has_none = |side: &Expr| matches!(side, Expr::Lit(_)) || is_none(side) || self.known.is_one_number(side);
        let compares_elements = !has_none(left) && !has_none(right);
        let around = match is_none(left) || is_none(right) {
            true => Around::default(),
            false => self.operation(left, right, compared.op),
        };
        for (index, side) in [left, right].into_iter().enumerate() {
            let whole = (compares_elements && !self.is_untyped(side))
                .then(|| self.tell_of_slice(side, |at, span| quote_spanned!(span=> #at.used_all(#Read);)));
            if are_whole && self.observes(side) {
                compared.told.extend(self.reach(side, Read, &mut compared.bindings));
            } else {
                self.visit_expr_mut(side);
                around.note(index, side);
            }
            compared.told.extend(whole.flatten());
        }
        compared.around.extend(around);
    }
}

/// Returns the comparison `value` with the code that reports its accesses.
fn put_around(value: TokenStream, span: Span, Compared { bindings, told, around, .. }: Compared) -> Expr {
    let value = if told.is_empty() { value } else { then(&told, value, span) };
    around.around(expression(bindings.around(value)))
}

fn is_none(side: &Expr) -> bool {
    matches!(without_parentheses(side), Expr::Path(path) if path.path.is_ident("None"))
}

/// Returns true if both sides construct values of the same form with the same number of parts. The parts are then
/// compared one by one.
fn have_same_parts(left: &Expr, right: &Expr) -> bool {
    match (without_parentheses(left), without_parentheses(right)) {
        (Expr::Tuple(left), Expr::Tuple(right)) => left.elems.len() == right.elems.len(),
        (Expr::Array(left), Expr::Array(right)) => left.elems.len() == right.elems.len(),
        (Expr::Reference(left), Expr::Reference(right)) => have_same_parts(&left.expr, &right.expr),
        (Expr::Call(left), Expr::Call(right)) => {
            let variant = |function: &Expr| match function {
                Expr::Path(path) => last_name(&path.path).filter(|name| matches!(&**name, "Some" | "Ok" | "Err")),
                _ => None,
            };
            let name = variant(&left.func);
            name.is_some() && name == variant(&right.func) && left.args.len() == right.args.len()
        }
        _ => false,
    }
}

/// Returns the parts of a constructed value, such as the elements of a tuple.
fn parts(value: &mut Expr) -> Vec<&mut Expr> {
    match value {
        Expr::Paren(inner) => parts(&mut inner.expr),
        Expr::Group(inner) => parts(&mut inner.expr),
        Expr::Reference(reference) => parts(&mut reference.expr),
        Expr::Tuple(tuple) => tuple.elems.iter_mut().collect(),
        Expr::Array(array) => array.elems.iter_mut().collect(),
        Expr::Call(call) => call.args.iter_mut().collect(),
        _ => Vec::new(),
    }
}
