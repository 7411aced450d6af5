//! Expands `#[kernel]` to a PTX entry for the GPU and a typed call for the host.
//!
//! # Design
//!
//! For `nvptx64` a kernel becomes an `extern "ptx-kernel"` entry. For the host it becomes two items with the kernel's
//! name:
//!
//! - A function with the same parameters, which returns a `Call`.
//! - A type that implements `Kernel`. It has the kernel's `KernelInfo` (name, source line, launch bounds, generic
//!   arguments, items per thread), and two functions per instance: one encodes a call's arguments, one runs its
//!   threads.
//!
//! A `Call` stores arguments of any type inline, and finds the two functions by the kernel's type. The body is compiled
//! once, in the crate that declares the kernel. A `Call<'a>` borrows the buffers behind its views.
//!
//! The kernel's module path (`gpu::life::bitpacked`) determines its PTX module (`gpu::life`). No separate list assigns
//! kernels to PTX modules.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{
    AttrStyle, Attribute, Error, FnArg, GenericArgument, Generics, Ident, ItemFn, Pat, PathArguments,
    PointerMutability, ReturnType, Type, TypePath, parse_quote, parse2,
};

pub mod assembly;
pub mod asserts;
mod atomics;
mod attribute;
pub mod floats;
mod host;
mod instances;
mod kernel_type;
mod lifetimes;
mod parameters;
mod placed;
mod projections;
mod refused;
pub mod shared;

use crate::names::NUMBERS;
use crate::passes;
use attribute::Options;
use host::host;
use instances::Instance;
use kernel_type::has_name_of_module;
use parameters::{addresses, check_bytes, is_tensor_map};
use placed::check_place;

/// The maximum number of parameters of a kernel, equal to `MAX_PARAMS` of `cuda_std`.
const MAX_PARAMETERS: usize = 64;

/// Returns the name of a local variable in the expansion. It cannot clash with the name of a parameter.
fn local(name: &str) -> Ident {
    Ident::new(name, proc_macro2::Span::mixed_site())
}

/// Returns a span for generated tokens at the source position of a parameter's type, so that errors point there.
fn place_of(ty: &impl Spanned) -> proc_macro2::Span {
    proc_macro2::Span::call_site().located_at(ty.span())
}

/// A parameter of a kernel: its name, its `mut`, and its type.
struct Parameter {
    name: Ident,
    mutability: Option<syn::token::Mut>,
    ty: Type,
}

impl Parameter {
    fn parse(argument: &FnArg) -> syn::Result<Self> {
        let FnArg::Typed(typed) = argument else {
            return Err(Error::new(
                argument.span(),
                "a kernel cannot take `self`: make it a function outside of `impl`",
            ));
        };
        if let Some(attribute) = typed.attrs.first() {
            return Err(Error::new(attribute.span(), "a parameter of a kernel cannot have attributes: remove them"));
        }
        let Pat::Ident(pattern) = &*typed.pat else {
            return Err(Error::new(
                typed.pat.span(),
                "a parameter of a kernel must be a name, such as `x: u32`: destructure it in the body",
            ));
        };
        if let Some(refused) = refused::refused(&pattern.ident, &typed.ty) {
            return Err(refused);
        }
        Ok(Self { name: pattern.ident.clone(), mutability: pattern.mutability, ty: (*typed.ty).clone() })
    }

