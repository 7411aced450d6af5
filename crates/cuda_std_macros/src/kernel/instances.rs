//! The instances of a generic kernel. Each is one PTX entry.
//!
//! # Design
//!
//! A generic kernel is written once and lists its instances: `#[kernel(instances(T = [f32, i32], O = [Sum]))]`.
//!
//! For the GPU, the macro puts the body into one module per combination of arguments, with items such as `type T =
//! f32;` in it. The size of a shared array may therefore depend on `T`. The entry has a name such as
//! `reduce_shuffle_f32_sum`.
//!
//! A kernel with `exported = "feature"` also becomes a macro, `__instance_of_reduce_shuffle!(T, O)`. In another crate,
//! the macro repeats the kernel with an instance for these arguments. The scope of its call must have the names that
//! the body uses. The text of the kernel is the same, so there is no second version of it. The new kernel and its PTX
//! entry belong to the other crate.
//!
//! For the host, the kernel becomes a generic function. It can be called if `reduce_shuffle<T, O>: Kernel` holds, that
//! is, for the listed instances. Code that is generic over `T` and `O` calls `reduce_shuffle::if_built::<T, O>(…)`,
//! which returns a call if the instance exists. `if_built_in` of a kernel with `exported` also takes instances that
//! another crate has made.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::spanned::Spanned;
use syn::{
    ConstParam, Error, Expr, ExprBlock, GenericArgument, GenericParam, Generics, Ident, ItemFn, Stmt, Type, TypeParam,
};

use super::attribute::{Bounds, Group, Options};

/// An instance of a generic kernel: one combination of generic arguments.
pub struct Instance {
    /// The kernel's name, followed by `_` and the suffix of each argument.
    pub name: Ident,
    /// The name of the entry in the PTX: `name`, or the kernel's name if the only instance is `unsuffixed`.
    pub entry: Ident,
    /// The suffixes of the arguments, as they appear in `name`.
    pub suffixes: Vec<String>,
    /// The generic arguments, in the order of the kernel's generic parameters.
    pub arguments: Vec<GenericArgument>,
    pub bounds: Bounds,
}

/// Returns the instances of the kernel `name`. The list is empty if the kernel is not generic.
pub fn instances(name: &Ident, generics: &Generics, options: &Options) -> syn::Result<Vec<Instance>> {
    let groups = &options.groups;
    if let Some(group) = groups.first().filter(|_| generics.params.is_empty()) {
        return Err(Error::new(group.span, "only a generic kernel has instances: remove `instances(…)`"));
    }
    if groups.is_empty() && !generics.params.is_empty() {
        return Err(Error::new(
            generics.span(),
            "a generic kernel must list the arguments for which it is built: `#[kernel(instances(T = [f32, f64]))]`",
        ));
    }
    let mut instances: Vec<Instance> = Vec::new();
    for group in groups {
        for instance in combinations(name, generics, group, options.bounds)? {
            if instances.iter().any(|other| other.name == instance.name) {
                return Err(Error::new(
                    group.span,
                    format!("the instance `{}` is listed twice: remove one", instance.name),
                ));
            }
            instances.push(instance);
        }
    }
    match (&mut instances[..], options.unsuffixed) {
        (_, None) => {}
        ([only], Some(_)) => only.entry = name.clone(),
        (_, Some(span)) => {
            return Err(Error::new(span, "`unsuffixed` needs exactly one instance: remove it or the other instances"));
        }
    }
    Ok(instances)
}

