//! Calls of functions that may access memory through their arguments.
//!
//! The simulator does not see the accesses of a function without `#[device]`. If such a function receives a pointer or
//! a slice, the simulator reports the call as not checked. A function under `#[device]` reports its entry, so calls of
//! it are not reported.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, ExprCall, ExprMethodCall, ExprStruct, FnArg, Ident, Path, Signature};

use crate::names::{is_number, is_type_s, last_name};

use super::handing::{Handing, is_float_s, is_iterating, is_view_s, wrap};
use super::place::at;
use super::syntax::{is_free, trait_of_method, without_parentheses};
use super::{Accesses, expression, observed, then};

/// Methods of pointers and slices that access no memory themselves. Accesses through the slices or pointers that they
/// return are reported.
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

/// Methods of iterators that iterate over their argument.
const ITERATED: [&str; 2] = ["zip", "chain"];

/// Two methods of `Escaped`. The first inspects a value, and the second inspects the target of a reference.
const ESCAPED: [&str; 2] = ["value", "referred"];

/// Functions of the standard library that access nothing through their arguments.
const HARMLESS_FUNCTIONS: [&str; 8] =
    ["drop", "forget", "from_raw_parts", "from_raw_parts_mut", "size_of_val", "align_of_val", "black_box", "from_ref"];

/// Modules whose functions report their accesses or access no memory.
const KNOWN_MODULES: [&str; 11] =
    ["core", "std", "alloc", "cuda_std", "ptr", "slice", "mem", "thread", "warp", "atomic", "grid"];

/// Macros that contain no expressions, and macros whose arguments the pass visits.
const KNOWN_MACROS: [&str; 12] = [
    "cfg",
    "column",
    "concat",
    "dbg",
    "env",
    "file",
    "line",
    "matches",
    "module_path",
    "shared_array",
    "stringify",
    "vec",
];

