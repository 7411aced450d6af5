//! Calls of functions that may access what they are handed.
//!
//! A pointer or a slice that is handed to a function which is not device code is announced: the simulator does not see what is
//! done with it there. A marked function tells that it has been entered, and nothing is announced.

use proc_macro2::{Delimiter, Group, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::visit_mut;
use syn::{Expr, ExprCall, ExprMethodCall, ExprStruct, FnArg, Ident, Path, Signature, Type};

use super::place::{at, computes, is_place, is_simple, without_parentheses};
use super::{Accesses, expression, observed, then};

/// Methods of pointers and slices that access nothing, or give slices or pointers whose accesses are told of.
const HARMLESS: [&str; 33] = [
    "len",
    "is_empty",
    "as_ptr",
    "as_mut_ptr",
    "as_ptr_range",
    "as_mut_ptr_range",
    "chunks",
    "chunks_mut",
    "chunks_exact",
    "chunks_exact_mut",
    "rchunks",
    "rchunks_mut",
    "windows",
    "split_at",
    "split_at_mut",
    "into_iter",
    "is_null",
    "cast",
    "cast_mut",
    "cast_const",
    "addr",
    "expose_provenance",
    "offset_from",
    "byte_offset_from",
    "align_offset",
    "is_aligned",
    "eq",
    "ne",
    "clone",
    "into",
    "part",
    "index_1d",
    "sync_threads",
];

/// Functions of the standard library, by their last name.
const HARMLESS_FUNCTIONS: [&str; 8] =
    ["drop", "forget", "from_raw_parts", "from_raw_parts_mut", "size_of_val", "align_of_val", "black_box", "from_ref"];

/// Where functions are observed, or access nothing.
const KNOWN_MODULES: [&str; 11] =
    ["core", "std", "alloc", "cuda_std", "ptr", "slice", "mem", "thread", "warp", "atomic", "grid"];

impl Accesses {
    /// A call that is none of `core::ptr`'s.
    pub fn call_function(&mut self, call: &mut ExprCall) -> Option<Expr> {
        let handed: Vec<Expr> = call.args.iter().filter(|argument| self.may_point(argument)).cloned().collect();
        visit_mut::visit_expr_call_mut(self, call);
        let Expr::Path(path) = without_parentheses(&call.func) else {
            return self.hand("a function", &handed, quote!(#call), call.span());
        };
        let name = last_name(&path.path)?;
        if is_type_s(&name) {
            return self.keep(&handed, quote!(#call), call.span());
        }
        let is_known =
            path.path.segments.iter().rev().skip(1).any(|part| KNOWN_MODULES.iter().any(|module| part.ident == module));
        if is_known || HARMLESS_FUNCTIONS.contains(&&*name) || self.known.is_closure(&name) {
            return None;
        }
        self.hand(&name, &handed, quote!(#call), call.span())
    }

    /// A method of which nothing is known but its name.
    pub fn call_unknown(&mut self, call: &mut ExprMethodCall) -> Option<Expr> {
        let name = call.method.unraw().to_string();
        // Those of views, which are observed.
        let is_view_s = ["load", "store", "atomic"].iter().any(|start| name.starts_with(start));
        let is_known = is_view_s || HARMLESS.contains(&&*name);
        let receiver = Some(&*call.receiver).filter(|receiver| !matches!(receiver, Expr::MethodCall(_)));
        let handed: Vec<Expr> = match is_known {
            true => Vec::new(),
            false => receiver.into_iter().chain(&call.args).filter(|value| self.may_point(value)).cloned().collect(),
        };
        visit_mut::visit_expr_method_call_mut(self, call);
        self.hand(&name, &handed, quote!(#call), call.method.span())
    }

    /// A structure that may be given pointers.
    pub fn construct(&mut self, literal: &mut ExprStruct) -> Option<Expr> {
        let fields = literal.fields.iter().map(|field| &field.expr);
        let kept: Vec<Expr> = fields.filter(|value| self.may_point(value)).cloned().collect();
        visit_mut::visit_expr_struct_mut(self, literal);
        self.keep(&kept, quote!(#literal), literal.span())
    }

    /// `call`, which hands over `values`, if they are pointers or slices.
    fn hand(&mut self, function: &str, values: &[Expr], call: TokenStream, span: Span) -> Option<Expr> {
        let observed = observed();
        let handed = values.iter().map(|value| {
            let at = at(value);
            // The call's line is that of its first word.
            quote_spanned!(span=> ::cuda_std::__private::observed::handed(#at, #function))
        });
        let tokens = handed.reduce(|all, next| quote!(#all.and(#next)))?;
        self.has_told = true;
        let token = Ident::new("handed", Span::mixed_site());
        let nested = quote!(match #tokens { #token => #observed::after(#call, #token) });
        let mut group = Group::new(Delimiter::Parenthesis, nested);
        group.set_span(Span::mixed_site());
        Some(expression(quote!(#group)))
    }

    /// `value`, which is made of `parts`.
    fn keep(&mut self, parts: &[Expr], value: TokenStream, span: Span) -> Option<Expr> {
        if parts.is_empty() {
            return None;
        }
        self.has_told = true;
        let observed = observed();
        let told: TokenStream = parts.iter().map(at).map(|at| quote!(#observed::kept(#at);)).collect();
        Some(expression(then(&told, value, span)))
    }

    /// Whether `value` may be a pointer or a slice, and is free to be computed twice.
    fn may_point(&self, value: &Expr) -> bool {
        match without_parentheses(value) {
            Expr::Path(path) => match path.path.get_ident() {
                Some(name) => !is_type_s(&name.unraw().to_string()) && !self.known.is_number(name),
                None => last_name(&path.path).is_some_and(|name| !is_type_s(&name)),
            },
            Expr::Field(field) => self.may_point(&field.base),
            Expr::Cast(cast) => matches!(&*cast.ty, Type::Ptr(_)) && is_simple(&cast.expr),
            Expr::MethodCall(call) => is_simple(value) && self.may_point(&call.receiver),
            Expr::Reference(reference) => is_place(&reference.expr) && !computes(&reference.expr),
            _ => false,
        }
    }
}

/// Whether the name is one of a constant, a type or a variant.
fn is_type_s(name: &str) -> bool {
    name.starts_with(char::is_uppercase)
}

fn last_name(path: &Path) -> Option<String> {
    path.segments.last().map(|last| last.ident.unraw().to_string())
}

/// Whether a value of that type is no pointer.
pub fn is_number(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.get_ident().is_some_and(|name| {
        ["bool", "char"].iter().chain(&crate::kernel::NUMBERS).any(|number| name == number)
    }))
}

/// The statement that tells that the function has been entered. None where its arguments can be no pointers.
pub fn entered(signature: &Signature) -> Option<TokenStream> {
    let may_point = signature.inputs.iter().any(|input| match input {
        FnArg::Receiver(_) => true,
        FnArg::Typed(typed) => !is_number(&typed.ty),
    });
    let (observed, name) = (observed(), signature.ident.unraw().to_string());
    may_point.then(|| quote!(#observed::entered(#name);))
}
