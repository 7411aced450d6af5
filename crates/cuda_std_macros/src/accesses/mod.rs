//! Has the simulator told of the accesses that a body makes by pointers and slices.
//!
//! Types are unknown here. What may be such an access, a dereference, an index or a method of a certain name, is preceded by
//! what tells of it, if the types are a pointer's or a slice's: `cuda_std`'s `observed` decides that, at no cost for all
//! others. The access itself stays as it is written, so that it means what it did. Where telling of it takes a value that is
//! not free to compute twice, the value is computed first, in the order in which Rust would.

mod calls;
mod handing;
mod macros;
mod methods;
mod operators;
mod patterns;
mod place;
mod syntax;
mod variables;

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{
    Block, Expr, ExprAssign, ExprBinary, ExprForLoop, ExprReference, Ident, Item, Local, Pat, Signature, Stmt, UnOp,
    parse2,
};

use crate::constants::{guard, leave_constants};

use self::Access::Read;
use self::operators::is_comparing;
use self::place::{Bindings, Prepared, is_place, without_parentheses};
use self::syntax::{assigned_places, gives_slices, is_assigning, is_told};
use self::variables::Variables;

/// The body of a function of that signature, which tells of its accesses.
pub fn observe(signature: &Signature, body: &mut Block) {
    let mut accesses = Accesses { known: Variables::of(signature), ..Accesses::default() };
    accesses.visit_block_mut(body);
    if accesses.has_told {
        let observed = observed();
        let imports: Block = syn::parse_quote!({
            #[allow(unused_imports)]
            use #observed::{Other as _, OtherProbe as _, OtherValue as _, Way as _};
        });
        body.stmts.splice(0..0, imports.stmts);
    }
}

