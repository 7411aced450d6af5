//! Makes a body report its accesses through pointers and slices to the simulator.
//!
//! The macro does not know types. It puts a report before each possible access: a dereference, an index or a method
//! with certain names. A report is a call of a function in `cuda_std`'s module `observed`. If the type is neither a
//! pointer nor a slice, the function is empty. The access itself is not changed. If a report needs a value that must
//! not be evaluated twice, the macro stores the value in a variable first. The macro keeps Rust's order of evaluation.

mod around;
mod calls;
mod comparisons;
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
    Block, Expr, ExprAssign, ExprBinary, ExprForLoop, ExprReference, Ident, Item, Local, Pat, Signature, Stmt, Token,
    UnOp, parse2,
};

use crate::constants::{guard, leave_constants};

pub use self::calls::is_known_method;
pub use self::handing::{is_float_s, is_number_method, is_view_s};
pub use self::place::address;
pub use self::syntax::{computes, is_assigning, is_free, makes_variant, without_parentheses};

use self::around::Around;
use self::operators::is_comparing;
use self::place::{Bindings, Prepared};
use self::syntax::{assigned_places, is_place, is_told, scrutinee};
use self::variables::Variables;

/// Rewrites the body of a function with this signature so that it reports its accesses.
pub fn observe(signature: &Signature, body: &mut Block) {
    let mut accesses = Accesses { known: Variables::of(signature), ..Accesses::default() };
    accesses.visit_block_mut(body);
    if accesses.has_told {
        let observed = observed();
        let imports: Block = syn::parse_quote!({
            #[allow(unused_imports)]
            use #observed::{Other as _, OtherProbe as _, OtherValue as _, Storage as _};
        });
        body.stmts.splice(0..0, imports.stmts);
    }
}

