//! `#[address_space(…)]`: in which of a GPU's memories a static is.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;
use syn::{Attribute, Error, Ident, ItemStatic, Meta, StaticMutability, Type, TypeArray, parse2};

use crate::kernel::shared;

/// A GPU's memories.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum AddressSpace {
    Shared,
    Constant,
    Global,
}

impl AddressSpace {
    fn parse(tokens: TokenStream) -> syn::Result<Self> {
        let name: Ident = parse2(tokens).map_err(|error| Error::new(error.span(), EXPECTED))?;
        match name.to_string().as_str() {
            "shared" => Ok(Self::Shared),
            "constant" => Ok(Self::Constant),
            "global" => Ok(Self::Global),
            _ => Err(Error::new(name.span(), EXPECTED)),
        }
    }
}

const EXPECTED: &str = "expected `shared`, `constant` or `global`";

/// Takes `#[address_space(…)]` out of a static's attributes.
pub fn take(attributes: &mut Vec<Attribute>) -> syn::Result<Option<AddressSpace>> {
    let is_it =
        |attribute: &Attribute| attribute.path().segments.last().is_some_and(|last| last.ident == "address_space");
    let Some(place) = attributes.iter().position(is_it) else { return Ok(None) };
    match attributes.remove(place).meta {
        Meta::List(list) => AddressSpace::parse(list.tokens).map(Some),
        other => Err(Error::new_spanned(other, EXPECTED)),
    }
}

/// A static outside of a kernel: what stands for it in kernels and on the host.
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
    // The same for the host, which finds it by this.
    let symbol = format!("cuda_std_static_{name}");
    match space {
        AddressSpace::Shared => {
            let array = shared::array(ident, ty);
            let element = match shared::inside(ty) {
                Type::Array(TypeArray { elem, .. }) => quote!(#elem),
                value => quote!(#value),
            };
            Ok(quote! {
                #(#attrs)*
                #vis const #ident: ::cuda_std::SharedStatic<#element> = {
                    #[inline(always)]
                    fn __array() -> ::cuda_std::Shared<#element> {
                        #array
                    }
                    ::cuda_std::SharedStatic::new(__array)
                };
            })
        }
        AddressSpace::Constant if is_mut => {
            Err(Error::new(ident.span(), "a kernel does not write constant memory: `static`, not `static mut`"))
        }
        AddressSpace::Constant => Ok(quote! {
            #(#attrs)*
            #vis static #ident: ::cuda_std::Constant<#element> =
                ::cuda_std::__private::constant!(#name #symbol #element, #len, #ty, #expr);
        }),
        AddressSpace::Global if !is_mut => Err(Error::new(
            ident.span(),
            "a table that nobody writes needs no address space; one that kernels write is `static mut`",
        )),
        AddressSpace::Global => Ok(quote! {
            #(#attrs)*
            #vis static #ident: ::cuda_std::GlobalStatic<#element> =
                ::cuda_std::__private::global_static!(#name #symbol #element, #len, #ty, #expr);
        }),
    }
}
