//! The options of `#[kernel(…)]`.

use proc_macro2::{Ident, Span, TokenStream};
use syn::meta::ParseNestedMeta;
use syn::punctuated::Punctuated;
use syn::{Error, Expr, GenericArgument, LitInt, LitStr, Token, bracketed};

/// The parsed options
/// `max_threads = …, min_blocks = …, cluster = …, items_per_thread = …, max_elements = …, unsuffixed, exported = …,
/// instances(…)`. The options of [`is_for_checks`] are allowed and not stored.
#[derive(Default)]
pub struct Options {
    pub bounds: Bounds,
    /// The fixed number of blocks in each dimension of a cluster.
    pub cluster: Option<[u32; 3]>,
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

/// The launch bounds `max_threads = …, min_blocks = …`.
#[derive(Clone, Copy, Default)]
pub struct Bounds {
    pub max_threads: Option<u32>,
    pub min_blocks: Option<u32>,
}

impl Bounds {
    /// Stores the option `meta` and returns true if it is a launch bound.
    fn take(&mut self, meta: &ParseNestedMeta<'_>) -> syn::Result<bool> {
        if meta.path.is_ident("max_threads") {
            self.max_threads = Some(bound(meta, 1024)?);
        } else if meta.path.is_ident("min_blocks") {
            self.min_blocks = Some(bound(meta, 32)?);
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// Returns these bounds, and those of `kernel` where there are none.
    pub fn or(self, kernel: Self) -> Self {
        Self { max_threads: self.max_threads.or(kernel.max_threads), min_blocks: self.min_blocks.or(kernel.min_blocks) }
    }

    fn check(self) -> syn::Result<()> {
        if self.min_blocks.is_some() && self.max_threads.is_none() {
            return Err(Error::new(Span::call_site(), "`min_blocks` needs `max_threads`: add `max_threads = …`"));
        }
        Ok(())
    }
}

/// A list such as `instances(T = [f32, f64], N = [2, 4])`, which declares one instance for every combination of the
/// arguments. The list may also contain launch bounds and the options of [`is_for_checks`], which then apply to these
/// instances only.
pub struct Group {
    pub span: Span,
    pub bounds: Bounds,
    pub choices: Vec<(Ident, Vec<GenericArgument>)>,
}

impl Options {
    pub fn parse(attribute: TokenStream) -> syn::Result<Self> {
        let mut options = Self::default();
        let parser = syn::meta::parser(|meta| options.set(&meta));
        syn::parse::Parser::parse2(parser, attribute)?;
        options.bounds.check()?;
        options.groups.iter().try_for_each(|group| group.bounds.or(options.bounds).check())?;
        Ok(options)
    }

    /// Returns the comments in the PTX of the entry `name` that `cuda_builder` turns into directives.
    pub fn comments(&self, name: &Ident, bounds: Bounds) -> Vec<String> {
        let bounds = bounds
            .max_threads
            .map(|threads| format!("// cuda_std launch_bounds {name} {threads} {}", bounds.min_blocks.unwrap_or(0)));
        let cluster = self.cluster.map(|[x, y, z]| format!("// cuda_std cluster {name} {x} {y} {z}"));
        bounds.into_iter().chain(cluster).collect()
    }

    fn set(&mut self, meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
        if self.bounds.take(meta)? {
        } else if meta.path.is_ident("cluster") {
            self.cluster = Some(cluster(meta)?);
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
                "expected `max_threads = …`, `min_blocks = …`, `cluster = …`, `items_per_thread = …`, \
                 `max_elements = …`, `unsuffixed`, `exported = \"feature\"`, `instances(…)`, `wide(…)` or `allow(…)`",
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

/// Parses the size of a cluster: `4`, `(2, 2)` or `(2, 2, 1)`.
fn cluster(meta: &ParseNestedMeta<'_>) -> syn::Result<[u32; 3]> {
    let value: Expr = meta.value()?.parse()?;
    let invalid = || {
        let reason = "expected the number of blocks per cluster, from 1 to 16, such as `4` or `(2, 2)`";
        Error::new(syn::spanned::Spanned::span(&value), reason)
    };
    let number = |value: &Expr| match value {
        Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(number), .. }) => number.base10_parse::<u32>().ok(),
        _ => None,
    };
    let extents: Option<Vec<u32>> = match &value {
        Expr::Tuple(tuple) => tuple.elems.iter().map(number).collect(),
        one => number(one).map(|one| vec![one]),
    };
    let extents = extents.filter(|extents| (1..=3).contains(&extents.len())).ok_or_else(invalid)?;
    let mut cluster = [1; 3];
    cluster[..extents.len()].copy_from_slice(&extents);
    let blocks = cluster.iter().try_fold(1_u32, |all, &extent| all.checked_mul(extent));
    if blocks.is_some_and(|blocks| (1..=16).contains(&blocks)) { Ok(cluster) } else { Err(invalid()) }
}

fn group(meta: &ParseNestedMeta<'_>) -> syn::Result<Group> {
    let (mut choices, mut bounds): (Vec<(Ident, Vec<GenericArgument>)>, _) = (Vec::new(), Bounds::default());
    meta.parse_nested_meta(|choice| {
        if bounds.take(&choice)? || is_for_checks(&choice)? {
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
    Ok(Group { span: syn::spanned::Spanned::span(&meta.path), bounds, choices })
}
