//! Operators, which may be user-defined functions that access memory through their operands.
//!
//! The macro does not know types. It puts code around each operator that may have an operand of a user-defined type.
//! The code reports the operator as not checked if an operand has such a type and the operator's function is not under
//! `#[device]`.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{BinOp, Expr, ExprBinary, ExprMethodCall, ExprUnary, Ident, UnOp};

use crate::names::{NUMBERS, is_type_s, last_name};

use super::around::{Around, is_comparison};
use super::calls::is_known_method;
use super::handing::{gives_numbers, is_float_s, is_number_method, is_view_s};
use super::place::address;
use super::syntax::{assigned_places, computes, is_assigning, is_free, is_place, is_simple, without_parentheses};
use super::{Accesses, observed};

impl Accesses {
    /// Returns the code to put around `value` for the dereferences and indices in the places that `value` borrows or
    /// writes.
    pub fn operators_of(&mut self, value: &mut Expr) -> Around {
        let mut around = Around::default();
        match value {
            Expr::Unary(_) | Expr::Index(_) | Expr::Field(_) => self.lead_to(value, &mut around),
            // A temporary value that a `let` borrows must keep its lifetime, so it stays unchanged.
            Expr::Reference(reference) if self.may_extend && computes_base(&reference.expr) => {}
            Expr::Reference(reference) => self.lead_to(&mut reference.expr, &mut around),
            Expr::MethodCall(call) => self.lead_to(&mut call.receiver, &mut around),
            Expr::Match(matched) => self.lead_to(&mut matched.expr, &mut around),
            Expr::If(branch) => {
                if let Expr::Let(binding) = &mut *branch.cond {
                    self.lead_to(&mut binding.expr, &mut around);
                }
            }
            Expr::Assign(assignment) => {
                let mut places = Vec::new();
                assigned_places(&mut assignment.left, &mut places);
                places.into_iter().for_each(|place| self.lead_to(place, &mut around));
            }
            Expr::Binary(binary) if is_comparing(binary.op) => {
                self.lead_to(&mut binary.left, &mut around);
                self.lead_to(&mut binary.right, &mut around);
            }
            Expr::Binary(binary) if is_assigning(binary.op) => self.lead_to(&mut binary.left, &mut around),
            _ => {}
        }
        around
    }

    /// Adds to `around` the code for the dereferences and indices in the place expression `place`. The outermost
    /// operator is announced first.
    pub fn lead_to(&mut self, place: &mut Expr, around: &mut Around) {
        match place {
            Expr::Paren(inner) => self.lead_to(&mut inner.expr, around),
            Expr::Group(inner) => self.lead_to(&mut inner.expr, around),
            Expr::Field(field) => self.lead_to(&mut field.base, around),
            Expr::Index(index) => {
                self.lead_to(&mut index.expr, around);
                self.apply("Index", &mut index.expr, index.bracket_token.span.open(), around);
            }
            Expr::Unary(ExprUnary { op: UnOp::Deref(star), expr, .. }) => {
                self.lead_to(expr, around);
                self.apply("Deref", expr, star.span(), around);
            }
            _ => {}
        }
    }

