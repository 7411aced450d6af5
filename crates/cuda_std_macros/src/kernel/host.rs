//! Expands a kernel for the host: a function that returns a `Call`, and for each instance the functions that encode a
//! call's arguments and run its threads.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Attribute, GenericParam, ItemFn, Safety, parse_quote};

use super::attribute::Options;
use super::instances::{Instance, identity};
use super::kernel_type::kernel_type;
use super::parameters::check_bytes;
use super::{Parameter, conditions, local, place_of};
use crate::passes;

/// Returns the function that returns a `Call`, the type of the kernel, and the functions of the kernel's instances.
pub fn host(
    function: &ItemFn,
    options: &Options,
    parameters: &[Parameter],
    instances: &[Instance],
) -> syn::Result<TokenStream> {
    let ItemFn { attrs, vis, sig, block, .. } = function;
    let mut block = block.clone();
    passes::for_simulated_kernel(sig, &mut block)?;
    let name = &sig.ident;
    let unsafety = match sig.safety {
        Safety::Unsafe(token) => Some(token),
        _ => None,
    };
    let [params, stored, threads, exported] = ["params", "stored", "threads", "exported"].map(local);
    let names: Vec<_> = parameters.iter().map(|p| &p.name).collect();
    let (taken, made): (Vec<_>, Vec<_>) = parameters.iter().map(Parameter::in_body).unzip();
    let statements = &block.stmts;
    let on_host = parameters.iter().map(|p| p.on_host(&sig.generics)).collect::<syn::Result<Vec<_>>>()?;
    let (passed, values): (Vec<_>, Vec<_>) = on_host.into_iter().unzip();
    let all = quote_spanned!(place_of(&sig.inputs)=> (#(#names,)*));
    let encode = parameters.iter().map(Parameter::encode);
    let entry_types: Vec<_> =
        parameters.iter().map(|p| p.on_device(&TokenStream::new(), &TokenStream::new()).0).collect();
    let check = check_bytes(function, &entry_types);

    let (declared, arguments, body_where) = sig.generics.split_for_impl();
    let turbofish = arguments.as_turbofish();
    let mut of_call = sig.generics.clone();
    of_call.params.insert(0, parse_quote!('call));
    if !instances.is_empty() {
        // Only existing instances can be called.
        of_call.make_where_clause().predicates.push(parse_quote!(#name #arguments: ::cuda_std::Kernel));
    }
    let (call_declared, _, call_where) = of_call.split_for_impl();

    let (lints, others): (Vec<_>, Vec<_>) = attrs.iter().partition(|attribute| is_lint_level(attribute));
    let conditions = conditions(attrs);
    let body = quote!(__body #turbofish (#(#values),*));
    let body = if unsafety.is_some() { quote!(unsafe { #body }) } else { body };
    let kernel_type = kernel_type(function, options, instances);
    // Constants of their own, which `cargo check` evaluates.
    let types: Vec<TokenStream> = match instances {
        [] => vec![quote!(#name)],
        _ => instances.iter().map(|Instance { arguments, .. }| quote!(#name<#(#arguments),*>)).collect(),
    };
    let of_instances: Vec<_> = super::conditions(attrs).collect();
    let fits = types.iter().map(|ty| quote!(#(#of_instances)* const _: () = <#ty>::__FITS;));
    let if_built = match instances {
        [] => None,
        [first, ..] => {
            let mut of_any = sig.generics.clone();
            of_any.params.insert(0, parse_quote!('call));
            for parameter in of_any.type_params_mut() {
                parameter.bounds.push(parse_quote!('static));
            }
            let (any_declared, _, any_where) = of_any.split_for_impl();
            let first = &first.arguments;
            let identities = sig.generics.params.iter().filter_map(|parameter| match parameter {
                GenericParam::Type(ty) => Some(identity(parameter, &ty.ident)),
                GenericParam::Const(value) => Some(identity(parameter, &value.ident)),
                GenericParam::Lifetime(_) => None,
            });
            let identities = quote!(const { &[#(#identities),*] });
            let conditions = super::conditions(attrs);
            let if_built_in = options.exported.is_some().then(|| {
                let family = name.to_string();
                quote! {
                    /// Returns the call if this crate, or the crate with the instances `exported`, has an instance with
                    /// these generic arguments.
                    #[doc(hidden)]
                    #[allow(clippy::too_many_arguments, dead_code)]
                    #vis #unsafety fn if_built_in #any_declared(
                        #exported: ::cuda_std::__private::ExportedInstances,
                        #(#names: #passed),*
                    ) -> ::core::option::Option<::cuda_std::Call<'call>> #any_where {
                        let instance = #exported.find(Self::BUILT, #family, #identities)?;
                        // SAFETY: the instance has the generic arguments of these values, and is made from this kernel.
                        ::core::option::Option::Some(unsafe { ::cuda_std::Call::of(instance, (#(#names,)*)) })
                    }
                }
            });
            Some(quote! {
                #(#conditions)*
                impl #name<#(#first),*> {
                    /// Returns the call if the kernel has an instance with these generic arguments.
                    #[doc(hidden)]
                    #[allow(clippy::too_many_arguments, dead_code)]
                    #vis #unsafety fn if_built #any_declared(
                        #(#names: #passed),*
                    ) -> ::core::option::Option<::cuda_std::Call<'call>> #any_where {
                        let instance = ::cuda_std::__private::Instance::find(Self::BUILT, #identities)?;
                        // SAFETY: the instance has the generic arguments of these values.
                        ::core::option::Option::Some(unsafe { ::cuda_std::Call::of(instance, (#(#names,)*)) })
                    }

                    #if_built_in
                }
            })
        }
    };
    Ok(quote! {
        #kernel_type

        #if_built

        #(#others)*
        #[allow(clippy::too_many_arguments, private_bounds)]
        #vis #unsafety fn #name #call_declared(#(#names: #passed),*) -> ::cuda_std::Call<'call> #call_where {
            // SAFETY: the kernel's functions take the arguments as this tuple, and the body accesses only the views'
            // memory.
            unsafe { ::cuda_std::Call::new::<#name #arguments, _>(#all) }
        }

        #(#fits)*

        #(#conditions)*
        #(#lints)*
        impl #declared #name #arguments #body_where {
            #[inline(always)]
            unsafe fn __encode<'call>(
                #stored: &::cuda_std::__private::Arguments<'call>,
                #params: &mut ::cuda_std::Params,
            ) {
                // SAFETY: the caller guarantees arguments of this kernel.
                let (#(#names,)*): (#(#passed,)*) = unsafe { #stored.read() };
                #(#encode)*
            }

            /// Does not compile if the parameters exceed the limit of a launch.
            const __FITS: () = #check

            #[inline(always)]
            unsafe fn __run<'call>(
                #stored: &::cuda_std::__private::Arguments<'call>,
                #threads: ::cuda_std::__private::Threads<'_>,
            ) {
                #[inline(always)]
                // A loop over indices is what keeps a thread's arrays in registers.
                #[allow(clippy::manual_memcpy, clippy::needless_range_loop)]
                #[allow(clippy::too_many_arguments, clippy::unit_arg)]
                #unsafety fn __body #declared (#(#taken),*) #body_where {
                    #(#made)*
                    #(#statements)*
                }

                // SAFETY: the caller guarantees arguments of this kernel.
                let (#(#names,)*): (#(#passed,)*) = unsafe { #stored.read() };
                #threads.run(|| #body);
            }
        }
    })
}

/// Returns true for a lint attribute such as `#[allow(…)]`, which must apply to the kernel's body.
fn is_lint_level(attribute: &Attribute) -> bool {
    ["allow", "warn", "deny", "forbid", "expect"].iter().any(|level| attribute.path().is_ident(level))
}
