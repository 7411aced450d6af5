//! Generates the type of a kernel, by which the host identifies the kernel.

use std::path::Path;

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Expr, GenericParam, Ident, Item, ItemFn, Lit, Meta, Visibility};

use super::attribute::Options;
use super::conditions;
use super::instances::Instance;

/// Returns the first paragraph of the kernel's documentation as one line.
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

/// Returns true if the kernel is in a module of its own name, inline or in a file. The import in `mod k; pub use k::k;`
/// must then import only the function. If the kernel's type were visible, the import would include the type, and its
/// name would clash with the module's.
pub fn has_name_of_module(name: &Ident) -> bool {
    if !proc_macro::is_available() {
        return false;
    }
    let span = name.span().unwrap();
    let source = || span.local_file().and_then(|file| std::fs::read_to_string(file).ok());
    is_named_after(name, Path::new(&span.file())) || source().is_some_and(|source| has_module_in(name, &source))
}

fn is_named_after(name: &Ident, file: &Path) -> bool {
    let module = match file.file_stem() {
        Some(stem) if stem == "mod" => file.parent().and_then(Path::file_name),
        stem => stem,
    };
    module.is_some_and(|module| name == module.to_string_lossy().as_ref())
}

/// Returns true if `source` contains the kernel in an inline module of the kernel's name. The kernel in that module is
/// not another one, because a crate has only one kernel of each name.
pub fn has_module_in(name: &Ident, source: &str) -> bool {
    fn any(name: &Ident, items: &[Item], is_named: bool) -> bool {
        items.iter().any(|item| match item {
            Item::Mod(module) => {
                module.content.as_ref().is_some_and(|(_, items)| any(name, items, module.ident == *name))
            }
            Item::Fn(function) => is_named && function.sig.ident == *name && function.attrs.iter().any(is_kernel),
            _ => false,
        })
    }
    fn is_kernel(attribute: &Attribute) -> bool {
        attribute.path().segments.last().is_some_and(|word| word.ident == "kernel" || word.ident == "cfg_attr")
    }
    // Most files contain no such module and need not be parsed.
    source.contains(&format!("mod {name}")) && syn::parse_file(source).is_ok_and(|file| any(name, &file.items, false))
}

/// Returns the type of the kernel and the description of each instance.
pub fn kernel_type(function: &ItemFn, options: &Options, instances: &[Instance]) -> TokenStream {
    let ItemFn { attrs, vis, sig, .. } = function;
    let name = &sig.ident;
    let family = name.to_string();
    let summary = summary(attrs);
    let conditions: Vec<_> = conditions(attrs).collect();
    let cluster = options.cluster.map(|[x, y, z]| quote!(.cluster(::cuda_std::Dim3::new(#x, #y, #z))));
    let implement = |ty: TokenStream, symbol: String, instance: Option<&Instance>| {
        let facts = options.facts.iter().map(|(fact, value)| {
            let aliases = instance.map(|instance| instance.aliases(&sig.generics));
            quote!(.#fact({ #aliases #value }))
        });
        let arguments = instance.map(|instance| {
            let arguments = instance.suffixes.iter().zip(instance.identities(&sig.generics));
            arguments.map(|(name, id)| quote!(::cuda_std::GenericArgument::new(#name, #id))).collect::<Vec<_>>()
        });
        let arguments = arguments.unwrap_or_default();
        let bounds = instance.map_or(options.bounds, |instance| instance.bounds);
        let max_threads = bounds.max_threads.map(|threads| quote!(.max_threads(#threads)));
        let min_blocks = bounds.min_blocks.map(|blocks| quote!(.min_blocks(#blocks)));
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
                .arguments(&[#(#arguments),*])
                #(#facts)*
                #max_threads
                #min_blocks
                #cluster;

                // Never inlined, so that callers in other crates do not compile them again.

                #[inline(never)]
                unsafe fn encode(arguments: &::cuda_std::__private::Arguments<'_>, params: &mut ::cuda_std::Params) {
                    // SAFETY: the caller guarantees arguments of this kernel.
                    unsafe { Self::__encode(arguments, params) }
                }

                #[inline(never)]
                unsafe fn run(
                    arguments: &::cuda_std::__private::Arguments<'_>,
                    threads: ::cuda_std::__private::Threads<'_>,
                ) {
                    // SAFETY: the caller guarantees arguments of this kernel.
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
                // The parameters have defaults, so that the kernel's name alone is a type, which has all instances.
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
            // The struct has braces, because the constructor of a tuple struct would have the function's name.
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
    let type_visibility = if has_name_of_module(name) { &Visibility::Inherited } else { vis };
    let first = &types[0];
    quote! {
        #(#conditions)*
        #[doc = concat!("The type of the kernel [`", #family, "`](fn@", #family, ").")]
        #[allow(non_camel_case_types, dead_code)]
        #type_visibility #declaration

        #(#implementations)*

        #(#conditions)*
        impl #first {
            #[doc(hidden)]
            #vis const INSTANCES: &'static [&'static ::cuda_std::KernelInfo] =
                &[#(<#types as ::cuda_std::Kernel>::INFO),*];

            /// The instances of the kernel, which are found by their generic arguments.
            const BUILT: &'static [::cuda_std::__private::Instance] =
                &[#(::cuda_std::__private::Instance::of::<#types>()),*];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_of_the_kernels_name_is_found_where_it_holds_the_kernel() {
        let k = Ident::new("k", proc_macro2::Span::call_site());
        let is_within = |source: &str| has_module_in(&k, source);
        assert!(is_within("mod k { use cuda_std::kernel; #[kernel(max_threads = 64)] pub fn k() {} }\npub use k::k;"));
        assert!(is_within("pub mod kernels { mod k { #[cuda_std::kernel] pub fn k() {} } }"));
        assert!(!is_within("mod k { pub fn k() {} }\nmod kernels { #[kernel] pub fn k() {} }"));
        assert!(!is_within("mod k { pub mod inner { #[kernel] pub fn k() {} } }"));
        assert!(!is_within("mod kernels { #[kernel] pub fn k() {} }\nmod k {}"));
        assert!(!is_within("mod k; #[kernel] fn kk() {}"));
        assert!(!is_within("mod k { #[kernel] pub fn k() {"));
    }
}
