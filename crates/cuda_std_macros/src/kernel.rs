//! `#[kernel]`: a PTX entry for the GPU, a typed call for the host.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{
    AttrStyle, Attribute, Error, Expr, FnArg, GenericParam, Ident, ItemFn, Lit, Meta, Pat, PointerMutability,
    ReturnType, Safety, Type, parse_quote, parse2,
};

mod attribute;
mod body;
mod instances;

use attribute::Options;
use instances::Instance;

/// A view is two PTX parameters, and `cuda_std` keeps room for 32.
const MAX_PARAMETERS: usize = 16;

/// A local variable of the expansion, which no parameter of the kernel is the same as, whatever its name.
fn local(name: &str) -> Ident {
    Ident::new(name, proc_macro2::Span::mixed_site())
}

/// A parameter: its name, whether it is bound `mut`, and its type.
struct Parameter {
    name: Ident,
    mutability: Option<syn::token::Mut>,
    ty: Type,
}

impl Parameter {
    fn parse(argument: &FnArg) -> syn::Result<Self> {
        let FnArg::Typed(typed) = argument else {
            return Err(Error::new(argument.span(), "a kernel is a plain function: it takes no `self`"));
        };
        if let Some(attribute) = typed.attrs.first() {
            return Err(Error::new(attribute.span(), "a kernel's parameter takes no attributes"));
        }
        let Pat::Ident(pattern) = &*typed.pat else {
            return Err(Error::new(typed.pat.span(), "a kernel's parameter needs a plain name"));
        };
        Ok(Self { name: pattern.ident.clone(), mutability: pattern.mutability, ty: (*typed.ty).clone() })
    }

