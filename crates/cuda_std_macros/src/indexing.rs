//! Makes `x[i]` an access to element `i` of a view or a shared array, and `x[i][j]` one to element `j` of row `i`.
//!
//! A view has no references to its elements, because other threads may write them. The pass knows a view by its
//! declaration: a parameter or variable of the type `Global<T>`, `GlobalMut<T>` or `Shared<T>`, or a variable that
//! holds a `shared_array!`, a part or a row. It replaces `x[i]` by `x.load(i)`, `x[i] = v` by `x.store(i, v)`, and each
//! index of an array by `row`. An index may be any integer, which the pass converts: a generic parameter of the methods
//! would change the order of the PTX's blocks.

use std::collections::HashMap;

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{
    Arm, BinOp, Block, Error, Expr, ExprClosure, ExprForLoop, ExprIf, ExprIndex, ExprLet, ExprMethodCall, ExprWhile,
    FnArg, GenericArgument, Ident, Item, Lit, Local, Macro, Pat, PatIdent, PathArguments, Signature, Token, Type,
    TypeArray, TypeGroup, TypeParen, parse_quote_spanned, parse2,
};

use crate::accesses::{is_assigning, is_view_s, without_parentheses};
use crate::constants::leave_constants;
use crate::kernel::floats::MACROS;
use crate::names::last_name;

/// The types whose elements the pass accesses.
const VIEWS: [&str; 3] = ["Global", "GlobalMut", "Shared"];

/// Rewrites the indices of views in the body of a function with this signature.
pub fn rewrite(signature: &Signature, body: &mut Block) -> syn::Result<()> {
    let mut indices = Indices::default();
    indices.declare_parameters(signature);
    indices.visit_block_mut(body);
    indices.error.map_or(Ok(()), Err)
}

/// A view's type as far as the source shows it: the number of dimensions of an element. This number is 0 if the
/// elements are numbers, and 1 for `Shared<[f32; 16]>`.
#[derive(Clone, Copy)]
struct View {
    dimensions: usize,
}

/// An element that is indexed in the source: `base[indices[0]][indices[1]]…`.
struct Element<'e> {
    base: &'e Expr,
    view: View,
    indices: Vec<&'e Expr>,
    span: Span,
}

#[derive(Default)]
struct Indices {
    /// The views in scope.
    views: HashMap<Ident, View>,
    error: Option<Error>,
}

impl Indices {
    fn declare_parameters(&mut self, signature: &Signature) {
        for input in &signature.inputs {
            if let FnArg::Typed(typed) = input {
                self.declare(&typed.pat, view(&typed.ty));
            }
        }
    }

    /// Records that the variables of `pattern` exist from here on. If `pattern` is a single variable, this variable is
    /// the view `view`.
    fn declare(&mut self, pattern: &Pat, view: Option<View>) {
        match (pattern, view) {
            (Pat::Ident(PatIdent { ident, subpat: None, .. }), Some(view)) => {
                self.views.insert(ident.clone(), view);
            }
            (Pat::Type(typed), _) => self.declare(&typed.pat, self::view(&typed.ty).or(view)),
            (other, _) => Shadowed(self).visit_pat_mut(&mut other.clone()),
        }
    }

    /// Records the variables of a `let`.
    fn bind(&mut self, pattern: &Pat, value: Option<&Expr>) {
        match (pattern, value) {
            (Pat::Tuple(pattern), Some(Expr::Tuple(value))) if pattern.elems.len() == value.elems.len() => {
                pattern.elems.iter().zip(&value.elems).for_each(|(pattern, value)| self.bind(pattern, Some(value)));
            }
            (pattern, value) => self.declare(pattern, value.and_then(|value| self.view_of(value))),
        }
    }

