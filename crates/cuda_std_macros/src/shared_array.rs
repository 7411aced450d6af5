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
    let (is_item, is_pointer, label, array) = (|input: ParseStream<'_>| {
        // `mod`, which `#[kernel]` puts before an array that an item can declare, makes all instances of a function use
        // one array. `#[kernel]` also puts the variable's name before each array. `static` makes the value a pointer.
        // `fn` is what an array of the function's own length needed once.
        let label = |input: ParseStream<'_>| if input.peek(LitStr) { input.parse().map(Some) } else { Ok(None) };
        let before: Option<LitStr> = label(input)?;
        let is_item = input.parse::<Option<Token![mod]>>()?.is_some();
        let is_pointer = input.parse::<Option<Token![static]>>()?.is_some();
        let label = before.or(label(input)?);
        input.parse::<Option<Token![fn]>>()?;
        Ok((is_item, is_pointer, label, input.parse::<TokenStream>()?))
    })
    .parse2(input)?;
    let TypeArray { elem, len, .. } = parse2(quote!([#array])).map_err(|error| {
        syn::Error::new(error.span(), "expected an element type and a length: `shared_array![f32; 256]`")
    })?;
    let name = symbol("shared");
    let symbol = name.to_string();
    let place = if is_item { quote!(in_module) } else { quote!(in_function) };
    let handle = if is_pointer { quote!(pointer) } else { quote!(array) };
    Ok(quote!(::cuda_std::__private::shared_array!([#label] #place #handle #name #symbol #elem, #len)))
}
