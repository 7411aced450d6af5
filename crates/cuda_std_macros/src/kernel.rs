//! `#[kernel]`: a PTX entry for the GPU, a typed call for the host.

use proc_macro2::TokenStream;
use quote::quote;
use syn::meta::ParseNestedMeta;
use syn::spanned::Spanned;
use syn::{
    AttrStyle, Attribute, Error, FnArg, Ident, ItemFn, LitInt, Pat, PointerMutability, ReturnType, Safety, Type, parse2,
};

/// A view is two PTX parameters, and `cuda_std` keeps room for 32.
const MAX_PARAMETERS: usize = 16;

/// `#[kernel(max_threads = …, min_blocks = …)]`.
#[derive(Default)]
struct Bounds {
    max_threads: Option<u32>,
    min_blocks: Option<u32>,
}

impl Bounds {
    fn parse(attributes: TokenStream) -> syn::Result<Self> {
        let mut bounds = Self::default();
        let parser = syn::meta::parser(|meta| bounds.set(&meta));
        syn::parse::Parser::parse2(parser, attributes)?;
        if bounds.min_blocks.is_some() && bounds.max_threads.is_none() {
            return Err(Error::new(proc_macro2::Span::call_site(), "`min_blocks` needs `max_threads` beside it"));
        }
        Ok(bounds)
    }

    fn set(&mut self, meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
        let (bound, limit) = if meta.path.is_ident("max_threads") {
            (&mut self.max_threads, 1024)
        } else if meta.path.is_ident("min_blocks") {
            (&mut self.min_blocks, 32)
        } else {
            return Err(meta.error("expected `max_threads = …` or `min_blocks = …`"));
        };
        let value: LitInt = meta.value()?.parse()?;
        let number = value.base10_parse()?;
        if number == 0 || number > limit {
            return Err(Error::new(value.span(), format!("expected a number from 1 to {limit}")));
        }
        *bound = Some(number);
        Ok(())
    }
}

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
        let params = local("params");
        match &self.ty {
            Type::Ptr(_) => quote!(#params.push_pointer(#name.as_ptr() as usize, #name.device());),
            _ => quote!(::cuda_std::Argument::encode(#name, &mut #params);),
        }
    }
}

fn is_mut(pointer: &syn::TypePtr) -> bool {
    matches!(pointer.mutability, PointerMutability::Mut(_))
}

pub fn expand(attributes: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let bounds = Bounds::parse(attributes)?;
    let function: ItemFn = parse2(item)?;
    check_signature(&function)?;
    let parameters = function.sig.inputs.iter().map(Parameter::parse).collect::<syn::Result<Vec<_>>>()?;
    if parameters.len() > MAX_PARAMETERS {
        return Err(Error::new(
            function.sig.inputs.span(),
            format!("a kernel takes at most {MAX_PARAMETERS} parameters"),
        ));
    }
    let device = device(&function, &bounds, &parameters);
    let host = host(&function, &bounds, &parameters)?;
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
    if !signature.generics.params.is_empty() {
        return refuse(
            signature.generics.span(),
            "a kernel is an entry of the PTX and has no generics: call a generic function from it",
        );
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

/// The PTX entry: each parameter as its head and tail, put together again for the body.
fn device(function: &ItemFn, bounds: &Bounds, parameters: &[Parameter]) -> TokenStream {
    let ItemFn { attrs, vis, sig, block, .. } = function;
    let name = &sig.ident;
    let heads: Vec<_> = (0..parameters.len()).map(|i| local(&format!("head_{i}"))).collect();
    let tails: Vec<_> = (0..parameters.len()).map(|i| local(&format!("tail_{i}"))).collect();
    let names = parameters.iter().map(|p| &p.name);
    let mutabilities = parameters.iter().map(|p| &p.mutability);
    let types: Vec<_> = parameters.iter().map(|p| &p.ty).collect();
    let conditions = conditions(attrs);
    let bounds = bounds.max_threads.map(|threads| {
        let text = format!("// cuda_std launch_bounds {name} {threads} {}", bounds.min_blocks.unwrap_or(0));
        quote!(#(#conditions)* ::core::arch::global_asm!(#text);)
    });
    quote! {
        #bounds
        #(#attrs)*
        #[unsafe(no_mangle)]
        #[allow(clippy::too_many_arguments, improper_ctypes_definitions)]
        #vis unsafe extern "ptx-kernel" fn #name(
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

/// The function that makes a call, and the type that stands for the kernel.
fn host(function: &ItemFn, bounds: &Bounds, parameters: &[Parameter]) -> syn::Result<TokenStream> {
    let ItemFn { attrs, vis, sig, block, .. } = function;
    let name = &sig.ident;
    let unsafety = match sig.safety {
        Safety::Unsafe(token) => Some(token),
        _ => None,
    };
    let symbol = name.to_string();
    let params = local("params");
    let conditions: Vec<_> = conditions(attrs).collect();
    let names: Vec<_> = parameters.iter().map(|p| &p.name).collect();
    let mutabilities = parameters.iter().map(|p| &p.mutability);
    let types = parameters.iter().map(|p| &p.ty);
    let on_host = parameters.iter().map(Parameter::on_host).collect::<syn::Result<Vec<_>>>()?;
    let (passed, values): (Vec<_>, Vec<_>) = on_host.into_iter().unzip();
    let encode = parameters.iter().map(Parameter::encode);
    let option = |bound: Option<u32>| match bound {
        Some(number) => quote!(::core::option::Option::Some(#number)),
        None => quote!(::core::option::Option::None),
    };
    let (max_threads, min_blocks) = (option(bounds.max_threads), option(bounds.min_blocks));
    let call_body = quote!(__body(#(#values),*));
    let call_body = if unsafety.is_some() { quote!(unsafe { #call_body }) } else { call_body };
    Ok(quote! {
        #(#conditions)*
        #[doc = concat!("The kernel [`", #symbol, "`](fn@", #symbol, ") as a type.")]
        #[allow(non_camel_case_types)]
        #vis enum #name {}

        #(#conditions)*
        impl ::cuda_std::Kernel for #name {
            const INFO: &'static ::cuda_std::KernelInfo = &::cuda_std::KernelInfo {
                name: #symbol,
                module: ::core::module_path!(),
                file: ::core::file!(),
                line: ::core::line!(),
                max_threads: #max_threads,
                min_blocks: #min_blocks,
            };
        }

        #(#attrs)*
        #[allow(clippy::too_many_arguments, mismatched_lifetime_syntaxes)]
        #vis #unsafety fn #name(
            #(#names: #passed),*
        ) -> ::cuda_std::Call<impl ::core::ops::Fn() + ::core::marker::Sync + ::core::marker::Send> {
            #[inline(always)]
            #[allow(clippy::too_many_arguments)]
            #unsafety fn __body(#(#mutabilities #names: #types),*) #block

            let mut #params = ::cuda_std::Params::new();
            #(#encode)*
            // SAFETY: the parameters are encoded as the entry declares them, and the body holds the views.
            unsafe {
                ::cuda_std::Call::from_parts(
                    <#name as ::cuda_std::Kernel>::INFO,
                    #params,
                    move || #call_body,
                )
            }
        }
    })
}

#[cfg(test)]
mod tests;