fn combinations(name: &Ident, generics: &Generics, group: &Group, kernel: Bounds) -> syn::Result<Vec<Instance>> {
    let parameters: Vec<&Ident> = generics.params.iter().map(parameter_name).collect::<syn::Result<_>>()?;
    if let Some((stranger, _)) = group.choices.iter().find(|(name, _)| !parameters.contains(&name)) {
        return Err(Error::new(stranger.span(), "the kernel has no generic parameter of this name: remove the list"));
    }
    let bounds = group.bounds.or(kernel);
    let first =
        Instance { name: name.clone(), entry: name.clone(), suffixes: Vec::new(), arguments: Vec::new(), bounds };
    let mut instances = vec![first];
    for parameter in parameters {
        let Some((_, arguments)) = group.choices.iter().find(|(name, _)| name == parameter) else {
            return Err(Error::new(
                group.span,
                format!("the arguments of `{parameter}` are missing: add `{parameter} = […]`"),
            ));
        };
        let mut longer = Vec::new();
        for Instance { name, suffixes, arguments: before, .. } in &instances {
            for argument in arguments {
                let suffix = suffix(parameter, argument)?;
                let name = format_ident!("{name}_{suffix}");
                let suffixes = suffixes.iter().cloned().chain([suffix]).collect();
                let arguments = before.iter().chain([argument]).cloned().collect();
                longer.push(Instance { entry: name.clone(), name, suffixes, arguments, bounds });
            }
        }
        instances = longer;
    }
    Ok(instances)
}

fn parameter_name(parameter: &GenericParam) -> syn::Result<&Ident> {
    match parameter {
        GenericParam::Type(parameter) => Ok(&parameter.ident),
        GenericParam::Const(parameter) => Ok(&parameter.ident),
        GenericParam::Lifetime(lifetime) => {
            Err(Error::new(lifetime.span(), "a kernel cannot have lifetime parameters: leave lifetimes out"))
        }
    }
}

/// Returns the suffix of an argument in the entry's name: the last part of a type's path in lower case, or a literal,
/// which may be in a block. Another block, whose value the macro cannot know, has the parameter's name as its suffix.
fn suffix(parameter: &Ident, argument: &GenericArgument) -> syn::Result<String> {
    let text = match argument {
        GenericArgument::Const(Expr::Block(block)) => Some(literal_of(block).unwrap_or_else(|| parameter.to_string())),
        GenericArgument::Type(Type::Path(path)) => path.path.segments.last().map(|last| last.ident.to_string()),
        GenericArgument::Const(Expr::Lit(literal)) => Some(literal.lit.to_token_stream().to_string()),
        _ => None,
    };
    text.map(|text| text.to_lowercase()).ok_or_else(|| {
        Error::new(argument.span(), "a generic argument must be the name of a type or a literal, such as `f32` or `4`")
    })
}

/// Returns the text of a block that is a literal. A macro by example has put a parameter such as `$N:expr` in a group.
fn literal_of(block: &ExprBlock) -> Option<String> {
    let [Stmt::Expr(expression, None)] = &block.block.stmts[..] else { return None };
    let mut expression = expression;
    while let Expr::Group(group) = expression {
        expression = &group.expr;
    }
    let Expr::Lit(literal) = expression else { return None };
    Some(literal.lit.to_token_stream().to_string())
}

