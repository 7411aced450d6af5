//! `#[kernel]`: a PTX entry for the GPU, a typed call for the host.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{
    AttrStyle, Attribute, Error, Expr, FnArg, GenericArgument, GenericParam, Generics, Ident, ItemFn, Lit, Meta, Pat,
    PathArguments, PointerMutability, ReturnType, Type, TypePath, parse_quote, parse2,
};

mod attribute;
mod body;
pub mod floats;
mod host;
mod instances;

use attribute::Options;
use host::host;
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
    /// take, is passed as the view of a buffer, so that the compiler knows which memory is meant. All that borrows does so
    /// for `'call`.
    fn on_host(&self, generics: &Generics) -> syn::Result<(TokenStream, TokenStream)> {
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
                Ok((quote!(::cuda_std::Global<'call, #element>), quote!(unsafe { #name.as_slice() })))
            }
            Type::Ptr(pointer) => {
                let element = &pointer.elem;
                let view = if is_mut(pointer) { quote!(GlobalMut) } else { quote!(Global) };
                Ok((quote!(::cuda_std::#view<'call, #element>), quote!(#name.as_ptr())))
            }
            Type::Path(path) => Ok((borrowing(path, generics), quote!(#name))),
            _ => Ok((quote!(<#ty as ::cuda_std::Argument>::For<'call>), quote!(#name))),
        }
    }

    /// How the host's value is encoded: a raw pointer without the view's length.
    fn encode(&self) -> TokenStream {
        let name = &self.name;
        let text = name.unraw().to_string();
        let params = local("params");
        match &self.ty {
            Type::Ptr(_) => quote!(#name.encode_pointer(#text, #params);),
            _ => quote!(::cuda_std::Argument::encode(#name, #text, #params);),
        }
    }
}

/// Types that borrow nothing.
const NUMBERS: [&str; 12] = ["u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "usize", "isize", "f32", "f64"];

/// `ty` with `'call` where it has an unwritten lifetime: in one of our views, or wherever a type of another name has one.
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
    quote!(<#ty as ::cuda_std::Argument>::For<'call>)
}

fn is_mut(pointer: &syn::TypePtr) -> bool {
    matches!(pointer.mutability, PointerMutability::Mut(_))
}

pub fn expand(attribute: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let options = Options::parse(attribute)?;
    let mut function: ItemFn = parse2(item)?;
    floats::rewrite(&mut function.block);
    check_signature(&function)?;
    let instances = instances::instances(&function.sig.ident, &function.sig.generics, &options)?;
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
        let entry = entry(function, &instance.entry, quote!(pub), options, parameters);
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
    let max_threads = options.max_threads.map(|threads| quote!(.max_threads(#threads)));
    let min_blocks = options.min_blocks.map(|blocks| quote!(.min_blocks(#blocks)));
    let implement = |ty: TokenStream, symbol: String, instance: Option<&Instance>| {
        let facts = options.facts.iter().map(|(fact, value)| {
            let aliases = instance.map(|instance| instance.aliases(&sig.generics));
            quote!(.#fact({ #aliases #value }))
        });
        let suffixes = instance.iter().flat_map(|instance| &instance.suffixes);
        quote! {
            #(#conditions)*
            unsafe impl ::cuda_std::Kernel for #ty {
                const INFO: &'static ::cuda_std::KernelInfo = &::cuda_std::KernelInfo::new(
                    #symbol,
                    ::core::module_path!(),
                    ::core::file!(),
                    ::core::line!(),
                )
                .family(#family)
                .summary(#summary)
                .arguments(&[#(#suffixes),*])
                #(#facts)*
                #max_threads
                #min_blocks;

                // Never inlined, so that who calls the kernel compiles neither anew.

                #[inline(never)]
                unsafe fn encode(arguments: &::cuda_std::__private::Arguments<'_>, params: &mut ::cuda_std::Params) {
                    // SAFETY: the caller's word.
                    unsafe { Self::__encode(arguments, params) }
                }

                #[inline(never)]
                unsafe fn run(
                    arguments: &::cuda_std::__private::Arguments<'_>,
                    threads: ::cuda_std::__private::Threads<'_>,
                ) {
                    // SAFETY: the caller's word.
                    unsafe { Self::__run(arguments, threads) }
                }
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
    let implementations: Vec<TokenStream> = match instances {
        [] => vec![implement(quote!(#name), family.clone(), None)],
        _ => types
            .iter()
            .zip(instances)
            .map(|(ty, instance)| implement(ty.clone(), instance.entry.to_string(), Some(instance)))
            .collect(),
    };
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

            /// What finds an instance by its type.
            const BUILT: &'static [::cuda_std::__private::Instance] =
                &[#(::cuda_std::__private::Instance::of::<#types>()),*];
        }
    }
}

#[cfg(test)]
mod tests;
