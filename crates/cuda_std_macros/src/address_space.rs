//! `#[address_space(…)]`: in which of a GPU's memories a static is.

use proc_macro2::TokenStream;
use syn::{Attribute, Error, Ident, Meta, parse2};

/// A GPU's memories.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum AddressSpace {
    Shared,
    Constant,
    Global,
}

impl AddressSpace {
    /// Of what stands in the parentheses.
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
