//! The options of `#[kernel(…)]`.

use proc_macro2::{Ident, Span, TokenStream};
use syn::meta::ParseNestedMeta;
use syn::punctuated::Punctuated;
use syn::{Error, Expr, GenericArgument, LitInt, LitStr, Token, bracketed};

/// The parsed options `max_threads = …, min_blocks = …, items_per_thread = …, max_elements = …, unsuffixed,
/// exported = …, instances(…)`. The options of [`is_for_checks`] are allowed and not stored.
#[derive(Default)]
pub struct Options {
    pub max_threads: Option<u32>,
    pub min_blocks: Option<u32>,
    /// Values for a kernel's description: `items_per_thread = …`, `max_elements = …`.
    pub facts: Vec<(Ident, Expr)>,
    /// The source position of the option `unsuffixed`. With this option, the entry of the only instance has the
    /// kernel's name.
    pub unsuffixed: Option<Span>,
    /// The value of `exported = "feature"`: other crates can make instances of the kernel
    /// ([`exported`](super::instances::exported)), and the kernel's own entries are built only with this feature.
    pub exported: Option<LitStr>,
    pub groups: Vec<Group>,
}

/// A list such as `instances(T = [f32, f64], N = [2, 4])`, which declares one instance for every combination of the
/// arguments. The list may also contain the options of [`is_for_checks`], which then apply to these instances only.
pub struct Group {
    pub span: Span,
    pub choices: Vec<(Ident, Vec<GenericArgument>)>,
}

impl Options {
    pub fn parse(attribute: TokenStream) -> syn::Result<Self> {
        let mut options = Self::default();
        let parser = syn::meta::parser(|meta| options.set(&meta));
        syn::parse::Parser::parse2(parser, attribute)?;
        if options.min_blocks.is_some() && options.max_threads.is_none() {
            return Err(Error::new(Span::call_site(), "`min_blocks` needs `max_threads`: add `max_threads = …`"));
        }
        Ok(options)
    }

    fn set(&mut self, meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
        if meta.path.is_ident("max_threads") {
            self.max_threads = Some(bound(meta, 1024)?);
        } else if meta.path.is_ident("min_blocks") {
            self.min_blocks = Some(bound(meta, 32)?);
        } else if meta.path.is_ident("instances") {
            self.groups.push(group(meta)?);
        } else if meta.path.is_ident("unsuffixed") {
            self.unsuffixed = Some(syn::spanned::Spanned::span(&meta.path));
        } else if meta.path.is_ident("exported") {
            self.exported = Some(meta.value()?.parse()?);
        } else if meta.path.is_ident("items_per_thread") || meta.path.is_ident("max_elements") {
            self.facts.push((meta.path.require_ident()?.clone(), meta.value()?.parse()?));
        } else if meta.path.is_ident("most_elements") {
            // `most_elements` is the former name of `max_elements`.
            let name = Ident::new("max_elements", syn::spanned::Spanned::span(&meta.path));
            self.facts.push((name, meta.value()?.parse()?));
        } else if !is_for_checks(meta)? {
            return Err(meta.error(
                "expected `max_threads = …`, `min_blocks = …`, `items_per_thread = …`, `max_elements = …`, \
                 `unsuffixed`, `exported = \"feature\"`, `instances(…)`, `wide(…)` or `allow(…)`",
            ));
        }
        Ok(())
    }
}

/// Returns true if `meta` is an option for the checks of the PTX, and skips it. `wide(loads, stores)` names the
/// expected accesses of 16 bytes, and `allow(local = "why")` exempts the kernel from the rule `local`.
fn is_for_checks(meta: &ParseNestedMeta<'_>) -> syn::Result<bool> {
    if meta.path.is_ident("wide") {
        meta.parse_nested_meta(|_| Ok(()))?;
    } else if meta.path.is_ident("allow") {
        meta.parse_nested_meta(|rule| rule.value()?.parse::<LitStr>().map(drop))?;
    } else {
        return Ok(false);
    }
    Ok(true)
}

fn bound(meta: &ParseNestedMeta<'_>, limit: u32) -> syn::Result<u32> {
    let value: LitInt = meta.value()?.parse()?;
    match value.base10_parse()? {
        number if number == 0 || number > limit => {
            Err(Error::new(value.span(), format!("expected a number from 1 to {limit}")))
        }
        number => Ok(number),
    }
}

fn group(meta: &ParseNestedMeta<'_>) -> syn::Result<Group> {
    let mut choices: Vec<(Ident, Vec<GenericArgument>)> = Vec::new();
    meta.parse_nested_meta(|choice| {
        if is_for_checks(&choice)? {
            return Ok(());
        }
        let name = choice.path.require_ident()?.clone();
        if choices.iter().any(|(other, _)| *other == name) {
            return Err(choice.error("the parameter occurs twice: write one list for it"));
        }
        let value = choice.value()?;
        let list;
        bracketed!(list in value);
        let arguments: Vec<_> =
            Punctuated::<GenericArgument, Token![,]>::parse_terminated(&list)?.into_iter().collect();
        if arguments.is_empty() {
            return Err(choice.error("the list of arguments is empty: write one or more, such as `[f32, f64]`"));
        }
        choices.push((name, arguments));
        Ok(())
    })?;
    Ok(Group { span: syn::spanned::Spanned::span(&meta.path), choices })
}
