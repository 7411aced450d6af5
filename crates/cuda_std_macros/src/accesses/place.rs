//! Place expressions: dereferences, indices and their fields, and the reports of accesses to them.
//!
//! # Design
//!
//! This module decides by syntax, and `cuda_std`'s module `observed` decides by types. The macro inserts the same
//! method call for every place. The compiler selects the method that reports an access, or an empty method. The access
//! itself is not changed.

use proc_macro2::{Delimiter, Group, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, ExprMethodCall, Ident, UnOp};

use super::syntax::{is_place, is_simple, moves, scrutinee};
use super::{Access, Accesses, expression, observed};

/// The part of an access to a place that can be reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prepared {
    /// The whole access, because the place can be evaluated twice.
    Known,
    /// Only accesses within the place, because the place must not be evaluated twice.
    Opaque,
}

/// Values that are computed before a place is accessed, each with its variable.
pub struct Bindings {
    all: Vec<(Ident, Expr)>,
    /// True if the values that lead to the place may be moved into variables. False if the place is borrowed.
    may_move: bool,
}

impl Bindings {
    /// Returns empty bindings for a place whose value is read.
    pub fn for_value() -> Self {
        Self { all: Vec::new(), may_move: true }
    }

    /// Returns empty bindings for a place that is borrowed or written.
    pub fn for_place() -> Self {
        Self { all: Vec::new(), may_move: false }
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Moves `value` to the bindings, so that it is computed before the place is accessed, and replaces it by
    /// `variable`.
    pub fn bind(&mut self, variable: Ident, value: &mut Expr) {
        let name = expression(quote!(#variable));
        self.all.push((variable, std::mem::replace(value, name)));
    }

    /// Returns `inner` with the variables in scope.
    pub fn around(self, inner: TokenStream) -> TokenStream {
        let nest = |inner, (name, value): (Ident, Expr)| {
            // Without parentheses, a statement could end after the `match`. Their span hides them from lints.
            let value = scrutinee(&value);
            // `mut`, because the place may be behind a smart pointer, or in the value itself.
            let nested = quote!(match #value { #[allow(unused_mut)] mut #name => #inner });
            let mut group = Group::new(Delimiter::Parenthesis, nested);
            group.set_span(Span::mixed_site());
            quote!(#group)
        };
        self.all.into_iter().rev().fold(inner, nest)
    }
}

impl Accesses {
    /// Computes parts of `place` before an access of the kind `access`, so that `place` may be evaluated twice.
    pub fn prepare(&mut self, place: &mut Expr, access: Access, bindings: &mut Bindings) -> Prepared {
        match place {
            Expr::Path(_) => Prepared::Known,
            Expr::Paren(inner) => self.prepare(&mut inner.expr, access, bindings),
            Expr::Group(inner) => self.prepare(&mut inner.expr, access, bindings),
            Expr::Field(field) => self.prepare(&mut field.base, access, bindings),
            Expr::Index(index) => {
                let base = self.prepare(&mut index.expr, access, bindings);
                if is_simple(&index.index) {
                    let by = &index.index;
                    if base == Prepared::Opaque && !is_place(&index.expr) {
                        let (observed, value, span) = (observed(), &index.expr, index.expr.span());
                        self.has_told = true;
                        let told = quote_spanned!(span=> #observed::Value(#value).indexed(&(#by), #access));
                        *index.expr = expression(told);
                    }
                } else {
                    self.visit_expr_mut(&mut index.index);
                    if base == Prepared::Known {
                        bindings.bind(self.variable(index.index.span()), &mut index.index);
                    }
                }
                base
            }
            Expr::Unary(unary) if matches!(unary.op, UnOp::Deref(_)) => {
                let pointer = &mut *unary.expr;
                if is_place(pointer) {
                    self.prepare(pointer, Access::Read, bindings)
                } else if is_simple(pointer) {
                    Prepared::Known
                } else {
                    self.visit_expr_mut(pointer);
                    if bindings.may_move {
                        bindings.bind(self.variable(pointer.span()), pointer);
                        return Prepared::Known;
                    }
                    self.has_told = true;
                    let observed = observed();
                    let span = pointer.span();
                    *pointer = expression(quote_spanned!(span=> #observed::Value(#pointer).pointer(#access)));
                    Prepared::Opaque
                }
            }
            value => {
                let span = value.span();
                self.visit_expr_mut(value);
                if !bindings.may_move {
                    return Prepared::Opaque;
                }
                bindings.bind(self.variable(span), value);
                // The access is reported at the line of the original value.
                let mut group = Group::new(Delimiter::None, quote!(#value));
                group.set_span(span);
                *value = expression(quote!(#group));
                Prepared::Known
            }
        }
    }

    /// Keeps `place` unchanged, and visits only the expressions in it.
    pub fn leave(&mut self, place: &mut Expr) {
        match place {
            Expr::Paren(inner) => self.leave(&mut inner.expr),
            Expr::Group(inner) => self.leave(&mut inner.expr),
            Expr::Field(field) => self.leave(&mut field.base),
            Expr::Index(index) => {
                self.leave(&mut index.expr);
                self.visit_expr_mut(&mut index.index);
            }
            Expr::Unary(unary) if matches!(unary.op, UnOp::Deref(_)) => self.visit_expr_mut(&mut unary.expr),
            value => self.visit_expr_mut(value),
        }
    }

    /// Returns the statements that report `access` to `place`, which must be safe to evaluate twice.
    pub fn tell(&mut self, place: &Expr, access: Access) -> TokenStream {
        self.tell_by(place, access, &TokenStream::new())
    }

    /// Returns the statements that report `access` to `place`. `by` are method calls on the place's `observed::At`.
    pub fn tell_by(&mut self, place: &Expr, access: Access, by: &TokenStream) -> TokenStream {
        self.has_told = true;
        let way = way(place);
        let address = address(place);
        let observed = observed();
        let name = Ident::new("way", Span::mixed_site());
        // The report has the access's line. It is a `match` because the simulator would count an `if` as a branch of
        // the kernel.
        quote_spanned! {place.span()=>
            let #name = #way;
            match #name.is_observed() {
                true => #observed::At(#address)#by.touched(#name, #access),
                false => {}
            }
        }
    }
}

/// Returns an expression for the storage that contains the place. The expression checks the indices in the place, and
/// reports reads of the pointers that the place dereferences.
pub fn way(place: &Expr) -> TokenStream {
    let observed = observed();
    match place {
        Expr::Paren(inner) => way(&inner.expr),
        Expr::Group(inner) => way(&inner.expr),
        Expr::Field(field) => way(&field.base),
        Expr::Index(index) => {
            let (base, by) = (way(&index.expr), &index.index);
            let base_address = address(&index.expr);
            let name = Ident::new("way", Span::mixed_site());
            let indexed = quote_spanned!(place.span()=> #observed::At(#base_address).indexed(#name, &(#by)));
            if !is_place(&index.expr) {
                return quote_spanned!(place.span()=> { let #name = #base; #indexed });
            }
            // No address is computed if none is needed, for example for an array within a thread's own array.
            let probe = quote!(#observed::probe(|| #base_address));
            quote_spanned!(place.span()=> {
                let #name = #base;
                match #name.is_observed() || #probe.takes_address() {
                    true => #indexed,
                    false => #probe.passed(#name),
                }
            })
        }
        Expr::Unary(unary) if matches!(unary.op, UnOp::Deref(_)) => {
            let pointer = &*unary.expr;
            let read = is_place(pointer).then(|| Accesses::default().tell(pointer, Access::Read));
            let at = at(pointer);
            quote_spanned!(place.span()=> { #read #at.dereferenced() })
        }
        _ => quote!(#observed::Own),
    }
}

/// Returns an `observed::At` with the address of `value`, which must be safe to evaluate twice.
pub fn at(value: &Expr) -> TokenStream {
    let observed = observed();
    let address = address(&with_moves(value));
    quote_spanned!(value.span()=> #observed::At(#address))
}

/// Returns the call `call`, which offsets a pointer, wrapped such that the simulator records the offset.
pub fn note_move(call: &ExprMethodCall) -> Expr {
    let before = at(&call.receiver);
    expression(quote_spanned!(call.span()=> #before.moved(#call)))
}

/// Returns `value`. If it offsets a pointer, it is wrapped such that the simulator records the offset.
fn with_moves(value: &Expr) -> Expr {
    let mut value = value.clone();
    if let Expr::MethodCall(call) = &mut value
        && moves(&call.method)
    {
        return note_move(call);
    }
    value
}

/// Returns the address of a place or a value as a raw pointer.
pub fn address(place: &Expr) -> TokenStream {
    let place = with_copied_indices(place);
    match root(&place) {
        Expr::Unary(_) if is_place(&place) => quote!(&raw const #place),
        // A constant has no address, and a reference to a static need not be unsafe.
        Expr::Path(path) if is_place(&place) => {
            let name = path.path.segments.last().map(|last| last.ident.unraw().to_string()).unwrap_or_default();
            if name.starts_with(char::is_uppercase) { quote!(&raw const *&#place) } else { quote!(&raw const #place) }
        }
        _ if is_place(&place) => quote!(&raw const #place),
        // The place may also be a function or a constant.
        _ => quote!(&raw const *&(#place)),
    }
}

/// Returns the base of a place: a variable, a dereference or a value.
fn root(place: &Expr) -> &Expr {
    match place {
        Expr::Index(index) => root(&index.expr),
        Expr::Paren(inner) => root(&inner.expr),
        Expr::Group(inner) => root(&inner.expr),
        Expr::Field(field) => root(&field.base),
        place => place,
    }
}

/// Returns `place` with a clone of each index that is a variable, so that a range is not moved.
fn with_copied_indices(place: &Expr) -> Expr {
    struct Copy;
    impl VisitMut for Copy {
        fn visit_expr_index_mut(&mut self, index: &mut syn::ExprIndex) {
            visit_mut::visit_expr_index_mut(self, index);
            if let Expr::Path(path) = &*index.index {
                *index.index = expression(quote!(::core::clone::Clone::clone(&#path)));
            }
        }
    }
    let mut place = place.clone();
    Copy.visit_expr_mut(&mut place);
    place
}