impl Accesses {
    /// Rewrites a call of a function that is not in `core::ptr`, so that the generated code inspects the arguments for
    /// pointers.
    pub fn call_function(&mut self, call: &mut ExprCall) -> Option<Expr> {
        let (name, is_known) = match without_parentheses(&call.func) {
            Expr::Path(path) => {
                let name = last_name(&path.path)?;
                let is_known = is_known_module_s(&path.path)
                    || HARMLESS_FUNCTIONS.contains(&&*name)
                    || self.known.is_closure(&name);
                (name, is_known)
            }
            _ => ("a function".to_owned(), false),
        };
        if is_known {
            visit_mut::visit_expr_call_mut(self, call);
            return None;
        }
        let [handings, behind] = self.handings(&call.args);
        visit_mut::visit_expr_call_mut(self, call);
        let span = call.span();
        if is_type_s(&name) {
            let told = self.keep(&handings, call.args.iter_mut());
            return told.map(|told| expression(then(&told, quote!(#call), span)));
        }
        let told = self.hand(&name, [&handings, &behind], call.args.iter_mut(), span)?;
        Some(self.calling(&name, &told, quote!(#call), span))
    }

    /// Rewrites a call of a method whose accesses are not known from its name.
    pub fn call_unknown(&mut self, call: &mut ExprMethodCall) -> Option<Expr> {
        let name = call.method.unraw().to_string();
        if is_known_method(&name) || is_float_s(call, &name) {
            visit_mut::visit_expr_method_call_mut(self, call);
            return None;
        }
        let [handings, behind] = self.handings(&call.args);
        if is_iterating(&call.receiver) && ITERATED.contains(&&*name) && !matches!(handings[..], [Handing::Not]) {
            let spans: Vec<Span> = call.args.iter().map(Spanned::span).collect();
            visit_mut::visit_expr_method_call_mut(self, call);
            for (argument, span) in call.args.iter_mut().zip(spans) {
                self.iterate_over(argument, span);
            }
            return None;
        }
        let receiver = match self.handing(&call.receiver) {
            // An iterator reports its accesses itself. Its other methods belong to the standard library.
            Handing::Computed if is_iterating(&call.receiver) => Handing::Not,
            handing => handing,
        };
        visit_mut::visit_expr_method_call_mut(self, call);
        let span = call.method.span();
        let told = self.hand(&name, [&handings, &behind], call.args.iter_mut(), span);
        let received = match receiver {
            Handing::Computed => {
                let value = &call.receiver;
                let received = quote_spanned!(span=> ::cuda_std::__private::observed::received(#value, #name));
                *call.receiver = expression(received);
                Some(TokenStream::new())
            }
            receiver => self.hand(&name, [&[receiver], &[]], std::iter::once(&mut *call.receiver), span),
        };
        let told: TokenStream = match (received, told) {
            (None, None) => return None,
            (received, told) => [received, told].into_iter().flatten().collect(),
        };
        Some(self.calling(&name, &told, quote!(#call), span))
    }

    /// Rewrites a struct literal so that the simulator records the pointers in its fields.
    pub fn construct(&mut self, literal: &mut ExprStruct) -> Option<Expr> {
        let handings: Vec<Handing> = literal.fields.iter().map(|field| self.handing(&field.expr)).collect();
        visit_mut::visit_expr_struct_mut(self, literal);
        let told = self.keep(&handings, literal.fields.iter_mut().map(|field| &mut field.expr))?;
        Some(expression(then(&told, quote!(#literal), literal.span())))
    }

    /// Rewrites `value`, which is assigned to a field or through a pointer, so that the simulator records the pointers
    /// in it.
    pub fn put(&mut self, value: &mut Expr) {
        let handing = self.handing(value);
        self.visit_expr_mut(value);
        if let Some(told) = self.keep(&[handing], std::iter::once(&mut *value)) {
            // The new value is a block, because a block does not move a mutable reference out of a variable.
            *value = expression(quote!({ #told #value }));
        }
    }

    /// Returns the statements that inspect the variables in a call of the macro `name`, to be put before the call.
    /// Returns `None` if the macro is in [`KNOWN_MACROS`] or its `tokens` name no variable that may be a pointer.
    pub fn mention(&mut self, name: &str, tokens: &TokenStream, span: Span) -> Option<TokenStream> {
        if KNOWN_MACROS.contains(&name) {
            return None;
        }
        let function = format!("{name}!");
        let mut told = TokenStream::new();
        for variable in self.known.mentioned(tokens) {
            told.extend(self.look(&Handing::Simple(expression(quote!(#variable))), &function, ESCAPED));
        }
        if told.is_empty() {
            return None;
        }
        self.has_told = true;
        let calling = quote_spanned!(span=> ::cuda_std::__private::observed::calling());
        let observed = observed();
        Some(quote!(#observed::after(#calling #told, ());))
    }

    /// Returns an expression that runs the reports `told` and then evaluates `call`, a call of the method `name`. The
    /// reports are for a receiver that is a slice or a pointer. If the receiver has another type, the generated code
    /// inspects it for pointers instead.
    pub fn call_perhaps_other(
        &mut self,
        receiver: &Handing,
        name: &str,
        told: &TokenStream,
        call: TokenStream,
        span: Span,
    ) -> Expr {
        match self.look(receiver, name, ["other", "other_referred"]) {
            Some(looked) => {
                let call = then(told, call, span);
                self.calling(name, &looked, call, span)
            }
            None => expression(then(told, call, span)),
        }
    }

    /// Returns a method call that inspects a value for pointers before `function` is called. `methods` names two
    /// methods: the first for a value, and the second for the target of a reference.
    fn look(&self, handing: &Handing, function: &str, methods: [&str; 2]) -> Option<TokenStream> {
        let (value, is_reference) = match handing {
            Handing::Simple(Expr::Path(path)) => match path.path.get_ident() {
                Some(name) if self.known.is_reference(name) => (expression(quote!(*#path)), true),
                _ => (Expr::Path(path.clone()), false),
            },
            Handing::Simple(value) => (value.clone(), false),
            Handing::Reference(value) => (value.clone(), true),
            _ => return None,
        };
        let method = Ident::new(methods[usize::from(is_reference)], Span::mixed_site());
        let at = at(&value);
        Some(quote!(.#method(#at, #function)))
    }

    /// Rewrites `arguments` so that the generated code inspects them for pointers when `function` receives them.
    /// Returns the method calls that inspect arguments before the call of `function`, or `None` if no argument may
    /// contain a pointer.
    fn hand<'e>(
        &mut self,
        function: &str,
        [handings, behind]: [&[Handing]; 2],
        arguments: impl Iterator<Item = &'e mut Expr>,
        span: Span,
    ) -> Option<TokenStream> {
        let mut told: TokenStream = behind.iter().filter_map(|handing| self.look(handing, function, ESCAPED)).collect();
        let mut is_any = !told.is_empty();
        for (handing, argument) in handings.iter().zip(arguments) {
            is_any |= !matches!(handing, Handing::Not);
            told.extend(self.look(handing, function, ESCAPED));
            wrap(handing, argument, |value| {
                // The call has the line of its first word.
                quote_spanned!(span=> ::cuda_std::__private::observed::passed(#value, #function))
            });
        }
        is_any.then_some(told)
    }

    /// Returns `call`, a call of `function`, preceded by the code `told` that inspects the arguments.
    fn calling(&mut self, function: &str, told: &TokenStream, call: TokenStream, span: Span) -> Expr {
        self.has_told = true;
        let observed = observed();
        let calling = quote_spanned!(span=> ::cuda_std::__private::observed::calling());
        let after = Ident::new(if function == "from_ptr" { "after_from_ptr" } else { "after" }, Span::mixed_site());
        expression(quote!(#observed::#after(#calling #told, #call)))
    }

    /// Returns the statements that record the pointers in `parts` before the parts are stored in another value.
    fn keep<'e>(&mut self, handings: &[Handing], parts: impl Iterator<Item = &'e mut Expr>) -> Option<TokenStream> {
        let observed = observed();
        let mut told = TokenStream::new();
        for (handing, part) in handings.iter().zip(parts) {
            if let Handing::Simple(value) = handing {
                let at = at(value);
                told.extend(quote!(#observed::retained(#at);));
            }
            if matches!(handing, Handing::Computed) {
                wrap(handing, part, |value| quote!(#observed::retaining(#value)));
                self.has_told = true;
            }
        }
        self.has_told |= !told.is_empty();
        (!told.is_empty()).then_some(told)
    }
}

fn is_known_module_s(path: &Path) -> bool {
    path.segments.iter().rev().skip(1).any(|part| KNOWN_MODULES.iter().any(|module| part.ident == module))
}

pub fn is_known_method(name: &str) -> bool {
    is_view_s(name) || HARMLESS.contains(&name) || is_free(name)
}

/// Returns the statement that reports the entry of a device function, or `None` if no parameter can be a pointer.
pub fn entered(signature: &Signature) -> Option<TokenStream> {
    let may_point = signature.inputs.iter().any(|input| match input {
        FnArg::Receiver(_) => true,
        FnArg::Typed(typed) => !is_number(&typed.ty),
    });
    let (observed, name) = (observed(), signature.ident.unraw().to_string());
    let is_method = matches!(signature.inputs.first(), Some(FnArg::Receiver(_)));
    may_point.then(|| match trait_of_method(&name).filter(|_| is_method) {
        Some(operator) => {
            quote!(#observed::entered_operator(#name, #operator, ::core::any::type_name::<Self>());)
        }
        None => quote!(#observed::entered(#name);),
    })
}
