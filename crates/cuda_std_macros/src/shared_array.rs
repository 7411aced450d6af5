//! Expands `shared_array!` and generates the symbols of arrays in the PTX.

use std::sync::atomic::{AtomicUsize, Ordering};

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::parse::{ParseStream, Parser};
use syn::{LitStr, Token, TypeArray, parse2};

/// The number of symbols that the crate has used so far. Macros are expanded in source order, so the numbers follow the
/// source.
static ARRAYS: AtomicUsize = AtomicUsize::new(0);

/// Returns a name that is unique in the crate's PTX.
pub fn symbol(kind: &str) -> Ident {
    let crate_name = std::env::var("CARGO_CRATE_NAME").unwrap_or_else(|_| "kernels".into());
    format_ident!("{crate_name}_{kind}_{}", ARRAYS.fetch_add(1, Ordering::Relaxed))
}

pub fn expand(input: TokenStream) -> syn::Result<TokenStream> {
    let (is_kernels, is_pointer, label, array) = (|input: ParseStream<'_>| {
        // `#[kernel]` puts `mod` before an array that an item can declare, and the variable's name before each array.
        // `static` makes the value a pointer. `fn` has no meaning any more.
        let is_kernels = input.parse::<Option<Token![mod]>>()?.is_some();
        let is_pointer = input.parse::<Option<Token![static]>>()?.is_some();
        let mut label: Option<LitStr> = None;
        if input.peek(LitStr) {
            label = Some(input.parse()?);
        }
        input.parse::<Option<Token![fn]>>()?;
        Ok((is_kernels, is_pointer, label, input.parse::<TokenStream>()?))
    })
    .parse2(input)?;
    let TypeArray { elem, len, .. } = parse2(quote!([#array])).map_err(|error| {
        syn::Error::new(error.span(), "expected an element type and a length: `shared_array![f32; 256]`")
    })?;
    let name = symbol("shared");
    let symbol = name.to_string();
    let place = if is_kernels { quote!(in_module) } else { quote!(in_function) };
    let handle = if is_pointer { quote!(pointer) } else { quote!(array) };
    Ok(quote!(::cuda_std::__private::shared_array!([#label] #place #handle #name #symbol #elem, #len)))
}
