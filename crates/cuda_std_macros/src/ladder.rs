//! `ladder!`: the rungs of an algorithm, declared once.
//!
//! # Design
//!
//! `ladder!` in `gpu/src/<algorithm>/mod.rs` lists an algorithm's rungs in order, each with the kernels that it
//! launches. The macro generates the modules and the enum (`ReduceRung`, which implements `Ladder`) from this list. The
//! names on the command line, the help texts and the tables come from the enum.
//!
//! The instances of a rung's kernels determine the types and operators of the rung. The default rung for a type
//! and operator is the last rung that is built for both. No other place lists types, operators or default rungs.
//!
//! A kernel of another PTX module, such as one that needs a newer architecture, is written with its whole path:
//! `crate::module::kernel`. The device code does not contain the rungs, so a PTX module has its own kernels alone.
//!
//! A rung, a kernel and an entry are three things. For example, the rung `grid_stride` of `reduce` launches one of
//! several kernels. Each of these kernels has an entry for every type and operator.

use std::collections::BTreeSet;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{
    AngleBracketedGenericArguments, Attribute, GenericArgument, Generics, Ident, PathArguments, Token, Type,
    Visibility, braced, parenthesized, parse2,
};

/// The parsed input of `ladder!`.
struct Ladder {
    attributes: Vec<Attribute>,
    visibility: Visibility,
    name: Ident,
    algorithm: Ident,
    rungs: Vec<Rung>,
    /// One function for each group of rungs. It returns a call of any rung in the group.
    calls: Vec<CallOfAny>,
    /// The kernels after `also`, which belong to no rung.
    others: Vec<Kernel>,
}

/// A rung in the input, in the form `/// Idea. name` or `/// Idea. name = kernel + kernel`.
struct Rung {
    attributes: Vec<Attribute>,
    name: Ident,
    kernels: Vec<Kernel>,
    /// The index of the rung's group in [`Ladder::calls`], or `None` if the rung is in no group.
    call: Option<usize>,
}

/// A kernel in the input, in the form `module::kernel<arguments>`, or `crate::module::kernel<arguments>` for one of
/// another PTX module.
struct Kernel {
    /// The module below the ladder's, or `None` for a kernel of another PTX module.
    module: Option<Ident>,
    /// The path of a kernel of another PTX module.
    foreign: Option<syn::Path>,
    function: Ident,
    arguments: Option<AngleBracketedGenericArguments>,
}

/// The function of a group in the input, in the form `fn name<T: Bound>(x: T) { rungs }`.
struct CallOfAny {
    attributes: Vec<Attribute>,
    visibility: Visibility,
    name: Ident,
    generics: Generics,
    parameters: Vec<(Ident, Type)>,
}

impl Kernel {
    /// Parses a kernel of the rung `rung`. The rung's name is the default for the module.
    fn parse(input: ParseStream<'_>, rung: &Ident) -> syn::Result<Self> {
        let path: syn::Path = input.parse()?;
        let wrong = || {
            let text = "expected the name of a kernel: `kernel`, `module::kernel` or `crate::module::kernel`";
            syn::Error::new_spanned(&path, text)
        };
        let segments: Vec<_> = path.segments.iter().collect();
        let (module, last) = match segments[..] {
            [last] => (Some(rung.clone()), last),
            [module, last] => (Some(module.ident.clone()), last),
            [first, .., last] if first.ident == "crate" => (None, last),
            _ => return Err(wrong()),
        };
        let arguments = match &last.arguments {
            PathArguments::None => None,
            PathArguments::AngleBracketed(arguments) => Some(arguments.clone()),
            PathArguments::Parenthesized(_) => return Err(wrong()),
        };
        let function = last.ident.clone();
        let foreign = module.is_none().then(|| {
            let mut path = path.clone();
            path.segments.iter_mut().for_each(|segment| segment.arguments = PathArguments::None);
            path
        });
        Ok(Self { module, foreign, function, arguments })
    }
}

impl Rung {
    fn parse(input: ParseStream<'_>, attributes: Vec<Attribute>, algorithm: &Ident) -> syn::Result<Self> {
        let name: Ident = input.parse()?;
        let kernels = if input.parse::<Option<Token![=]>>()?.is_some() {
            let mut kernels = vec![Kernel::parse(input, &name)?];
            while input.parse::<Option<Token![+]>>()?.is_some() {
                kernels.push(Kernel::parse(input, &name)?);
            }
            kernels
        } else {
            let function = format_ident!("{algorithm}_{name}");
            vec![Kernel { module: Some(name.clone()), foreign: None, function, arguments: None }]
        };
        Ok(Self { attributes, name, kernels, call: None })
    }

