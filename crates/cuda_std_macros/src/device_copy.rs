//! Expands `#[derive(DeviceCopy)]`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{
    Attribute, Data, DataEnum, DataStruct, DeriveInput, Error, Fields, Ident, Member, Type, parse_quote, parse2,
};

/// The integer types that the `#[repr(…)]` of an enum can name.
const REPRESENTATIONS: [&str; 10] = ["u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "usize", "isize"];

pub fn expand(item: TokenStream) -> syn::Result<TokenStream> {
    let DeriveInput { attrs, ident, mut generics, data, .. } = parse2(item)?;
    let representation = representation(&attrs)?;
    let items = match &data {
        Data::Struct(data) => of_struct(data),
        Data::Enum(data) => of_enum(data, &ident, representation)?,
        Data::Union(data) => {
            return Err(Error::new(
                data.union_token.span(),
                "a union cannot be `DeviceCopy`, because its valid field is unknown: use a struct or an array of bytes",
            ));
        }
    };
    for parameter in generics.type_params_mut() {
        parameter.bounds.push(parse_quote!(::cuda_std::DeviceCopy));
    }
    let (declared, arguments, bounds) = generics.split_for_impl();
    Ok(quote! {
        // SAFETY: every field is `DeviceCopy`, and each associated item combines those of the fields.
        #[automatically_derived]
        unsafe impl #declared ::cuda_std::DeviceCopy for #ident #arguments #bounds {
            #items
        }
    })
}

/// Returns the integer type in `#[repr(…)]`, `i32` for `#[repr(C)]`, or `None` if there is no representation.
fn representation(attributes: &[Attribute]) -> syn::Result<Option<Ident>> {
    let mut found = None;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("repr")) {
        attribute.parse_nested_meta(|word| {
            if word.path.is_ident("packed") {
                return Err(word.error(
                    "fields of a packed type may be unaligned, but a device needs aligned accesses: remove `packed`",
                ));
            }
            if let Some(name) = word.path.get_ident() {
                if REPRESENTATIONS.iter().any(|known| name == known) {
                    found = Some(name.clone());
                } else if name == "C" && found.is_none() {
                    found = Some(Ident::new("i32", name.span()));
                }
            }
            if word.input.peek(syn::token::Paren) {
                let _: proc_macro2::Group = word.input.parse()?;
            }
            Ok(())
        })?;
    }
    Ok(found)
}

fn of_struct(data: &DataStruct) -> TokenStream {
    let fields: Vec<(Member, &Type)> = data.fields.members().zip(data.fields.iter().map(|field| &field.ty)).collect();
    // Each term has the line of the field's type, which an error then names.
    let of_each = |constant: &str| {
        let constant = Ident::new(constant, proc_macro2::Span::call_site());
        fields
            .iter()
            .map(|(_, ty)| quote_spanned!(ty.span()=> <#ty as ::cuda_std::DeviceCopy>::#constant))
            .collect::<Vec<_>>()
    };
    let (any_bits, zeros, plain) = (of_each("ANY_BITS"), of_each("ZEROS"), of_each("PLAIN"));
    let sizes = fields.iter().map(|(_, ty)| quote!(::core::mem::size_of::<#ty>()));
    let scalars = fields.iter().map(|(member, ty)| {
        quote!(<#ty as ::cuda_std::DeviceCopy>::scalars(__at + ::core::mem::offset_of!(Self, #member), __see);)
    });
    let values = fields.iter().map(|(member, ty)| {
        quote! {
            // SAFETY: the caller guarantees that the fields can be read.
            && unsafe { <#ty as ::cuda_std::DeviceCopy>::is_value(&raw const (*__value).#member) }
        }
    });
    quote! {
        const ANY_BITS: bool = true #(&& #any_bits)*;
        const ZEROS: bool = true #(&& #zeros)*;
        const PLAIN: bool = true #(&& #plain)* && ::core::mem::size_of::<Self>() == 0 #(+ #sizes)*;

        #[inline(always)]
        fn scalars(__at: usize, __see: &mut impl FnMut(usize, usize)) {
            #(#scalars)*
        }

        #[inline(always)]
        unsafe fn is_value(__value: *const Self) -> bool {
            true #(#values)*
        }
    }
}

fn of_enum(data: &DataEnum, name: &Ident, representation: Option<Ident>) -> syn::Result<TokenStream> {
    if let Some(variant) = data.variants.iter().find(|variant| !matches!(variant.fields, Fields::Unit)) {
        return Err(Error::new(
            variant.span(),
            "an enum whose variants have fields cannot be `DeviceCopy`: use a struct",
        ));
    }
    let Some(representation) = representation else {
        return Err(Error::new(
            name.span(),
            "an enum needs a representation to be `DeviceCopy`: add one, such as `#[repr(u8)]`",
        ));
    };
    let variants: Vec<&Ident> = data.variants.iter().map(|variant| &variant.ident).collect();
    if variants.is_empty() {
        return Err(Error::new(
            name.span(),
            "an enum without variants cannot be `DeviceCopy`, because it has no values: add a variant",
        ));
    }
    Ok(quote! {
        const ANY_BITS: bool = false;
        const ZEROS: bool = false #(|| Self::#variants as #representation == 0)*;

        #[inline(always)]
        unsafe fn is_value(__value: *const Self) -> bool {
            // SAFETY: the caller guarantees readable bytes, and the enum has this representation.
            let __value = unsafe { __value.cast::<#representation>().read() };
            false #(|| __value == Self::#variants as #representation)*
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(item: TokenStream) -> String {
        expand(item).err().map_or_else(|| "accepted".to_owned(), |error| error.to_string())
    }

    #[test]
    fn what_cannot_be_copied_is_refused_in_words() {
        assert!(refusal(quote!(union U { a: u32 })).contains("union"));
        assert!(
            refusal(quote!(
                enum E {
                    A,
                    B,
                }
            ))
            .contains("#[repr(u8)]")
        );
        assert!(
            refusal(quote!(
                #[repr(u8)]
                enum E {
                    A(u8),
                    B,
                }
            ))
            .contains("have fields")
        );
        assert!(
            refusal(quote!(
                #[repr(u8)]
                enum E {}
            ))
            .contains("without variants")
        );
        assert!(
            refusal(quote!(
                #[repr(C, packed(2))]
                struct S {
                    a: u8,
                    b: u32,
                }
            ))
            .contains("packed")
        );
        assert_eq!(
            refusal(quote!(
                #[repr(C, align(16))]
                struct S {
                    a: u8,
                }
            )),
            "accepted"
        );
    }
}
