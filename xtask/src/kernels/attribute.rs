//! Parses `#[kernel(…)]`: launch bounds, and the instances of a generic kernel with the names that the macro gives to
//! these instances.

use anyhow::{Context, Result, bail};
use proc_macro2::TokenStream;
use syn::meta::ParseNestedMeta;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr, GenericArgument, GenericParam, LitInt, Meta, Signature, Token, Type, bracketed, parenthesized, token};

use super::expected::Expected;
use crate::syntax;

/// A parsed `#[kernel]` attribute.
pub(super) struct Attribute {
    /// The line of the attribute, from 1.
    pub line: usize,
    /// The instances of the kernel. A kernel that is not generic has one instance.
    pub instances: Vec<Instance>,
}

/// An instance of a generic kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Instance {
    pub name: String,
    /// The name of each generic parameter, with its argument as it appears in the entry's name.
    pub arguments: Vec<(String, String)>,
    pub expected: Expected,
    pub bounds: Bounds,
}

/// The launch bounds of an instance.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Bounds {
    pub max_threads: Option<u32>,
    pub min_blocks: Option<u32>,
}

impl Bounds {
    /// Stores the option `meta` and returns true if it is a launch bound.
    fn take(&mut self, meta: &ParseNestedMeta<'_>) -> syn::Result<bool> {
        if meta.path.is_ident("max_threads") {
            self.max_threads = Some(number(meta)?);
        } else if meta.path.is_ident("min_blocks") {
            self.min_blocks = Some(number(meta)?);
        } else {
            return Ok(false);
        }
        Ok(true)
    }
}

/// A parsed option `instances(T = [f32, f64], …)`.
#[derive(Default)]
struct Group {
    /// The generic parameters, each with its arguments.
    choices: Vec<(String, Vec<String>)>,
    expected: Expected,
    bounds: Bounds,
}

impl Attribute {
    /// Parses the attribute of a function. Returns `None` if the function is not a kernel.
    ///
    /// # Errors
    /// If the attribute is not valid.
    pub fn of(attributes: &[syn::Attribute], function: &Signature) -> Result<Option<Attribute>> {
        let is_kernel = |attribute: &&syn::Attribute| syntax::last_name(attribute.path()) == "kernel";
        let Some(attribute) = attributes.iter().find(is_kernel) else { return Ok(None) };
        let (mut bounds, mut unsuffixed, mut groups) = (Bounds::default(), false, Vec::new());
        let mut expected = Expected::default();
        if matches!(attribute.meta, Meta::List(_)) {
            attribute.parse_nested_meta(|meta| {
                if bounds.take(&meta)? {
                } else if meta.path.is_ident("instances") {
                    groups.push(group(&meta)?);
                } else if meta.path.is_ident("unsuffixed") {
                    unsuffixed = true;
                } else if !expected.take(&meta)? {
                    skip(&meta)?;
                }
                Ok(())
            })?;
        }
        let mut instances = instances(function, &groups, &expected, bounds)?;
        if unsuffixed {
            instances.iter_mut().for_each(|instance| instance.name = function.ident.to_string());
        }
        Ok(Some(Attribute { line: attribute.span().start().line, instances }))
    }
}

fn number(meta: &ParseNestedMeta<'_>) -> syn::Result<u32> {
    meta.value()?.parse::<LitInt>()?.base10_parse()
}

/// Skips an option that does not affect the PTX.
fn skip(meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
    if meta.input.peek(token::Paren) {
        let inside;
        parenthesized!(inside in meta.input);
        inside.parse::<TokenStream>()?;
    } else if meta.input.peek(Token![=]) {
        meta.value()?.parse::<Expr>()?;
    }
    Ok(())
}

fn group(meta: &ParseNestedMeta<'_>) -> syn::Result<Group> {
    let mut group = Group::default();
    meta.parse_nested_meta(|choice| {
        if group.bounds.take(&choice)? || group.expected.take(&choice)? {
            return Ok(());
        }
        let name = choice.path.require_ident()?.to_string();
        let value = choice.value()?;
        let list;
        bracketed!(list in value);
        let arguments = Punctuated::<GenericArgument, Token![,]>::parse_terminated(&list)?;
        group.choices.push((name, arguments.iter().map(suffix).collect::<syn::Result<_>>()?));
        Ok(())
    })?;
    Ok(group)
}

/// Returns the suffix that an argument adds to the entry's name: the last part of a type's path in lower case, or a
/// literal.
fn suffix(argument: &GenericArgument) -> syn::Result<String> {
    match argument {
        GenericArgument::Type(Type::Path(path)) => Ok(syntax::last_name(&path.path).to_lowercase()),
        GenericArgument::Const(Expr::Lit(literal)) => match &literal.lit {
            syn::Lit::Int(number) => Ok(number.to_string().to_lowercase()),
            syn::Lit::Bool(bool) => Ok(bool.value.to_string()),
            other => Err(syn::Error::new(other.span(), "expected a number, `true` or `false`")),
        },
        other => Err(syn::Error::new(other.span(), "expected the name of a type, or a literal")),
    }
}

/// Returns an instance for every combination of arguments in each group. The arguments of an instance are in the order
/// of the function's parameters.
fn instances(function: &Signature, groups: &[Group], expected: &Expected, bounds: Bounds) -> Result<Vec<Instance>> {
    let parameter = |parameter: &GenericParam| match parameter {
        GenericParam::Type(parameter) => Some(parameter.ident.to_string()),
        GenericParam::Const(parameter) => Some(parameter.ident.to_string()),
        GenericParam::Lifetime(_) => None,
    };
    let name = function.ident.to_string();
    let plain = Instance { name: name.clone(), arguments: Vec::new(), expected: expected.clone(), bounds };
    let parameters: Vec<String> = function.generics.params.iter().filter_map(parameter).collect();
    if parameters.is_empty() {
        return Ok(vec![plain]);
    }
    if groups.is_empty() {
        bail!("the generic kernel `{name}` has no `instances(…)`: add it");
    }
    let mut instances = Vec::new();
    for group in groups {
        let bounds = Bounds {
            max_threads: group.bounds.max_threads.or(bounds.max_threads),
            min_blocks: group.bounds.min_blocks.or(bounds.min_blocks),
        };
        let mut longer = vec![Instance { expected: expected.with(&group.expected), bounds, ..plain.clone() }];
        for parameter in &parameters {
            let choices = group.choices.iter().find(|(name, _)| name == parameter);
            let (_, choices) =
                choices.with_context(|| format!("`{name}` has instances without `{parameter}`: add it"))?;
            let with_all = |instance: Instance| choices.iter().map(move |choice| instance.with(parameter, choice));
            longer = longer.into_iter().flat_map(with_all).collect();
        }
        instances.extend(longer);
    }
    Ok(instances)
}

impl Instance {
    fn with(&self, parameter: &str, argument: &str) -> Instance {
        let mut arguments = self.arguments.clone();
        arguments.push((parameter.to_owned(), argument.to_owned()));
        Instance { name: format!("{}_{argument}", self.name), arguments, expected: self.expected.clone(), ..*self }
    }
}
