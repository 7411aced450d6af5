//! Kernels that use associated types of their parameters, such as `M::In`, in the code for the GPU.
//!
//! # Design
//!
//! In the module of an instance, `M` is an alias of a type, and the compiler does not look up `M::In` in the bounds of
//! `M`. The body of such a kernel therefore becomes a generic function, which the entry calls. The entry's parameters
//! need the types, too: a generic `impl`, in which `M` is a parameter, gives each a name.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::visit_mut::{self, VisitMut};
use syn::{Block, FnArg, Generics, Ident, ItemFn, Macro, Pat, Path, PathArguments, Safety, Type, parse_quote};

use crate::names::last_name;

/// Returns true if the kernel uses an associated type of a parameter.
pub fn uses(function: &ItemFn) -> bool {
    let mut function = function.clone();
    let generics = function.sig.generics.clone();
    let mut projections = Projections { parameters: &generics, found: Vec::new() };
    projections.visit_signature_mut(&mut function.sig);
    projections.visit_block_mut(&mut function.block);
    !projections.found.is_empty()
}

/// Makes the body of `function` a generic function, and replaces the associated types in the signature. Returns the
/// items that the signature needs.
pub fn make_generic(function: &mut ItemFn) -> TokenStream {
    let generics = function.sig.generics.clone();
    let (declared, arguments, bounds) = generics.split_for_impl();
    let turbofish = arguments.as_turbofish();
    let (block, inputs) = (&function.block, &function.sig.inputs);
    let unsafety = match function.sig.safety {
        Safety::Unsafe(token) => Some(token),
        _ => None,
    };
    let names = inputs.iter().filter_map(|input| match input {
        FnArg::Typed(typed) => match &*typed.pat {
            Pat::Ident(name) => Some(&name.ident),
            _ => None,
        },
        FnArg::Receiver(_) => None,
    });
    let call = quote!(__body #turbofish (#(#names),*));
    let call = if unsafety.is_some() { quote!(unsafe { #call }) } else { call };
    let body: Block = parse_quote!({
        #[inline(always)]
        #[allow(clippy::too_many_arguments)]
        #unsafety fn __body #declared (#inputs) #bounds #block

        // SAFETY: the entry has the kernel's obligations.
        #call
    });
    *function.block = body;

    let mut projections = Projections { parameters: &generics, found: Vec::new() };
    for input in &mut function.sig.inputs {
        projections.visit_fn_arg_mut(input);
        // Only the body changes its parameters.
        if let FnArg::Typed(typed) = input
            && let Pat::Ident(name) = &mut *typed.pat
        {
            name.mutability = None;
        }
    }
    let found = projections.found;
    if found.is_empty() {
        return TokenStream::new();
    }
    let names: Vec<Ident> = (0..found.len()).map(projection).collect();
    let types = generics.type_params().map(|parameter| &parameter.ident);
    quote! {
        struct __Parameters #declared (::core::marker::PhantomData<fn() -> (#(#types,)*)>) #bounds;
        #[allow(non_camel_case_types)]
        trait __Projections { #(type #names;)* }
        impl #declared __Projections for __Parameters #arguments #bounds {
            #(type #names = #found;)*
        }
    }
}

/// Returns the name of the associated type with this index.
fn projection(index: usize) -> Ident {
    format_ident!("__projection_{index}")
}

/// Finds the associated types of parameters, and replaces them by the types that `__Projections` names.
struct Projections<'g> {
    parameters: &'g Generics,
    found: Vec<Path>,
}

impl Projections<'_> {
    /// Returns the named type that replaces `path`, or `None` if `path` is no associated type of a parameter.
    fn replaced(&mut self, path: &Path) -> Option<Type> {
        let first = &path.segments.first()?.ident;
        let is_plain = path.segments.iter().all(|segment| matches!(segment.arguments, PathArguments::None));
        let is_parameters = self.parameters.type_params().any(|parameter| parameter.ident == *first);
        if path.leading_colon.is_some() || path.segments.len() < 2 || !is_plain || !is_parameters {
            return None;
        }
        let text = |path: &Path| path.to_token_stream().to_string();
        let known = self.found.iter().position(|found| text(found) == text(path));
        let index = known.unwrap_or_else(|| {
            self.found.push(path.clone());
            self.found.len() - 1
        });
        let (_, arguments, _) = self.parameters.split_for_impl();
        let name = projection(index);
        Some(parse_quote!(<__Parameters #arguments as __Projections>::#name))
    }
}

impl VisitMut for Projections<'_> {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        if let Type::Path(path) = ty
            && path.qself.is_none()
            && let Some(replacement) = self.replaced(&path.path)
        {
            *ty = replacement;
            return;
        }
        visit_mut::visit_type_mut(self, ty);
    }

    /// Finds the type in a path such as `M::In::default`.
    fn visit_path_mut(&mut self, path: &mut Path) {
        if path.segments.len() > 2 {
            let mut owner = path.clone();
            owner.segments.pop();
            owner.segments.pop_punct();
            let _ = self.replaced(&owner);
        }
        visit_mut::visit_path_mut(self, path);
    }

    fn visit_macro_mut(&mut self, call: &mut Macro) {
        let array = &call.tokens;
        if last_name(&call.path).is_some_and(|name| name == "shared_array")
            && let Ok(mut array) = syn::parse2(quote!([#array]))
        {
            self.visit_type_mut(&mut array);
        }
    }

    /// A function in the body has parameters of its own.
    fn visit_item_mut(&mut self, _item: &mut syn::Item) {}
}