    /// Returns the view's type if the source shows that `value` is a view, and otherwise `None`.
    fn view_of(&self, value: &Expr) -> Option<View> {
        match value {
            Expr::Paren(inner) => self.view_of(&inner.expr),
            Expr::Group(inner) => self.view_of(&inner.expr),
            Expr::Path(path) => self.views.get(path.path.get_ident()?).copied(),
            Expr::Macro(call) if last_name(&call.mac.path)? == "shared_array" => array(&call.mac.tokens),
            Expr::Call(call) => match &*call.func {
                Expr::Path(path) if last_name(&path.path)? == "dynamic_shared" => {
                    Some(View { dimensions: dimensions(argument(&path.path.segments.last()?.arguments)?) })
                }
                _ => None,
            },
            Expr::MethodCall(call) => {
                let View { dimensions: of_receiver } = self.view_of(&call.receiver)?;
                match &*call.method.to_string() {
                    "part" | "part_unchecked" | "named" => Some(View { dimensions: of_receiver }),
                    "row" => Some(View { dimensions: of_receiver.checked_sub(1)? }),
                    "cast" => {
                        let arguments = PathArguments::AngleBracketed(call.turbofish.clone()?);
                        Some(View { dimensions: dimensions(argument(&arguments)?) })
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Returns the element of a view that `place` denotes, or `None` if `place` does not denote such an element.
    fn element<'e>(&self, place: &'e Expr) -> Option<Element<'e>> {
        let (mut indices, mut base, mut span) = (Vec::new(), without_parentheses(place), None);
        while let Expr::Index(ExprIndex { expr, index, bracket_token, .. }) = base {
            if matches!(&**index, Expr::Range(_)) {
                return None;
            }
            indices.push(&**index);
            span.get_or_insert(bracket_token.span.open());
            base = without_parentheses(expr);
        }
        indices.reverse();
        // A call would be evaluated at another time.
        let view = if matches!(base, Expr::Path(_)) { self.view_of(base)? } else { return None };
        Some(Element { base, view, indices, span: span? })
    }

    /// Records the error for an expression that would need a reference to an element of a view.
    fn refuse(&mut self, element: Span, done: &str) {
        let message = format!(
            "{done} an element of a view is not possible, because other threads may access the element: copy it \
             (`let mut element = x[i];`), change the copy, and store it (`x[i] = element;`)"
        );
        let error = Error::new(element, message);
        match &mut self.error {
            Some(all) => all.combine(error),
            none => *none = Some(error),
        }
    }

    /// Returns the expression that replaces an assignment to `place`, or `None` if `place` is not an element of a view.
    fn assign(&mut self, place: &Expr, value: &mut Expr, op: Option<&BinOp>) -> Option<Expr> {
        let Some(element) = self.element(place) else {
            if let Some(span) = self.part_of(place) {
                self.refuse(span, "assigning to a part of");
            }
            return None;
        };
        let span = element.span;
        let (array, index, rest) = element.array_and_index();
        if !rest.is_empty() {
            self.refuse(span, "assigning to a part of");
            return None;
        }
        let (mut array, mut index) = (array, to_usize(index));
        self.visit_expr_mut(value);
        self.visit_expr_mut(&mut index);
        self.visit_expr_mut(&mut array);
        // Errors in types are shown at the value and at the index.
        let name = |name: &str, span: Span| Ident::new(name, Span::mixed_site().located_at(span));
        let (assigned, at, found) = (name("assigned", value.span()), name("at", index.span()), name("found", span));
        // Rust evaluates the value before the place.
        Some(match op {
            None => parse_quote_spanned!(span=> { let #assigned = #value; #array.store(#index, #assigned) }),
            Some(op) => parse_quote_spanned!(span=> {
                let #assigned = #value;
                let #at = #index;
                let mut #found = #array.load(#at);
                #found #op #assigned;
                #array.store(#at, #found)
            }),
        })
    }

    /// Returns the source position of an element of a view if `place` is a field of this element, or if this element is
    /// a part of `place`.
    fn part_of(&self, place: &Expr) -> Option<Span> {
        let part = |part: &Expr| self.element(part).map(|element| element.span).or_else(|| self.part_of(part));
        match without_parentheses(place) {
            Expr::Tuple(tuple) => tuple.elems.iter().find_map(part),
            Expr::Array(array) => array.elems.iter().find_map(part),
            Expr::Field(field) => part(&field.base),
            Expr::Index(index) => self.part_of(&index.expr),
            _ => None,
        }
    }

    fn in_scope(&mut self, visit: impl FnOnce(&mut Self)) {
        let before = self.views.clone();
        visit(self);
        self.views = before;
    }
}

impl Element<'_> {
    /// Returns the array that contains the element, the element's index in the array, and the indices within the
    /// element.
    fn array_and_index(&self) -> (Expr, &Expr, &[&Expr]) {
        let rows = self.view.dimensions.min(self.indices.len() - 1);
        let (base, span) = (self.base, self.span);
        let row = |array: Expr, index: &&Expr| parse_quote_spanned!(span=> #array.row(#index));
        let array = self.indices[..rows].iter().fold(base.clone(), row);
        (array, self.indices[rows], &self.indices[rows + 1..])
    }

    fn load(&self) -> Expr {
        let (array, index, rest) = self.array_and_index();
        let index = to_usize(index);
        let load = parse_quote_spanned!(self.span=> #array.load(#index));
        rest.iter().fold(load, |value: Expr, index| parse_quote_spanned!(self.span=> #value[#index]))
    }
}

impl VisitMut for Indices {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let replacement = match expr {
            Expr::Index(_) => self.element(expr).map(|element| element.load()).map(|mut load| {
                visit_mut::visit_expr_mut(self, &mut load);
                load
            }),
            Expr::Assign(assignment) => self.assign(&assignment.left, &mut assignment.right, None),
            Expr::Binary(binary) if is_assigning(binary.op) => {
                self.assign(&binary.left, &mut binary.right, Some(&binary.op))
            }
            Expr::Reference(reference) => {
                let element = self.element(&reference.expr).map(|element| element.span);
                if let Some(span) = element.or_else(|| self.part_of(&reference.expr)) {
                    self.refuse(span, "a reference to");
                }
                None
            }
            Expr::MethodCall(ExprMethodCall { receiver, method, args, .. }) => {
                let is_access = is_view_s(&method.to_string()) && self.view_of(receiver).is_some();
                if let Some(index) = args.first_mut().filter(|_| is_access) {
                    *index = to_usize(index);
                }
                if let Some(element) = self.element(receiver) {
                    let (load, span) = (element.load(), element.span);
                    // A place that cannot be changed, so that no method changes a copy.
                    **receiver = parse_quote_spanned!(span=> (*::cuda_std::__private::element(&#load)));
                }
                None
            }
            _ => None,
        };
        match replacement {
            Some(replacement) => *expr = replacement,
            None => visit_mut::visit_expr_mut(self, expr),
        }
    }

    fn visit_block_mut(&mut self, block: &mut Block) {
        self.in_scope(|indices| visit_mut::visit_block_mut(indices, block));
    }

    fn visit_local_mut(&mut self, local: &mut Local) {
        let value = local.init.as_ref().map(|init| (*init.expr).clone());
        visit_mut::visit_local_mut(self, local);
        self.bind(&local.pat, value.as_ref());
    }

    fn visit_expr_closure_mut(&mut self, closure: &mut ExprClosure) {
        self.in_scope(|indices| {
            closure.inputs.iter().for_each(|input| indices.declare(input, None));
            indices.visit_expr_mut(&mut closure.body);
        });
    }

    fn visit_expr_let_mut(&mut self, binding: &mut ExprLet) {
        self.visit_expr_mut(&mut binding.expr);
        self.declare(&binding.pat, None);
    }

    fn visit_expr_if_mut(&mut self, branch: &mut ExprIf) {
        self.in_scope(|indices| {
            indices.visit_expr_mut(&mut branch.cond);
            indices.visit_block_mut(&mut branch.then_branch);
        });
        if let Some((_, otherwise)) = &mut branch.else_branch {
            self.visit_expr_mut(otherwise);
        }
    }

    fn visit_expr_while_mut(&mut self, repeat: &mut ExprWhile) {
        self.in_scope(|indices| visit_mut::visit_expr_while_mut(indices, repeat));
    }

    fn visit_expr_for_loop_mut(&mut self, repeat: &mut ExprForLoop) {
        self.visit_expr_mut(&mut repeat.expr);
        self.in_scope(|indices| {
            indices.declare(&repeat.pat, None);
            indices.visit_block_mut(&mut repeat.body);
        });
    }

    fn visit_arm_mut(&mut self, arm: &mut Arm) {
        self.in_scope(|indices| {
            indices.declare(&arm.pat, None);
            visit_mut::visit_arm_mut(indices, arm);
        });
    }

    fn visit_macro_mut(&mut self, call: &mut Macro) {
        let is_known = last_name(&call.path).is_some_and(|name| MACROS.contains(&&*name));
        if is_known
            && let Ok(mut arguments) = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(call.tokens.clone())
        {
            arguments.iter_mut().for_each(|argument| self.visit_expr_mut(argument));
            call.tokens = quote!(#arguments);
        }
    }

    leave_constants!();

    fn visit_item_mut(&mut self, item: &mut Item) {
        if let Item::Fn(function) = item
            && function.sig.constness.is_none()
        {
            let outside = std::mem::take(&mut self.views);
            self.declare_parameters(&function.sig);
            self.visit_block_mut(&mut function.block);
            self.views = outside;
        }
    }
}

/// Returns `index`, which may have any integer type, as a `usize`.
fn to_usize(index: &Expr) -> Expr {
    match without_parentheses(index) {
        Expr::Lit(literal) if matches!(&literal.lit, Lit::Int(number) if matches!(number.suffix(), "" | "usize")) => {
            index.clone()
        }
        Expr::Cast(cast) if matches!(&*cast.ty, Type::Path(path) if path.path.is_ident("usize")) => index.clone(),
        // The passes for the simulator know that functions of a module `usize` only compute.
        _ => parse_quote_spanned!(index.span()=> ::cuda_std::__private::usize::ElementIndex::index(#index)),
    }
}

/// Removes the variables of a pattern, which hide views of the same names.
struct Shadowed<'i>(&'i mut Indices);

impl VisitMut for Shadowed<'_> {
    fn visit_pat_ident_mut(&mut self, pattern: &mut PatIdent) {
        self.0.views.remove(&pattern.ident);
        visit_mut::visit_pat_ident_mut(self, pattern);
    }
}

/// Returns the view of the type `ty`, or `None` for other types.
fn view(ty: &Type) -> Option<View> {
    let path = match ty {
        Type::Path(path) => path,
        Type::Reference(reference) => return view(&reference.elem),
        _ => return None,
    };
    let last = path.path.segments.last().filter(|last| VIEWS.iter().any(|view| last.ident == view))?;
    Some(View { dimensions: dimensions(argument(&last.arguments)?) })
}

/// Returns the last type among generic arguments.
fn argument(arguments: &PathArguments) -> Option<&Type> {
    let PathArguments::AngleBracketed(arguments) = arguments else { return None };
    arguments.args.iter().rev().find_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}

fn dimensions(element: &Type) -> usize {
    match element {
        Type::Array(array) => 1 + dimensions(&array.elem),
        Type::Paren(TypeParen { elem, .. }) | Type::Group(TypeGroup { elem, .. }) => dimensions(elem),
        _ => 0,
    }
}

/// Returns the view that the arguments of `shared_array!` declare.
fn array(tokens: &TokenStream) -> Option<View> {
    let element = |input: ParseStream<'_>| {
        input.parse::<Option<Token![fn]>>()?;
        input.parse::<Option<Token![mod]>>()?;
        input.parse::<TokenStream>()
    };
    let array = element.parse2(tokens.clone()).ok()?;
    let TypeArray { elem, .. } = parse2(quote!([#array])).ok()?;
    Some(View { dimensions: dimensions(&elem) })
}

#[cfg(test)]
mod tests;
