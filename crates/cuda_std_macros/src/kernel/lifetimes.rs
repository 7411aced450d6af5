//! Elides the lifetimes that a kernel names. Callers never choose them, because each becomes the lifetime of the
//! buffers.

use std::collections::BTreeSet;

use syn::visit_mut::{self, VisitMut};
use syn::{GenericParam, Ident, ItemFn, Lifetime, TypeParamBound, WherePredicate};

/// Removes the names of the lifetimes: `fn k<'a>(x: &'a [f32])` becomes `fn k(x: &'_ [f32])`.
pub fn elide(function: &mut ItemFn) {
    let generics = &mut function.sig.generics;
    let names = generics.lifetimes().map(|parameter| parameter.lifetime.ident.clone()).collect::<BTreeSet<_>>();
    if names.is_empty() {
        return;
    }
    generics.params = std::mem::take(&mut generics.params)
        .into_iter()
        .filter(|parameter| !matches!(parameter, GenericParam::Lifetime(_)))
        .collect();
    if let Some(bounds) = &mut generics.where_clause {
        let predicates = std::mem::take(&mut bounds.predicates).into_iter();
        bounds.predicates = predicates.filter(|predicate| !matches!(predicate, WherePredicate::Lifetime(_))).collect();
    }
    Elide(names).visit_item_fn_mut(function);
}

struct Elide(BTreeSet<Ident>);

impl VisitMut for Elide {
    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if self.0.contains(&lifetime.ident) {
            lifetime.ident = Ident::new("_", lifetime.ident.span());
        }
    }

    fn visit_label_mut(&mut self, _label: &mut syn::Label) {}

    fn visit_expr_continue_mut(&mut self, _expr: &mut syn::ExprContinue) {}

    fn visit_expr_break_mut(&mut self, ends: &mut syn::ExprBreak) {
        if let Some(value) = &mut ends.expr {
            self.visit_expr_mut(value);
        }
    }

    /// Removes bounds such as `T: 'a`.
    fn visit_generics_mut(&mut self, generics: &mut syn::Generics) {
        let is_kept =
            |bound: &TypeParamBound| !matches!(bound, TypeParamBound::Lifetime(named) if self.0.contains(&named.ident));
        for parameter in generics.type_params_mut() {
            parameter.bounds = std::mem::take(&mut parameter.bounds).into_iter().filter(is_kept).collect();
        }
        for predicate in generics.where_clause.iter_mut().flat_map(|bounds| &mut bounds.predicates) {
            if let WherePredicate::Type(typed) = predicate {
                typed.bounds = std::mem::take(&mut typed.bounds).into_iter().filter(is_kept).collect();
            }
        }
        visit_mut::visit_generics_mut(self, generics);
    }

    /// Skips items within the body, because they have separate lifetimes.
    fn visit_item_mut(&mut self, _item: &mut syn::Item) {}
}

#[cfg(test)]
mod tests {
    use quote::{ToTokens, quote};
    use syn::parse_quote;

    use super::*;

    #[test]
    fn names_of_lifetimes_are_taken_away() {
        let mut function: ItemFn = parse_quote! {
            fn k<'a, 'b: 'a, T: Copy + 'a>(x: &'a [T], y: GlobalMut<'b, T>) where 'b: 'a, T: 'a {
                let first: &'a T = &x[0];
                fn own<'a>(x: &'a u32) -> &'a u32 { x }
                'b: loop { break 'b; }
            }
        };
        elide(&mut function);
        let expected: ItemFn = parse_quote! {
            fn k<T: Copy>(x: &'_ [T], y: GlobalMut<'_, T>) where T: {
                let first: &'_ T = &x[0];
                fn own<'a>(x: &'a u32) -> &'a u32 { x }
                'b: loop { break 'b; }
            }
        };
        assert_eq!(function.to_token_stream().to_string(), expected.to_token_stream().to_string());
        let plain: ItemFn = parse_quote!(
            fn k(x: &[u32]) {}
        );
        let mut same = plain.clone();
        elide(&mut same);
        assert_eq!(quote!(#same).to_string(), quote!(#plain).to_string());
    }
}