    /// The type that the host passes, and the body's value made of it. A slice or a raw pointer, as Rust-CUDA's kernels
    /// take, is passed as the view of a buffer, so that the compiler knows which memory is meant.
    fn on_host(&self) -> syn::Result<(TokenStream, TokenStream)> {
        let Self { name, ty, .. } = self;
        match ty {
            Type::Reference(reference) => {
                let Type::Slice(slice) = &*reference.elem else {
                    return Err(Error::new(ty.span(), "a kernel takes a slice, not another reference"));
                };
                if reference.mutability.is_some() {
                    return Err(Error::new(
                        ty.span(),
                        "every thread would hold this `&mut`: take a `GlobalMut<T>`, or a `*mut T`",
                    ));
                }
                let element = &slice.elem;
                Ok((quote!(::cuda_std::Global<#element>), quote!(unsafe { #name.as_slice() })))
            }
            Type::Ptr(pointer) => {
                let element = &pointer.elem;
                let view = if is_mut(pointer) { quote!(GlobalMut) } else { quote!(Global) };
                Ok((quote!(::cuda_std::#view<#element>), quote!(#name.as_ptr())))
            }
            _ => Ok((quote!(#ty), quote!(#name))),
        }
    }

    /// How the host's value is encoded: a raw pointer without the view's length.
    fn encode(&self) -> TokenStream {
        let name = &self.name;
        let text = name.unraw().to_string();
        let params = local("params");
        match &self.ty {
            Type::Ptr(_) => quote!(#name.encode_pointer(#text, &mut #params);),
            _ => quote!(::cuda_std::Argument::encode(#name, #text, &mut #params);),
        }
    }
}

fn is_mut(pointer: &syn::TypePtr) -> bool {
    matches!(pointer.mutability, PointerMutability::Mut(_))
}

pub fn expand(attribute: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let options = Options::parse(attribute)?;
    let function: ItemFn = parse2(item)?;
    check_signature(&function)?;
    let instances = instances::instances(&function.sig.ident, &function.sig.generics, &options.groups)?;
    let parameters = function.sig.inputs.iter().map(Parameter::parse).collect::<syn::Result<Vec<_>>>()?;
    if parameters.len() > MAX_PARAMETERS {
        return Err(Error::new(
            function.sig.inputs.span(),
            format!("a kernel takes at most {MAX_PARAMETERS} parameters"),
        ));
    }
    let device = device(&function, &options, &parameters, &instances);
    let host = host(&function, &options, &parameters, &instances)?;
    Ok(quote!(::cuda_std::__private::kernel! { device { #device } host { #host } }))
}

fn check_signature(function: &ItemFn) -> syn::Result<()> {
    let signature = &function.sig;
    if let Some(inner) = function.attrs.iter().find(|attribute| matches!(attribute.style, AttrStyle::Inner(_))) {
        return Err(Error::new(inner.span(), "a kernel's attributes stand before it"));
    }
    let refuse = |span: proc_macro2::Span, message: &str| Err(Error::new(span, message));
    if let Some(token) = &signature.asyncness {
        return refuse(token.span(), "a kernel cannot be async");
    }
    if let Some(abi) = &signature.abi {
        return refuse(abi.span(), "a kernel's ABI is chosen by #[kernel]");
    }
    if signature.variadic.is_some() {
        return refuse(signature.inputs.span(), "a kernel takes a fixed number of parameters");
    }
    match &signature.output {
        ReturnType::Default => Ok(()),
        ReturnType::Type(_, ty) => refuse(ty.span(), "a kernel returns nothing: write into a view"),
    }
}

/// The attributes that decide whether the kernel is compiled at all.
fn conditions(attributes: &[Attribute]) -> impl Iterator<Item = &Attribute> {
    attributes.iter().filter(|attribute| attribute.path().is_ident("cfg"))
}

/// What the kernel is for the GPU: an entry, or one for each instance of a generic kernel.
fn device(function: &ItemFn, options: &Options, parameters: &[Parameter], instances: &[Instance]) -> TokenStream {
    let ItemFn { attrs, vis, sig, .. } = function;
    if instances.is_empty() {
        return entry(function, &sig.ident, quote!(#vis), options, parameters);
    }
    let conditions: Vec<_> = conditions(attrs).collect();
    let name = &sig.ident;
    let modules = instances.iter().map(|instance| {
        let aliases = instance.aliases(&sig.generics);
        let entry = entry(function, &instance.name, quote!(pub), options, parameters);
        let module = &instance.name;
        // A module, so that the parameters' names are known to the items in the body, which shared arrays are.
        quote! {
            #(#conditions)*
            #[doc(hidden)]
            #[allow(unused_imports, dead_code)]
            mod #module {
                use super::*;
                #aliases
                #entry
            }
        }
    });
    quote! {
        #(#modules)*
        #(#conditions)*
        #[doc(hidden)]
        #[allow(non_camel_case_types, dead_code)]
        #vis enum #name {}
    }
}

/// A PTX entry: each parameter as its head and tail, put together again for the body.
fn entry(
    function: &ItemFn,
    name: &Ident,
    visibility: TokenStream,
    options: &Options,
    parameters: &[Parameter],
) -> TokenStream {
    let ItemFn { attrs, block, .. } = function;
    let heads: Vec<_> = (0..parameters.len()).map(|i| local(&format!("head_{i}"))).collect();
    let tails: Vec<_> = (0..parameters.len()).map(|i| local(&format!("tail_{i}"))).collect();
    let names = parameters.iter().map(|p| &p.name);
    let mutabilities = parameters.iter().map(|p| &p.mutability);
    let types: Vec<_> = parameters.iter().map(|p| &p.ty).collect();
    let conditions = conditions(attrs);
    let bounds = options.max_threads.map(|threads| {
        let text = format!("// cuda_std launch_bounds {name} {threads} {}", options.min_blocks.unwrap_or(0));
        quote!(#(#conditions)* ::core::arch::global_asm!(#text);)
    });
    quote! {
        #bounds
        #(#attrs)*
        #[unsafe(no_mangle)]
        #[allow(clippy::too_many_arguments, improper_ctypes_definitions)]
        #visibility unsafe extern "ptx-kernel" fn #name(
            #(#heads: <#types as ::cuda_std::KernelParam>::Head, #tails: <#types as ::cuda_std::KernelParam>::Tail,)*
        ) {
            #(
                // SAFETY: the host encoded the parts of this very parameter.
                let #mutabilities #names = unsafe { <#types as ::cuda_std::KernelParam>::from_parts(#heads, #tails) };
            )*
            #block
        }
    }
}

/// The kernel's documentation up to the first empty line, as one line.
fn summary(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(text) => Some(text.value().trim().to_owned()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    });
    lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The type that stands for the kernel, and each instance's description.
fn kernel_type(function: &ItemFn, options: &Options, instances: &[Instance]) -> TokenStream {
    let ItemFn { attrs, vis, sig, .. } = function;
    let name = &sig.ident;
    let family = name.to_string();
    let summary = summary(attrs);
    let conditions: Vec<_> = conditions(attrs).collect();
    let option = |bound: Option<u32>| match bound {
        Some(number) => quote!(::core::option::Option::Some(#number)),
        None => quote!(::core::option::Option::None),
    };
    let (max_threads, min_blocks) = (option(options.max_threads), option(options.min_blocks));
    let implement = |ty: TokenStream, symbol: String| {
        quote! {
            #(#conditions)*
            unsafe impl ::cuda_std::Kernel for #ty {
                const INFO: &'static ::cuda_std::KernelInfo = &::cuda_std::KernelInfo {
                    name: #symbol,
                    family: #family,
                    summary: #summary,
                    module: ::core::module_path!(),
                    file: ::core::file!(),
                    line: ::core::line!(),
                    max_threads: #max_threads,
                    min_blocks: #min_blocks,
                };
            }
        }
    };
    let types: Vec<TokenStream> = match instances {
        [] => vec![quote!(#name)],
        _ => instances.iter().map(|Instance { arguments, .. }| quote!(#name<#(#arguments),*>)).collect(),
    };
    let declaration = match instances {
        [] => quote!(enum #name {}),
        [first, ..] => {
            let parameters = sig.generics.params.iter().zip(&first.arguments).map(|(parameter, argument)| {
                // A default, so that the kernel's name alone is a type, which knows all instances.
                match parameter {
                    GenericParam::Const(parameter) => {
                        let (ident, ty) = (&parameter.ident, &parameter.ty);
                        quote!(const #ident: #ty = #argument)
                    }
                    GenericParam::Type(parameter) => {
                        let ident = &parameter.ident;
                        quote!(#ident = #argument)
                    }
                    GenericParam::Lifetime(lifetime) => quote!(#lifetime),
                }
            });
            let marked = sig.generics.type_params().map(|parameter| &parameter.ident);
            // Braces: a tuple's constructor would have the function's name.
            quote! {
                struct #name<#(#parameters),*> {
                    arguments: ::core::marker::PhantomData<fn() -> (#(#marked,)*)>,
                }
            }
        }
    };
    let names = match instances {
        [] => vec![family.clone()],
        _ => instances.iter().map(|instance| instance.name.to_string()).collect(),
    };
    let implementations = types.iter().zip(names).map(|(ty, name)| implement(ty.clone(), name));
    let first = &types[0];
    quote! {
        #(#conditions)*
        #[doc = concat!("The kernel [`", #family, "`](fn@", #family, ") as a type.")]
        #[allow(non_camel_case_types, dead_code)]
        #vis #declaration

        #(#implementations)*

        #(#conditions)*
        impl #first {
            #[doc(hidden)]
            #vis const INSTANCES: &'static [&'static ::cuda_std::KernelInfo] =
                &[#(<#types as ::cuda_std::Kernel>::INFO),*];
        }
    }
}

/// The function that makes a call, and the type that stands for the kernel.
fn host(
    function: &ItemFn,
    options: &Options,
    parameters: &[Parameter],
    instances: &[Instance],
) -> syn::Result<TokenStream> {
    let ItemFn { attrs, vis, sig, block, .. } = function;
    let block = body::for_host(block);
    let name = &sig.ident;
    let unsafety = match sig.safety {
        Safety::Unsafe(token) => Some(token),
        _ => None,
    };
    let params = local("params");
    let names: Vec<_> = parameters.iter().map(|p| &p.name).collect();
    let mutabilities = parameters.iter().map(|p| &p.mutability);
    let types = parameters.iter().map(|p| &p.ty);
    let on_host = parameters.iter().map(Parameter::on_host).collect::<syn::Result<Vec<_>>>()?;
    let (passed, values): (Vec<_>, Vec<_>) = on_host.into_iter().unzip();
    let encode = parameters.iter().map(Parameter::encode);

    let (declared, arguments, body_where) = sig.generics.split_for_impl();
    let turbofish = arguments.as_turbofish();
    let mut with_kernel = sig.generics.clone();
    if !instances.is_empty() {
        // Only what is built can be called.
        with_kernel.make_where_clause().predicates.push(parse_quote!(#name #arguments: ::cuda_std::Kernel));
    }
    let call_where = &with_kernel.where_clause;

    let call_body = quote!(__body #turbofish (#(#values),*));
    let call_body = if unsafety.is_some() { quote!(unsafe { #call_body }) } else { call_body };
    let kernel_type = kernel_type(function, options, instances);
    Ok(quote! {
        #kernel_type

        #(#attrs)*
        #[allow(clippy::too_many_arguments, mismatched_lifetime_syntaxes)]
        #vis #unsafety fn #name #declared(
            #(#names: #passed),*
        ) -> ::cuda_std::Call<impl ::core::ops::Fn() + ::core::marker::Sync + ::core::marker::Send>
        #call_where
        {
            #[inline(always)]
            #[allow(clippy::too_many_arguments)]
            #unsafety fn __body #declared (#(#mutabilities #names: #types),*) #body_where #block

            let mut #params = ::cuda_std::Params::new();
            #(#encode)*
            // SAFETY: the parameters are encoded as the entry declares them, and the body holds the views.
            unsafe {
                ::cuda_std::Call::from_parts(
                    <#name #arguments as ::cuda_std::Kernel>::INFO,
                    #params,
                    move || #call_body,
                )
            }
        }
    })
}

#[cfg(test)]
mod tests;