/// The body of a function that is called, which tells that it has been entered.
pub fn observe_entry(signature: &Signature, body: &mut Block) {
    if let Some(entered) = calls::entered(signature) {
        body.stmts.insert(0, Stmt::Expr(expression(quote!({ #entered })), None));
    }
}

/// Where what is written into a body is.
fn observed() -> TokenStream {
    quote!(::cuda_std::__private::observed)
}

/// What an access does, by its name in `observed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    Read,
    Write,
    Update,
}

impl quote::ToTokens for Access {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let name = Ident::new(&format!("{self:?}"), Span::mixed_site());
        let observed = observed();
        tokens.extend(quote!(#observed::Access::#name));
    }
}

/// An expression of `tokens`, which stand for one.
fn expression(tokens: TokenStream) -> Expr {
    parse2(tokens.clone()).unwrap_or(Expr::Verbatim(tokens))
}

/// `value`, after `told`.
fn then(told: &TokenStream, value: TokenStream, span: Span) -> TokenStream {
    quote_spanned!(span=> ::cuda_std::__private::observed::then({ #told }, #value))
}

#[derive(Default)]
struct Accesses {
    /// Whether anything has been told.
    has_told: bool,
    /// Variables that have been made.
    variables: usize,
    /// What is known of the variables in scope.
    known: Variables,
}

impl Accesses {
    /// Whether `value` is a place of which there may be something to tell.
    fn observes(&self, value: &Expr) -> bool {
        is_place(value) && !self.known.is_own(value)
    }

    /// A variable that no other is the same as.
    fn variable(&mut self) -> Ident {
        self.variables += 1;
        Ident::new(&format!("value_{}", self.variables), Span::mixed_site())
    }

    /// The place's value.
    fn read(&mut self, place: &mut Expr) {
        let span = place.span();
        let mut bindings = Bindings::for_value();
        let prepared = self.prepare(place, Access::Read, &mut bindings);
        if prepared == Prepared::Known {
            let told = self.tell(place, Access::Read);
            *place = expression(bindings.around(then(&told, quote!(#place), span)));
        }
    }

    /// `place` is borrowed, or something is done with it where it is: what is told of it before. `None` where nothing is.
    fn reach(&mut self, place: &mut Expr, access: Access, bindings: &mut Bindings) -> Option<TokenStream> {
        (self.prepare(place, access, bindings) == Prepared::Known).then(|| self.tell(place, access))
    }

    fn assign(&mut self, assignment: &mut ExprAssign) -> Option<Expr> {
        // A structure may get a pointer so.
        match &*assignment.left {
            Expr::Field(_) | Expr::Unary(_) => self.put(&mut assignment.right),
            _ => self.visit_expr_mut(&mut assignment.right),
        }
        let mut told = TokenStream::new();
        let mut bindings = Bindings::for_value();
        let mut places = Vec::new();
        assigned_places(&mut assignment.left, &mut places);
        for place in places {
            if !self.observes(place) {
                self.leave(place);
                continue;
            }
            told.extend(self.reach(place, Access::Write, &mut bindings));
        }
        self.after(told, &assignment.right, bindings, |value| {
            let left = &assignment.left;
            quote!(#left = #value)
        })
    }

    fn assign_operation(&mut self, operation: &mut ExprBinary) -> Option<Expr> {
        let around = self.operation(operation);
        self.visit_expr_mut(&mut operation.right);
        around.note(1, &mut operation.right);
        let mut replacement = None;
        if self.observes(&operation.left) {
            let mut bindings = Bindings::for_value();
            let told = self.reach(&mut operation.left, Access::Update, &mut bindings).unwrap_or_default();
            replacement = self.after(told, &operation.right, bindings, |value| {
                let (left, op) = (&operation.left, &operation.op);
                quote!(#left #op #value)
            });
        } else {
            self.leave(&mut operation.left);
        }
        match (replacement, around.is_empty()) {
            (replacement, true) => replacement,
            (replacement, false) => Some(around.around(replacement.unwrap_or_else(|| Expr::Binary(operation.clone())))),
        }
    }

    /// `assign` of the value of `right`, which is computed first, then `told`.
    fn after(
        &mut self,
        told: TokenStream,
        right: &Expr,
        bindings: Bindings,
        assign: impl FnOnce(TokenStream) -> TokenStream,
    ) -> Option<Expr> {
        if told.is_empty() {
            return None;
        }
        let value = self.variable();
        let assign = assign(quote!(#value));
        let inner = bindings.around(quote!({ #told #assign }));
        Some(expression(quote!(match #right { #value => #inner })))
    }

    /// A comparison takes both sides where they are.
    fn compare(&mut self, comparison: &mut ExprBinary) -> Option<Expr> {
        let span = comparison.span();
        let around = self.operation(comparison);
        let mut bindings = Bindings::for_place();
        let mut told = TokenStream::new();
        let is_number = |side: &Expr| matches!(side, Expr::Lit(_)) || self.known.is_one_number(side);
        let compares_elements = !is_number(&comparison.left) && !is_number(&comparison.right);
        for (index, side) in [&mut comparison.left, &mut comparison.right].into_iter().enumerate() {
            let whole = if compares_elements {
                self.tell_of_slice(side, |at, span| quote_spanned!(span=> #at.used_all(#Read);))
            } else {
                None
            };
            if self.observes(side) {
                told.extend(self.reach(side, Access::Read, &mut bindings));
            } else {
                let is_given = compares_elements && gives_slices(side);
                self.visit_expr_mut(side);
                around.note(index, side);
                if is_given {
                    self.tell_of_compared(side);
                }
            }
            told.extend(whole);
        }
        if told.is_empty() && bindings.is_empty() && around.is_empty() {
            return None;
        }
        let compared = match told.is_empty() {
            true => quote!(#comparison),
            false => then(&told, quote!(#comparison), span),
        };
        Some(around.around(expression(bindings.around(compared))))
    }

    fn borrow(&mut self, reference: &mut ExprReference) -> Option<Expr> {
        if !self.observes(&reference.expr) {
            self.visit_expr_mut(&mut reference.expr);
            return None;
        }
        let span = reference.span();
        let access = if reference.mutability.is_some() { Access::Write } else { Access::Read };
        let mut bindings = Bindings::for_place();
        let told = self.reach(&mut reference.expr, access, &mut bindings)?;
        Some(expression(bindings.around(then(&told, quote!(#reference), span))))
    }

    fn iterate(&mut self, repeat: &mut ExprForLoop) -> Option<Expr> {
        let around = self.iteration(&repeat.expr, repeat.in_token.span());
        let counts = matches!(without_parentheses(&repeat.expr), Expr::Range(_));
        self.visit_expr_mut(&mut repeat.expr);
        let outside = self.known.clone();
        self.visit_pat_mut(&mut repeat.pat);
        if counts {
            self.known.count(&repeat.pat);
        }
        self.visit_block_mut(&mut repeat.body);
        self.known = outside;
        let over = without_parentheses(&repeat.expr);
        if let Expr::Reference(reference) = over
            && self.known.is_own(&reference.expr)
        {
            return None;
        }
        if matches!(over, Expr::Path(_) | Expr::Field(_) | Expr::Reference(_)) || is_told(over) {
            let span = repeat.expr.span();
            self.iterate_over(&mut repeat.expr, span);
        }
        (!around.is_empty()).then(|| around.around(Expr::ForLoop(repeat.clone())))
    }

    /// Has the elements told of, if that is a slice's.
    fn iterate_over(&mut self, elements: &mut Expr, span: Span) {
        self.has_told = true;
        let observed = observed();
        *elements = expression(quote_spanned!(span=> #observed::Value(#elements).each()));
    }

    /// What is told before a `let`, where the value is not simply moved.
    fn bind(&mut self, local: &mut Local) -> Option<TokenStream> {
        let init = local.init.as_mut()?;
        if let Some((_, otherwise)) = &mut init.diverge {
            self.visit_expr_mut(otherwise);
        }
        match &local.pat {
            Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => {}
            Pat::Type(typed) if matches!(&*typed.pat, Pat::Ident(name) if name.by_ref.is_none()) => {}
            // Nothing is read.
            Pat::Wild(_) if is_place(&init.expr) && !place::computes(&init.expr) => return None,
            pattern => return self.scrutinise(&mut init.expr, [pattern]),
        }
        self.visit_expr_mut(&mut init.expr);
        None
    }
}

impl VisitMut for Accesses {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let around = self.operators_of(expr);
        let replacement = match expr {
            Expr::Unary(_) | Expr::Index(_) | Expr::Field(_) if self.observes(expr) => {
                self.read(expr);
                None
            }
            Expr::Unary(unary) if !matches!(unary.op, UnOp::Deref(_)) => self.operate_on(unary),
            Expr::Assign(assignment) => self.assign(assignment),
            Expr::Binary(binary) => match binary.op {
                op if is_comparing(op) => self.compare(binary),
                op if is_assigning(op) => self.assign_operation(binary),
                _ => self.operate(binary),
            },
            Expr::Reference(reference) => self.borrow(reference),
            // An address is no access.
            Expr::RawAddr(address) => {
                self.leave(&mut address.expr);
                None
            }
            Expr::Match(matched) => self.take_apart(matched),
            Expr::If(branch) => self.take_apart_if(branch),
            Expr::While(repeat) => self.take_apart_while(repeat),
            Expr::ForLoop(repeat) => self.iterate(repeat),
            Expr::MethodCall(call) => self.call_method(call),
            Expr::Call(call) => self.call(call),
            Expr::Struct(literal) => self.construct(literal),
            Expr::Macro(call) => {
                let call_tokens = self.expand(&mut call.mac);
                call_tokens.map(|told| expression(quote!({ #told #call })))
            }
            _ => {
                visit_mut::visit_expr_mut(self, expr);
                None
            }
        };
        if let Some(replacement) = replacement {
            *expr = replacement;
        }
        if !around.is_empty() {
            *expr = around.around(expr.clone());
        }
    }

    fn visit_block_mut(&mut self, block: &mut Block) {
        let outside = self.known.clone();
        for mut statement in std::mem::take(&mut block.stmts) {
            let told = match &mut statement {
                Stmt::Local(local) => {
                    let mut declared = local.clone();
                    let is_number = declared.init.as_ref().is_some_and(|init| self.is_number_s(&init.expr));
                    let told = self.bind(local);
                    self.known.bind(&mut declared, is_number);
                    told
                }
                Stmt::Macro(call) => self.expand(&mut call.mac),
                other => {
                    self.visit_stmt_mut(other);
                    None
                }
            };
            if let Some(told) = told {
                // Its variables are the statement's alone, and a `let` declares others.
                block.stmts.push(Stmt::Expr(expression(quote!({ #told })), None));
            }
            block.stmts.push(statement);
        }
        self.known = outside;
    }

    leave_constants!();

    fn visit_pat_mut(&mut self, pattern: &mut Pat) {
        self.known.shadow(pattern);
        if let Some(condition) = guard(pattern) {
            self.visit_expr_mut(condition);
        }
    }

    fn visit_item_mut(&mut self, item: &mut Item) {
        // A function in a function is as much device code.
        if let Item::Fn(function) = item
            && function.sig.constness.is_none()
        {
            let outside = std::mem::replace(&mut self.known, Variables::of(&function.sig));
            self.visit_block_mut(&mut function.block);
            self.known = outside;
            observe_entry(&function.sig, &mut function.block);
        }
    }
}

#[cfg(test)]
mod tests;