    fn apply(&mut self, name: &'static str, operand: &mut Expr, span: Span, around: &mut Around) {
        let observed = observed();
        let is_index = name == "Index";
        let is_reference = |operand: &Expr| {
            matches!(operand, Expr::Path(path)
                if path.path.get_ident().is_some_and(|name| self.known.is_reference(name)))
        };
        if !is_index && is_reference(without_parentheses(operand)) {
            return;
        }
        // An index operator belongs to the type behind references; a dereference belongs to the operand's own type.
        let owner = |place: TokenStream| match is_index {
            true => quote_spanned!(span=> #observed::At(#place).behind().behind().0),
            false => place,
        };
        if let Some(place) = self.operand(operand) {
            let owner = owner(place);
            around.operators.push((self.operator(name, span, quote!(.first(|| #owner))), span));
        } else if computes_own(operand) && !is_simple(operand) {
            self.visit_expr_mut(operand);
            let tag = self.tag(span);
            let value = Ident::new("value", Span::mixed_site());
            let owner = owner(quote!(&raw const *#value));
            // The operand has been visited and must not be visited again.
            *operand = Expr::Verbatim(quote_spanned!(span=> #tag.applied(#operand, #name, |#value| #owner)));
            around.operators.push((self.operator(name, span, quote_spanned!(span=> .tagged(#tag))), span));
        }
    }

    /// Returns a variable that records the type of an operand. It is declared before the statement, because a `match`
    /// around the operator would shorten the lifetimes of temporary values.
    fn tag(&mut self, span: Span) -> Ident {
        self.variables += 1;
        let tag = Ident::new(&format!("__operand_{}", self.variables), span);
        self.tags.extend(quote_spanned!(span=> let #tag = ::cuda_std::__private::observed::tag();));
        tag
    }

    fn operator(&mut self, name: &str, span: Span, operands: TokenStream) -> TokenStream {
        self.has_told = true;
        quote_spanned!(span=> ::cuda_std::__private::observed::operator(#name)#operands)
    }

    /// Returns the address of an operand that may have a user-defined type and can be evaluated twice. Returns `None`
    /// for other operands.
    fn operand(&self, operand: &Expr) -> Option<TokenStream> {
        let operand = without_parentheses(operand);
        if self.known.is_of_number(operand) || self.known.is_element_number(operand) {
            return None;
        }
        match operand {
            Expr::Path(path) => {
                let name = path.path.get_ident()?;
                if is_type_s(&name.unraw().to_string())
                    || self.known.is_pointer(name)
                    || self.known.is_own(operand)
                    || self.known.is_closure(&name.to_string())
                {
                    return None;
                }
                Some(match self.known.is_reference(name) {
                    true => quote!(&raw const *#path),
                    false => quote!(&raw const #path),
                })
            }
            Expr::Field(field) if !is_place(operand) => self.operand(&field.base).map(|_| quote!(&raw const #operand)),
            Expr::Reference(reference) => self.operand(&reference.expr),
            _ if is_place(operand) && !computes(operand) => Some(address(operand)),
            _ => None,
        }
    }

    /// Returns true if `operand` is a variable whose type the compiler may not have inferred when it checks this
    /// expression.
    pub fn is_untyped(&self, operand: &Expr) -> bool {
        match without_parentheses(operand) {
            Expr::Path(path) => path.path.get_ident().is_some_and(|name| !self.known.is_typed(name)),
            Expr::Reference(reference) => self.is_untyped(&reference.expr),
            _ => false,
        }
    }

    /// Returns the code to put around an operator with one or two operands.
    fn operands(&mut self, name: &'static str, operands: [Option<&Expr>; 2], span: Span) -> Around {
        let mut around = Around::default();
        let mut told = TokenStream::new();
        let compares = is_comparison(name);
        for (index, operand) in operands.into_iter().enumerate() {
            let Some(operand) = operand else { continue };
            if let Some(place) = self.operand(operand) {
                let method = if compares && self.is_untyped(operand) { "compared" } else { ["first", "second"][index] };
                let method = Ident::new(method, Span::mixed_site());
                told.extend(quote_spanned!(span=> .#method(|| #place)));
            } else if computes_own(operand) || (compares && is_made(operand)) {
                let tag = self.tag(span);
                let method = Ident::new(if compares { "tagged_compared" } else { "tagged" }, Span::mixed_site());
                told.extend(quote_spanned!(span=> .#method(#tag)));
                around.operands[index] = Some((tag, name, span));
            }
        }
        if !told.is_empty() {
            around.operators.push((self.operator(name, span, told), span));
        }
        around
    }

    /// Returns the code to put around an operator with two operands. Operators within the operands get separate code.
    pub fn operation(&mut self, left: &Expr, right: &Expr, op: BinOp) -> Around {
        let is_number = |side: &Expr| {
            matches!(without_parentheses(side), Expr::Lit(_) | Expr::Cast(_))
                || self.known.is_of_number(side)
                || self.known.is_element_number(side)
        };
        // A number and a user's type can be multiplied or added.
        let is_of_numbers = match (is_number(left), is_number(right)) {
            (true, true) => true,
            (true, false) | (false, true) => is_comparing(op) || (is_assigning(op) && is_number(left)),
            (false, false) => false,
        };
        match trait_of(op) {
            Some(name) if !is_of_numbers => self.operands(name, [Some(left), Some(right)], op.span()),
            _ => Around::default(),
        }
    }

    /// Rewrites an operator that takes its two operands by value.
    pub fn operate(&mut self, binary: &mut ExprBinary) -> Option<Expr> {
        let around = self.operation(&binary.left, &binary.right, binary.op);
        visit_mut::visit_expr_binary_mut(self, binary);
        around.note(0, &mut binary.left);
        around.note(1, &mut binary.right);
        (!around.is_empty()).then(|| around.around(Expr::Binary(binary.clone())))
    }

    /// Rewrites the operator `-` or `!`.
    pub fn operate_on(&mut self, unary: &mut ExprUnary) -> Option<Expr> {
        let name = if matches!(unary.op, UnOp::Neg(_)) { "Neg" } else { "Not" };
        let around = self.operands(name, [Some(&unary.expr), None], unary.op.span());
        visit_mut::visit_expr_unary_mut(self, unary);
        around.note(0, &mut unary.expr);
        (!around.is_empty()).then(|| around.around(Expr::Unary(unary.clone())))
    }

    /// Returns the code to put around a method call on a place that may be a part of a slice.
    pub fn method_of_slice(&mut self, call: &ExprMethodCall, name: &str) -> Around {
        let mut around = Around::default();
        let is_element =
            matches!(without_parentheses(&call.receiver), Expr::Index(index) if matches!(*index.index, Expr::Lit(_)));
        if !is_known_method(name) && !is_number_method(name) && !is_element && !computes(&call.receiver) {
            let place = address(&call.receiver);
            let span = call.method.span();
            around.operators.push((self.operator(name, span, quote!(.whole(|| #place))), span));
        }
        around
    }

    /// Returns the code to put around a loop over `elements`.
    pub fn iteration(&mut self, elements: &Expr, span: Span) -> Around {
        match without_parentheses(elements) {
            Expr::Path(_) | Expr::Field(_) | Expr::Reference(_) => {
                self.operands("Iterator", [Some(elements), None], span)
            }
            _ => Around::default(),
        }
    }
}

pub fn is_comparing(op: BinOp) -> bool {
    matches!(op, BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_))
}

/// Returns true if the expression constructs a tuple or an array.
fn is_made(value: &Expr) -> bool {
    match without_parentheses(value) {
        Expr::Tuple(_) | Expr::Array(_) => true,
        Expr::Reference(reference) => is_made(&reference.expr),
        _ => false,
    }
}

/// Returns the name of the trait of an operator with two operands, or `None` if it has no trait.
fn trait_of(op: BinOp) -> Option<&'static str> {
    Some(match op {
        BinOp::Add(_) => "Add",
        BinOp::Sub(_) => "Sub",
        BinOp::Mul(_) => "Mul",
        BinOp::Div(_) => "Div",
        BinOp::Rem(_) => "Rem",
        BinOp::BitXor(_) => "BitXor",
        BinOp::BitAnd(_) => "BitAnd",
        BinOp::BitOr(_) => "BitOr",
        BinOp::Shl(_) => "Shl",
        BinOp::Shr(_) => "Shr",
        BinOp::AddAssign(_) => "AddAssign",
        BinOp::SubAssign(_) => "SubAssign",
        BinOp::MulAssign(_) => "MulAssign",
        BinOp::DivAssign(_) => "DivAssign",
        BinOp::RemAssign(_) => "RemAssign",
        BinOp::BitXorAssign(_) => "BitXorAssign",
        BinOp::BitAndAssign(_) => "BitAndAssign",
        BinOp::BitOrAssign(_) => "BitOrAssign",
        BinOp::ShlAssign(_) => "ShlAssign",
        BinOp::ShrAssign(_) => "ShrAssign",
        BinOp::Eq(_) | BinOp::Ne(_) => "PartialEq",
        BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_) => "PartialOrd",
        _ => return None,
    })
}

/// Returns true if the base of a place is a computed value that may have a user-defined type.
fn computes_base(place: &Expr) -> bool {
    match place {
        Expr::Paren(inner) => computes_base(&inner.expr),
        Expr::Group(inner) => computes_base(&inner.expr),
        Expr::Field(field) => computes_base(&field.base),
        Expr::Index(index) => computes_base(&index.expr),
        Expr::Unary(ExprUnary { op: UnOp::Deref(_), expr, .. }) => computes_base(expr),
        value => computes_own(value),
    }
}

/// Returns true if `value` is computed and may have a user-defined type.
fn computes_own(value: &Expr) -> bool {
    match without_parentheses(value) {
        Expr::Call(call) => match without_parentheses(&call.func) {
            Expr::Path(path) => {
                !gives_numbers(&path.path) && last_name(&path.path).is_none_or(|name| !NUMBERS.contains(&&*name))
            }
            _ => true,
        },
        Expr::MethodCall(call) => {
            let name = call.method.unraw().to_string();
            let is_arithmetic =
                ["wrapping_", "saturating_", "rotate_", "pow"].iter().any(|start| name.starts_with(start));
            !is_arithmetic
                && !is_free(&name)
                && !is_view_s(&name)
                && !is_number_method(&name)
                && !is_float_s(call, &name)
        }
        Expr::Struct(_) => true,
        _ => false,
    }
}