    /// Returns the type that the host passes for this parameter, and the expression that converts it for the body. A
    /// kernel may take a slice, a reference or a raw pointer, as in Rust-CUDA. The host then passes a view of a buffer,
    /// so that the simulator knows the memory. The view for a reference has one element. All borrows have the lifetime
    /// `'call`.
    fn on_host(&self, generics: &Generics) -> syn::Result<(TokenStream, TokenStream)> {
        let Self { name, ty, .. } = self;
        match ty {
            Type::Reference(reference) => {
                if let Some(element) = self.mutable_elements() {
                    return Ok((quote!(::cuda_std::GlobalMut<'call, #element>), quote!(#name)));
                }
                if reference.mutability.is_some() {
                    return Err(Error::new(
                        ty.span(),
                        "a kernel cannot take this `&mut`, because all threads would share it: take a `GlobalMut<T>` \
                         or a `*mut T`",
                    ));
                }
                match &*reference.elem {
                    Type::Slice(slice) => {
                        let element = &slice.elem;
                        Ok((quote!(::cuda_std::Global<'call, #element>), quote!(unsafe { #name.as_slice() })))
                    }
                    element => Ok((
                        quote!(::cuda_std::Global<'call, #element>),
                        quote_spanned!(place_of(ty)=> unsafe { &#name.as_slice()[0] }),
                    )),
                }
            }
            Type::Ptr(pointer) => {
                let element = &pointer.elem;
                let view = if is_mut(pointer) { quote!(GlobalMut) } else { quote!(Global) };
                Ok((quote!(::cuda_std::#view<'call, #element>), quote!(#name.exposed())))
            }
            Type::Path(path) => Ok((borrowing(path, generics), quote!(#name))),
            _ => Ok((quote_spanned!(place_of(ty)=> <#ty as ::cuda_std::Argument>::For<'call>), quote!(#name))),
        }
    }

    /// Returns the element type if the parameter is a `&mut [T]`, and otherwise `None`.
    fn mutable_elements(&self) -> Option<&Type> {
        match &self.ty {
            Type::Reference(reference) if reference.mutability.is_some() => match &*reference.elem {
                Type::Slice(slice) => Some(&slice.elem),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the declaration of this parameter in the host function that contains the body. Also returns a statement
    /// to run before the body, or `None` if none is needed.
    ///
    /// The compiler assumes that a `&mut` parameter is not aliased, but all threads get the same slice. For a `&mut
    /// [T]` the function therefore takes a view, and the statement makes the slice from it as a local variable.
    fn in_body(&self) -> (TokenStream, Option<TokenStream>) {
        let Self { name, mutability, ty } = self;
        match self.mutable_elements() {
            None => {
                let refers = matches!(ty, Type::Reference(reference) if !matches!(*reference.elem, Type::Slice(_)));
                // The statement has the line of the parameter.
                let tell =
                    refers.then(|| quote_spanned!(ty.span()=> ::cuda_std::__private::observed::referred(#name);));
                (quote!(#mutability #name: #ty), tell)
            }
            Some(element) => (
                quote!(#name: ::cuda_std::GlobalMut<'_, #element>),
                // SAFETY: the kernel is `unsafe`: its caller guarantees that its threads' accesses are ordered.
                Some(quote!(let #mutability #name: &mut [#element] = unsafe { #name.as_mut_slice() };)),
            ),
        }
    }

    /// Returns the parameter's type in the PTX entry, and the expression that makes the value for the body from
    /// `parts`. A tensor map is used at its place, whose address is the value of `address`.
    fn on_device(&self, parts: &TokenStream, address: &TokenStream) -> (TokenStream, TokenStream) {
        let ty = &self.ty;
        if is_tensor_map(ty) {
            let handle = quote!(::cuda_std::__private::MapHandle::new(#address));
            return (quote!(#ty), quote!(unsafe { <#ty>::from_handle(#handle) }));
        }
        match ty {
            Type::Reference(reference) if !matches!(*reference.elem, Type::Slice(_)) => {
                let element = &reference.elem;
                let pointer = quote_spanned!(ty.span()=> *const #element);
                let value = quote!(unsafe { &*<#pointer as ::cuda_std::KernelParam>::from_parts(#parts) });
                (pointer, value)
            }
            _ => (quote!(#ty), quote!(unsafe { <#ty as ::cuda_std::KernelParam>::from_parts(#parts) })),
        }
    }

    /// Returns the code that encodes the argument that the host passes. A raw pointer or a reference is encoded without
    /// a length.
    fn encode(&self) -> TokenStream {
        let name = &self.name;
        let text = name.unraw().to_string();
        let params = local("params");
        match &self.ty {
            Type::Ptr(_) => quote!(#name.encode_pointer(#text, #params);),
            Type::Reference(reference) if !matches!(*reference.elem, Type::Slice(_)) => {
                quote_spanned!(place_of(reference)=> #name.encode_reference(#text, #params);)
            }
            ty => quote_spanned!(place_of(ty)=> ::cuda_std::Argument::encode(#name, #text, #params);),
        }
    }
}

/// Returns `ty` with the lifetime `'call` in place of elided lifetimes.
fn borrowing(ty: &TypePath, generics: &Generics) -> TokenStream {
    let mut ty = ty.clone();
    let is_bare = |name: &Ident| {
        NUMBERS.iter().any(|number| name == number) || generics.type_params().any(|parameter| parameter.ident == *name)
    };
    if ty.path.get_ident().is_some_and(is_bare) {
        return quote!(#ty);
    }
    if let Some(last) = ty.path.segments.last_mut()
        && (last.ident == "Global" || last.ident == "GlobalMut")
        && let PathArguments::AngleBracketed(view) = &mut last.arguments
    {
        match view.args.first_mut() {
            Some(GenericArgument::Lifetime(lifetime)) if lifetime.ident == "_" => *lifetime = parse_quote!('call),
            Some(GenericArgument::Lifetime(_)) => {}
            _ => view.args.insert(0, parse_quote!('call)),
        }
        return quote!(#ty);
    }
    quote_spanned!(place_of(&ty)=> <#ty as ::cuda_std::Argument>::For<'call>)
}

fn is_mut(pointer: &syn::TypePtr) -> bool {
    matches!(pointer.mutability, PointerMutability::Mut(_))
}

pub fn expand(attribute: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let options = Options::parse(attribute)?;
    let mut function: ItemFn = parse2(item)?;
    check_place(&function.sig.ident)?;
    let exported = instances::exported(&function, &options);
    lifetimes::elide(&mut function);
    let uses = asserts::uses(&function.block);
    passes::for_both(&function.sig, &mut function.block)?;
    check_signature(&function)?;
    let instances = instances::instances(&function.sig.ident, &function.sig.generics, &options)?;
    let parameters = function.sig.inputs.iter().map(Parameter::parse).collect::<syn::Result<Vec<_>>>()?;
    if parameters.len() > MAX_PARAMETERS {
        return Err(Error::new(
            function.sig.inputs.span(),
            format!("a kernel can take at most {MAX_PARAMETERS} parameters: combine some of them in a struct"),
        ));
    }
    let mut on_gpu = function.clone();
    let mut items = TokenStream::new();
    if projections::uses(&on_gpu) {
        passes::for_gpu(&on_gpu.sig, &mut on_gpu.block)?;
        items = projections::make_generic(&mut on_gpu);
    } else {
        passes::for_kernel_on_gpu(&on_gpu.sig, &mut on_gpu.block)?;
    }
    let of_gpu = on_gpu.sig.inputs.iter().map(Parameter::parse).collect::<syn::Result<Vec<_>>>()?;
    let device = device(&on_gpu, &options, &of_gpu, &instances, &items);
    let host = host(&function, &options, &parameters, &instances)?;
    Ok(quote!(#uses #exported ::cuda_std::__private::kernel! { device { #device } host { #host } }))
}

fn check_signature(function: &ItemFn) -> syn::Result<()> {
    let signature = &function.sig;
    if let Some(inner) = function.attrs.iter().find(|attribute| matches!(attribute.style, AttrStyle::Inner(_))) {
        return Err(Error::new(inner.span(), "the attributes of a kernel must stand before `fn`: move this one"));
    }
    let refuse = |span: proc_macro2::Span, message: &str| Err(Error::new(span, message));
    if let Some(token) = &signature.asyncness {
        return refuse(token.span(), "a kernel cannot be async: remove `async`");
    }
    // `extern "C"` is what kernels of CUDA C++ and of Rust-CUDA have.
    if let Some(abi) = &signature.abi
        && abi.name.as_ref().is_some_and(|name| !matches!(&*name.value(), "C" | "ptx-kernel"))
    {
        return refuse(abi.span(), "`#[kernel]` chooses the ABI of a kernel: remove `extern`");
    }
    if signature.variadic.is_some() {
        return refuse(signature.inputs.span(), "a kernel cannot be variadic: remove `...`");
    }
    let is_unsafe = matches!(signature.safety, syn::Safety::Unsafe(_));
    for input in signature.inputs.iter().filter(|_| !is_unsafe) {
        if let Ok(parameter) = Parameter::parse(input)
            && parameter.mutable_elements().is_some()
        {
            return refuse(
                parameter.ty.span(),
                "all threads would share this `&mut`: make the kernel an `unsafe fn`, or take a `GlobalMut<T>`",
            );
        }
    }
    let name = signature.ident.unraw().to_string();
    if !name.is_ascii() {
        let message = format!("PTX has no name `{name}`: name the kernel with ASCII letters, digits and `_`");
        return refuse(signature.ident.span(), &message);
    }
    match &signature.output {
        ReturnType::Default => Ok(()),
        ReturnType::Type(_, ty) => refuse(ty.span(), "a kernel cannot return a value: write it to a view"),
    }
}

/// Returns the `#[cfg(…)]` attributes, which decide whether the kernel is compiled.
fn conditions(attributes: &[Attribute]) -> impl Iterator<Item = &Attribute> {
    attributes.iter().filter(|attribute| attribute.path().is_ident("cfg"))
}

/// Returns the expansion of the kernel for the GPU: one entry, or one entry for each instance of a generic kernel.
/// `items` are needed in the module of each instance.
fn device(
    function: &ItemFn,
    options: &Options,
    parameters: &[Parameter],
    instances: &[Instance],
    items: &TokenStream,
) -> TokenStream {
    let ItemFn { attrs, vis, sig, .. } = function;
    if instances.is_empty() {
        return entry(function, &sig.ident, quote!(#vis), options.comments(&sig.ident, options.bounds), parameters);
    }
    let conditions: Vec<_> = conditions(attrs).collect();
    let name = &sig.ident;
    let feature = options.exported.as_ref().map(|feature| quote!(#[cfg(feature = #feature)]));
    let modules = instances.iter().map(|instance| {
        let aliases = instance.aliases(&sig.generics);
        let comments = options.comments(&instance.entry, instance.bounds);
        let entry = entry(function, &instance.entry, quote!(pub), comments, parameters);
        let module = &instance.name;
        // The entry is in a module with the aliases, so that items in the body, such as shared arrays, can use the
        // generic parameters.
        quote! {
            #(#conditions)*
            #feature
            #[doc(hidden)]
            #[allow(unused_imports, dead_code)]
            mod #module {
                use super::*;
                #aliases
                #items
                #entry
            }
        }
    });
    // An import of the kernel refers to this item.
    let item = if has_name_of_module(name) { quote!(const #name: () = ();) } else { quote!(enum #name {}) };
    quote! {
        #(#modules)*
        #(#conditions)*
        #[doc(hidden)]
        #[allow(non_camel_case_types, non_upper_case_globals, dead_code)]
        #vis #item
    }
}

/// Returns a PTX entry. Each parameter of the kernel becomes two parameters of the entry, a head and a tail. The entry
/// makes the value for the body from both.
fn entry(
    function: &ItemFn,
    name: &Ident,
    visibility: TokenStream,
    comments: Vec<String>,
    parameters: &[Parameter],
) -> TokenStream {
    let ItemFn { attrs, block, .. } = function;
    let heads: Vec<_> = (0..parameters.len()).map(|i| local(&format!("head_{i}"))).collect();
    let tails: Vec<_> = (0..parameters.len()).map(|i| local(&format!("tail_{i}"))).collect();
    let names = parameters.iter().map(|p| &p.name);
    let mutabilities = parameters.iter().map(|p| &p.mutability);
    let parts = heads.iter().zip(&tails).map(|(head, tail)| quote!(#head, #tail));
    let nothing = TokenStream::new();
    let types: Vec<_> = parameters.iter().map(|parameter| parameter.on_device(&nothing, &nothing).0).collect();
    let values = parameters.iter().zip(parts).zip(addresses(name, &types));
    let values = values.map(|((parameter, parts), address)| parameter.on_device(&parts, &address).1);
    let check = check_bytes(function, &types);
    let conditions: Vec<_> = conditions(attrs).collect();
    let comments = comments.into_iter().map(|text| quote!(#(#conditions)* ::core::arch::global_asm!(#text);));
    quote! {
        #(#comments)*
        #(#attrs)*
        #[unsafe(no_mangle)]
        #[allow(clippy::too_many_arguments, improper_ctypes_definitions)]
        #visibility unsafe extern "ptx-kernel" fn #name(
            #(#heads: <#types as ::cuda_std::KernelParam>::Head, #tails: <#types as ::cuda_std::KernelParam>::Tail,)*
        ) {
            #check
            #(
                // SAFETY: the host has encoded the parts for this parameter.
                let #mutabilities #names = #values;
            )*
            #block
        }
    }
}

#[cfg(test)]
mod refusals;
#[cfg(test)]
mod simulated_tests;
#[cfg(test)]
mod tests;
