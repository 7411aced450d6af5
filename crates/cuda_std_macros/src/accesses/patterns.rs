//! The reports of the slice elements that patterns read.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{BinOp, Expr, ExprIf, ExprMatch, ExprWhile, Ident, Pat, PatIdent, PatSlice};

use super::around::Around;
use super::place::{Bindings, address};
use super::syntax::{computes, is_place, is_simple, without_parentheses};
use super::{Access, Accesses, expression, observed};

impl Accesses {
    /// Rewrites the condition of an `if` or a `while`, including its `let`s. Returns the code that reports the
    /// condition's accesses, to be run before the condition. The reports of the second and later `let`s stay in the
    /// condition, because they use the variables of the earlier `let`s.
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

    /// Returns the code that reports the accesses of a match on `scrutinee`, to be run before the match.
    pub fn scrutinise<'p>(
        &mut self,
        scrutinee: &mut Expr,
        patterns: impl IntoIterator<Item = &'p Pat, IntoIter: Clone>,
    ) -> Option<TokenStream> {
        let patterns = patterns.into_iter();
        let elements = self.tell_of_elements(scrutinee, patterns.clone());
        let is_lent = self.observes(scrutinee) && lends(scrutinee) && patterns.clone().any(borrows);
        let told = if !is_lent && (!self.observes(scrutinee) || computes(scrutinee)) {
            let is_given = matches!(scrutinee, Expr::Call(_) | Expr::MethodCall(_));
            self.visit_expr_mut(scrutinee);
            if is_given {
                self.tell_of_given(scrutinee, patterns);
            }
            None
        } else {
            self.reach(scrutinee, Access::Read, &mut Bindings::for_place())
        };
        match (told, elements) {
            (None, None) => None,
            (told, elements) => Some(quote!(#told #elements)),
        }
    }

    pub fn take_apart(&mut self, expression: &mut ExprMatch) -> Option<Expr> {
        let told = self.scrutinise(&mut expression.expr, expression.arms.iter().map(|arm| &arm.pat));
        expression.arms.iter_mut().for_each(|arm| self.visit_arm_mut(arm));
        told.map(|told| super::expression(quote!({ #told #expression })))
    }

    pub fn take_apart_if(&mut self, branch: &mut ExprIf) -> Option<Expr> {
        let told = self.condition(&mut branch.cond);
        self.visit_block_mut(&mut branch.then_branch);
        if let Some((_, otherwise)) = &mut branch.else_branch {
            self.visit_expr_mut(otherwise);
            if !matches!(**otherwise, Expr::If(_) | Expr::Block(_)) {
                **otherwise = expression(quote!({ #otherwise }));
            }
        }
        told.map(|told| expression(quote!({ #told #branch })))
    }

    pub fn take_apart_while(&mut self, repeat: &mut ExprWhile) -> Option<Expr> {
        let mut around = Around::default();
        if let Expr::Let(binding) = &mut *repeat.cond {
            self.lead_to(&mut binding.expr, &mut around);
        }
        let told = self.condition(&mut repeat.cond);
        self.visit_block_mut(&mut repeat.body);
        if told.is_none() && around.is_empty() {
            return None;
        }
        let [before, after] = around.apart();
        let (label, cond, attributes, body) = (&repeat.label, &repeat.cond, &repeat.attrs, &repeat.body.stmts);
        Some(expression(quote! {
            #(#attributes)* #label loop { #before #told if #cond { #after #(#body)* } else { #after break } }
        }))
    }

    /// Returns the code that reports the elements that patterns such as `[a, .., b]` read, if `value` is or contains a
    /// slice. The code reports the elements of all arms, whichever arm matches.
    pub fn tell_of_elements<'p>(
        &mut self,
        value: &Expr,
        patterns: impl IntoIterator<Item = &'p Pat>,
    ) -> Option<TokenStream> {
        let mut told = TokenStream::new();
        for pattern in patterns {
            self.tell_of_pattern(value, pattern, &mut told);
        }
        (!told.is_empty()).then_some(told)
    }

    fn tell_of_pattern(&mut self, value: &Expr, pattern: &Pat, told: &mut TokenStream) {
        // The parts of a tuple that is constructed for the match are matched one by one.
        if let (Expr::Tuple(values), Pat::Tuple(patterns)) = (without_parentheses(value), bare(pattern))
            && values.elems.len() == patterns.elems.len()
            && !patterns.elems.iter().any(is_rest)
        {
            for (value, pattern) in values.elems.iter().zip(&patterns.elems) {
                self.tell_of_pattern(value, pattern, told);
            }
            return;
        }
        for Slice { parts, within } in slices(pattern) {
            told.extend(match within {
                None => self.tell_of_slice(value, |at, span| tell_of_parts(at, &parts, span)),
                Some(within) => self.tell_of_inner(value, &within, &parts),
            });
        }
    }

    /// Returns the code that reports the elements `parts` of a slice in `value`. The pattern `within` matches `value`
    /// and binds the slice.
    fn tell_of_inner(&mut self, value: &Expr, within: &TokenStream, parts: &[Part]) -> Option<TokenStream> {
        let value = free(value).filter(|value| self.is_matched(value))?;
        self.has_told = true;
        Some(tell_of_inner(&quote!(&#value), within, parts, value.span()))
    }

    /// Rewrites the call `value` so that it reports the slice elements that `patterns` read in its result.
    pub fn tell_of_given<'p>(&mut self, value: &mut Expr, patterns: impl IntoIterator<Item = &'p Pat>) {
        let (observed, given, span) = (observed(), slice_name(), value.span());
        let told = patterns.into_iter().flat_map(slices).map(|Slice { parts, within }| match within {
            None => tell_of_parts(&quote!(#observed::At(&raw const *#given)), &parts, span),
            Some(within) => tell_of_inner(&quote!(#given), &within, &parts, span),
        });
        self.look_at(value, &told.collect());
    }

    fn look_at(&mut self, value: &mut Expr, told: &TokenStream) {
        if !told.is_empty() {
            self.has_told = true;
            let (observed, given) = (observed(), slice_name());
            *value = expression(quote!(#observed::looked_at(#value, |#given| { #told })));
        }
    }

    fn is_matched(&self, value: &Expr) -> bool {
        is_place(value) || self.may_point(value)
    }

    /// Returns the tokens that the function `tell` makes from the address of `value`, which may be a slice. Returns
    /// `None` if `value` must not be evaluated twice.
    pub fn tell_of_slice(
        &mut self,
        value: &Expr,
        tell: impl FnOnce(&TokenStream, Span) -> TokenStream,
    ) -> Option<TokenStream> {
        let value = free(value).filter(|value| self.is_matched(value) && !self.known.is_own(value))?;
        self.has_told = true;
        let (observed, address) = (observed(), address(value));
        Some(tell(&quote_spanned!(value.span()=> #observed::At(#address)), value.span()))
    }
}

/// Returns a matched or compared value without `&`, or `None` if it must not be evaluated twice.
fn free(value: &Expr) -> Option<&Expr> {
    match without_parentheses(value) {
        Expr::Reference(reference) => free(&reference.expr),
        value => (if is_place(value) { !computes(value) } else { is_simple(value) }).then_some(value),
    }
}

/// Returns true if `place` consists of a call, and of fields, simple indices and dereferences of the result of the
/// call.
fn lends(place: &Expr) -> bool {
    match place {
        Expr::Paren(inner) => lends(&inner.expr),
        Expr::Field(field) => lends(&field.base),
        Expr::Index(index) => is_simple(&index.index) && lends(&index.expr),
        Expr::Unary(unary) if is_place(place) => lends(&unary.expr),
        value => matches!(value, Expr::Call(_) | Expr::MethodCall(_) | Expr::Verbatim(_)) && !is_simple(value),
    }
}

/// Returns true if the pattern borrows parts of the matched value, which then must not be a copy.
fn borrows(pattern: &Pat) -> bool {
    struct Borrows(bool);
    impl VisitMut for Borrows {
        fn visit_pat_ident_mut(&mut self, name: &mut PatIdent) {
            self.0 |= name.by_ref.is_some();
            visit_mut::visit_pat_ident_mut(self, name);
        }

        fn visit_pat_slice_mut(&mut self, _: &mut PatSlice) {
            self.0 = true;
        }
    }
    let mut borrows = Borrows(false);
    borrows.visit_pat_mut(&mut pattern.clone());
    borrows.0
}

/// Returns the code that reports the elements `parts` of a slice behind the reference `value`. The pattern `within`
/// matches the target of `value` and binds the slice.
fn tell_of_inner(value: &TokenStream, within: &TokenStream, parts: &[Part], span: Span) -> TokenStream {
    let (observed, slice) = (observed(), slice_name());
    let told = tell_of_parts(&quote!(#observed::At(&raw const *#slice)), parts, span);
    quote! {
        #[allow(unreachable_patterns, unused_variables, clippy::match_single_binding)]
        match #value {
            #within => { #told }
            _ => {}
        }
    }
}

/// An element of a slice that a pattern reads.
struct Part {
    /// The index of the element. A negative index counts from the end of the slice.
    index: isize,
    /// The number of elements that the pattern names, which is the minimum length of a matching slice.
    least: usize,
    /// True if the pattern matches only slices of exactly this minimum length.
    is_exact: bool,
    /// True if the pattern binds the element to a name.
    binds: bool,
}

/// Returns the name of the variable that the generated code binds to a slice.
fn slice_name() -> Ident {
    Ident::new("slice", Span::mixed_site())
}

/// Returns `pattern` without parentheses and guards.
fn bare(pattern: &Pat) -> &Pat {
    match pattern {
        Pat::Paren(inner) => bare(&inner.pat),
        Pat::Guard(guarded) => bare(&guarded.pat),
        pattern => pattern,
    }
}

/// A slice that a pattern matches, and the elements that the pattern reads.
struct Slice {
    parts: Vec<Part>,
    /// The pattern that matches the whole value and binds only this slice. `None` if the whole value is the slice.
    within: Option<TokenStream>,
}

/// Returns the slices that `pattern` matches.
fn slices(pattern: &Pat) -> Vec<Slice> {
    /// Returns the slices that the patterns `parts` match. `around` takes the index of a part and the pattern for that
    /// part, and returns the pattern of the whole value.
    fn inner<'p>(
        parts: impl IntoIterator<Item = &'p Pat>,
        around: impl Fn(usize, TokenStream) -> TokenStream,
    ) -> Vec<Slice> {
        let in_part = |(index, part): (usize, &Pat)| {
            let found = slices(part).into_iter().map(|Slice { parts, within }| {
                let slice = slice_name();
                Slice { parts, within: Some(around(index, within.unwrap_or_else(|| quote!(#slice)))) }
            });
            found.collect::<Vec<_>>()
        };
        parts.into_iter().enumerate().flat_map(in_part).collect()
    }
    /// Returns a list of patterns with `within` at `index` and wildcards elsewhere.
    fn only<'p>(parts: impl IntoIterator<Item = &'p Pat>, index: usize, within: &TokenStream) -> TokenStream {
        let all = parts.into_iter().enumerate().map(|(other, part)| match part {
            _ if other == index => quote!(#within,),
            part if is_rest(part) => quote!(..,),
            _ => quote!(_,),
        });
        all.collect()
    }
    match pattern {
        Pat::Paren(inner) => slices(&inner.pat),
        Pat::Reference(inner) => slices(&inner.pat),
        Pat::Type(typed) => slices(&typed.pat),
        Pat::Guard(guarded) => slices(&guarded.pat),
        Pat::Ident(name) => name.subpat.iter().flat_map(|(_, pattern)| slices(pattern)).collect(),
        Pat::Or(either) => either.cases.iter().flat_map(slices).collect(),
        Pat::Slice(slice) => {
            let mut all = inner(&slice.elems, |index, within| {
                let parts = only(&slice.elems, index, &within);
                quote!([#parts])
            });
            let parts = parts(slice);
            if !parts.is_empty() {
                all.insert(0, Slice { parts, within: None });
            }
            all
        }
        Pat::Tuple(tuple) => inner(&tuple.elems, |index, within| {
            let parts = only(&tuple.elems, index, &within);
            quote!((#parts))
        }),
        Pat::TupleStruct(value) => inner(&value.elems, |index, within| {
            let (path, parts) = (&value.path, only(&value.elems, index, &within));
            quote!(#path(#parts))
        }),
        Pat::Struct(value) => inner(value.fields.iter().map(|field| &*field.pat), |index, within| {
            let (path, member) = (&value.path, &value.fields[index].member);
            quote!(#path { #member: #within, .. })
        }),
        _ => Vec::new(),
    }
}

/// Returns the code that reports the elements `parts` of the slice at the address `at`.
fn tell_of_parts(at: &TokenStream, parts: &[Part], span: Span) -> TokenStream {
    let told = parts.iter().map(
        |Part { index, least, is_exact, binds }| quote_spanned!(span=> #at.matched(#index, #least, #is_exact, #binds);),
    );
    told.collect()
}

/// Returns the elements that a slice pattern reads.
fn parts(slice: &PatSlice) -> Vec<Part> {
    let rest = slice.elems.iter().position(is_rest);
    let len = slice.elems.len() as isize;
    let read = (0..).zip(&slice.elems).filter(|(_, element)| !matches!(element, Pat::Wild(_)) && !is_rest(element));
    let part = |(index, element): (isize, &Pat)| Part {
        index: if rest.is_some_and(|rest| index > rest as isize) { index - len } else { index },
        least: slice.elems.len() - usize::from(rest.is_some()),
        is_exact: rest.is_none(),
        binds: matches!(element, Pat::Ident(_)),
    };
    read.map(part).collect()
}

fn is_rest(pattern: &Pat) -> bool {
    match pattern {
        Pat::Rest(_) => true,
        Pat::Ident(name) => name.subpat.as_ref().is_some_and(|(_, pattern)| matches!(**pattern, Pat::Rest(_))),
        _ => false,
    }
}
