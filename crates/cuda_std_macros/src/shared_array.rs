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
    let (label, of_function, array) = (|input: ParseStream<'_>| {
        // `#[kernel]` puts the variable's name, and `fn` for an array local to the function, before the array.
        let before: Option<Token![fn]> = input.parse()?;
        let label: Option<LitStr> = if input.peek(LitStr) { Some(input.parse()?) } else { None };
        let of_function = before.or(input.parse()?);
        Ok((label, of_function, input.parse::<TokenStream>()?))
    })
    .parse2(input)?;
    let TypeArray { elem, len, .. } = parse2(quote!([#array])).map_err(|error| {
        syn::Error::new(error.span(), "expected an element type and a length: `shared_array![f32; 256]`")
    })?;
    let name = symbol("shared");
    let symbol = name.to_string();
    let place = of_function.map(|_| quote!(in_function));
    Ok(quote!(::cuda_std::__private::shared_array!([#label] #place #name #symbol #elem, #len)))
}
