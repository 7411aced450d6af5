//! The parameters of an entry: their size, and the addresses of tensor maps, of which the hardware accepts no copy
//! (`__grid_constant__`).

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Ident, ItemFn, Type};

use super::place_of;

/// Returns true if `ty` has the name of a tensor map.
pub(super) fn is_tensor_map(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|last| {
        last.ident == "TensorMap" || last.ident == "TensorMapMut"
    }))
}

/// Returns the expressions of the addresses of the parameters of the entry `name`, whose types are `types`. A value
/// without bytes is no parameter in the PTX.
pub(super) fn addresses(name: &Ident, types: &[TokenStream]) -> Vec<TokenStream> {
    let entry = name.unraw().to_string();
    let address = |before: &[TokenStream]| {
        quote! {
            ::cuda_std::__private::parameter_address!(#entry, const {
                0 #(+ (::core::mem::size_of::<<#before as ::cuda_std::KernelParam>::Head>() > 0) as usize
                    + (::core::mem::size_of::<<#before as ::cuda_std::KernelParam>::Tail>() > 0) as usize)*
            })
        }
    };
    (0..types.len()).map(|index| address(&types[..index])).collect()
}

/// Returns code that does not compile if parameters of these types exceed the size limit of a launch.
pub(super) fn check_bytes(function: &ItemFn, types: &[TokenStream]) -> TokenStream {
    let parts = types.iter().flat_map(|ty| ["Head", "Tail"].map(|part| (ty, Ident::new(part, ty.span()))));
    let sizes = parts.map(|(ty, part)| {
        let part = quote_spanned!(place_of(ty)=> <#ty as ::cuda_std::KernelParam>::#part);
        quote_spanned!(place_of(ty)=> (::core::mem::size_of::<#part>(), ::core::mem::align_of::<#part>()))
    });
    quote_spanned!(function.sig.inputs.span()=> const { ::cuda_std::__private::check_param_bytes(&[#(#sizes),*]) };)
}
