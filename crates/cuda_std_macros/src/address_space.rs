//! `#[address_space(…)]`: the memory space of a static.

use proc_macro2::TokenStream;
use syn::{Attribute, Error, Ident, Meta, parse2};

/// A memory space of the GPU in which a static can be placed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum AddressSpace {
    Shared,
    Constant,
    Global,
}

impl AddressSpace {
    /// Parses the name in the parentheses of `#[address_space(…)]`.
    pub fn parse(tokens: TokenStream) -> syn::Result<Self> {
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

/// Removes `#[address_space(…)]` from a static's attributes and returns its memory space.
pub fn take(attributes: &mut Vec<Attribute>) -> syn::Result<Option<AddressSpace>> {
    let is_it =
        |attribute: &Attribute| attribute.path().segments.last().is_some_and(|last| last.ident == "address_space");
    let Some(place) = attributes.iter().position(is_it) else { return Ok(None) };
    match attributes.remove(place).meta {
        Meta::List(list) => AddressSpace::parse(list.tokens).map(Some),
        other => Err(Error::new_spanned(other, EXPECTED)),
    }
}
