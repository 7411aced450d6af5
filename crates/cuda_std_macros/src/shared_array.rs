//! `shared_array!`: gives each array a symbol of its own.

use std::sync::atomic::{AtomicUsize, Ordering};

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::parse::{ParseStream, Parser};
use syn::{LitStr, TypeArray, parse2};

/// Numbers the arrays of a crate in the order in which they are expanded, which is that of the source.
static ARRAYS: AtomicUsize = AtomicUsize::new(0);

pub fn expand(input: TokenStream) -> syn::Result<TokenStream> {
    let (label, array) = (|input: ParseStream<'_>| {
        // `#[kernel]` puts the name of the variable before the array.
        let label: Option<LitStr> = if input.peek(LitStr) { Some(input.parse()?) } else { None };
        Ok((label, input.parse::<TokenStream>()?))
    })
    .parse2(input)?;
    let TypeArray { elem, len, .. } = parse2(quote!([#array])).map_err(|error| {
        syn::Error::new(error.span(), "expected an element type and a length: `shared_array![f32; 256]`")
    })?;
    let crate_name = std::env::var("CARGO_CRATE_NAME").unwrap_or_else(|_| "kernels".into());
    let name = format_ident!("{}_shared_{}", crate_name, ARRAYS.fetch_add(1, Ordering::Relaxed));
    let symbol = name.to_string();
    Ok(quote!(::cuda_std::__private::shared_array!([#label] #name #symbol #elem, #len)))
}