    /// Returns the rung's variant of the enum, such as `UnrolledLastWarp` for `unrolled_last_warp`.
    fn variant(&self) -> Ident {
        let words = self.name.to_string();
        let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
        Ident::new(&words.split('_').filter(|word| !word.is_empty()).map(capital).collect::<String>(), self.name.span())
    }

    /// Returns an expression for the rung's idea: the documentation of the rung, or else the summary of its first
    /// kernel.
    fn idea(&self) -> TokenStream {
        let docs: Vec<_> =
            self.attributes.iter().filter_map(|attribute| attribute.meta.require_name_value().ok()).collect();
        if docs.is_empty() {
            let first = &self.kernels[0].function;
            return quote!(<#first>::INSTANCES[0].summary);
        }
        let lines = docs.iter().map(|line| &line.value);
        quote!(::core::concat!(#(#lines),*).trim_ascii())
    }
}

impl Parse for Ladder {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        input.parse::<Token![enum]>()?;
        let name = input.parse()?;
        input.parse::<Token![:]>()?;
        let algorithm: Ident = input.parse()?;
        let body;
        braced!(body in input);
        let (mut rungs, mut calls, mut others) = (Vec::new(), Vec::new(), Vec::new());
        while !body.is_empty() {
            let attributes = body.call(Attribute::parse_outer)?;
            if body.peek(Token![pub]) || body.peek(Token![fn]) {
                let call = CallOfAny::parse(&body, attributes)?;
                let group;
                braced!(group in body);
                while !group.is_empty() {
                    let attributes = group.call(Attribute::parse_outer)?;
                    let rung = Rung::parse(&group, attributes, &algorithm)?;
                    rungs.push(Rung { call: Some(calls.len()), ..rung });
                    separator(&group)?;
                }
                calls.push(call);
                body.parse::<Option<Token![,]>>()?;
            } else {
                rungs.push(Rung::parse(&body, attributes, &algorithm)?);
                separator(&body)?;
            }
        }
        if !input.is_empty() {
            let word: Ident = input.parse()?;
            if word != "also" {
                return Err(syn::Error::new(word.span(), "expected `also { module::kernel, … }`"));
            }
            let list;
            braced!(list in input);
            while !list.is_empty() {
                others.push(Kernel::parse(&list, &algorithm)?);
                separator(&list)?;
            }
        }
        if rungs.is_empty() {
            return Err(syn::Error::new(Span::call_site(), "a ladder needs at least one rung: add one"));
        }
        Ok(Self { attributes, visibility, name, algorithm, rungs, calls, others })
    }
}

/// Parses the comma after a list element, which may be missing after the last element.
fn separator(input: ParseStream<'_>) -> syn::Result<()> {
    if !input.is_empty() {
        input.parse::<Token![,]>()?;
    }
    Ok(())
}

impl CallOfAny {
    fn parse(input: ParseStream<'_>, attributes: Vec<Attribute>) -> syn::Result<Self> {
        let visibility = input.parse()?;
        input.parse::<Token![fn]>()?;
        let name = input.parse()?;
        let generics = input.parse()?;
        let list;
        parenthesized!(list in input);
        let parameters = Punctuated::<syn::PatType, Token![,]>::parse_terminated(&list)?
            .into_iter()
            .map(|parameter| match *parameter.pat {
                syn::Pat::Ident(pattern) => Ok((pattern.ident, *parameter.ty)),
                other => Err(syn::Error::new_spanned(other, "a parameter must be a name, such as `x: u32`")),
            })
            .collect::<syn::Result<_>>()?;
        Ok(Self { attributes, visibility, name, generics, parameters })
    }
}

/// Expands the declaration: the modules of the kernels and, for the host, the enum of the rungs.
pub fn expand(input: TokenStream) -> syn::Result<TokenStream> {
    let ladder: Ladder = parse2(input)?;
    let kernels = || ladder.rungs.iter().flat_map(|rung| &rung.kernels).chain(&ladder.others);
    // The modules are in alphabetical order, like declarations written by hand.
    let modules: BTreeSet<&Ident> = kernels().filter_map(|kernel| kernel.module.as_ref()).collect();
    let mut seen = BTreeSet::new();
    let functions: Vec<&Kernel> = kernels().filter(|kernel| seen.insert(&kernel.function)).collect();
    let uses = functions.iter().filter_map(|Kernel { module, function, .. }| {
        let module = module.as_ref()?;
        Some(quote!(pub use #module::#function;))
    });
    // The kernels of other PTX modules are in the lists of these.
    let foreign = functions.iter().filter_map(|kernel| kernel.foreign.as_ref());
    let names = functions.iter().filter(|kernel| kernel.module.is_some()).map(|kernel| &kernel.function);
    let docs = ladder.attributes.iter().filter_map(|attribute| attribute.meta.require_name_value().ok());
    let summary = docs.map(|line| line.value.to_token_stream());
    let face = ladder.host_face();
    Ok(quote! {
        #(mod #modules;)*
        #(#uses)*
        ::cuda_std::__private::kernel_list! { [#(#summary)*] #(#names)* }
        ::cuda_std::__private::kernel! { device {} host { #(use #foreign;)* #face } }
    })
}

impl Ladder {
    fn host_face(&self) -> TokenStream {
        let Self { visibility, name, algorithm, rungs, .. } = self;
        let algorithm = algorithm.to_string();
        let documentation = format!("The rungs of {algorithm}, the plainest first.");
        let variants: Vec<Ident> = rungs.iter().map(Rung::variant).collect();
        let attributes = rungs.iter().map(|rung| &rung.attributes);
        let names = rungs.iter().map(|rung| rung.name.to_string());
        let ideas = rungs.iter().map(Rung::idea);
        let families = rungs.iter().map(|rung| {
            let families = rung.kernels.iter().map(|kernel| kernel.function.to_string());
            quote!(&[#(#families),*])
        });
        let kernels = rungs.iter().map(|rung| {
            let kernels = rung.kernels.iter().map(|Kernel { function, arguments, .. }| {
                let arguments = arguments.iter().flat_map(|list| &list.args).map(|argument| match argument {
                    GenericArgument::Type(ty) => quote!(::cuda_std::ArgumentId::of::<#ty>()),
                    value => quote!(::cuda_std::ArgumentId::value(#value as i128)),
                });
                quote!(::cuda_std::RungKernel { entries: <#function>::INSTANCES, arguments: &[#(#arguments),*] })
            });
            quote!(&[#(#kernels),*])
        });
        let indices = 0..rungs.len();
        let calls = self.calls.iter().enumerate().map(|(place, call)| self.call_of_any(place, call));
        quote! {
            #[doc = #documentation]
            #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
            #visibility enum #name {
                #(#(#attributes)* #variants,)*
            }

            impl ::cuda_std::Ladder for #name {
                const ALGORITHM: &'static str = #algorithm;
                const ALL: &'static [Self] = &[#(Self::#variants),*];
                const RUNGS: &'static [::cuda_std::Rung] = &[#(
                    ::cuda_std::Rung {
                        ladder: ::core::any::TypeId::of::<#name>(),
                        index: #indices,
                        algorithm: #algorithm,
                        name: #names,
                        idea: #ideas,
                        families: #families,
                        kernels: #kernels,
                    },
                )*];

                fn rung(self) -> &'static ::cuda_std::Rung {
                    &Self::RUNGS[self as usize]
                }
            }

            impl ::core::fmt::Display for #name {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    f.pad(::cuda_std::Ladder::name(*self))
                }
            }

            impl ::core::str::FromStr for #name {
                type Err = ::cuda_std::UnknownRung;

                fn from_str(text: &str) -> ::core::result::Result<Self, Self::Err> {
                    ::cuda_std::__private::find_rung(text)
                }
            }

            impl #name {
                #(#calls)*
            }
        }
    }

    /// Returns the function `call`, which makes a call of any rung in the group with the index `place`.
    fn call_of_any(&self, place: usize, call: &CallOfAny) -> TokenStream {
        let CallOfAny { attributes, visibility, name, generics, parameters } = call;
        let types: Vec<_> = generics.type_params().map(|parameter| parameter.ident.clone()).collect();
        let mut generics = generics.clone();
        for parameter in generics.type_params_mut() {
            parameter.bounds.push(syn::parse_quote!('static));
        }
        let (declared, _, condition) = generics.split_for_impl();
        let (names, passed): (Vec<_>, Vec<_>) = parameters.iter().cloned().unzip();
        let arms = self.rungs.iter().filter(|rung| rung.call == Some(place)).map(|rung| {
            let variant = rung.variant();
            let Kernel { function, arguments, .. } = &rung.kernels[0];
            let own: Vec<GenericArgument> = arguments.iter().flat_map(|list| list.args.clone()).collect();
            quote!(Self::#variant => #function::if_built::<#(#types,)* #(#own),*>(#(#names),*),)
        });
        quote! {
            #(#attributes)*
            ///
            /// Returns `None` if the rung has other parameters or is not built for these types.
            #[allow(clippy::too_many_arguments, unreachable_patterns, mismatched_lifetime_syntaxes)]
            #visibility fn #name #declared(self, #(#names: #passed),*)
                -> ::core::option::Option<::cuda_std::Call<'call>>
            #condition
            {
                match self {
                    #(#arms)*
                    _ => ::core::option::Option::None,
                }
            }
        }
    }
}
