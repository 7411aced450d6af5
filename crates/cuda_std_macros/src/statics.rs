//! Expands `#[address_space(…)]` on a static outside of a kernel.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;
use syn::{Error, ItemStatic, StaticMutability, Type, TypeArray, parse2};

use crate::address_space::AddressSpace;
use crate::kernel::shared;

/// Returns the static that kernels access and the description of the static for the host.
pub fn expand(attribute: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let space = AddressSpace::parse(attribute)?;
    let item: ItemStatic = parse2(item)?;
    let ItemStatic { attrs, vis, mutability, ident, ty, expr, .. } = &item;
    let is_mut = matches!(mutability, StaticMutability::Mut(_));
    let (element, len) = match &**ty {
        Type::Array(TypeArray { elem, len, .. }) => (quote!(#elem), quote!(#len)),
        value => (quote!(#value), quote!(1)),
    };
    let name = ident.unraw().to_string();
    // The host finds the static by this symbol, which must be the same on both sides.
    let symbol = format!("cuda_std_static_{name}");
    match space {
        AddressSpace::Shared => {
            let (element, len) = shared::elements(ty);
            Ok(quote! {
                #(#attrs)*
                #vis const #ident: ::cuda_std::SharedStatic<#element> = {
                    #[inline(always)]
                    fn __array() -> ::cuda_std::Shared<#element> {
                        ::cuda_std::shared_array![mod #name #element; #len]
                    }
                    ::cuda_std::SharedStatic::new(__array)
                };
            })
        }
        AddressSpace::Constant if is_mut => Err(Error::new(
            ident.span(),
            "kernels cannot write constant memory: declare it as `static`, not `static mut`",
        )),
        AddressSpace::Constant => Ok(quote! {
            #(#attrs)*
            #vis static #ident: ::cuda_std::Constant<#element> =
                ::cuda_std::__private::constant!(#name #symbol #element, #len, #ty, #expr);
        }),
        AddressSpace::Global if !is_mut => Err(Error::new(
            ident.span(),
            "global memory that kernels write must be `static mut`; if they only read it, remove the attribute",
        )),
        AddressSpace::Global => Ok(quote! {
            #(#attrs)*
            #vis static #ident: ::cuda_std::GlobalStatic<#element> =
                ::cuda_std::__private::global_static!(#name #symbol #element, #len, #ty, #expr);
        }),
    }
}
