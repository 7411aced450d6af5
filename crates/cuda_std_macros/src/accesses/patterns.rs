//! Elements of slices that a pattern or a comparison reads.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::visit_mut::VisitMut;
use syn::{BinOp, Expr, ExprIf, ExprMatch, ExprWhile, Ident, Pat, PatSlice};

use super::place::{Bindings, address, computes, is_place, is_simple, without_parentheses};
use super::{Access, Accesses, expression, observed};

impl Accesses {
    /// The condition of an `if` or a `while`, with its `let`s: what is told before it. What is told of a `let` that stands after
    /// others is in the condition, where what these bind is known.
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

    /// What is told before `scrutinee` is taken apart by the patterns, where it is.
    pub fn scrutinise<'p>(
        &mut self,
        scrutinee: &mut Expr,
        patterns: impl IntoIterator<Item = &'p Pat, IntoIter: Clone>,
    ) -> Option<TokenStream> {
        let patterns = patterns.into_iter();
        let elements = self.tell_of_elements(scrutinee, patterns.clone());
        let told = if !self.observes(scrutinee) || computes(scrutinee) {
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
        }
        told.map(|told| expression(quote!({ #told #branch })))
    }

    pub fn take_apart_while(&mut self, repeat: &mut ExprWhile) -> Option<Expr> {
        let told = self.condition(&mut repeat.cond);
        self.visit_block_mut(&mut repeat.body);
        let (label, cond, body) = (&repeat.label, &repeat.cond, &repeat.body);
        told.map(|told| expression(quote!(#label loop { #told if #cond #body else { break } })))
    }

    /// What tells of the elements that patterns like `[a, .., b]` read of `value`, if it is a slice, and of slices in it. Those
    /// of all arms are told of, whichever fits.
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
        // A tuple that is made to be matched is taken apart here.
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

    /// What tells of the parts of the slice that `within` finds in `value`.
    fn tell_of_inner(&mut self, value: &Expr, within: &TokenStream, parts: &[Part]) -> Option<TokenStream> {
        let value = free(value).filter(|value| self.is_matched(value))?;
        self.has_told = true;
        Some(tell_of_inner(&quote!(&#value), within, parts, value.span()))
    }

    /// `value`, which a call gives, where the slices that patterns take apart in it are told of before.
    pub fn tell_of_given<'p>(&mut self, value: &mut Expr, patterns: impl IntoIterator<Item = &'p Pat>) {
        let (observed, given, span) = (observed(), slice_name(), value.span());
        let told = patterns.into_iter().flat_map(slices).map(|Slice { parts, within }| match within {
            None => tell_of_parts(&quote!(#observed::At(&raw const *#given)), &parts, span),
            Some(within) => tell_of_inner(&quote!(#given), &within, &parts, span),
        });
        self.look_at(value, &told.collect());
    }

    /// The same, of all elements of a slice that is compared.
    pub fn tell_of_compared(&mut self, value: &mut Expr) {
        let (observed, given, span) = (observed(), slice_name(), value.span());
        self.look_at(
            value,
            &quote_spanned!(span=> #observed::At(&raw const *#given).used_all(#observed::Access::Read);),
        );
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

    /// What `tell` writes, given the `At` of what may be a slice. None where it takes more than is free to be computed twice.
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

/// What is matched or compared, without references to it, if that is free to be found twice.
fn free(value: &Expr) -> Option<&Expr> {
    match without_parentheses(value) {
        Expr::Reference(reference) => free(&reference.expr),
        value => (if is_place(value) { !computes(value) } else { is_simple(value) }).then_some(value),
    }
}

/// What tells of the parts of the slice that `within` finds in what `value` refers to.
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

/// An element that a pattern reads.
struct Part {
    /// Less than 0 from the end on.
    index: isize,
    /// How many elements the pattern names.
    least: usize,
    /// Whether it fits no longer slices.
    is_exact: bool,
    /// Whether it gives the element a name.
    binds: bool,
}

/// The name of a slice that a pattern finds.
fn slice_name() -> Ident {
    Ident::new("slice", Span::mixed_site())
}

/// `pattern` without what is around it.
fn bare(pattern: &Pat) -> &Pat {
    match pattern {
        Pat::Paren(inner) => bare(&inner.pat),
        Pat::Guard(guarded) => bare(&guarded.pat),
        pattern => pattern,
    }
}

/// A slice that a pattern takes apart.
struct Slice {
    parts: Vec<Part>,
    /// The pattern that finds it, and nothing else, in what the pattern is matched with. None where that is the slice.
    within: Option<TokenStream>,
}

/// The slices that `pattern` takes apart.
fn slices(pattern: &Pat) -> Vec<Slice> {
    /// Those of the parts, each found by what `around` makes of its number and of what finds it in the part.
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
    /// The parts of a pattern, but for this one.
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

/// What tells of these parts of the slice at `at`.
fn tell_of_parts(at: &TokenStream, parts: &[Part], span: Span) -> TokenStream {
    let told = parts.iter().map(
        |Part { index, least, is_exact, binds }| quote_spanned!(span=> #at.matched(#index, #least, #is_exact, #binds);),
    );
    told.collect()
}

/// The elements that a slice pattern reads.
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