/// Adds a statement to `body` that reports the entry of the function.
pub fn observe_entry(signature: &Signature, body: &mut Block) {
    if let Some(entered) = calls::entered(signature) {
        body.stmts.insert(0, Stmt::Expr(expression(quote!({ #entered })), None));
    }
}

/// Returns the path of the module whose functions the macro calls.
fn observed() -> TokenStream {
    quote!(::cuda_std::__private::observed)
}

/// A kind of access. The variants have the same names as in `observed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    Read,
    Write,
    Borrow,
    Update,
}

impl quote::ToTokens for Access {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let name = Ident::new(&format!("{self:?}"), Span::mixed_site());
        let observed = observed();
        tokens.extend(quote!(#observed::Access::#name));
    }
}

/// Parses `tokens` as an expression.
fn expression(tokens: TokenStream) -> Expr {
    parse2(tokens.clone()).unwrap_or(Expr::Verbatim(tokens))
}

/// Returns an expression that runs the reports `told` and then evaluates `value`.
fn then(told: &TokenStream, value: TokenStream, span: Span) -> TokenStream {
    quote_spanned!(span=> ::cuda_std::__private::observed::then({ #told }, #value))
}

#[derive(Default)]
struct Accesses {
    /// True if the body contains a report.
    has_told: bool,
    variables: usize,
    /// Declarations to insert before the current statement.
    tags: TokenStream,
    /// The known facts about the variables in scope.
    known: Variables,
    /// True in the value of a `let`, where a borrow may extend the lifetime of a temporary value.
    may_extend: bool,
}

impl Accesses {
    /// Returns true if an access to `value` may have to be reported.
    fn observes(&self, value: &Expr) -> bool {
        is_place(value) && !self.known.is_own(value)
    }

    /// Returns a new variable's name. The compiler shows type errors of the variable's value at `span`.
    fn variable(&mut self, span: Span) -> Ident {
        self.variables += 1;
        Ident::new(&format!("value_{}", self.variables), Span::mixed_site().located_at(span))
    }

    /// Rewrites `place`, whose value is read, so that it reports the read.
    fn read(&mut self, place: &mut Expr) {
        let span = place.span();
        let mut bindings = Bindings::for_value();
        let prepared = self.prepare(place, Access::Read, &mut bindings);
        if prepared == Prepared::Known {
            let told = self.tell(place, Access::Read);
            *place = expression(bindings.around(then(&told, quote!(#place), span)));
        }
    }

    /// Returns the code that reports `access` to `place` in advance; `None` if `place` must not be evaluated twice.
    fn reach(&mut self, place: &mut Expr, access: Access, bindings: &mut Bindings) -> Option<TokenStream> {
        (self.prepare(place, access, bindings) == Prepared::Known).then(|| self.tell(place, access))
    }

    fn assign(&mut self, assignment: &mut ExprAssign) -> Option<Expr> {
        // The assignment may put a pointer into a structure.
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
        let around = self.operation(&operation.left, &operation.right, operation.op);
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

    /// Returns an expression for `right`, then the reports `told`, then `assign`'s code; `None` without reports.
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
        let value = self.variable(right.span());
        let assign = assign(quote!(#value));
        let inner = bindings.around(quote!({ #told #assign }));
        let right = scrutinee(right);
        Some(expression(quote!(match #right { #value => #inner })))
    }

    fn borrow(&mut self, reference: &mut ExprReference) -> Option<Expr> {
        if !self.observes(&reference.expr) {
            self.visit_expr_mut(&mut reference.expr);
            return None;
        }
        let span = reference.span();
        let access = if reference.mutability.is_some() { Access::Borrow } else { Access::Read };
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
        let is_given = matches!(over, Expr::Call(_) | Expr::MethodCall(_));
        if is_given || matches!(over, Expr::Path(_) | Expr::Field(_) | Expr::Reference(_)) || is_told(over) {
            let span = repeat.expr.span();
            self.iterate_over(&mut repeat.expr, span);
        }
        (!around.is_empty()).then(|| around.around(Expr::ForLoop(repeat.clone())))
    }

    /// Makes a loop over `elements` report its accesses if `elements` is a slice.
    fn iterate_over(&mut self, elements: &mut Expr, span: Span) {
        self.has_told = true;
        let observed = observed();
        *elements = expression(quote_spanned!(span=> #observed::Value(#elements).each()));
    }

    /// Returns the code that reports the accesses of a `let` whose pattern takes the value apart or borrows from it.
    /// The code runs before the `let`. Adds the code for the operators in the value to `around`.
    fn bind(&mut self, local: &mut Local, around: &mut Around) -> Option<TokenStream> {
        let init = local.init.as_mut()?;
        if let Some((_, otherwise)) = &mut init.diverge {
            self.visit_expr_mut(otherwise);
        }
        match &local.pat {
            Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => {}
            Pat::Type(typed) if matches!(&*typed.pat, Pat::Ident(name) if name.by_ref.is_none()) => {}
            // The pattern `_` reads nothing.
            Pat::Wild(_) if is_place(&init.expr) && !computes(&init.expr) => return None,
            pattern => {
                self.lead_to(&mut init.expr, around);
                return self.scrutinise(&mut init.expr, [pattern]);
            }
        }
        self.visit_expr_mut(&mut init.expr);
        None
    }
}

impl VisitMut for Accesses {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let may_extend = self.may_extend;
        let is_call = match expr {
            Expr::Call(call) => !makes_variant(call),
            Expr::MethodCall(_) | Expr::Binary(_) | Expr::Closure(_) => true,
            _ => false,
        };
        self.may_extend &= !is_call;
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
            // Taking an address does not access memory.
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
            Expr::Closure(closure) => {
                let outside = self.known.clone();
                closure.inputs.iter_mut().for_each(|input| self.visit_pat_mut(input));
                closure.inputs.iter().for_each(|input| self.known.declare_typed(input));
                let tags = std::mem::take(&mut self.tags);
                self.visit_expr_mut(&mut closure.body);
                let (body, declared) = (&closure.body, std::mem::replace(&mut self.tags, tags));
                if !declared.is_empty() {
                    *closure.body = expression(quote!({ #declared #body }));
                }
                self.known = outside;
                None
            }
            Expr::Macro(call) => self.assert(&mut call.mac).or_else(|| {
                let call_tokens = self.expand(&mut call.mac);
                call_tokens.map(|told| expression(quote!({ #told #call })))
            }),
            _ => {
                visit_mut::visit_expr_mut(self, expr);
                None
            }
        };
        self.may_extend = may_extend;
        if let Some(replacement) = replacement {
            *expr = replacement;
        }
        if !around.is_empty() {
            *expr = around.around(expr.clone());
        }
    }

    fn visit_block_mut(&mut self, block: &mut Block) {
        let outside = self.known.clone();
        let tags = std::mem::take(&mut self.tags);
        for mut statement in std::mem::take(&mut block.stmts) {
            let mut around = Around::default();
            let told = match &mut statement {
                Stmt::Local(local) => {
                    let mut declared = local.clone();
                    let is_number = declared.init.as_ref().is_some_and(|init| self.is_number_s(&init.expr));
                    let may_extend = std::mem::replace(&mut self.may_extend, true);
                    let told = self.bind(local, &mut around);
                    self.may_extend = may_extend;
                    self.known.bind(&mut declared, is_number);
                    told
                }
                Stmt::Macro(call) => match self.assert(&mut call.mac) {
                    Some(asserted) => {
                        statement = Stmt::Expr(asserted, Some(Token![;](call.mac.path.span())));
                        None
                    }
                    None => self.expand(&mut call.mac),
                },
                other => {
                    self.visit_stmt_mut(other);
                    None
                }
            };
            let [before, after] = around.apart();
            let statements = |told: TokenStream| (!told.is_empty()).then_some(Stmt::Expr(Expr::Verbatim(told), None));
            // A call that was the block's last value is now followed by other statements.
            if let Some(Stmt::Expr(value @ (Expr::Call(_) | Expr::MethodCall(_)), end @ None)) = block.stmts.last_mut()
            {
                *end = Some(Token![;](value.span()));
            }
            block.stmts.extend(statements(std::mem::take(&mut self.tags)));
            block.stmts.extend(statements(before));
            if let Some(told) = told {
                // The reports are in a block, so that their `let`s declare no variables in this scope.
                block.stmts.push(Stmt::Expr(expression(quote!({ #told })), None));
            }
            block.stmts.push(statement);
            block.stmts.extend(statements(after));
        }
        (self.known, self.tags) = (outside, tags);
    }

    leave_constants!();

    fn visit_pat_mut(&mut self, pattern: &mut Pat) {
        self.known.shadow(pattern);
        if let Some(condition) = guard(pattern) {
            self.visit_expr_mut(condition);
        }
    }

    fn visit_item_mut(&mut self, item: &mut Item) {
        // A function within a function is also device code.
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