/// Returns an expression that identifies a generic argument: by the type `argument`, or by the value of a const
/// argument.
pub fn identity(parameter: &GenericParam, argument: &impl ToTokens) -> TokenStream {
    match parameter {
        GenericParam::Const(_) => quote!(::cuda_std::ArgumentId::value(#argument as i128)),
        _ => quote!(::cuda_std::ArgumentId::of::<#argument>()),
    }
}

/// Returns the macro by which another crate makes an instance of a generic kernel with the option `exported`. Its
/// arguments are the names of types and the values of const parameters, in the order of the generic parameters.
pub fn exported(function: &ItemFn, options: &Options) -> Option<TokenStream> {
    options.exported.as_ref()?;
    let name = format_ident!("__instance_of_{}", function.sig.ident);
    let (patterns, choices): (Vec<_>, Vec<_>) = function
        .sig
        .generics
        .params
        .iter()
        .filter_map(|parameter| match parameter {
            GenericParam::Type(TypeParam { ident, .. }) => Some((quote!($#ident:ident), quote!(#ident = [$#ident]))),
            GenericParam::Const(ConstParam { ident, .. }) => {
                Some((quote!($#ident:expr), quote!(#ident = [{ $#ident }])))
            }
            GenericParam::Lifetime(_) => None,
        })
        .unzip();
    let facts = options.facts.iter().map(|(fact, value)| quote!(#fact = #value,));
    let max_threads = options.bounds.max_threads.map(|threads| quote!(max_threads = #threads,));
    let min_blocks = options.bounds.min_blocks.map(|blocks| quote!(min_blocks = #blocks,));
    let cluster = options.cluster.map(|[x, y, z]| quote!(cluster = (#x, #y, #z),));
    let function = with_silent_assertions(function.to_token_stream());
    Some(quote! {
        #[doc(hidden)]
        #[macro_export]
        macro_rules! #name {
            (#(#patterns),*) => {
                #[::cuda_std::kernel(#max_threads #min_blocks #cluster #(#facts)* instances(#(#choices),*))]
                #function
            };
        }
    })
}

/// Replaces `assert!` by the macro `__assert!` of the kernel's crate, which is core's: a message for another crate's
/// users would cost a stack frame and registers.
fn with_silent_assertions(tokens: TokenStream) -> TokenStream {
    let mut rest = tokens.into_iter().peekable();
    let mut silent = TokenStream::new();
    while let Some(token) = rest.next() {
        match token {
            TokenTree::Group(group) => {
                let mut inner = proc_macro2::Group::new(group.delimiter(), with_silent_assertions(group.stream()));
                inner.set_span(group.span());
                silent.extend([TokenTree::Group(inner)]);
            }
            TokenTree::Ident(name)
                if name == "assert" && matches!(rest.peek(), Some(TokenTree::Punct(mark)) if mark.as_char() == '!') =>
            {
                silent.extend(quote!($crate::__assert));
            }
            token => silent.extend([token]),
        }
    }
    silent
}

impl Instance {
    /// Returns expressions that identify the arguments, in the order of the generic parameters.
    pub fn identities(&self, generics: &Generics) -> Vec<TokenStream> {
        let pairs = generics.params.iter().zip(&self.arguments);
        pairs.map(|(parameter, argument)| identity(parameter, argument)).collect()
    }

    /// Returns items that make each generic parameter's name an alias of its argument.
    pub fn aliases(&self, generics: &Generics) -> TokenStream {
        let aliases = generics.params.iter().zip(&self.arguments).map(|(parameter, argument)| match parameter {
            GenericParam::Const(ConstParam { ident, ty, .. }) => {
                quote!(#[allow(dead_code)] const #ident: #ty = #argument;)
            }
            GenericParam::Type(parameter) => {
                let ident = &parameter.ident;
                quote!(#[allow(dead_code)] type #ident = #argument;)
            }
            // `instances` has rejected lifetimes.
            GenericParam::Lifetime(_) => TokenStream::new(),
        });
        quote!(#(#aliases)*)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expand_text(attribute: TokenStream, item: TokenStream) -> String {
        super::super::expand(attribute, item).unwrap().to_string()
    }

    #[test]
    fn an_exported_kernel_is_a_macro_for_other_crates() {
        let text = expand_text(
            quote!(max_threads = 64, exported = "sums", instances(T = [f32], N = [4])),
            quote!(
                fn k<T: Element, const N: usize>(n: u32) {
                    assert!(n > 1);
                }
            ),
        );
        for part in [
            "macro_rules ! __instance_of_k { ($ T : ident , $ N : expr) =>",
            "# [:: cuda_std :: kernel (max_threads = 64u32 , instances (T = [$ T] , N = [{ $ N }]))]",
            "fn k < T : Element , const N : usize > (n : u32) { $ crate :: __assert ! (n > 1) ; }",
            "# [cfg (feature = \"sums\")]",
            "fn if_built_in < 'call , T : Element + 'static , const N : usize > (",
        ] {
            assert!(text.contains(part), "{part} is not in {text}");
        }
    }

    #[test]
    fn a_value_that_the_macro_cannot_know_has_the_name_of_its_parameter() {
        let text = expand_text(
            quote!(instances(N = [{ LEN }])),
            quote!(
                fn k<const N: usize>() {}
            ),
        );
        assert!(text.contains("fn k_n (") && text.contains("const N : usize = { LEN } ;"), "{text}");
        let text = expand_text(
            quote!(instances(N = [{ 128 }])),
            quote!(
                fn k<const N: usize>() {}
            ),
        );
        assert!(text.contains("fn k_128 (") && text.contains("const N : usize = { 128 } ;"), "{text}");
    }
}
